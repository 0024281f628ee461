"""Which aggregates of measures the workers can compute.

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

    That is a count of distinct values or a statistic, if each row of a match has an output row.

    Workers compute no statistic of distinct numbers: it depends on their order, because doubles are
    rounded. A count without DISTINCT is a basic aggregate.
    """
    is_count = aggregate.function == "count"
    return (
        current_shortcuts().accumulators
        and not (plan.rows_per_match.has_one_row_per_match or aggregate.ordering)
        and (is_count or aggregate.function in STATISTICS)
        and aggregate.distinct == is_count  # counts with DISTINCT, statistics without
        and len(aggregate.arguments) > 0
        and all(term.references and reads_columns_only(term) for term in list_inputs(aggregate))
    )


def can_choose_row(aggregate: Aggregate) -> bool:
    """Return whether workers can choose the row of an aggregate, if its types allow it."""
    choice = find_entry(aggregate.function).choice
    return (
        current_shortcuts().accumulators
        and choice is not None
        and len(aggregate.arguments) == 1 + choice.has_key
        and not (aggregate.distinct or aggregate.ordering)
        and all(term.references and reads_columns_only(term) for term in list_inputs(aggregate))
    )


def is_collected_list(aggregate: Aggregate) -> bool:
    """Return whether an aggregate is the array of a variable's values, in the order of the rows."""
    return (
        aggregate.function in ("collect_list", "array_agg")
        and len(aggregate.arguments) == 1
        and not (aggregate.distinct or aggregate.ordering or aggregate.ignore_nulls)
        and aggregate.condition is None
        and reads_columns_only(aggregate.arguments[0])
    )
