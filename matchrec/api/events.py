"""`sase` and `detect`: event patterns in SASE+, and built by calls, over DataFrames of events."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame

from matchrec.api.clauses import Clause
from matchrec.api.inputs import Frame, NamedValues, Terms, dialect_of, relation_of, texts_of
from matchrec.api.query import AND_TIMEOUTS, OF_RULES, Query, how_to_run
from matchrec.api.signatures import ARGUMENTS, NAMED, PATTERN_FORM, SASE_FORM
from matchrec.arguments import DATAFRAME, PatternForm, SaseForm, checked
from matchrec.errors.calls import column_is_no_condition, column_refused
from matchrec.errors.kinds import shown_in
from matchrec.errors.language import PATTERN_CALLS, SASE
from matchrec.frontends.expressions.expression import keys, orders
from matchrec.frontends.pattern.builder import Pattern
from matchrec.frontends.pattern.lower import PatternQuery, lower_pattern
from matchrec.frontends.pattern.tree import textual
from matchrec.frontends.sase import Streams, compile_sase
from matchrec.plan.clauses import MatchOutput, RowsPerMatch
from matchrec.plan.match_plan import MatchPlan, as_graph
from matchrec.source import Source
from matchrec.spark.after.expand import mark_graph, unwind_graph
from matchrec.spark.environment import check_session
from matchrec.spark.errors.diagnose import check_type_column, first_line
from matchrec.spark.execute import ClauseResult
from matchrec.spark.question import Options
from matchrec.spark.sail.probes import engine_name
from matchrec.spark.session import quiet_analysis


@checked(**{**ARGUMENTS, "args": NAMED, "form": SASE_FORM})
def sase(  # noqa: PLR0913 -- public signature
    df: Frame,
    text: str,
    args: dict[str, Any] | None = None,
    *,
    order_by: Terms,
    partition_by: Terms = (),
    type_column: str = "event_type",
    form: SaseForm = "all",
    options: Options | None = None,
) -> DataFrame:
    """The matches of a SASE+ query over a DataFrame of events.

    order_by: sorts the events; WITHIN measures its first item. partition_by: divides the events
    into streams. Both are SQL over one row, or Columns of the DataFrame. args: values of `:name`
    markers in the text. type_column: its value is the type of an event.

    form "all" or "non_overlapping": one row per match, with the partition columns, then the columns
    of RETURN, or without RETURN an array of events for each variable. form "compressed": the shared
    buffer of all matches, one row per pointer, for `unwind`. A worker gives matches in the order in
    which they are complete, but rows of a DataFrame have no order: sort by columns of RETURN.

    Everything else is as for `sql`.

    >>> events = spark.sql("VALUES (1, 'Login'), (2, 'Error'), (3, 'Error') AS e(at, event_type)")
    >>> matchrec.sase(events, '''
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
    return of_sase(events, text, args, type_column, form, options).dataframe()


@checked(**{**ARGUMENTS, "args": NAMED, "form": PATTERN_FORM})
def detect(  # noqa: PLR0913 -- public signature
    df: Frame,
    pattern: Pattern,
    args: dict[str, Any] | None = None,
    *,
    order_by: Terms,
    partition_by: Terms = (),
    form: PatternForm = "matches",
    options: Options | None = None,
) -> DataFrame:
    """The matches of a pattern over a DataFrame of events.

    order_by: sorts the events; its first item is the time, which windows measure. partition_by:
    divides the events into streams. Both are SQL over one row, or Columns of the DataFrame. args:
    values of `:name` markers in conditions.

    form "matches": one row per match, with the partition columns, `match_number`, `start_time`,
    `end_time`, then for each stage an array of its events, which may be empty. form "events": one
    row per event of each match, with `match_number` and `stage`. form "matches_and_timeouts" and
    "events_and_timeouts": the result also has runs that began a match and whose window ended. They
    have no number, and `timed_out_at` is the end of the window; for a match it is NULL.

    Everything else is as for `sql`.

    >>> events = spark.sql("VALUES (1, 'Login'), (2, 'Error'), (3, 'Error') AS e(at, event_type)")
    >>> pattern = (matchrec.Pattern.begin("login").where("event_type = 'Login'")
    ...     .next("error").where("event_type = 'Error'"))
    >>> matchrec.detect(events, pattern, order_by="at").show()
    +------------+----------+--------+------------+------------+
    |match_number|start_time|end_time|       login|       error|
    +------------+----------+--------+------------+------------+
    |           1|         1|       2|[{1, Login}]|[{2, Error}]|
    +------------+----------+--------+------------+------------+
    """
    events = Events.of(df, order_by, partition_by)
    return of_pattern(events, pattern, args, form, options).dataframe()


@checked(graph=DATAFRAME)
def unwind(graph: DataFrame) -> DataFrame:
    """The matches in a DataFrame of `sase` in compressed form, a row for each match.

    You may drop rows of the graph before, as long as each pointer that stays leads to one of them.

    >>> events = spark.sql("VALUES (1, 'Login'), (2, 'Error'), (3, 'Error') AS e(at, event_type)")
    >>> graph = matchrec.sase(
    ...     events, "PATTERN SEQ(Login a, Error b) WHERE skip_till_any_match",
    ...     order_by="at", form="compressed")
    >>> matchrec.unwind(graph).orderBy("b").show()
    +------------+------------+
    |           a|           b|
    +------------+------------+
    |[{1, Login}]|[{2, Error}]|
    |[{1, Login}]|[{3, Error}]|
    +------------+------------+
    """
    check_session(graph.sparkSession)
    return unwind_graph(graph)


# What these functions ask, before they ask for a DataFrame.

SASE_FORMS = {
    "all": MatchOutput.ALL,
    "non_overlapping": MatchOutput.NON_OVERLAPPING,
    "compressed": MatchOutput.GRAPH,
}
EVENT_FORMS = {"matches": RowsPerMatch.ONE_ROW, "events": RowsPerMatch.ALL_ROWS_OMIT_EMPTY}


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

    @property
    def named(self) -> dict[str, Any]:
        """What SQL says of events, and other languages leave to the call."""
        return {"order_by": self.order_by, "partition_by": self.partition_by}

    def plan_of_sase(self, source: Source, type_column: str, output: MatchOutput) -> MatchPlan:
        streams = Streams(self.order_by, self.partition_by, type_column, output)
        with shown_in(source, SASE):
            plan = compile_sase(source, streams)
            check_type_column(self.df, type_column, plan)
        return plan


def of_sase(  # noqa: PLR0913 -- the arguments of `sase`
    events: Events,
    text: str,
    args: dict[str, Any] | None,
    type_column: str,
    form: SaseForm,
    options: Options | None,
) -> Query:
    """A SASE+ text; `why` and `coverage` are about all of its matches."""
    df, output = events.df, SASE_FORMS[form]

    def read(_: str, how: Options) -> Clause:
        plan = events.plan_of_sase(Source(text), type_column, output)

        def finish(result: ClauseResult) -> DataFrame:
            rows = result.dataframe
            return mark_graph(rows, plan) if output is MatchOutput.GRAPH else rows

        whole = replace(plan, output=MatchOutput.ALL)
        over, source = relation_of(df, args), Source(text)
        return Clause(as_graph(plan), over, how, source, SASE, finish=finish, searched=whole)

    converted = {**events.named, "type_column": type_column, "form": form}
    how = how_to_run("sase", options, *OF_RULES)
    return Query(text, "SASE+", "spark", how, df.sparkSession, read, converted)


def of_pattern(
    events: Events, pattern: Pattern, args: NamedValues, form: PatternForm, options: Options | None
) -> Query:
    """A Pattern; for `why` and `coverage`, what timed out is no match."""

    def read(_: str, how: Options) -> Clause:
        found = lower_over(events, pattern, form)
        plain = found if form == "matches" else lower_over(events, pattern)

        def finish(result: ClauseResult) -> DataFrame:
            return result.dataframe.drop(*found.columns)

        over, source, whole = relation_of(found.frame, args), found.source, plain.plan
        return Clause(found.plan, over, how, source, PATTERN_CALLS, finish=finish, searched=whole)

    converted = {**events.named, "form": form}
    how = how_to_run("detect", options, *OF_RULES)
    return Query(pattern, "a Pattern", "spark", how, events.df.sparkSession, read, converted)


@dataclass(frozen=True)
class LoweredPattern:
    """A plan with its source, over events with further columns, which do not come out."""

    plan: MatchPlan
    source: Source
    frame: DataFrame
    columns: tuple[str, ...]


def lower_over(events: Events, pattern: Pattern, form: str = "matches") -> LoweredPattern:
    df = events.df
    stages, columns = textual(pattern.stages)
    frame = with_conditions(df, columns)
    streams = events.order_by, events.partition_by, tuple(df.columns)
    rows = EVENT_FORMS[form.removesuffix(AND_TIMEOUTS)], form.endswith(AND_TIMEOUTS)
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
                engine, reason = engine_name(df.sparkSession), first_line(error)
                raise column_refused(engine=engine, column=written, reason=reason) from None
        if (type_name := kind.simpleString()) not in ("boolean", "void"):
            raise column_is_no_condition(column=written, type_name=type_name)
    return df.withColumns(columns) if columns else df
