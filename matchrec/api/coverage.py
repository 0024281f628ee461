"""`coverage`: how far the starting rows of a query's clauses come, and what ends them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matchrec.api.binding import Arguments, runner_for
from matchrec.api.dialects import parse_query
from matchrec.api.evaluation import Evaluation
from matchrec.api.signatures import ARGS, CLAUSE, DIALECT, FRAMES, MAX_STEPS
from matchrec.arguments import SESSION, TEXT, checked
from matchrec.errors.coverage import no_such_clause, nothing_to_cover
from matchrec.errors.kinds import shown_in
from matchrec.explanation.coverage import Coverage
from matchrec.explanation.coverage.figures import ClauseCoverage
from matchrec.explanation.coverage.summary import summarise
from matchrec.frontends.sql import Query
from matchrec.frontends.sql.query.nodes import Site
from matchrec.spark.coverage import count_starting_rows
from matchrec.spark.execute import Options
from matchrec.spark.sessions.environment import check_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@checked(
    spark=SESSION,
    query=TEXT,
    args=ARGS,
    clause=CLAUSE,
    dialect=DIALECT,
    max_steps=MAX_STEPS,
    frames=FRAMES,
)
def coverage(  # noqa: PLR0913 -- public signature
    spark: SparkSession,
    query: str,
    args: Arguments = None,
    *,
    clause: int | None = None,
    dialect: str = "spark",
    max_steps: int | None = None,
    **frames: Any,
) -> Coverage:
    """How many starting rows came to each variable of PATTERN, and what ended the others.

    clause: the number of one of the query's clauses, from 1; None for all. Other arguments as of
    `sql`. Runs a job for each clause, over all of its rows. Raises MatchRecognizeUnsupportedError
    for event selection, LONGEST MATCH and a stream.

        print(matchrec.coverage(spark, query))
    """
    check_session(spark)
    parsed = parse_query(spark, query, args, frames, dialect)
    check_clause(parsed, clause)
    options = Options(max_steps=max_steps)
    evaluation = Evaluation(parsed, runner_for(spark, parsed, args, frames), options)
    found: dict[int, ClauseCoverage] = {}
    with shown_in(parsed.source):
        for number, site in enumerate(parsed.sites, 1):
            if clause in (None, number):
                found[number] = cover(evaluation, site)
            if number < (clause or len(parsed.sites)):
                evaluation.site(site)  # others may read its result
    return Coverage(found, spark)


def check_clause(query: Query, asked: int | None) -> None:
    """Raises MatchRecognizePlanError where a query has no such clause."""
    if not query.sites:
        raise nothing_to_cover()
    if asked is not None and asked > len(query.sites):
        raise no_such_clause(asked, len(query.sites))


def cover(evaluation: Evaluation, site: Site) -> ClauseCoverage:
    """The coverage of one clause, once those in its input are evaluated."""
    counted = count_starting_rows(
        evaluation.plan(site),
        evaluation.relation(site),
        site.relation_alias,
        site.use,
        evaluation.options.max_steps,
    )
    return summarise(counted)
