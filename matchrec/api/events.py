"""`match_sase` and `match_pattern`: find event patterns of SASE+ and of the Pattern API."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from typing_extensions import override

from matchrec.api.clause import Clause
from matchrec.api.evaluate import ClauseQuery, ParsedQuery
from matchrec.api.inputs import Frame, NamedValues, Terms, dialect_of, relation_of, texts_of
from matchrec.api.query import FrontEnd, Query, resolve_options
from matchrec.api.signatures import ARGUMENTS, NAMED, PATTERN_OUTPUT, SASE_OUTPUT
from matchrec.arguments import DATAFRAME, FLAG, PatternOutput, SaseOutput, checked
from matchrec.errors.calls import column_is_no_condition, column_refused, unconverted_option
from matchrec.errors.kinds import shown_in
from matchrec.errors.language import PATTERN_CALLS, SASE
from matchrec.patterns.sase import Streams, compile_sase
from matchrec.patterns.stages.builder import Pattern
from matchrec.patterns.stages.lower import PatternQuery, lower_pattern
from matchrec.patterns.stages.tree import textual
from matchrec.plan.clauses import MatchOutput, RowsPerMatch
from matchrec.plan.match_plan import MatchPlan, as_graph
from matchrec.source import Source
from matchrec.spark.after.expand import mark_graph, unwind_graph
from matchrec.spark.backends import backend_of
from matchrec.spark.environment import check_session
from matchrec.spark.errors.diagnose import check_type_column, first_line
from matchrec.spark.execute import ClauseResult
from matchrec.spark.question import Options
from matchrec.spark.session import quiet_analysis
from matchrec.syntax.expressions.expression import keys, orders

if TYPE_CHECKING:
    from matchrec.dialects.writing.convert import Conversion


@checked(**{**ARGUMENTS, "args": NAMED, "output": SASE_OUTPUT})
def match_sase(  # noqa: PLR0913 -- public signature
    df: Frame,
    text: str,
    args: dict[str, Any] | None = None,
    *,
    order_by: Terms,
    partition_by: Terms = (),
    type_column: str = "event_type",
    output: SaseOutput = "matches",
    options: Options | None = None,
) -> DataFrame:
    """Find the matches of a SASE+ query in a DataFrame of events.

    Args:
        df: the events, as a DataFrame of Spark, pandas, Polars or Arrow.
        text: the SASE+ query.
        args: the values of the `:name` markers in the text.
        order_by: sorts the events; WITHIN measures along its first item. SQL over one row, or
            Columns of the DataFrame.
        partition_by: divides the events into streams. SQL over one row, or Columns of the
            DataFrame.
        type_column: the column whose value is the type of an event.
        output: what the result contains. "matches" returns one row for each match: the partition
            columns, then the columns of RETURN, or without RETURN an array of events for each
            variable. "non_overlapping" returns the same columns, but of overlapping matches only
            the one that is complete first. "graph" returns the shared buffer of all matches, one
            row for each pointer; `explode_graph` turns it into matches.
        options: how the query runs.

    Returns:
        The matches, in no particular order. To sort them, sort by columns of RETURN.

    Everything else works as in `sql`.

    >>> events = spark.sql("VALUES (1, 'Login'), (2, 'Error'), (3, 'Error') AS e(at, event_type)")
    >>> matchrec.match_sase(events, '''
    ...     PATTERN SEQ(Login a, Error b)
    ...     WHERE skip_till_any_match(a, b) { a.at < b.at }
    ...     RETURN a.at AS login, b.at AS error
    ... ''', order_by="at").orderBy("error").show()
    +-----+-----+
    |login|error|
    +-----+-----+
    |    1|    2|
    |    1|    3|
    +-----+-----+
    """
    events = Events.of(df, order_by, partition_by)
    return build_sase_query(events, text, args, type_column, output, options).to_df()


@checked(**{**ARGUMENTS, "args": NAMED, "output": PATTERN_OUTPUT, "timeouts": FLAG})
def match_pattern(  # noqa: PLR0913 -- public signature
    df: Frame,
    pattern: Pattern,
    args: dict[str, Any] | None = None,
    *,
    order_by: Terms,
    partition_by: Terms = (),
    output: PatternOutput = "matches",
    timeouts: bool = False,
    options: Options | None = None,
) -> DataFrame:
    """Find the matches of a Pattern in a DataFrame of events.

    Args:
        df: the events, as a DataFrame of Spark, pandas, Polars or Arrow.
        pattern: the Pattern.
        args: the values of the `:name` markers in conditions.
        order_by: sorts the events. Its first item is the time, along which windows measure. SQL
            over one row, or Columns of the DataFrame.
        partition_by: divides the events into streams. SQL over one row, or Columns of the
            DataFrame.
        output: what the result contains. "matches" returns one row for each match: the partition
            columns, `match_number`, `start_time`, `end_time`, and for each stage an array of its
            events, which may be empty. "events" returns one row for each event of each match, with
            `match_number` and `stage`.
        timeouts: also return the runs that began a match and whose window ended before the match
            was complete. Their `match_number` is NULL, and `timed_out_at` is the end of their
            window. For a match, `timed_out_at` is NULL.
        options: how the query runs.

    Returns:
        The matches, and with `timeouts` the runs that timed out.

    Everything else works as in `sql`.

    >>> events = spark.sql("VALUES (1, 'Login'), (2, 'Error'), (3, 'Error') AS e(at, event_type)")
    >>> pattern = (matchrec.Pattern.begin("login").where("event_type = 'Login'")
    ...     .next("error").where("event_type = 'Error'"))
    >>> matchrec.match_pattern(events, pattern, order_by="at").show()
    +------------+----------+--------+------------+------------+
    |match_number|start_time|end_time|       login|       error|
    +------------+----------+--------+------------+------------+
    |           1|         1|       2|[{1, Login}]|[{2, Error}]|
    +------------+----------+--------+------------+------------+
    """
    events = Events.of(df, order_by, partition_by)
    return build_pattern_query(events, pattern, args, output, timeouts, options).to_df()


@checked(df=DATAFRAME)
def explode_graph(df: DataFrame) -> DataFrame:
    """Return the matches in a graph, one row for each match.

    Args:
        df: the result of `match_sase` with `output="graph"`. You may filter it first, as long as
            every remaining pointer still has its target.

    >>> events = spark.sql("VALUES (1, 'Login'), (2, 'Error'), (3, 'Error') AS e(at, event_type)")
    >>> graph = matchrec.match_sase(
    ...     events, "PATTERN SEQ(Login a, Error b) WHERE skip_till_any_match",
    ...     order_by="at", output="graph")
    >>> matchrec.explode_graph(graph).orderBy("b").show()
    +------------+------------+
    |           a|           b|
    +------------+------------+
    |[{1, Login}]|[{2, Error}]|
    |[{1, Login}]|[{3, Error}]|
    +------------+------------+
    """
    check_session(df.sparkSession)
    return unwind_graph(df)


# The queries behind these functions, which `query` returns before they run.

SASE_OUTPUTS = {
    "matches": MatchOutput.ALL,
    "non_overlapping": MatchOutput.NON_OVERLAPPING,
    "graph": MatchOutput.GRAPH,
}
PATTERN_OUTPUTS = {"matches": RowsPerMatch.ONE_ROW, "events": RowsPerMatch.ALL_ROWS_OMIT_EMPTY}


@dataclass(frozen=True)
class Events:
    """A DataFrame of events. order_by sorts them, partition_by divides them: SQL over one row."""

    df: DataFrame
    order_by: tuple[str, ...]
    partition_by: tuple[str, ...]

    @staticmethod
    def of(df: DataFrame, order_by: Terms, partition_by: Terms) -> Events:
        order = texts_of(df, "order_by", order_by)
        partition = texts_of(df, "partition_by", partition_by)
        dialect = dialect_of(df.sparkSession, order, partition)
        return Events(df, orders(order, dialect), keys(partition, dialect))

    def plan_of_sase(self, source: Source, type_column: str, output: MatchOutput) -> MatchPlan:
        streams = Streams(self.order_by, self.partition_by, type_column, output)
        with shown_in(source, SASE):
            plan = compile_sase(source, streams)
            check_type_column(self.df, type_column, plan)
        return plan


def build_sase_query(  # noqa: PLR0913 -- the arguments of `match_sase`
    events: Events,
    text: str,
    args: dict[str, Any] | None,
    type_column: str,
    output: SaseOutput,
    options: Options | None,
) -> Query:
    """Return the query of a SASE+ text."""
    how = resolve_options("match_sase", options)
    return Query(text, "SASE+", "spark", how, SaseText(events, text, args, type_column, output))


@dataclass(frozen=True)
class EventFrontEnd(FrontEnd):
    """A query in a language that leaves rows, keys and order to the call."""

    events: Events

    @property
    def session(self) -> SparkSession:
        return self.events.df.sparkSession


@dataclass(frozen=True)
class SaseText(EventFrontEnd):
    """A SASE+ text and its events. `why` and `coverage` explain all of its matches."""

    text: str
    args: NamedValues
    type_column: str
    output: SaseOutput

    @override  # the text has no dialects
    def parse(self, dialect: str, options: Options) -> ParsedQuery:
        source = Source(self.text)
        plan = self.events.plan_of_sase(source, self.type_column, SASE_OUTPUTS[self.output])
        clause = Clause(
            as_graph(plan),
            relation_of(self.events.df, self.args),
            options,
            source,
            SASE,
            searched=replace(plan, output=MatchOutput.ALL),
        )
        return GraphQuery(clause, plan) if self.output == "graph" else ClauseQuery(clause)

    @override
    def convert(self, dialect: str, write: str, events: str) -> Conversion:
        from matchrec.api.transpile import conversion

        order, partition = self.events.order_by, self.events.partition_by
        return conversion(
            self.text, "sase", write, events, order, partition, self.type_column, self.output
        )


@dataclass(frozen=True)
class GraphQuery(ClauseQuery):
    """A SASE+ query whose result is the graph of all matches."""

    plan: MatchPlan  # what the user wrote; the plan of the clause finds the pointers

    def finish(self, result: ClauseResult) -> DataFrame:
        return mark_graph(result.dataframe, self.plan)


def build_pattern_query(  # noqa: PLR0913 -- the arguments of `match_pattern`
    events: Events,
    pattern: Pattern,
    args: NamedValues,
    output: PatternOutput,
    timeouts: bool,
    options: Options | None,
) -> Query:
    """Return the query of a Pattern."""
    how = resolve_options("match_pattern", options)
    front_end = PatternOverEvents(events, pattern, args, output, timeouts)
    return Query(pattern, "a Pattern", "spark", how, front_end)


@dataclass(frozen=True)
class PatternOverEvents(EventFrontEnd):
    """A Pattern and its events. For `why` and `coverage`, a run that timed out is no match."""

    pattern: Pattern
    args: NamedValues
    output: PatternOutput
    timeouts: bool

    @override  # a Pattern has no dialects
    def parse(self, dialect: str, options: Options) -> ParsedQuery:
        lowered = lower_over(self.events, self.pattern, self.output, timeouts=self.timeouts)
        is_plain = self.output == "matches" and not self.timeouts
        plain = lowered if is_plain else lower_over(self.events, self.pattern)
        relation = relation_of(lowered.frame, self.args)
        clause = Clause(
            lowered.plan, relation, options, lowered.source, PATTERN_CALLS, searched=plain.plan
        )
        return LoweredPatternQuery(clause, lowered.columns)

    def convert(self, dialect: str, write: str, events: str) -> Conversion:
        from matchrec.api.transpile import conversion

        if self.timeouts:
            raise unconverted_option(option="timeouts=True")
        order, partition = self.events.order_by, self.events.partition_by
        return conversion(
            self.pattern, dialect, write, events, order, partition, output=self.output
        )


@dataclass(frozen=True)
class LoweredPatternQuery(ClauseQuery):
    """A Pattern query, whose conditions may have columns of their own in its input."""

    condition_columns: tuple[str, ...]  # are dropped from the result

    def finish(self, result: ClauseResult) -> DataFrame:
        return result.dataframe.drop(*self.condition_columns)


@dataclass(frozen=True)
class LoweredPattern:
    """A plan with its source, over events with further columns, which do not come out."""

    plan: MatchPlan
    source: Source
    frame: DataFrame
    columns: tuple[str, ...]


def lower_over(
    events: Events, pattern: Pattern, output: PatternOutput = "matches", *, timeouts: bool = False
) -> LoweredPattern:
    df = events.df
    stages, columns = textual(pattern.stages)
    frame = with_conditions(df, columns)
    streams = events.order_by, events.partition_by, tuple(df.columns)
    rows = PATTERN_OUTPUTS[output], timeouts
    dialect = dialect_of(df.sparkSession, stages)
    query = PatternQuery(replace(pattern, stages=stages), *streams, *rows, dialect)
    return LoweredPattern(*lower_pattern(query), frame, tuple(columns))


def with_conditions(df: DataFrame, columns: dict[str, Any]) -> DataFrame:
    """The events with a column for each condition that was given as a Column.

    Raises MatchRecognizePlanError for one that Spark refuses, or that is no condition.
    """
    for name, column in columns.items():
        written = str(column)
        with quiet_analysis():
            try:
                kind = df.select("*", column.alias(name)).schema.fields[-1].dataType
            except AnalysisException as error:
                engine, reason = backend_of(df.sparkSession).engine, first_line(error)
                raise column_refused(engine=engine, column=written, reason=reason) from None
        if (type_name := kind.simpleString()) not in ("boolean", "void"):
            raise column_is_no_condition(column=written, type_name=type_name)
    return df.withColumns(columns) if columns else df
