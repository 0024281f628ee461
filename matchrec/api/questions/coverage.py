"""`coverage`: how far the starting rows of a query's clauses come, and what ends them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from matchrec.api.binding import Arguments
from matchrec.api.evaluation import Evaluation
from matchrec.api.query_call import QueryCall
from matchrec.api.questions.clauses import chosen_clause
from matchrec.api.signatures import ARGUMENTS, CLAUSE, COVERED
from matchrec.arguments import checked
from matchrec.errors.kinds import shown_in
from matchrec.errors.run.coverage import coverage_without_clause
from matchrec.errors.sql.window import window_asked_about
from matchrec.explanation.coverage import Coverage
from matchrec.explanation.coverage.figures import ClauseCoverage
from matchrec.explanation.coverage.summary import summarise
from matchrec.frontends.sql.query.nodes import Query, Site
from matchrec.spark.coverage import count_starting_rows
from matchrec.spark.options import Options
from matchrec.spark.sessions.environment import check_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@checked(query=COVERED, clause=CLAUSE, **ARGUMENTS)
def coverage(  # noqa: PLR0913 -- public signature
    spark: SparkSession,
    query: str,
    args: Arguments = None,
    *,
    clause: int | str | None = None,
    dialect: str = "spark",
    max_steps: int | None = None,
    **frames: Any,
) -> Coverage:
    """How many starting rows came to each variable of PATTERN, and what ended the others.

    clause: one of the query's clauses, by its number, as `explain` counts them from 1, or the alias
    of its result; None for all.

    Other arguments as of `sql`. Runs a job for each clause, over all of its rows. Raises
    MatchRecognizeUnsupportedError for event selection, LONGEST MATCH and a stream.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> print(matchrec.coverage(spark, '''
    ...     SELECT * FROM {ticks} MATCH_RECOGNIZE (
    ...         ORDER BY day MEASURES COUNT(*) AS days
    ...         PATTERN (DOWN{3}) DEFINE DOWN AS price < PREV(price)
    ...     )''', ticks=ticks))
    row pattern
      DOWN{3}
    ...
      tried   4 ... 2 ended: DOWN was not true
      DOWN    2 ... 2 ended: DOWN was not true (1)
      matches 0
    ...
    """
    check_session(spark)
    call = QueryCall(spark, query, args, frames)
    return Coverage(dict(covered(call, call.read(dialect), clause, max_steps)), spark)


def covered(
    call: QueryCall, query: Query, clause: int | str | None, max_steps: int | None
) -> Iterator[tuple[int, ClauseCoverage]]:
    """The coverage of one clause of a query, or of all, each with its number."""
    if not query.sites:
        raise coverage_without_clause()
    chosen = None if clause is None else chosen_clause(query, clause)
    evaluation = call.evaluation(query, Options(max_steps=max_steps))
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
        evaluation.options.max_steps,
    )
    return summarise(counted)
