"""WITHIN: the columns that say where the window of each row ends; the engine keeps to it.

Rows are sorted ascending by the first ORDER BY column, so windows end in the order of their first
rows, and the last row of a match bounds all of them.
"""

from __future__ import annotations

from matchrec.conditions.row_column import RowColumn, row_column
from matchrec.conditions.types import ValueType
from matchrec.dataclass import dataclass
from matchrec.errors.conditions import within_needs_ascending_order
from matchrec.plan.clauses import RowExpression
from matchrec.plan.match_plan import MatchPlan


@dataclass(frozen=True, slots=True)
class OrderType:
    """The type of the first ORDER BY column.

    has_one_offset: whether local times in the session's time zone never go back.
    """

    type: ValueType
    has_one_offset: bool


def check_order(plan: MatchPlan) -> None:
    """Raises where the rows are not sorted as a window needs it."""
    for interval in plan.intervals:
        if not plan.order_by or plan.order_by[0].descending:
            raise within_needs_ascending_order(interval.span)


def near_columns(plan: MatchPlan) -> tuple[RowColumn, ...]:
    """Where the windows between neighbours end that begin with a row, the smallest first."""
    return () if plan.staging is None else tuple(row_column(one) for one in plan.staging.ends)


def window_columns(plan: MatchPlan) -> tuple[RowColumn, ...]:
    """The key along which a window is measured, and where the window of a row ends; or none.

    Both are the key where SQL does not say where windows end.
    """
    if plan.within is None:
        return ()
    return end_columns(plan, plan.within.interval)


def gap_columns(plan: MatchPlan) -> tuple[RowColumn, ...]:
    """The same of the window between a row and the next one, where rows of a match are such."""
    gap = plan.row_gap
    return () if gap is None else end_columns(plan, gap.interval)


def end_columns(plan: MatchPlan, interval: RowExpression) -> tuple[RowColumn, RowColumn]:
    """The order column, and what lies an interval after it."""
    order, written = plan.order_by[0].expression.text, interval.text.strip()
    if not written:
        return row_column(order), row_column(order)
    if written.isdigit():
        written += "L"  # so that the end of the last window of an int fits
    return row_column(order), row_column(f"({order}) + ({written})")
