"""`coverage`: how far the starting rows of a query's clauses come, and what ends them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from matchrec.api.evaluation import Evaluation
from matchrec.api.inputs import Arguments, relation_of, streams_of
from matchrec.api.patterns import PatternCall
from matchrec.api.query_call import QueryCall
from matchrec.api.questions.clauses import chosen_clause
from matchrec.api.sase import SaseCall
from matchrec.api.signatures import ARGUMENTS, CLAUSE, COVERED
from matchrec.arguments import checked
from matchrec.errors.kinds import shown_in
from matchrec.errors.language import PATTERN_CALLS, SASE
from matchrec.errors.run.failures import coverage_without_clause
from matchrec.errors.sql.window import window_asked_about
from matchrec.explanation.coverage import ClauseCoverage, Coverage, summarise
from matchrec.frontends.pattern import AfterMatch, Pattern
from matchrec.frontends.sql.nodes import Query, Site
from matchrec.plan.clauses import MatchOutput
from matchrec.plan.match_plan import EVERYTHING, MatchPlan
from matchrec.source import Source
from matchrec.spark.coverage import count_starting_rows
from matchrec.spark.environment import check_session
from matchrec.spark.question import Options

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WHY_SASE = "matchrec.why_sase(df, text, ..."
WHY_PATTERN = "matchrec.why_pattern(df, pattern, ..."


@checked(query=COVERED, clause=CLAUSE, **ARGUMENTS)
def coverage(  # noqa: PLR0913 -- public signature
    spark: SparkSession,
    query: str,
    args: Arguments = None,
    *,
    clause: int | str | None = None,
    dialect: str = "spark",
    sort: str = "auto",
    max_steps: int | None = None,
    **frames: Any,
) -> Coverage:
    """How many starting rows came to each variable of PATTERN, and what ended the others.

    clause: one of the query's clauses, by its number, as `explain` counts them from 1, or the alias
    of its result; None for all.

    Other arguments as of `sql`. Runs a job for each clause, over all of its rows. Raises
    MatchRecognizeUnsupportedError for LONGEST MATCH, NOT in PATTERN and a stream.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> print(matchrec.coverage(spark, '''
    ...     SELECT * FROM {ticks} MATCH_RECOGNIZE (
    ...         ORDER BY day MEASURES COUNT(*) AS days
    ...         PATTERN (DOWN{3}) DEFINE DOWN AS price < PREV(price)
    ...     )''', ticks=ticks))
    row pattern
      DOWN{3}
    ...
      tried   4 ... 2 ended: DOWN's condition was false
      DOWN    2 ... 2 ended: DOWN's condition was false (1)
      matches 0
    ...
    """
    check_session(spark)
    call = QueryCall.of(spark, query, args, frames)
    options = Options(sort=sort, max_steps=max_steps)
    return Coverage(dict(covered(call, call.read(dialect), clause, options)), spark)


def covered(
    call: QueryCall, query: Query, clause: int | str | None, options: Options
) -> Iterator[tuple[int, ClauseCoverage]]:
    """The coverage of one clause of a query, or of all, each with its number."""
    if not query.sites:
        raise coverage_without_clause()
    chosen = None if clause is None else chosen_clause(query, clause)
    evaluation = call.evaluation(query, options)
    with shown_in(query.source):
        for number, site in enumerate(query.sites, 1):
            if chosen in (None, site):
                yield number, cover(evaluation, site)
            if site in (chosen, query.sites[-1]):
                break
            evaluation.site(site)  # others may read its result


def cover(evaluation: Evaluation, site: Site) -> ClauseCoverage:
    """The coverage of one clause, once those in its input are evaluated."""
    if site.window is not None:
        raise window_asked_about("coverage")
    counted = count_starting_rows(
        evaluation.plan(site),
        evaluation.relation(site),
        site.relation_alias,
        site.use,
        evaluation.options,
    )
    return summarise(counted)


@checked(**ARGUMENTS)
def coverage_sase(  # noqa: PLR0913 -- public signature
    df: DataFrame,
    text: str,
    *,
    order_by: str | Sequence[str],
    partition_by: str | Sequence[str] = (),
    type_column: str = "event_type",
    sort: str = "auto",
    max_steps: int | None = None,
) -> Coverage:
    """The same of a SASE+ query, as `sase` takes it: every event is a starting row.

    >>> events = spark.sql("VALUES (1, 'Login'), (2, 'Error') AS e(at, event_type)")
    >>> print(matchrec.coverage_sase(events, "PATTERN SEQ(Login a, Logout b)", order_by="at"))
    row pattern
      `a` `b`
    ...
      tried   2 ... 1 ended: a's condition was false
      a       1 ... 1 ended: the partition ended before b
      b       0
      matches 0
    ...
    """
    streams = streams_of(df, order_by, partition_by)
    call = SaseCall(df, text, *streams, type_column, MatchOutput.ALL)
    check_session(df.sparkSession)
    with shown_in(Source(text), SASE):
        return covered_alone(call.plan(), df, WHY_SASE, Options(sort=sort, max_steps=max_steps))


@checked(**ARGUMENTS)
def coverage_pattern(  # noqa: PLR0913 -- public signature
    df: DataFrame,
    pattern: Pattern,
    *,
    order_by: str | Sequence[str],
    partition_by: str | Sequence[str] = (),
    sort: str = "auto",
    max_steps: int | None = None,
) -> Coverage:
    """The same of a pattern, as `detect` takes it: every event is a starting row.

    >>> events = spark.sql("VALUES (1, 'Login'), (2, 'Error') AS e(at, event_type)")
    >>> pattern = (matchrec.Pattern.begin("login").where("event_type = 'Login'")
    ...     .next("out").where("event_type = 'Logout'"))
    >>> print(matchrec.coverage_pattern(events, pattern, order_by="at"))
    row pattern
      `login` `out`
    ...
      tried   2 ... 1 ended: login's condition was false
      login   1 ... 1 ended: out's condition was false
      out     0
      matches 0
    ...
    """
    check_session(df.sparkSession)
    streams = streams_of(df, order_by, partition_by)
    call = PatternCall(df, pattern, *streams, AfterMatch.NO_SKIP, "matches", timeouts=False)
    lowered = call.lowered()
    with shown_in(lowered.source, PATTERN_CALLS):
        return covered_alone(
            lowered.plan, lowered.frame, WHY_PATTERN, Options(sort=sort, max_steps=max_steps)
        )


def covered_alone(plan: MatchPlan, df: DataFrame, question: str, options: Options) -> Coverage:
    """The coverage of a plan over a DataFrame."""
    counted = count_starting_rows(plan, relation_of(df), None, EVERYTHING, options)
    return Coverage({1: summarise(counted, question)}, df.sparkSession)
