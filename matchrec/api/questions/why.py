"""`why` and its relatives: how the search of one partition went, for one clause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from matchrec.api.dialects import parse_clause_of
from matchrec.api.inputs import Arguments, relation_of, streams_of
from matchrec.api.patterns import PatternCall
from matchrec.api.query_call import QueryCall
from matchrec.api.questions.clauses import chosen_clause, written_in
from matchrec.api.sase import SaseCall
from matchrec.api.signatures import (
    ARGUMENTS,
    CLAUSE,
)
from matchrec.arguments import TEXT, checked
from matchrec.compile.negation import negation_tests
from matchrec.dataclass import dataclass
from matchrec.engine.matches import RunFailure
from matchrec.errors.kinds import shown_in
from matchrec.errors.language import PATTERN_CALLS, SASE
from matchrec.errors.run.place import RowPlace
from matchrec.errors.sql.window import window_asked_about
from matchrec.frontends.pattern import AfterMatch, Pattern
from matchrec.frontends.sql.lower import lower
from matchrec.nfa.compile import compile_pattern
from matchrec.plan.clauses import MatchOutput, RowsPerMatch
from matchrec.plan.match_plan import MatchPlan
from matchrec.pruning.gaps import gaps_as_conditions
from matchrec.source import Source
from matchrec.spark.environment import check_session
from matchrec.spark.question import Options
from matchrec.spark.session import Relation
from matchrec.spark.tracing import Target, collect_partition, measure_values
from matchrec.spark.worker.match import run_error
from matchrec.tracing.explained import Explainer, as_matches, wanted_trials
from matchrec.tracing.parts import Write, parts_of
from matchrec.tracing.story import Teller, TracedRows
from matchrec.tracing.trace import TracedSearch
from matchrec.tracing.why import Why

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Partition = Mapping[str, object] | None


@checked(query=TEXT, clause=CLAUSE, **ARGUMENTS)
def why(  # noqa: PLR0913 -- public signature
    spark: SparkSession,
    query: str,
    args: Arguments = None,
    *,
    partition: Partition = None,
    row: object = None,
    limit: int = 5,
    clause: int | str | None = None,
    dialect: str = "spark",
    engine: str = "auto",
    **frames: Any,
) -> Why:
    """Why a clause of a query did not match, or how it did, in one partition.

    partition: the values of the PARTITION BY columns, by name; it may be left out where there is
    one partition. row: the value of the first ORDER BY column, or a tuple of the values of several,
    of the rows from which the search is shown; without it, the partition's matches and the attempts
    that came furthest without one. limit: how many attempts. clause: which one, where there are
    several: its number, as `explain` counts them from 1, or the alias of its result.

    The rows of the partition, at most 100,000, come to the driver; runs jobs. Otherwise as `sql`.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> print(matchrec.why(spark, '''
    ...     SELECT * FROM {ticks} MATCH_RECOGNIZE (
    ...         ORDER BY day MEASURES COUNT(*) AS days
    ...         PATTERN (DOWN{3}) DEFINE DOWN AS price < PREV(price)
    ...     )''', ticks=ticks, limit=1))
    PATTERN (DOWN{3})
    the only partition: 4 rows
    no match; searched from 4 of the rows
    ...
      came as far as rows 2 to 3: DOWN{2}
      then it needed DOWN on row 4 (day = 4)
    """
    check_session(spark)
    call = QueryCall.of(spark, query, args, frames)
    parsed = call.read(dialect)
    site = chosen_clause(parsed, clause)
    if site.window is not None:
        raise window_asked_about("why")
    evaluation = call.evaluation(parsed, Options(engine))
    with shown_in(parsed.source):
        for earlier in parsed.sites[: parsed.sites.index(site)]:
            evaluation.site(earlier)
        plan, relation = evaluation.plan(site), evaluation.relation(site)
        request = Request(plan, relation, target_of(partition, row), limit, engine)
        return replace(request, alias=site.relation_alias, write=written_in(parsed.source)).answer()


@checked(clause=TEXT, **ARGUMENTS)
def why_clause(  # noqa: PLR0913 -- public signature
    df: DataFrame,
    clause: str,
    *,
    partition: Partition = None,
    row: object = None,
    limit: int = 5,
    dialect: str = "spark",
    engine: str = "auto",
) -> Why:
    """The same of a clause over a DataFrame, as `match_recognize` takes it.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> print(matchrec.why_clause(ticks, '''
    ...     ORDER BY day MEASURES COUNT(*) AS days
    ...     PATTERN (DOWN{3}) DEFINE DOWN AS price < PREV(price)
    ... ''', limit=1))
    PATTERN (DOWN{3})
    the only partition: 4 rows
    no match; searched from 4 of the rows
    ...
      came as far as rows 2 to 3: DOWN{2}
      then it needed DOWN on row 4 (day = 4)
    """
    check_session(df.sparkSession)
    node, source = parse_clause_of(df, clause, dialect)
    with shown_in(source):
        request = Request(lower(node), relation_of(df), target_of(partition, row), limit, engine)
        return replace(request, write=written_in(source)).answer()


@checked(**ARGUMENTS)
def why_sase(  # noqa: PLR0913 -- public signature
    df: DataFrame,
    text: str,
    *,
    order_by: str | Sequence[str],
    partition_by: str | Sequence[str] = (),
    type_column: str = "event_type",
    partition: Partition = None,
    row: object = None,
    limit: int = 5,
    engine: str = "auto",
) -> Why:
    """The same of a SASE+ query, as `sase` takes it: all its matches are asked for.

    >>> events = spark.sql("VALUES (1, 'Login'), (2, 'Error') AS e(at, event_type)")
    >>> print(matchrec.why_sase(events, "PATTERN SEQ(Login a, Logout b)", order_by="at", limit=1))
    PATTERN (`a` `b`)
    ...
      came as far as row 1: a
      then it needed b, but the partition has no further row
    """
    streams = streams_of(df, order_by, partition_by)
    call = SaseCall(df, text, *streams, type_column, MatchOutput.ALL)
    check_session(df.sparkSession)
    with shown_in(Source(text), SASE):
        plan = call.plan()
        return Request(plan, relation_of(df), target_of(partition, row), limit, engine).answer()


@checked(**ARGUMENTS)
def why_pattern(  # noqa: PLR0913 -- public signature
    df: DataFrame,
    pattern: Pattern,
    *,
    order_by: str | Sequence[str],
    partition_by: str | Sequence[str] = (),
    skip: AfterMatch = AfterMatch.NO_SKIP,
    partition: Partition = None,
    row: object = None,
    limit: int = 5,
    engine: str = "auto",
) -> Why:
    """The same of a pattern, as `detect` takes it; what timed out is no match.

    >>> events = spark.sql("VALUES (1, 'Login'), (2, 'Error') AS e(at, event_type)")
    >>> pattern = (matchrec.Pattern.begin("login").where("event_type = 'Login'")
    ...     .next("out").where("event_type = 'Logout'"))
    >>> print(matchrec.why_pattern(events, pattern, order_by="at", limit=1))
    PATTERN (`login` `out`)
    ...
      came as far as row 1: login
      then it needed out on row 2 (at = 2)
    """
    check_session(df.sparkSession)
    streams = streams_of(df, order_by, partition_by)
    lowered = PatternCall(df, pattern, *streams, skip, "matches", timeouts=False).lowered()
    with shown_in(lowered.source, PATTERN_CALLS):
        relation = relation_of(lowered.frame)
        target = target_of(partition, row)
        return Request(lowered.plan, relation, target, limit, engine).answer()


def target_of(partition: Partition, row: object) -> Target:
    """Which partition and row are asked for."""
    if row is None:
        return Target(partition)
    return Target(partition, row if isinstance(row, tuple) else (row,))


def with_gaps(plan: MatchPlan) -> MatchPlan:
    """The plan whose conditions have the windows that rows alone do not tell, as they are asked."""
    return gaps_as_conditions(plan, compile_pattern(plan).follow) if plan.gaps else plan


@dataclass(frozen=True)
class Request:
    """What `why` is asked of one clause. write: a condition as its author wrote it."""

    plan: MatchPlan
    relation: Relation
    target: Target
    limit: int
    engine: str
    alias: str | None = None
    write: Write | None = None

    def write_condition(self) -> Write | None:
        """A condition as its author wrote it; windows between rows are such, too."""
        write, windows = self.write, {gap.interval.span for gap in self.plan.gaps}
        if write is None or not windows:
            return write
        return lambda one: f"{'WITHIN ' if one.span in windows else ''}{write(one)}"

    def answer(self) -> Why:
        """The rows of the partition, their search, its values, words. Runs jobs."""
        tests = ((one.mapped, one.definition) for one in negation_tests(self.plan))
        parts = parts_of(with_gaps(self.plan), self.write_condition(), tests)
        plan = replace(
            self.plan,
            measures=parts.measures,
            rows_per_match=RowsPerMatch.ONE_ROW,
            partial=None,
        )
        found = collect_partition(plan, self.relation, self.alias, self.engine, self.target)
        executable = found.executable
        task = executable.task
        search = TracedSearch(task, executable.algorithm, found.partitions)
        try:
            trace = search.trace(found.asked, self.limit)
        except RunFailure as failure:
            place = RowPlace(self.target.partition or {}, failure.row + 1)
            raise run_error(failure, place) from failure
        keys = wanted_trials(trace.attempts)
        values = measure_values(found, as_matches(task, trace.attempts, keys)) if keys else {}
        count = found.partitions.rows
        conditions = Explainer(task, parts, trace.attempts, keys, values, count).conditions()
        rows = TracedRows(found.keys, found.orders, found.places, found.irrelevant)
        return Why(Teller(self.plan, task, rows, trace, conditions).story())
