"""The public functions for SQL: `sql`, `match_recognize`, `query`, `explode_matches` and `enable`.

`sql` runs a query with clauses in it, and `match_recognize` runs one clause over a DataFrame. Both
build a `Query` and return its DataFrame. `query` returns the `Query` itself, in any language.
`enable` lets Spark's own `spark.sql` run queries with clauses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, overload

from pyspark.sql import DataFrame, SparkSession

from matchrec.api.clause import Clause
from matchrec.api.dialects import has_clause_in_dialect, parse_clause_in_dialect, parse_query
from matchrec.api.evaluate import ClauseQuery, EngineQuery, ParsedQuery, SqlQuery
from matchrec.api.frames import Frame, cast_to_dataframe, to_dataframe
from matchrec.api.inputs import ColumnsOrSql, FrameOrLiteral, Frames, build_relation, build_runner
from matchrec.api.query import FrontEnd, Query, resolve_options, run_clauses
from matchrec.api.signatures import ARGS, ARGUMENTS, FRAMES, NAMED, QUERIED, QUERY, is_pattern
from matchrec.arguments import (
    DATAFRAME,
    SESSION,
    TEXT,
    Arguments,
    DialectName,
    NamedArguments,
    PatternOutput,
    SaseOutput,
    bind_call,
    check_arguments,
    is_session,
)
from matchrec.errors import calls as errors
from matchrec.errors.kinds import locate_errors, with_source
from matchrec.errors.machine import missing_session
from matchrec.source import Source, Span
from matchrec.spark.after.expand import explode_rows
from matchrec.spark.environment import check_session
from matchrec.spark.request import OPTIONS, Options
from matchrec.spark.session import Answer, replace_sql, restore_sql
from matchrec.syntax.lower import lower_clause

if TYPE_CHECKING:
    from matchrec.api.events import Events
    from matchrec.dialects.writing.convert import Conversion
    from matchrec.patterns.stages.builder import Pattern

# White space and comments.
BLANKS = r"(\s|--[^\n]*\n|/\*([^*]|\*(?!/))*\*/)*"

# The beginning of a SASE+ text, also of one that lacks PATTERN. In a clause of SQL, PATTERN is
# followed by a parenthesis.
IS_SASE = re.compile(rf"{BLANKS}(PATTERN\s+SEQ\b|SEQ\s*\()", re.IGNORECASE)

# The beginning of a clause or of a SASE+ text. No statement of Spark begins like this.
NO_QUERY = re.compile(
    rf"{BLANKS}(?P<word>PARTITION\s+BY|ORDER\s+BY|MEASURES|PATTERN|MATCH_RECOGNIZE|SEQ(?=\s*\())\b",
    re.IGNORECASE,
)
SESSION_OF_SQL = replace(
    SESSION,
    hint="pass the session: matchrec.session(); a clause over a DataFrame goes to"
    " matchrec.match_recognize(df, clause)",
)
CLAUSE_TEXT = replace(
    TEXT,
    hint='write "ORDER BY ... PATTERN ..."; a Pattern goes to'
    " matchrec.match_pattern(df, pattern, order_by=...)",
)


def with_running_session(function: Callable[..., DataFrame]) -> Callable[..., DataFrame]:
    """Let a function with the parameters `spark, query, ...` be called without `spark`.

    If a text is followed by another text or by a session, the text is in the place of the session.
    It stays the first argument, so that the error says so.
    """

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> DataFrame:
        """Call the function, with the running session if the first argument is a query."""
        if args:
            is_misplaced = len(args) > 1 and (isinstance(args[1], str) or is_session(args[1]))
            begins_with_query = isinstance(args[0], str) and not is_misplaced
        else:
            begins_with_query = "query" in kwargs
        if begins_with_query and "spark" not in kwargs:
            args = (find_running_session(), *args)
        return function(*args, **kwargs)

    return call


def find_running_session() -> SparkSession:
    """Return the running session.

    Raises:
        MatchRecognizePlanError: no session is running.
    """
    session = SparkSession.getActiveSession()
    if session is None:
        raise missing_session()
    return session


@overload
def sql(
    spark: SparkSession,
    query: str,
    args: Arguments | None = None,
    *,
    dialect: DialectName = "spark",
    options: Options | None = None,
    **frames: FrameOrLiteral,
) -> DataFrame: ...


@overload
def sql(
    query: str,
    args: Arguments | None = None,
    *,
    dialect: DialectName = "spark",
    options: Options | None = None,
    **frames: FrameOrLiteral,
) -> DataFrame: ...


@with_running_session
@check_arguments(**{**ARGUMENTS, "spark": SESSION_OF_SQL, "query": TEXT})
def sql(
    spark: SparkSession,
    query: str,
    args: Arguments | None = None,
    *,
    dialect: DialectName = "spark",
    options: Options | None = None,
    **frames: FrameOrLiteral,
) -> DataFrame:
    """Run a Spark SQL query that may contain MATCH_RECOGNIZE clauses, and return its result.

    Args:
        spark: the session. You may leave it out if a session is running.
        query: the text of the query.
        args: the values of the `:name` parameters.
        dialect: the product whose SQL the query is written in: "spark", "standard", "databricks",
            "snowflake", "oracle", "trino", "flink", "bigquery" or "azure".
        options: how the query runs.
        frames: the DataFrames that the query names as `{name}`, as in `spark.sql`. Frames of
            pandas, Polars and Arrow are accepted, too.

    Returns:
        The result, which no job has computed yet. It is the same as `query(...).to_df()`.

    Raises:
        MatchRecognizeError: a clause has a mistake. For a mistake in the rest of the query, Spark
            raises its own error.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> matchrec.sql(spark, '''
    ...     SELECT 95 - lowest AS rise FROM {ticks} MATCH_RECOGNIZE (
    ...         ORDER BY day
    ...         MEASURES LAST(FALL.price) AS lowest
    ...         PATTERN (FALL+ RISE)
    ...         DEFINE FALL AS price < PREV(price), RISE AS price > PREV(price)
    ...     )''', ticks=ticks).show()
    +----+
    |rise|
    +----+
    |  25|
    +----+
    """
    return build_sql_query(spark, query, args, dialect, options, frames).to_df()


@check_arguments(**{**ARGUMENTS, "clause": CLAUSE_TEXT, "args": NAMED})
def match_recognize(
    df: Frame,
    clause: str,
    args: NamedArguments | None = None,
    *,
    dialect: DialectName = "spark",
    options: Options | None = None,
) -> DataFrame:
    """Run a MATCH_RECOGNIZE clause over a DataFrame, and return its rows.

    Args:
        df: a DataFrame of Spark, pandas, Polars or Arrow. A frame of another library than Spark is
            sent to the running session, or to a new one of `matchrec.session()`.
        clause: the text between the parentheses, from PARTITION BY to DEFINE.
        args: the values of the `:name` parameters in the clause.
        dialect: the product whose SQL the clause is written in, as in `sql`.
        options: how the query runs.

    Returns:
        The rows of the clause, always as a DataFrame of Spark.

    Everything else works as in `sql`.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> matchrec.match_recognize(ticks, '''
    ...     ORDER BY day
    ...     MEASURES FIRST(day) AS first_day, LAST(price) AS lowest
    ...     PATTERN (FALL+)
    ...     DEFINE FALL AS price < PREV(price)
    ... ''').show()
    +---------+------+
    |first_day|lowest|
    +---------+------+
    |        2|    70|
    +---------+------+
    """
    return build_clause_query(cast_to_dataframe(df), clause, args, dialect, options).to_df()


@check_arguments(df=DATAFRAME, column=TEXT.allow_none())
def explode_matches(df: DataFrame, column: str | None = None) -> DataFrame:
    """Return a row for each row of each match, as ALL ROWS PER MATCH does.

    An empty match has no row.

    Args:
        df: a result that has the rows of each match in an array.
        column: the name of this array. MATCHED_ROWS() in MEASURES makes such a column, and so does
            `match_pattern` for each stage. None means the only column of MATCHED_ROWS().

    Returns:
        The other columns of `df`, then the columns of the matched row that `df` lacks.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> falls = matchrec.match_recognize(ticks, '''
    ...     ORDER BY day
    ...     MEASURES FIRST(price) - LAST(price) AS loss, MATCHED_ROWS() AS rows
    ...     PATTERN (TOP FALL+)
    ...     DEFINE FALL AS price < PREV(price)
    ... ''')
    >>> matchrec.explode_matches(falls.where("loss > 10")).orderBy("day").show()
    +----+---+-----+----------+
    |loss|day|price|classifier|
    +----+---+-----+----------+
    |  20|  1|   90|       TOP|
    |  20|  2|   80|      FALL|
    |  20|  3|   70|      FALL|
    +----+---+-----+----------+
    """
    return explode_rows(df, column)


# The queries that these functions run. `query` returns them before they run.


def build_sql_query(  # noqa: PLR0913 -- the arguments of `sql`
    spark: SparkSession,
    query: str,
    args: Arguments | None,
    dialect: DialectName,
    options: Options | None,
    frames: Frames,
) -> Query:
    """Return the query of a SQL text. It takes the arguments of `sql`.

    Raises:
        MatchRecognizePlanError: a DataFrame was passed that the text does not name.
    """
    for name in frames:
        if not re.search(rf"{{\s*{re.escape(name)}\b", query):
            raise errors.unknown_argument(name, ("args", "dialect", "options"), OPTIONS)
    front_end = SqlText(spark, query, args, convert_frames(spark, frames))
    return Query(query, "SQL", dialect, resolve_options("sql", options), front_end)


def convert_frames(spark: SparkSession, frames: Frames) -> Frames:
    """Convert the frames of other libraries that a query names to DataFrames of Spark."""
    return {name: to_dataframe(spark, name, frame) for name, frame in frames.items()}


@dataclass(frozen=True)
class SqlText(FrontEnd):
    """A SQL text, the values of its parameters, and the DataFrames that it names."""

    spark: SparkSession
    text: str
    args: Arguments | None
    frames: Frames  # all of them DataFrames of Spark, if the text may have a clause

    @property
    def session(self) -> SparkSession:
        """Return the session that runs the query."""
        return self.spark

    def parse(self, dialect: str, options: Options) -> ParsedQuery:
        """Return the parsed query; an `EngineQuery` if the session can run the text as it is."""
        self.check_is_query()
        node = parse_query(self.spark, self.text, self.args, self.frames, dialect)
        is_translated = node.source.text != self.text  # from another dialect
        if not node.sites and not is_translated:
            return EngineQuery(self.text, self.spark, self.args, self.frames)
        return SqlQuery(node, build_runner(self.spark, node, self.args, self.frames), options)

    def check_is_query(self) -> None:
        """Check that the text is a query, rather than a clause or a SASE+ text.

        Raises:
            MatchRecognizePlanError: it is one of these. The error says which function takes it.
        """
        beginning = NO_QUERY.match(self.text)
        if beginning is None:
            return
        call = "match_sase" if IS_SASE.match(self.text) else "match_recognize"
        span = Span(*beginning.span("word"))
        word = beginning["word"]
        if word.upper() == "SEQ":
            error = errors.sase_without_pattern(span, word=word, call=call)
        else:
            error = errors.not_a_query(span, word=word, call=call)
        raise with_source(error, Source(self.text))

    def convert(self, dialect: str, write: str, events: str) -> Conversion:
        """Convert the query to the language `write`."""
        from matchrec.api.transpile import convert_query

        return convert_query(self.text, dialect, write, events)


def build_clause_query(
    df: DataFrame,
    clause: str,
    args: NamedArguments | None,
    dialect: DialectName,
    options: Options | None,
) -> Query:
    """Return the query of a clause over a DataFrame.

    It takes the same arguments as `match_recognize`.
    """
    front_end = ClauseText(df, clause, args)
    return Query(
        clause, "a clause", dialect, resolve_options("match_recognize", options), front_end
    )


@dataclass(frozen=True)
class ClauseText(FrontEnd):
    """The text of a clause, the DataFrame that it reads, and the values of its parameters."""

    df: DataFrame
    text: str  # the text between the parentheses of MATCH_RECOGNIZE
    args: NamedArguments | None

    @property
    def session(self) -> SparkSession:
        """Return the session of the DataFrame."""
        return self.df.sparkSession

    def parse(self, dialect: str, options: Options) -> ParsedQuery:
        """Return the query of the clause over the DataFrame."""
        node, source = parse_clause_in_dialect(self.df, self.text, dialect)
        with locate_errors(source):
            plan = lower_clause(node, self.args or {})
            return ClauseQuery(Clause(plan, build_relation(self.df, self.args), options, source))

    def convert(self, dialect: str, write: str, events: str) -> Conversion:
        """Convert a query with the clause, over the table `events`, to the language `write`."""
        from matchrec.api.transpile import convert_query

        query = f"SELECT * FROM {events} MATCH_RECOGNIZE ({self.text})"
        return convert_query(query, dialect, write, events)


# `query`: one function for all languages, which returns a query that has not run.


@overload
def query(
    spark: SparkSession,
    query: str,
    args: Arguments | None = None,
    *,
    dialect: DialectName = "spark",
    options: Options | None = None,
    **frames: FrameOrLiteral,
) -> Query: ...


@overload
def query(
    df: Frame,
    clause: str,
    args: NamedArguments | None = None,
    *,
    dialect: DialectName = "spark",
    options: Options | None = None,
) -> Query: ...


@overload
def query(
    df: Frame,
    text: str,
    args: NamedArguments | None = None,
    *,
    order_by: ColumnsOrSql,
    partition_by: ColumnsOrSql = (),
    type_column: str = "event_type",
    output: SaseOutput = "matches",
    options: Options | None = None,
) -> Query: ...


@overload
def query(
    df: Frame,
    pattern: Pattern,
    args: NamedArguments | None = None,
    *,
    order_by: ColumnsOrSql,
    partition_by: ColumnsOrSql = (),
    output: PatternOutput = "matches",
    timeouts: bool = False,
    options: Options | None = None,
) -> Query: ...


def query(*args: Any, **kwargs: Any) -> Query:
    """Return a query that has not run: SQL, a clause, a SASE+ query or a Pattern.

    Its methods return its rows, show how it runs, and show why rows match.

    `query` takes the arguments of one of four functions. The first two arguments decide which:

        a session and SQL text            sql
        a DataFrame and a clause          match_recognize
        a DataFrame and a SASE+ query     match_sase; the text begins with PATTERN SEQ
        a DataFrame and a Pattern         match_pattern

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> falls = matchrec.query(spark, '''
    ...     SELECT * FROM {ticks} MATCH_RECOGNIZE (
    ...         ORDER BY day MEASURES COUNT(*) AS days
    ...         PATTERN (FALL+) DEFINE FALL AS price < PREV(price))''', ticks=ticks)
    >>> falls.show()
    +----+
    |days|
    +----+
    |   2|
    +----+
    >>> print(falls.why(row=1))
    PATTERN (FALL+)
    ...
    >>> print(falls.to_sql("snowflake").text)
    <BLANKLINE>
        SELECT * FROM {ticks} MATCH_RECOGNIZE (
            ORDER BY day NULLS FIRST MEASURES COUNT(*) AS days
    ...
    """
    source, query = find_source_and_query(args, kwargs)
    if is_session(source):
        return build_sql_query(**bind_call(sql, "query", args, kwargs))
    if is_pattern(query) or IS_SASE.match(str(query)) or "order_by" in kwargs:
        from matchrec.api import events  # queries in SQL do not need it

        if is_pattern(query):
            arguments = bind_call(events.match_pattern, "query", args, kwargs)
            return events.build_pattern_query(pop_events(arguments), **arguments)
        arguments = bind_call(events.match_sase, "query", args, kwargs)
        return events.build_sase_query(pop_events(arguments), **arguments)
    QUERIED.check("`query`", "spark` or `df", source)
    QUERY.check("`query`", "query", query)
    return build_clause_query(**bind_call(match_recognize, "query", args, kwargs))


def find_source_and_query(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the first two arguments of `query`, whether they are passed by position or by name.

    Returns:
        The session or DataFrame, and the text or Pattern; None for what is missing.
    """
    source = find_named(kwargs, "spark", "df")
    query = find_named(kwargs, "query", "clause", "text", "pattern")
    if args:
        source = args[0]
    if len(args) > 1:
        query = args[1]
    return source, query


def find_named(kwargs: Mapping[str, Any], *names: str) -> Any:
    """Return the argument with the first of these names that is present, or None."""
    for name in names:
        if name in kwargs:
            return kwargs[name]
    return None


def pop_events(arguments: dict[str, Any]) -> Events:
    """Remove `df`, `order_by` and `partition_by` from the arguments, and return them as events."""
    from matchrec.api.events import Events

    df = arguments.pop("df")
    order_by = arguments.pop("order_by")
    partition_by = arguments.pop("partition_by")
    return Events.build(df, order_by, partition_by)


# `enable`: let `spark.sql` itself understand the clause.


@check_arguments(**ARGUMENTS)
def enable(
    spark: SparkSession, *, dialect: DialectName = "spark", options: Options | None = None
) -> None:
    """Let `spark.sql` understand MATCH_RECOGNIZE, in every session of this application.

    An application is a SparkContext, or the Spark Connect server. Its sessions include the sessions
    that `newSession` returns. If Spark runs in this program, they also include the sessions of the
    DataFrames in `foreachBatch`. Over Spark Connect, the function of `foreachBatch` runs in another
    process and must call `enable` itself. A second call of `enable` replaces the dialect and the
    options of the first.

    A query without a clause is passed to Spark unchanged, whatever the dialect.

    Args:
        spark: any session of the application.
        dialect: the product whose SQL the queries are written in, as in `sql`.
        options: how the queries run. Counters are not allowed, because they belong to one query.

    >>> matchrec.enable(spark)
    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> spark.sql('''SELECT * FROM {ticks} MATCH_RECOGNIZE (
    ...     ORDER BY day
    ...     MEASURES FIRST(day) AS first_day, LAST(price) AS lowest
    ...     PATTERN (FALL+)
    ...     DEFINE FALL AS price < PREV(price)
    ... )''', ticks=ticks).show()
    +---------+------+
    |first_day|lowest|
    +---------+------+
    |        2|    70|
    +---------+------+
    >>> matchrec.disable(spark)
    """
    check_session(spark)
    replace_sql(spark, build_answer(dialect, resolve_options("enable", options, "counters")))


@check_arguments(**ARGUMENTS)
def disable(spark: SparkSession) -> None:
    """Restore `spark.sql` as it was before `enable`. Do nothing if `enable` was not called.

    >>> matchrec.enable(spark)
    >>> matchrec.disable(spark)
    """
    restore_sql(spark)


def build_answer(dialect: DialectName, options: Options) -> Answer:
    """Return the function that `spark.sql` calls first for each query once `enable` was called.

    Args:
        dialect: the product whose SQL the queries with clauses are written in.
        options: how these queries run.
    """

    def answer(session: SparkSession, query: Any, args: Any, frames: Frames) -> DataFrame | None:
        """Return the result of a query; None for a query without a clause, which Spark runs."""
        if not isinstance(query, str):
            return None
        # Spark checks the arguments of a query without a clause itself.
        query_dialect: DialectName = "spark"
        known_args: Arguments | None = None
        if has_clause_in_dialect(session, query, dialect):
            query_dialect = dialect
            known_args = dict(args) if isinstance(args, Mapping) else args
            ARGS.check("`spark.sql`", "args", known_args)
            frames = convert_frames(session, frames)
            for name, frame in frames.items():
                FRAMES.check("`spark.sql`", name, frame)
        front_end = SqlText(session, query, known_args, frames)
        return run_clauses(Query(query, "SQL", query_dialect, options, front_end))

    return answer
