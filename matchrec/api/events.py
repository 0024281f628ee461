"""The public functions for events: `match_sase`, `match_pattern` and `explode_graph`.

In SQL a clause says how rows are divided and sorted. SASE+ texts and Patterns do not, so it is an
argument of the call: see `Events`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from typing_extensions import override

from matchrec.api.argument_kinds import ARGUMENTS, NAMED_VALUES, PATTERN_OUTPUT, SASE_OUTPUT
from matchrec.api.clause import Clause
from matchrec.api.evaluate import ClauseQuery, EvaluatedClauses, ParsedQuery
from matchrec.api.frames import Frame, cast_to_dataframe
from matchrec.api.inputs import ColumnsOrSql, build_relation, find_quote_dialect, write_terms
from matchrec.api.query import FrontEnd, Query, resolve_options
from matchrec.arguments import (
    DATAFRAME,
    FLAG,
    NamedArguments,
    PatternOutput,
    SaseOutput,
    check_arguments,
)
from matchrec.errors.calls import option_not_convertible
from matchrec.errors.frames import condition_not_boolean, condition_rejected_by_engine
from matchrec.errors.kinds import locate_errors
from matchrec.errors.language import PATTERN_CALLS, SASE
from matchrec.patterns.sase import Streams, compile_sase
from matchrec.patterns.stages.builder import Pattern
from matchrec.patterns.stages.lower import lower_pattern
from matchrec.patterns.stages.query import PatternQuery
from matchrec.patterns.stages.tree import name_columns
from matchrec.plan.clauses import MatchOutput, RowsPerMatch
from matchrec.plan.match_plan import MatchPlan, build_graph_plan
from matchrec.source import Source
from matchrec.spark.after.expand import mark_graph, unwind_graph
from matchrec.spark.backends import find_backend
from matchrec.spark.environment import check_session
from matchrec.spark.errors.refusals import read_sentence
from matchrec.spark.errors.type_checks import check_type_column
from matchrec.spark.request import Options
from matchrec.spark.session import silence_analysis
from matchrec.syntax.expressions.expression import read_order_by, read_partition_by

if TYPE_CHECKING:
    from matchrec.dialects.writing.convert import Conversion


@check_arguments(**{**ARGUMENTS, "args": NAMED_VALUES, "output": SASE_OUTPUT})
def match_sase(  # noqa: PLR0913 -- public signature
    df: Frame,
    text: str,
    args: NamedArguments | None = None,
    *,
    order_by: ColumnsOrSql,
    partition_by: ColumnsOrSql = (),
    type_column: str = "event_type",
    output: SaseOutput = "matches",
    options: Options | None = None,
) -> DataFrame:
    """Find the matches of a SASE+ query in a DataFrame of events.

    Args:
        df: the events, as a DataFrame of Spark, pandas, Polars or Arrow.
        text: the SASE+ query.
        args: the values of the `:name` parameters in the text.
        order_by: what sorts the events, as SQL over one row, or as Columns of the DataFrame. WITHIN
            measures along the first item.
        partition_by: what divides the events into partitions, as SQL over one row, or as Columns of
            the DataFrame.
        type_column: the column whose value is the type of an event.
        output: what the result contains. "matches" returns one row for each match: the partition
            columns, then the columns of RETURN, or without RETURN an array of events for each
            variable. "non_overlapping" returns the same columns, but of overlapping matches only
            the one that is complete first. "graph" returns the shared buffer of all matches, one
            row for each pointer; `explode_graph` turns it into matches.
        options: how the query runs.

    Returns:
        The matches, in no particular order, which no job has computed yet. To sort them, sort by
        columns of RETURN.

    Raises:
        MatchRecognizeError: the query has a mistake.

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
    events = Events.build(cast_to_dataframe(df), order_by, partition_by)
    return build_sase_query(events, text, args, type_column, output, options).to_df()


@check_arguments(**{**ARGUMENTS, "args": NAMED_VALUES, "output": PATTERN_OUTPUT, "timeouts": FLAG})
def match_pattern(  # noqa: PLR0913 -- public signature
    df: Frame,
    pattern: Pattern,
    args: NamedArguments | None = None,
    *,
    order_by: ColumnsOrSql,
    partition_by: ColumnsOrSql = (),
    output: PatternOutput = "matches",
    timeouts: bool = False,
    options: Options | None = None,
) -> DataFrame:
    """Find the matches of a Pattern in a DataFrame of events.

    Args:
        df: the events, as a DataFrame of Spark, pandas, Polars or Arrow.
        pattern: the Pattern.
        args: the values of the `:name` parameters in conditions.
        order_by: what sorts the events, as SQL over one row, or as Columns of the DataFrame. The
            first item is the time, along which windows measure.
        partition_by: what divides the events into partitions, as SQL over one row, or as Columns of
            the DataFrame.
        output: what the result contains. "matches" returns one row for each match: the partition
            columns, `match_number`, `start_time`, `end_time`, and for each stage an array of its
            events, which may be empty. "events" returns one row for each event of each match, with
            `match_number` and `stage`.
        timeouts: also return the runs that began a match and whose window ended before the match
            was complete. For such a run, `match_number` is NULL, and `timed_out_at` is the end of
            the window. For a match, `timed_out_at` is NULL.
        options: how the query runs.

    Returns:
        The matches, and with `timeouts` the runs that timed out, which no job has computed yet.

    Raises:
        MatchRecognizeError: the pattern has a mistake.

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
    events = Events.build(cast_to_dataframe(df), order_by, partition_by)
    return build_pattern_query(events, pattern, args, output, timeouts, options).to_df()


@check_arguments(df=DATAFRAME)
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


# The queries that these functions run. `query` returns them before they run.

SASE_OUTPUTS = {
    "matches": MatchOutput.ALL,
    "non_overlapping": MatchOutput.NON_OVERLAPPING,
    "graph": MatchOutput.GRAPH,
}
PATTERN_OUTPUTS = {"matches": RowsPerMatch.ONE_ROW, "events": RowsPerMatch.ALL_ROWS_OMIT_EMPTY}


@dataclass(frozen=True)
class Events:
    """A DataFrame of events, with their order and their partitions."""

    df: DataFrame
    # ORDER BY and PARTITION BY of the events. Each item is SQL over one row.
    order_by: tuple[str, ...]
    partition_by: tuple[str, ...]

    @staticmethod
    def build(df: DataFrame, order_by: ColumnsOrSql, partition_by: ColumnsOrSql) -> Events:
        """Return a DataFrame as events that are sorted and divided by SQL or by its Columns.

        Raises:
            MatchRecognizePlanError: an item is not an expression, or a computed Column.
        """
        order_texts = write_terms(df, "order_by", order_by)
        partition_texts = write_terms(df, "partition_by", partition_by)
        dialect = find_quote_dialect(df.sparkSession, order_texts, partition_texts)
        return Events(
            df, read_order_by(order_texts, dialect), read_partition_by(partition_texts, dialect)
        )

    def lower_sase(self, source: Source, type_column: str, output: MatchOutput) -> MatchPlan:
        """Return the plan of a SASE+ text over these events.

        Args:
            source: the text.
            type_column: the column whose value is the type of an event.
            output: which matches the plan finds, and in which form.

        Raises:
            MatchRecognizeError: the text has a mistake, or the type column is missing.
        """
        streams = Streams(self.order_by, self.partition_by, type_column, output)
        with locate_errors(source, SASE):
            plan = compile_sase(source, streams)
            check_type_column(self.df, type_column, plan)
        return plan


@dataclass(frozen=True)
class EventFrontEnd(FrontEnd):
    """A front end of a language in which the call, and not the text, sorts and divides the rows."""

    events: Events

    @property
    def session(self) -> SparkSession:
        """Return the session of the events."""
        return self.events.df.sparkSession


# SASE+


def build_sase_query(  # noqa: PLR0913 -- the arguments of `match_sase`
    events: Events,
    text: str,
    args: NamedArguments | None,
    type_column: str,
    output: SaseOutput,
    options: Options | None,
) -> Query:
    """Return the query of a SASE+ text. It takes the same arguments as `match_sase`."""
    resolved_options = resolve_options("match_sase", options)
    front_end = SaseText(events, text, args, type_column, output)
    return Query(text, "SASE+", "spark", resolved_options, front_end)


@dataclass(frozen=True)
class SaseText(EventFrontEnd):
    """A SASE+ text and its events."""

    text: str
    args: NamedArguments | None
    type_column: str
    output: SaseOutput

    @override  # ignores `dialect`: SASE+ has no dialects
    def parse(self, dialect: str, options: Options) -> ParsedQuery:
        """Return the query of the SASE+ text."""
        source = Source(self.text)
        plan = self.events.lower_sase(source, self.type_column, SASE_OUTPUTS[self.output])
        clause = Clause(
            plan=build_graph_plan(plan),
            relation=build_relation(self.events.df, self.args),
            options=options,
            source=source,
            language=SASE,
            # `why` and `coverage` explain all matches, whatever the output.
            searched=replace(plan, output=MatchOutput.ALL),
        )
        if self.output == "graph":
            return GraphQuery(clause, plan)
        return ClauseQuery(clause)

    @override
    def convert(self, dialect: str, write: str, events: str) -> Conversion:
        """Convert the SASE+ text to the language `write`."""
        from matchrec.api.transpile import convert_query

        return convert_query(
            self.text,
            read="sase",
            write=write,
            events=events,
            order_by=self.events.order_by,
            partition_by=self.events.partition_by,
            type_column=self.type_column,
            output=self.output,
        )


@dataclass(frozen=True)
class GraphQuery(ClauseQuery):
    """A SASE+ query whose result is the graph of all matches."""

    # The plan that the user wrote. The plan of the clause finds the pointers of the graph.
    plan: MatchPlan

    def build_result(self, clauses: EvaluatedClauses) -> DataFrame:
        """Return the graph with the metadata that `unwind_graph` needs."""
        return mark_graph(super().build_result(clauses), self.plan)


# Patterns


def build_pattern_query(  # noqa: PLR0913 -- the arguments of `match_pattern`
    events: Events,
    pattern: Pattern,
    args: NamedArguments | None,
    output: PatternOutput,
    timeouts: bool,
    options: Options | None,
) -> Query:
    """Return the query of a Pattern. It takes the same arguments as `match_pattern`."""
    resolved_options = resolve_options("match_pattern", options)
    front_end = PatternOverEvents(events, pattern, args, output, timeouts)
    return Query(pattern, "a Pattern", "spark", resolved_options, front_end)


@dataclass(frozen=True)
class PatternOverEvents(EventFrontEnd):
    """A Pattern and its events."""

    pattern: Pattern
    args: NamedArguments | None
    output: PatternOutput
    timeouts: bool  # whether runs that timed out are output rows, too

    @override  # ignores `dialect`: a Pattern has no dialects
    def parse(self, dialect: str, options: Options) -> ParsedQuery:
        """Return the query of the Pattern over the events."""
        lowered = lower_over(self.events, self.pattern, self.output, timeouts=self.timeouts)
        # `why` and `coverage` explain matches. A run that timed out is not a match.
        searched = lowered
        if self.timeouts or self.output != "matches":
            searched = lower_over(self.events, self.pattern)
        clause = Clause(
            plan=lowered.plan,
            relation=build_relation(lowered.frame, self.args),
            options=options,
            source=lowered.source,
            language=PATTERN_CALLS,
            searched=searched.plan,
        )
        return LoweredPatternQuery(clause, lowered.condition_columns)

    def convert(self, dialect: str, write: str, events: str) -> Conversion:
        """Convert the Pattern to the language `write`, which has no timeouts."""
        from matchrec.api.transpile import convert_query

        if self.timeouts:
            raise option_not_convertible(option="timeouts=True")
        return convert_query(
            self.pattern,
            read=dialect,
            write=write,
            events=events,
            order_by=self.events.order_by,
            partition_by=self.events.partition_by,
            output=self.output,
        )


@dataclass(frozen=True)
class LoweredPatternQuery(ClauseQuery):
    """A Pattern query, whose input may have columns for the conditions of the Pattern."""

    condition_columns: tuple[str, ...]  # their names; the user does not get them

    def build_result(self, clauses: EvaluatedClauses) -> DataFrame:
        """Return the result without the columns that were added for conditions."""
        return super().build_result(clauses).drop(*self.condition_columns)


@dataclass(frozen=True)
class LoweredPattern:
    """The plan of a Pattern, and the rows that it is about."""

    plan: MatchPlan
    source: Source  # the conditions of the Pattern as a text, which errors show
    frame: DataFrame  # the events, with a column for each condition that is a Column
    condition_columns: tuple[str, ...]  # the names of these columns


def lower_over(
    events: Events, pattern: Pattern, output: PatternOutput = "matches", *, timeouts: bool = False
) -> LoweredPattern:
    """Return the plan of a Pattern over events. It takes the arguments of `match_pattern`.

    A plan has conditions in SQL. Each condition that is a Column becomes a column of the rows, and
    the plan reads this column.

    Raises:
        MatchRecognizeError: the Pattern has a mistake.
    """
    df = events.df
    stages, condition_columns = name_columns(pattern.stages)
    frame = add_conditions(df, condition_columns)
    query = PatternQuery(
        pattern=replace(pattern, stages=stages),
        order_by=events.order_by,
        partition_by=events.partition_by,
        columns=tuple(df.columns),
        rows=PATTERN_OUTPUTS[output],
        timeouts=timeouts,
        dialect=find_quote_dialect(df.sparkSession, stages),
    )
    plan, source = lower_pattern(query)
    return LoweredPattern(plan, source, frame, tuple(condition_columns))


def add_conditions(df: DataFrame, conditions: dict[str, Any]) -> DataFrame:
    """Return the events with a column for each condition that is a Column.

    Args:
        df: the events.
        conditions: the Columns by the names that they get.

    Raises:
        MatchRecognizePlanError: Spark refuses a Column, or a Column is not a condition.
    """
    for name, column in conditions.items():
        column_text = str(column)
        with silence_analysis():
            try:
                data_type = df.select("*", column.alias(name)).schema.fields[-1].dataType
            except AnalysisException as error:
                engine = find_backend(df.sparkSession).engine
                reason = read_sentence(error)
                raise condition_rejected_by_engine(
                    engine=engine, column=column_text, reason=reason
                ) from None
        type_name = data_type.simpleString()
        if type_name not in ("boolean", "void"):  # NULL is void
            raise condition_not_boolean(column=column_text, type_name=type_name)
    return df.withColumns(conditions) if conditions else df
