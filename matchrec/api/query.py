"""`Query`: a query in any of the languages, which has not run, and what users can do with it.

Each method parses the text when it is called, so that a query can be built before its tables exist.
What the languages do differently is behind `front_end.FrontEnd`. The methods import what they need
when they are called, because most programs call one or two of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from pyspark.sql import DataFrame, SparkSession

from matchrec.api.argument_kinds import (
    AGGREGATE_PER,
    AGGREGATES,
    ARGUMENTS,
    FRAME,
    KEY_COLUMNS,
    NAME,
    TARGET_DIALECT,
)
from matchrec.api.clause_warnings import find_clause_warnings, find_tuning_warnings
from matchrec.api.evaluate import EngineQuery, ParsedQuery, find_clause_number
from matchrec.api.front_end import FrontEnd, QueryKind
from matchrec.api.suggested_dialects import suggest_dialect
from matchrec.api.text_kinds import is_query
from matchrec.arguments import (
    FLAG,
    AggregatePer,
    ArgumentKind,
    DialectName,
    KeyValue,
    OrderValue,
    TargetDialect,
    check_arguments,
    is_whole,
)
from matchrec.errors import arguments as errors
from matchrec.errors.idle_arguments import match_with_between, per_without_aggregates
from matchrec.errors.inspection import missing_clause
from matchrec.errors.kinds import locate_errors
from matchrec.errors.surface import current_surface
from matchrec.errors.warn_caller import warn_caller
from matchrec.public_names import public
from matchrec.source import replace_control_characters
from matchrec.spark.environment import check_session
from matchrec.spark.errors.stream_errors import translate_stream_errors
from matchrec.spark.request import NO_OPTIONS, Options

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import Row
    from pyspark.sql.types import StructType

    from matchrec.api.frames import Frame
    from matchrec.dialects.writing.convert import Conversion
    from matchrec.explain.charts.backtest import Backtest
    from matchrec.explain.charts.plot import Plot
    from matchrec.explain.coverage import Coverage
    from matchrec.explain.explanation import Explanation
    from matchrec.explain.tracing.why import Why
    from matchrec.patterns.stages.builder import Pattern


def is_truncate_argument(value: Any) -> bool:
    """Return whether PySpark accepts a value as the argument `truncate` of `DataFrame.show`.

    It accepts whatever `int` can convert.

    >>> [is_truncate_argument(value) for value in (True, 20, "20", "x")]
    [True, True, True, False]
    """
    try:
        int(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


# The arguments of `Query.show`. PySpark checks them too, but its errors have no advice.
SHOW_ARGUMENTS = {
    "n": ArgumentKind(
        "a whole number", is_whole, "write n=20, or leave it out", right_types=(int,)
    ),
    "truncate": ArgumentKind(
        "True, False or a whole number",
        is_truncate_argument,
        "write truncate=False, or leave it out",
    ),
    "vertical": FLAG,
}

# How many characters of its text the repr of a query shows.
MAX_SHOWN_CHARACTERS = 60


@public
@dataclass(frozen=True, repr=False, match_args=False)
class Query:
    """A query that has not run, from `query`. Nothing is read or run before you call a method.

    Methods raise MatchRecognizeError for a mistake in the query. For a mistake outside of clauses,
    the error also has the class of Spark's own error, such as `AnalysisException`.

    Attributes:
        text: your text, or the Pattern.
        language: "SQL", "a clause", "SASE+" or "a Pattern".
        dialect: the product whose SQL the text is written in.
        options: how the query runs.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> falls = matchrec.query(ticks, '''
    ...     ORDER BY day MEASURES COUNT(*) AS days
    ...     PATTERN (FALL+) DEFINE FALL AS price < PREV(price)
    ... ''')
    >>> falls
    <Query, a clause: ORDER BY day MEASURES COUNT(*) AS days PATTERN (FALL+) DEFI...>
    >>> falls.to_df().collect()
    [Row(days=2)]
    """

    text: str | Pattern
    language: QueryKind
    dialect: DialectName
    options: Options
    # The arguments of the call that made the query, and the functions of its language.
    _front_end: FrontEnd

    def to_df(self) -> DataFrame:
        """Return the result as a DataFrame.

        Runs no job. Issues a warning about everything in the query that is probably a mistake.

        A query also has the methods `show`, `collect`, `count`, `toPandas`, `toArrow` and
        `createOrReplaceTempView` and the properties `schema` and `columns`. They do what this
        DataFrame does.

        >>> matchrec.query(spark, "SELECT 1 AS one").to_df().collect()
        [Row(one=1)]
        """
        with self._suggest_dialect(), self._parse(self.options) as parsed_query:
            if not isinstance(parsed_query, EngineQuery):
                return self._evaluate(parsed_query)
        # This is outside of the `with` block, because the engine reads a text without a clause as
        # it is, in every dialect. So no error about it should suggest another dialect.
        return parsed_query.build_result(())

    def _evaluate(self, parsed_query: ParsedQuery) -> DataFrame:
        """Evaluate a parsed query, warn about probable mistakes in it, and return the result.

        If a SQL query has counters, an action on the result fills them.
        """
        clauses = parsed_query.evaluate()
        results = [clause.result for clause in clauses]
        for result in results:
            warn_caller(*find_clause_warnings(result, parsed_query.source, parsed_query.language))
        warn_caller(
            *find_tuning_warnings(self._spark, [result.compiled_rules for result in results])
        )
        rows = parsed_query.build_result(clauses)
        counters = self.options.counters
        if counters is None or self.language != "SQL" or not results:
            return rows
        from matchrec.spark.counters import observe_query

        return observe_query(counters, rows)

    # Methods that people know from a DataFrame. Each plans the query again, as `to_df` does.

    @check_arguments(**SHOW_ARGUMENTS)
    def show(self, n: int = 20, truncate: bool | int = True, vertical: bool = False) -> None:
        """Print the first rows of the result, as `DataFrame.show` does.

        Args:
            n: the largest number of rows to print.
            truncate: the largest number of characters of a value. True means 20, and False means
                that values are not cut.
            vertical: print one value a line instead of a table.

        >>> matchrec.query(spark, "SELECT 1 AS one").show()
        +---+
        |one|
        +---+
        |  1|
        +---+
        """
        self.to_df().show(n, truncate, vertical)

    def collect(self) -> list[Row]:
        """Return all rows of the result.

        >>> matchrec.query(spark, "SELECT 1 AS one").collect()
        [Row(one=1)]
        """
        return self.to_df().collect()

    def count(self) -> int:
        """Return the number of rows of the result.

        >>> matchrec.query(spark, "SELECT 1 AS one").count()
        1
        """
        return self.to_df().count()

    def toPandas(self) -> pd.DataFrame:  # noqa: N802 -- as PySpark calls it
        """Return the result as a pandas DataFrame.

        >>> matchrec.query(spark, "SELECT 1 AS one").toPandas()["one"].tolist()
        [1]
        """
        return self.to_df().toPandas()

    def toArrow(self) -> pa.Table:  # noqa: N802 -- as PySpark calls it
        """Return the result as an Arrow table. Needs PySpark 4 or newer.

        >>> matchrec.query(spark, "SELECT 1 AS one").toArrow().num_rows
        1
        """
        return self.to_df().toArrow()

    def createOrReplaceTempView(self, name: str) -> None:  # noqa: N802 -- as PySpark calls it
        """Register the result as a temporary view.

        >>> matchrec.query(spark, "SELECT 1 AS one").createOrReplaceTempView("ones")
        >>> spark.table("ones").collect()
        [Row(one=1)]
        """
        self.to_df().createOrReplaceTempView(name)

    @property
    def schema(self) -> StructType:
        """The names and types of the columns of the result.

        >>> matchrec.query(spark, "SELECT 1 AS one").schema.simpleString()
        'struct<one:int>'
        """
        return self.to_df().schema

    @property
    def columns(self) -> list[str]:
        """The names of the columns of the result.

        >>> matchrec.query(spark, "SELECT 1 AS one").columns
        ['one']
        """
        return self.to_df().columns

    @check_arguments(**{**ARGUMENTS, "per": AGGREGATE_PER, "aggregates": AGGREGATES.allow_none()})
    def explain(
        self,
        *,
        analyze: bool = False,
        aggregates: Mapping[str, str] | None = None,
        per: AggregatePer = "partition",
        clause: int | str | None = None,
    ) -> Explanation:
        """Show what the clauses of the query compile to, and which algorithm searches for matches.

        Args:
            analyze: also run the query, drop its rows, and show its counters. Only on Spark.
            aggregates: the argument of `aggregate`, to explain that call instead of the query.
            per: the argument of `aggregate`, with `aggregates`.
            clause: explain only this clause, as for `why`. None means all.

        Raises:
            MatchRecognizeUnsupportedError: `analyze` is true, and the query runs on Sail.

        >>> large = matchrec.Pattern.begin("large").where("id > 1")
        >>> print(matchrec.query(spark.range(3), large, order_by="id").explain())
        row pattern
          `large`
        ...
        """
        from matchrec.api.explanations import plan_aggregates, plan_clauses
        from matchrec.explain.explanation import Explanation
        from matchrec.spark.counters import Counters, check_can_count, count_without_rows

        if aggregates is None and per != "partition":
            warn_caller(per_without_aggregates())
        counters = None
        if analyze:
            check_can_count(self._spark, current_surface().analyze_option)
            counters = Counters()
        options = replace(self.options, counters=counters)
        with self._suggest_dialect(), self._parse(options) as parsed_query:
            if aggregates is None:
                planned_call = plan_clauses(parsed_query, clause, needs_rows=analyze)
            else:
                planned_call = plan_aggregates(parsed_query, clause, aggregates, per)
            explained_clauses = planned_call.explain_clauses()
        # A query without a clause has no rows here, because it has no counters.
        if counters is None or planned_call.rows is None:
            return Explanation(explained_clauses)
        count_without_rows(counters, planned_call.rows)
        advice = planned_call.advise_on_speed(self._spark)
        return Explanation(explained_clauses, counters, advice)

    @check_arguments(**ARGUMENTS)
    def why(
        self,
        *,
        partition: Mapping[str, KeyValue] | None = None,
        row: OrderValue | tuple[OrderValue, ...] = None,
        limit: int = 5,
        clause: int | str | None = None,
    ) -> Why:
        """Explain why a clause did not match in one partition, or how it did.

        Runs jobs, which bring the rows of the partition to the driver: at most 100,000. For SASE+,
        `why` looks for all matches. A run of a Pattern that timed out is not a match.

        Args:
            partition: the value of each PARTITION BY column. Needed only if there are
                several partitions.
            row: the row from which to show the search: the value of the first ORDER BY column, or a
                tuple with the values of several. `(None,)` is the row whose value is NULL. If `row`
                is None, the answer has the matches of the partition, and the failed attempts that
                got furthest.
            limit: the largest number of attempts in the answer.
            clause: which clause, if there are several: the alias of its result, or its number as
                `explain` prints it. The first clause has the number 1.

        Raises:
            MatchRecognizePlanError: there is no such clause, partition or row, or the input has
                no rows.
            MatchRecognizeUnsupportedError: the query reads a stream, or the partition has more
                than 100,000 rows.

        >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
        >>> falls = matchrec.query(ticks, '''
        ...     ORDER BY day MEASURES COUNT(*) AS days
        ...     PATTERN (FALL{3}) DEFINE FALL AS price < PREV(price)
        ... ''')
        >>> print(falls.why(limit=1))
        PATTERN (FALL{3})
        the only partition: 4 rows
        no match; 4 starting rows tried
        ...
          got as far as rows 2 to 3: FALL{2}
          then row 4 (day = 4) had to be FALL
        """
        from matchrec.api.questions import explain_partition
        from matchrec.spark.targets import Target

        order_values = row if row is None or isinstance(row, tuple) else (row,)
        with self._parse(self.options) as parsed_query:
            return explain_partition(
                parsed_query.find_clause(clause), Target(partition, order_values), limit
            )

    @check_arguments(**ARGUMENTS)
    def coverage(self, *, clause: int | str | None = None) -> Coverage:
        """Count how far starting rows get in PATTERN, and what stops them.

        The result has the number of starting rows that reached each variable.
        With SASE+ and a Pattern, every event is a starting row. FIRST n MATCHES is ignored: all
        matches are counted. Each clause takes one job over all of its rows.

        Args:
            clause: which clause, as for `why`. None means all.

        Raises:
            MatchRecognizeUnsupportedError: the query has LONGEST MATCH or NOT in PATTERN, or reads
                a stream.

        >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
        >>> print(matchrec.query(ticks, '''
        ...     ORDER BY day MEASURES COUNT(*) AS days
        ...     PATTERN (FALL{3}) DEFINE FALL AS price < PREV(price)
        ... ''').coverage())
        row pattern
          FALL{3}
        ...
          tried   4 ... 2 stopped: FALL's condition was not true
          FALL    2 ... 1 stopped: FALL's condition was not true
          FALL{2} 1 ... 1 stopped: FALL's condition was not true
          FALL{3} 0
          matches 0
        ...
        """
        from matchrec.api.questions import cover
        from matchrec.explain.coverage import Coverage

        # `coverage` does not use the algorithm of the query, so other options do not apply.
        options = Options(sort=self.options.sort, max_steps=self.options.max_steps)
        with self._parse(options) as parsed_query:
            clause_count = len(parsed_query.clause_names)
            last_number = find_clause_number(
                parsed_query, clause_count if clause is None else clause
            )
            # The number of a clause is its position in this list, from 1.
            clauses = parsed_query.list_first_clauses(last_number)
            numbers = range(1, last_number + 1) if clause is None else [last_number]
            return Coverage({number: cover(clauses[number - 1]) for number in numbers})

    @check_arguments(
        **{**ARGUMENTS, "key": KEY_COLUMNS, "labels": FRAME, "start": NAME, "end": NAME}
    )
    def backtest(
        self,
        labels: Frame,
        *,
        start: str,
        end: str,
        key: str | Sequence[str] | None = None,
        clause: int | str | None = None,
    ) -> Backtest:
        """Compare the matches of a clause with labelled incidents: hits, misses and false alarms.

        A match hits an incident if the two overlap: the match ends when the incident begins or
        later, and begins when the incident ends or earlier. Matches count even if the query around
        the clause leaves them out. No job runs before you read the result.

        Args:
            labels: a row for each incident, in a DataFrame of Spark, pandas, Polars or Arrow.
            start: the column with the beginning of an incident, of the same type as the first ORDER
                BY column. NULL means that the beginning is open.
            end: the column with the end of an incident, as for `start`.
            key: the columns of the labels with the values of PARTITION BY, in its order. None means
                columns of the same names; [] means that an incident concerns all partitions.
            clause: which clause, as for `why`.

        Raises:
            MatchRecognizePlanError: the labels do not fit the query.
            MatchRecognizeUnsupportedError: the query reads a stream.

        >>> loads = spark.sql("VALUES (1, 5), (2, 9), (3, 9), (7, 9), (8, 5) AS t(at, load)")
        >>> labels = spark.sql("VALUES (1, 4), (6, 8) AS t(begins, ends)")
        >>> print(matchrec.query(loads, '''
        ...     ORDER BY at PATTERN (HIGH{2}) DEFINE HIGH AS load > 8
        ... ''').backtest(labels, start="begins", end="ends"))
        2 incidents: 1 hit, 1 missed
        1 match: 1 overlapping an incident, 0 false alarms
        recall 0.500, precision 1.000, F1 0.667
        why the best attempts at the missed incidents stopped
          1 after HIGH: HIGH's condition was not true
        """
        from matchrec.api.backtest import backtest
        from matchrec.api.frames import cast_to_dataframe

        with self._parse(self.options) as parsed_query:
            searched_clause = parsed_query.find_clause(clause)
            return backtest(searched_clause, cast_to_dataframe(labels), key, (start, end))

    @check_arguments(**{**ARGUMENTS, "per": AGGREGATE_PER, "aggregates": AGGREGATES.allow_none()})
    def aggregate(
        self,
        aggregates: Mapping[str, str] | None = None,
        *,
        per: AggregatePer = "partition",
        clause: int | str | None = None,
    ) -> DataFrame:
        """Count all matches and aggregate their measures, without building the matches if possible.

        With ALL MATCHES, n rows may have 2 to the power of n matches. So if possible, the search
        updates the aggregates while it reads the rows, and does not build the matches. Otherwise it
        builds them and Spark aggregates them, as in SQL around a clause. `explain` says which of
        the two happens, and why.

        The aggregates are over all matches of the clause. WHERE, GROUP BY and LIMIT in the query
        around the clause do not change them.

        The types are the same in both cases. A count, or a sum of whole numbers, is a BIGINT. A sum
        of DECIMAL(p, s) is a DECIMAL(p + 10, s). A number that does not fit is an error, with and
        without ANSI mode. For larger counts and sums, write `CAST(count(*) AS DECIMAL(38, 0))`,
        which keeps all digits, or `CAST(count(*) AS DOUBLE)`.

        Args:
            aggregates: a dict that maps columns of the result to aggregates. Each aggregate is
                `count(*)`, or count, sum, avg, min or max of a measure. None means
                `{"matches": "count(*)"}`.
            per: the result has one row for each "partition", for each row at which matches begin
                ("start"), or for each row at which matches end ("end"). With "start" and "end", it
                also has the ORDER BY columns of these rows.
            clause: which clause, as for `why`.

        Raises:
            MatchRecognizeUnsupportedError: the query reads a stream, and `per` is not "end". Only a
                row that ends matches has final values in a stream.

        >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
        >>> falls = matchrec.query(ticks, '''
        ...     ORDER BY day MEASURES COUNT(*) AS days
        ...     PATTERN (FALL+) ALL MATCHES DEFINE FALL AS price < PREV(price)
        ... ''')
        >>> falls.aggregate({"matches": "count(*)", "longest": "max(days)"}).show()
        +-------+-------+
        |matches|longest|
        +-------+-------+
        |      3|      2|
        +-------+-------+
        """
        from matchrec.api.totals import aggregate

        columns = {"matches": "count(*)"} if aggregates is None else aggregates
        with self._parse(self.options) as parsed_query:
            return aggregate(parsed_query.find_clause(clause), columns, per).rows

    @check_arguments(**ARGUMENTS)
    def plot(  # noqa: PLR0913 -- public signature
        self,
        *,
        x: str,
        y: str,
        by: str | None = None,
        between: tuple[str, str] | None = None,
        match: str | None = None,
        page: int = 1,
        panels: int = 6,
    ) -> Plot:
        """Draw the matches of the last clause over the rows of its input.

        To draw the matches of another clause, make a query that ends with that clause.

        Needs matplotlib. Runs a few jobs. In a long series, each column of pixels shows the first,
        last, lowest and highest row. Series without matches have no panel.

        `plot` needs the beginning and the end of each match. It looks for them in the result, in
        this order:

        - arrays of events that have the column `x`;
        - two columns of the type of `x` with names such as first_day and last_day, start_time and
          end_time, from and to;
        - `x` itself and a match number, as in a result of ALL ROWS PER MATCH.

        If the clause has SKIP TILL, `plot` also searches for the rows of each match, so that it
        does not draw skipped rows as rows of the match.

        Args:
            x: a column of the input: a date, a timestamp or a number.
            y: a column of the input: a number, drawn as a line, or a string, drawn above a point.
            by: a column of the input. Each of its values is a series, in a separate panel. The
                result, or the events in its arrays, must also have this column.
            between: the two columns with the beginning and the end of a match, if they have other
                names.
            match: the column with the match number, if the result has one row for each row of a
                match. None means the column `match_number`, `match_num`, `match_no` or `match`.
            page: the number of the page to draw, from 1.
            panels: the largest number of panels on a page.

        Raises:
            MatchRecognizePlanError: a column is missing.

        >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
        >>> falls = matchrec.query(ticks, '''
        ...     ORDER BY day MEASURES FIRST(day) AS first_day, LAST(day) AS last_day
        ...     PATTERN (FALL+) DEFINE FALL AS price < PREV(price)
        ... ''')
        >>> falls.plot(x="day", y="price")
        <Plot: 1 match in 1 series, page 1 of 1>
        """
        from matchrec.api.mapped_rows import find_mapped_rows
        from matchrec.explain.charts.plot import plot
        from matchrec.explain.charts.series import ChartSource

        if between is not None and match is not None:
            warn_caller(match_with_between())
        with self._parse(self.options) as parsed_query:
            clauses = parsed_query.evaluate()
            if not clauses:
                raise missing_clause()
            last_clause = clauses[-1].clause
            source = ChartSource(
                matches=parsed_query.build_result(clauses),
                rows=last_clause.relation.rows,
                x=x,
                y=y,
                by=by,
                between=between,
                match=match,
                mapped_rows=find_mapped_rows(last_clause, x, by),
            )
        return plot(source, page, panels)

    @check_arguments(**{**ARGUMENTS, "write": TARGET_DIALECT})
    def to_sql(self, write: TargetDialect = "spark", *, events: str = "events") -> Conversion:
        """Write the query in the SQL of a product, with notes on what differs.

        Args:
            write: the product, as for `transpile`.
            events: the name of the table with the rows, for a clause, SASE+ or a Pattern. SQL text
                names its tables itself.

        Returns:
            The text and the notes, which print as SQL with comments.

        >>> pairs = "PATTERN SEQ(Login a, Error b) WHERE skip_till_next_match"
        >>> events = spark.sql("VALUES (1, 'Login') AS e(at, event_type)")
        >>> print(matchrec.query(events, pairs, order_by="at").to_sql().text)
        SELECT *
        FROM events
        MATCH_RECOGNIZE (
        ...
        """
        return self._front_end.convert(self.dialect, write, events)

    @property
    def _spark(self) -> SparkSession:
        """The session that runs the query."""
        return self._front_end.session

    def _suggest_dialect(self) -> AbstractContextManager[None]:
        """Return a context whose errors name another dialect if the query can be planned in it."""
        text = str(self.text)
        # Other dialects are tried by planning the text. That must not happen to a statement that
        # writes, because Spark runs it as soon as it is planned.
        if self.language == "a clause" or (self.language == "SQL" and is_query(text)):
            return suggest_dialect(text, self.dialect, self._evaluate_in_dialect)
        return nullcontext()

    @contextmanager
    def _parse_without_session_check(self, options: Options) -> Iterator[ParsedQuery]:
        """Parse the query. Errors raised in the `with` block show their location in the text."""
        with translate_stream_errors(self._spark):
            parsed_query = self._front_end.parse(self.dialect, options)
            with locate_errors(parsed_query.source, parsed_query.language):
                yield parsed_query

    @contextmanager
    def _parse(self, options: Options) -> Iterator[ParsedQuery]:
        """Check that the session has not been stopped, then parse the query.

        Errors raised in the `with` block show their location in the text.
        """
        check_session(self._spark)
        with self._parse_without_session_check(options) as parsed_query:
            yield parsed_query

    def _evaluate_in_dialect(self, dialect: str) -> DataFrame:
        """Return the result of the query, read as text in another dialect."""
        parsed_query = self._front_end.parse(dialect, NO_OPTIONS)
        return parsed_query.build_result(parsed_query.evaluate())

    if not TYPE_CHECKING:  # otherwise type checkers would accept these operations

        def __len__(self) -> NoReturn:
            """Raise a TypeError, which says how to count the rows."""
            raise errors.operation_not_supported(
                owner="a Query", operation="len(query)", call="query.count()"
            )

        def __iter__(self) -> NoReturn:
            """Raise a TypeError, which says how to get the rows."""
            raise errors.operation_not_supported(
                owner="a Query", operation="iteration", call="query.collect()"
            )

        def __getitem__(self, key: object) -> NoReturn:
            """Raise a TypeError, which says how to get a column or a row."""
            rows = "query.collect()" if isinstance(key, int | slice) else "query.to_df()"
            index = "" if isinstance(key, slice) else f"[{key!r}]"
            operation = f"query{index or '[...]'}"
            raise errors.operation_not_supported(
                owner="a Query", operation=operation, call=f"{rows}{index}"
            )

        def __bool__(self) -> bool:
            """Return True, so that `if query:` does not call `__len__`."""
            return True

        def __getattr__(self, name: str) -> NoReturn:
            """Raise an AttributeError. If a DataFrame has `name`, the error says how to get one."""
            raise errors.no_attribute(self, name, "to_df()", DataFrame)

    @property
    def _summary(self) -> str:
        """The kind of query, such as "Query, SASE+" or "Query, SQL of trino"."""
        dialect = "" if self.dialect == "spark" else f" of {self.dialect}"
        return f"Query, {self.language}{dialect}"

    def __repr__(self) -> str:
        text = " ".join(replace_control_characters(str(self.text)).split())
        if len(text) > MAX_SHOWN_CHARACTERS:
            text = f"{text[:MAX_SHOWN_CHARACTERS]}..."
        return f"<{self._summary}: {text}>"

    def _repr_html_(self) -> str:
        """Return the repr for notebooks, with the whole text."""
        from matchrec.explain.pictures.html import write_paragraph, write_preformatted

        return write_paragraph(self._summary) + write_preformatted(str(self.text))


def run_clauses(query: Query) -> DataFrame | None:
    """Return the result of a query as `Query.to_df` does; None if the query has no clause.

    A query without a clause is parsed even if the session has been stopped. Spark reports that when
    it runs the query.
    """
    with (
        query._suggest_dialect(),
        query._parse_without_session_check(query.options) as parsed_query,
    ):
        if not parsed_query.clause_names:
            return None
        check_session(query._spark)
        return query._evaluate(parsed_query)
