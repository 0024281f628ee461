"""Columns from which the search finds the end of the window that begins with each row.

WITHIN and a longest gap between rows limit a match to the rows in a window. The first ORDER BY
column is ascending, so windows end in the order of their first rows. So the search only has to
compare the last row of a match with the end of the window.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from matchrec.conditions.row_column import RowColumn, build_row_column
from matchrec.conditions.types import ValueType
from matchrec.errors.within import within_needs_ascending_order
from matchrec.plan.clauses import RowExpression
from matchrec.plan.match_plan import MatchPlan


@dataclass(frozen=True, slots=True)
class OrderType:
    """The type of the first ORDER BY column."""

    # The type of its values.
    type: ValueType
    # Whether the session's time zone has the same offset from UTC at all times, so that local times
    # never go back.
    has_fixed_offset: bool


def check_ascending_order(plan: MatchPlan) -> None:
    """Check that the first ORDER BY column is ascending if the plan has windows.

    Raises:
        MatchRecognizeUnsupportedError: there is a window, but the first ORDER BY column is
            descending.
    """
    for interval in plan.window_lengths:
        if plan.order_by[0].is_descending:
            raise within_needs_ascending_order(plan.order_by[0].span, interval.span)


def build_neighbour_window_columns(plan: MatchPlan) -> tuple[RowColumn, ...]:
    """Return the columns with the ends of the windows between neighbouring rows, shortest first.

    Only a plan with stages has such windows; the result is empty for any other plan.
    """
    if plan.staging is None:
        return ()
    return tuple(build_row_column(window.end_sql) for window in plan.staging.neighbour_windows)


class WindowColumns(NamedTuple):
    """The columns from which the end of the window that begins with each row is found.

    For ORDER BY `ts` and an interval of one hour they are `ts` and `(ts) + (INTERVAL 1 HOUR)`.
    """

    order: RowColumn  # the first ORDER BY column
    end: RowColumn  # its value at the end of the window


def build_window_columns(plan: MatchPlan, interval: RowExpression) -> WindowColumns:
    """Return the columns of the windows of a length.

    Args:
        plan: the plan of the query.
        interval: the length. If it has no SQL, the length follows from conditions, and both columns
            are the order column.
    """
    order = plan.order_by[0].expression.text
    end = f"({order}) + {write_window_length(interval)}" if interval.text else order
    return WindowColumns(build_row_column(order), build_row_column(end))


def write_window_length(interval: RowExpression) -> str:
    """Return the length of a window as SQL that can be added to the order column.

    An integer becomes a BIGINT (`90` is `(90L)`), because the end of the last window might be too
    large for an INT.
    """
    return f"({interval.text}L)" if interval.text.isdigit() else f"({interval.text})"


def list_window_columns(plan: MatchPlan) -> tuple[RowColumn, ...]:
    """Return all columns that the windows of a plan need; none if the plan has no windows."""
    windows = [window for window in (plan.within, plan.row_gap) if window is not None]
    columns = [
        column for window in windows for column in build_window_columns(plan, window.interval)
    ]
    return (*columns, *build_neighbour_window_columns(plan))
