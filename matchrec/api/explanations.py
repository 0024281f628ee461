"""Plan what `Query.explain` explains: the clauses of a query, or a call of `Query.aggregate`.

`plan_clauses` and `plan_aggregates` return a `PlannedCall`, which explains its clauses. If the user
wants counters, too, `Query.explain` then runs the rows of the call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from matchrec.api.clause_warnings import find_clause_warnings
from matchrec.api.evaluate import ParsedQuery, find_clause_number
from matchrec.api.totals import aggregate
from matchrec.explain.clause import ExplainedClause
from matchrec.spark.clause_result import ClauseResult, describe_range_savings
from matchrec.spark.tuning import find_untuned_warning


@dataclass(frozen=True)
class PlannedCall:
    """A call of `to_df` or of `aggregate` that is planned and has not run."""

    # The query whose method was called.
    query: ParsedQuery
    # The results of the explained clauses, by the numbers of the clauses from 1.
    results: dict[int, ClauseResult]
    # What the call returns. None if the query has no clause, or if the rows were not asked for.
    rows: DataFrame | None
    # Why a call of `aggregate` builds every match; None if it computes totals, and for `to_df`.
    reason_for_building_matches: str | None = None

    def explain_clauses(self) -> dict[int, ExplainedClause]:
        """Return the explanations of the clauses, by the numbers of the clauses from 1."""
        return {number: self._explain_result(result) for number, result in self.results.items()}

    def _explain_result(self, result: ClauseResult) -> ExplainedClause:
        """Return the explanation of a clause, with the warnings about it."""
        preparation = result.compiled_rules.preparation
        warnings = find_clause_warnings(result, self.query.source, self.query.language)
        return ExplainedClause(
            _plan=result.split_query.plan,
            _compiled_query=result.compiled_query,
            _key_filters=preparation.key_filters,
            _warnings=tuple(map(str, warnings)),
            _is_stream=result.reads_stream,
            _resolved_plan=result.split_query.resolved_plan,
            _sorter=preparation.sorter,
            _reason_for_building_matches=self.reason_for_building_matches,
            _ranges=result.ranges.describe(result.split_query.plan),
        )

    def advise_on_speed(self, spark: SparkSession) -> str:
        """Return how to make the clauses faster, a line for each piece of advice; "" if none.

        Runs jobs that count rows.
        """
        advice = [describe_range_savings(result) for result in self.results.values()]
        warning = find_untuned_warning(spark)
        if warning is not None:
            advice.append(str(warning))
        return "\n".join(line for line in advice if line)


def plan_clauses(query: ParsedQuery, clause: int | str | None, *, needs_rows: bool) -> PlannedCall:
    """Plan all clauses of a query. Runs no job.

    Args:
        query: the query.
        clause: the clause to explain, as in `Query.why`; None for all clauses.
        needs_rows: whether the call also needs the result of the whole query, as it does if the
            work of the query is to be counted.

    Raises:
        MatchRecognizeError: a clause has a mistake, or there is no such clause.
    """
    clauses = query.evaluate()
    results = {number: evaluated.result for number, evaluated in enumerate(clauses, 1)}
    if clause is not None:
        number = find_clause_number(query, clause)
        results = {number: results[number]}
    rows = query.build_result(clauses) if needs_rows and results else None
    return PlannedCall(query, results, rows)


def plan_aggregates(
    query: ParsedQuery, clause: int | str | None, aggregates: Mapping[str, str], per: str
) -> PlannedCall:
    """Plan the aggregates over all matches of one clause. Runs no job.

    Args:
        query: the query.
        clause: the clause, as for `Query.aggregate`.
        aggregates: as for `Query.aggregate`.
        per: as for `Query.aggregate`.

    Raises:
        MatchRecognizeError: the clause or an aggregate has a mistake, or there is no such clause.
    """
    aggregated_matches = aggregate(query.find_clause(clause), aggregates, per)
    return PlannedCall(
        query,
        results={find_clause_number(query, clause): aggregated_matches.search},
        rows=aggregated_matches.rows,
        reason_for_building_matches=aggregated_matches.reason_for_building_matches,
    )
