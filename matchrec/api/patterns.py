"""`detect` and what belongs to it: the Pattern API over DataFrames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException

from matchrec.api.inputs import dialect_of, relation_of, streams_of
from matchrec.api.remarks import Remarks, explained, remarks_in, warn
from matchrec.api.signatures import ARGUMENTS
from matchrec.arguments import OneOf, checked
from matchrec.dataclass import dataclass
from matchrec.errors.calls import column_is_no_condition, column_refused
from matchrec.errors.kinds import shown_in
from matchrec.errors.language import PATTERN_CALLS
from matchrec.explanation import Explanation
from matchrec.frontends.pattern import AfterMatch, Pattern, PatternQuery, lower_pattern, textual
from matchrec.plan.clauses import RowsPerMatch
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import quoted
from matchrec.source import Source
from matchrec.spark.environment import check_session
from matchrec.spark.errors.diagnose import first_line
from matchrec.spark.execute import ClauseResult, execute
from matchrec.spark.question import Options
from matchrec.spark.session import quiet_analysis

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from matchrec.spark.counters import Counters

EVENT_FORMS = {
    "matches": RowsPerMatch.ONE_ROW,
    "events": RowsPerMatch.ALL_ROWS_OMIT_EMPTY,
}


@checked(form=OneOf(tuple(EVENT_FORMS)), **ARGUMENTS)
def detect(  # noqa: PLR0913 -- public signature
    df: DataFrame,
    pattern: Pattern,
    *,
    order_by: str | Sequence[str],
    partition_by: str | Sequence[str] = (),
    skip: AfterMatch = AfterMatch.NO_SKIP,
    form: str = "matches",
    timeouts: bool = False,
    engine: str = "auto",
    transport: str = "auto",
    sort: str = "auto",
    counters: Counters | None = None,
) -> DataFrame:
    """The matches of a pattern over a DataFrame of events.

    order_by: what the events are sorted by, the first of it is time, which windows measure.
    partition_by: what divides them into streams. Both are SQL over one row. skip: which matches
    leave no room for others.

    form "matches": one row per match, the partition columns, `match_number`, `start_time`,
    `end_time`, then for each stage an array of its events, empty where it has none. form "events":
    one row per event of each match, with `match_number` and `stage`.

    timeouts: matches that were begun and whose window ended come out as well, without a number;
    `timed_out_at` is when it did, NULL for a match.

    Otherwise as `sql`.

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
    streams = streams_of(df, order_by, partition_by)
    query = PatternCall(df, pattern, *streams, skip, form, timeouts)
    result, found = query.execute(Options(engine, transport, sort, counters=counters))
    warn(*found)
    return result.dataframe


@checked(form=OneOf(tuple(EVENT_FORMS)), **ARGUMENTS)
def explain_pattern(  # noqa: PLR0913 -- public signature
    df: DataFrame,
    pattern: Pattern,
    *,
    order_by: str | Sequence[str],
    partition_by: str | Sequence[str] = (),
    skip: AfterMatch = AfterMatch.NO_SKIP,
    form: str = "matches",
    timeouts: bool = False,
    engine: str = "auto",
    sort: str = "auto",
) -> Explanation:
    """What a pattern compiles to and which engine runs it; arguments as of `detect`.

    >>> events = spark.sql("VALUES (1, 'Login'), (2, 'Error'), (3, 'Error') AS e(at, event_type)")
    >>> pattern = (matchrec.Pattern.begin("login").where("event_type = 'Login'")
    ...     .next("error").where("event_type = 'Error'"))
    >>> print(matchrec.explain_pattern(events, pattern, order_by="at"))
    row pattern
      `login` `error`
    ...
    """
    streams = streams_of(df, order_by, partition_by)
    query = PatternCall(df, pattern, *streams, skip, form, timeouts)
    return Explanation((explained(*query.execute(Options(engine, sort=sort))),))


@dataclass(frozen=True)
class PatternCall:
    """What `detect` is asked, apart from how it is run."""

    df: DataFrame
    pattern: Pattern
    order_by: tuple[str, ...]
    partition_by: tuple[str, ...]
    skip: AfterMatch
    form: str
    timeouts: bool

    def lowered(self) -> LoweredCall:
        """What the pattern means, and the events that it is about."""
        stages, columns = textual(self.pattern.stages)
        columns_of_events = tuple(quoted(name) for name in self.df.columns)
        frame = with_conditions(self.df, columns)
        query = PatternQuery(
            Pattern(stages),
            self.order_by,
            self.partition_by,
            columns_of_events,
            self.skip,
            EVENT_FORMS[self.form],
            self.timeouts,
            dialect_of(self.df.sparkSession, stages),
        )
        return LoweredCall(*lower_pattern(query), frame, tuple(columns))

    def execute(self, options: Options) -> tuple[ClauseResult, Remarks]:
        """The result, what explains it, and warnings about the pattern."""
        check_session(self.df.sparkSession)
        lowered = self.lowered()
        with shown_in(lowered.source, PATTERN_CALLS):
            result = execute(lowered.plan, relation_of(lowered.frame), None, options)
            found = remarks_in(result.written, lowered.source)
        return replace(result, dataframe=result.dataframe.drop(*lowered.columns)), found


@dataclass(frozen=True)
class LoweredCall:
    """A plan with its source, over events with further columns, which do not come out."""

    plan: MatchPlan
    source: Source
    frame: DataFrame
    columns: tuple[str, ...]


def with_conditions(df: DataFrame, columns: dict[str, Any]) -> DataFrame:
    """The events with further columns, each a condition that was given as a Column.

    Raises MatchRecognizePlanError for one that Spark refuses, or that is no condition.
    """
    for name, column in columns.items():
        type_name = type_of(df, column.alias(name), str(column))
        if type_name not in ("boolean", "void"):
            raise column_is_no_condition(str(column), type_name)
    further = [column.alias(name) for name, column in columns.items()]
    return df.select("*", *further) if further else df


def type_of(df: DataFrame, column: Any, written: str) -> str:
    """The type of a column over the events."""
    with quiet_analysis():
        try:
            return df.select("*", column).schema.fields[-1].dataType.simpleString()
        except AnalysisException as error:
            raise column_refused(written, first_line(error)) from None
