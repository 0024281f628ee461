"""`Query.aggregate`: aggregates over all matches, without building the matches if possible.

1. Each aggregate, such as `avg(days)`, is parsed, and split into the totals that it is computed
   from: the sum and the count of `days`.
2. The search computes these totals, and returns a row for each group of matches. If it cannot
   compute them, it returns the matches.
3. SQL computes the aggregates from these rows: see `total_sql.write_aggregate`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from pyspark.sql import DataFrame
from pyspark.sql.functions import expr

from matchrec.api.clause import Clause
from matchrec.api.total_calls import parse_aggregate
from matchrec.api.total_sql import find_totals, write_aggregate
from matchrec.errors import match_totals as errors
from matchrec.errors.result_columns import duplicate_output_column
from matchrec.plan.build_expressions import make_column, make_literal
from matchrec.plan.clauses import Grouping, Measure, RowsPerMatch
from matchrec.plan.expression import End, Navigation, Semantics
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import quote_name
from matchrec.plan.totals import MATCH_NAME, TotalAggregate, Totals, name_key
from matchrec.source import Span
from matchrec.spark.clause_result import ClauseResult
from matchrec.spark.request import is_streaming
from matchrec.spark.types import normalize_value

# Matches that are only counted have this measure, because rows need a column.
MATCH_COLUMN = Measure(MATCH_NAME, make_literal("TRUE", Span(0, 0)))


@dataclass(frozen=True)
class AggregatedMatches:
    """The aggregates over all matches of a clause, and how the clause was run for them."""

    # The aggregates, a row for each group.
    rows: DataFrame
    # The result of the search: totals of each group, or matches.
    search: ClauseResult
    # Why the search builds every match; None if it computes totals.
    reason_for_building_matches: str | None


def aggregate(clause: Clause, aggregates: Mapping[str, str], per: str) -> AggregatedMatches:
    """Return the aggregates over all matches of a clause.

    Args:
        clause: the clause.
        aggregates: as for `Query.aggregate`.
        per: as for `Query.aggregate`.

    Raises:
        MatchRecognizePlanError: a text is not an aggregate of a measure, or two columns of the
            result have the same name.
        MatchRecognizeUnsupportedError: the clause reads a stream, and the groups never end, or the
            search cannot compute the totals.
    """
    grouping = Grouping[per.upper()]
    plan = clause.choose_counted_plan("aggregate")
    if is_streaming(clause.relation.rows) and grouping is not Grouping.END:
        raise errors.unfinished_groups_over_stream(per=per)

    key_measures = find_key_measures(plan, grouping)
    parsed_aggregates = {name: parse_aggregate(text, plan) for name, text in aggregates.items()}
    totals = Totals(
        aggregates=list_totals(parsed_aggregates.values()),
        grouping=grouping,
        keys=tuple(measure.name for measure in key_measures.values()),
    )
    used_names = {total.measure for total in totals.aggregates}
    used_measures = [measure for measure in plan.measures if measure.name in used_names]
    plan = replace(
        plan, measures=(*key_measures.values(), *used_measures), rows_per_match=RowsPerMatch.ONE_ROW
    )
    search, reason_for_building_matches = run_search(clause, plan, totals)

    rows = search.dataframe
    group_names = [*rows.columns[: len(plan.partition_by)], *key_measures]
    check_names(parsed_aggregates, group_names)
    write_for_engine = clause.relation.runner.write_for_engine
    columns = []
    for name, parsed_aggregate in parsed_aggregates.items():
        value_sql = write_for_engine(write_aggregate(parsed_aggregate, search, totals))
        columns.append(f"{value_sql} AS {quote_name(name)}")
    return AggregatedMatches(
        rows=group_rows(rows, group_names, columns),
        search=search,
        reason_for_building_matches=reason_for_building_matches,
    )


def list_totals(aggregates: Iterable[TotalAggregate]) -> tuple[TotalAggregate, ...]:
    """Return the totals from which aggregates are computed, each once."""
    return tuple(dict.fromkeys(chain.from_iterable(map(find_totals, aggregates))))


def group_rows(rows: DataFrame, group_names: Sequence[str], aggregates: Sequence[str]) -> DataFrame:
    """Return a row with the aggregates for each group.

    Args:
        rows: the rows of the search. Their first columns say which group a row belongs to.
        group_names: the names that these columns get.
        aggregates: the other columns of the result, as SQL.
    """
    fields = list(zip(group_names, rows.schema.fields, strict=False))
    if not group_names or is_streaming(rows):
        # In a stream, each row is a complete group. Without columns of groups, all rows are one
        # group.
        groups = [f"{quote_name(field.name)} AS {quote_name(name)}" for name, field in fields]
        return rows.selectExpr(*groups, *aggregates)
    # Equal values may have several forms, such as 0.0 and -0.0.
    groups = [
        f"{normalize_value(quote_name(field.name), field.dataType)} AS {quote_name(name)}"
        for name, field in fields
    ]
    return rows.groupBy(*map(expr, groups)).agg(*map(expr, aggregates))


def run_search(clause: Clause, plan: MatchPlan, totals: Totals) -> tuple[ClauseResult, str | None]:
    """Run the search for totals of each group, or for matches if it cannot compute totals.

    Returns:
        The result of the search; and the reason why it has matches, or None if it has totals.

    Raises:
        MatchRecognizeUnsupportedError: the clause reads a stream, and the search cannot compute the
            totals.
    """
    is_stream = is_streaming(clause.relation.rows)
    reason = errors.BY_ONE_AT_A_TIME
    # Backtracking finds one match at a time. It is used only if the options name it.
    if is_stream or clause.options.algorithm != "backtracking":
        try:
            return clause.evaluate_plan(replace(plan, totals=totals)), None
        except errors.MustBuildMatchesError as error:
            if is_stream:
                raise
            reason = error.reason
    plan = replace(plan, measures=plan.measures or (MATCH_COLUMN,))
    return clause.evaluate_plan(plan), reason


def check_names(names: Iterable[str], group_names: Iterable[str]) -> None:
    """Check that the columns of the result have different names.

    Args:
        names: the names of the aggregates.
        group_names: the names of the columns that tell groups apart.

    Raises:
        MatchRecognizePlanError: two columns have the same name, ignoring case.
    """
    used_names = {name.lower() for name in group_names}
    for name in names:
        if name.lower() in used_names:
            raise duplicate_output_column(name=name)
        used_names.add(name.lower())


def find_key_measures(plan: MatchPlan, grouping: Grouping) -> dict[str, Measure]:
    """Return measures of the ORDER BY columns on the first or last row of a match, by column.

    The measures tell groups apart: the matches of a group start, or end, with the same row. Groups
    by partition need no such measures. The names of the measures are internal, because a measure of
    the query may have the name of a column.

    Raises:
        MatchRecognizePlanError: no item of ORDER BY is a column that is not a partition column.
    """
    if grouping is Grouping.PARTITION:
        return {}
    end = End.FIRST if grouping is Grouping.START else End.LAST
    navigation = Navigation(end=end, semantics=Semantics.FINAL)
    partition_texts = {key.text for key in plan.partition_by}
    measures = {}
    for number, item in enumerate(plan.order_by):
        key = item.expression
        if len(key.column_path) == 1 and key.text not in partition_texts:
            term = replace(
                make_column(navigation, key.text, column_path=key.column_path),
                span=key.span_or_start,
            )
            measures[key.column_path[0]] = Measure(name_key(number), term)
    if not measures:
        raise errors.no_sort_column(per=grouping.value)
    return measures
