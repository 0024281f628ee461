"""List and number the columns that Spark sends to the workers.

A column is sent if a measure, a condition on the run, a window or a message reads it. If several of
them read a column, it is sent once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from matchrec.compile.columns import find_key_columns
from matchrec.compile.compiled_query import SentColumns, SentWindow
from matchrec.conditions.row_column import RowColumn, build_row_column, cast_column
from matchrec.conditions.types import COMPARED_BY_ENGINE, NUMBERS, Family, ValueType
from matchrec.conditions.typing.run_columns import RunColumns
from matchrec.conditions.window_columns import (
    build_neighbour_window_columns,
    build_window_columns,
    write_window_length,
)
from matchrec.errors.within import within_not_a_length
from matchrec.plan.clauses import Gap, Within
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import write_sum_or_null

# Families of types whose values have no distance, so no window can be measured along such a column.
WITHOUT_DISTANCE = COMPARED_BY_ENGINE | {Family.STRING, Family.BINARY, Family.BOOLEAN}


def build_sent_columns(
    plan: MatchPlan,
    types: Mapping[RowColumn, ValueType],
    columns: tuple[RowColumn, ...],
    measure_columns: Iterable[RowColumn],
    run_columns: RunColumns,
) -> SentColumns:
    """Return the columns that are sent to the workers, with their purposes for one query.

    Args:
        plan: the plan of the query.
        types: the types of the columns.
        columns: all columns that are sent, for this query and for other queries that share the
            rows, in the order of their indices.
        measure_columns: the columns that the measures of this query read.
        run_columns: the columns that conditions on the run read.

    Raises:
        MatchRecognizeUnsupportedError: a window is not a distance along its order.
    """
    indices = {column: index for index, column in enumerate(columns)}

    def find_indices(used_columns: Iterable[RowColumn]) -> tuple[int, ...]:
        """Return the indices of some of the columns."""
        return tuple(indices[column] for column in used_columns)

    return SentColumns(
        columns=columns,
        used_columns=find_indices(list_used_columns(plan, types, measure_columns, run_columns)),
        integer_columns=find_indices(run_columns.integer_columns),
        float_columns=find_indices(run_columns.float_columns),
        ranked_columns=frozenset(find_indices(run_columns.ranked_columns)),
        partition_keys=tuple((column.text, indices[column]) for column in find_key_columns(plan)),
        window=build_sent_window(plan, plan.within, types, indices),
        gap=build_sent_window(plan, plan.row_gap, types, indices),
        window_end_columns=find_indices(find_window_end_columns(plan, types)),
    )


def list_used_columns(
    plan: MatchPlan,
    types: Mapping[RowColumn, ValueType],
    measure_columns: Iterable[RowColumn],
    run_columns: RunColumns,
) -> tuple[RowColumn, ...]:
    """Return the columns that are sent because this query needs them, each once.

    The arguments and the errors are the same as for `build_sent_columns`.
    """
    used_columns = (
        *measure_columns,
        *run_columns.integer_columns,
        *run_columns.float_columns,
        *list_sent_window_columns(plan, plan.within, types),
        *list_sent_window_columns(plan, plan.row_gap, types),
        *find_window_end_columns(plan, types),
        *find_key_columns(plan),
    )
    return tuple(dict.fromkeys(used_columns))


def build_sent_window(
    plan: MatchPlan,
    window: Within | Gap | None,
    types: Mapping[RowColumn, ValueType],
    indices: Mapping[RowColumn, int],
) -> SentWindow | None:
    """Return a window over the columns that are sent; None if `window` is None.

    Args:
        plan: the plan of the query.
        window: a window of the plan.
        types: the types of the columns.
        indices: the index of each column that is sent.

    Raises:
        MatchRecognizeUnsupportedError: the window is not a distance along its order.
    """
    if window is None:
        return None
    order, end = find_sent_window_columns(plan, window, types)
    end_index = None if end is None else indices[end]
    return SentWindow(order=indices[order], end=end_index, distance=window.distance)


def list_sent_window_columns(
    plan: MatchPlan, window: Within | Gap | None, types: Mapping[RowColumn, ValueType]
) -> tuple[RowColumn, ...]:
    """Return the columns that are sent for a window; none if `window` is None.

    The arguments and the errors are the same as for `build_sent_window`.
    """
    if window is None:
        return ()
    order, end = find_sent_window_columns(plan, window, types)
    return (order,) if end is None else (order, end)


class SentWindowColumns(NamedTuple):
    """The columns that are sent for a window. They are of one type, so they can be compared."""

    # The first ORDER BY column.
    order: RowColumn
    # Its value at which the window of each row ends; None if the distance of the window is known.
    end: RowColumn | None


def find_sent_window_columns(
    plan: MatchPlan, window: Within | Gap, types: Mapping[RowColumn, ValueType]
) -> SentWindowColumns:
    """Return the columns that are sent for a window of a plan.

    The order column is cast to the type of the end: a date plus hours is a timestamp. An end that
    overflows is NULL, which the worker reports. A floating-point end never overflows.

    Raises:
        MatchRecognizeUnsupportedError: the window is not a distance along its order.
    """
    order, end = build_window_columns(plan, window.interval)
    order_type = types[order]
    end_type = types[end]
    are_numbers = {order_type.family, end_type.family} <= NUMBERS
    is_date_with_timestamp = order_type.family is Family.DATE and end_type.family in (
        Family.TIMESTAMP,
        Family.TIMESTAMP_NTZ,
    )
    are_comparable = order_type == end_type or are_numbers or is_date_with_timestamp
    if order_type.family in WITHOUT_DISTANCE or not are_comparable:
        raise within_not_a_length(window.interval.span)
    if window.distance is not None:
        return SentWindowColumns(order, end=None)
    if order_type.family is not Family.FLOATING:
        end = build_row_column(write_sum_or_null(order.text, write_window_length(window.interval)))
    if order_type != end_type:
        order = cast_column(order, end_type.name)
    return SentWindowColumns(order, end)


def find_window_end_columns(
    plan: MatchPlan, types: Mapping[RowColumn, ValueType]
) -> tuple[RowColumn, ...]:
    """Return the ends of all windows as columns of one type.

    The result is empty unless the plan has windows between neighbours in its pattern. If some ends
    are timestamps, ends that are dates are cast to timestamps.
    """
    neighbour_ends = build_neighbour_window_columns(plan)
    if not neighbour_ends:
        return ()
    ends = neighbour_ends
    if plan.within is not None:
        ends = (build_window_columns(plan, plan.within.interval).end, *neighbour_ends)
    other_types = [types[end] for end in ends if types[end].family is not Family.DATE]
    if not other_types:
        return ends
    common_type = other_types[0].name
    return tuple(
        cast_column(end, common_type) if types[end].family is Family.DATE else end for end in ends
    )
