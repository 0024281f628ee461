"""Decide which aggregates of measures the workers can compute.

The others are computed by the engine, over an array of the rows of the match. The functions here
look at an aggregate's form. Their callers look at the types of its values.
"""

from __future__ import annotations

from matchrec.conditions.aggregate_table import STATISTICS, find_entry
from matchrec.plan.expression import Aggregate, list_inputs, reads_columns_only
from matchrec.plan.match_plan import MatchPlan
from matchrec.shortcuts import current_shortcuts


def can_accumulate(plan: MatchPlan, aggregate: Aggregate) -> bool:
    """Return whether workers can add up an aggregate row by row, if its types allow it.

    Workers add up counts of distinct values, and statistics, if each row of a match has an output
    row. They compute no statistic of distinct numbers: its value depends on the order of the
    numbers, because doubles are rounded. A count without DISTINCT is a basic aggregate.
    """
    if not current_shortcuts().accumulators or plan.rows_per_match.has_one_row_per_match:
        return False
    if aggregate.ordering or not aggregate.arguments:
        return False
    if aggregate.function == "count":
        can_workers_compute = aggregate.is_distinct
    else:
        can_workers_compute = aggregate.function in STATISTICS and not aggregate.is_distinct
    return can_workers_compute and has_column_inputs(aggregate)


def can_choose_row(aggregate: Aggregate) -> bool:
    """Return whether workers can choose the row of an aggregate, if its types allow it."""
    choice = find_entry(aggregate.function).choice
    if not current_shortcuts().accumulators or choice is None:
        return False
    if aggregate.is_distinct or aggregate.ordering:
        return False
    argument_count = 2 if choice.has_key else 1
    return len(aggregate.arguments) == argument_count and has_column_inputs(aggregate)


def has_column_inputs(aggregate: Aggregate) -> bool:
    """Return whether each input of an aggregate, FILTER included, reads columns and nothing else.

    The result is False if an input is a constant, because a constant reads no column.
    """
    return all(term.references and reads_columns_only(term) for term in list_inputs(aggregate))


def is_collected_list(aggregate: Aggregate) -> bool:
    """Return whether an aggregate is the array of a variable's values, in the order of the rows."""
    return (
        aggregate.function in ("collect_list", "array_agg")
        and len(aggregate.arguments) == 1
        and not (aggregate.is_distinct or aggregate.ordering or aggregate.ignore_nulls)
        and aggregate.condition is None
        and reads_columns_only(aggregate.arguments[0])
    )
