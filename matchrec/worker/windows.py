"""Find where windows end, and check that every end is known and right.

A window limits how far the rows of a match are from its first row. There are three kinds of
windows: of WITHIN, or of conditions that mean the same; of a number of rows; and between
neighbouring rows of a match (WITHIN ... BETWEEN ROWS), which are called gaps. For a search, all
windows that begin with a row become one number: the first row that is outside of any of them.

    ts                                              0    1    5    6    20
    first row that is more than 4 after the row     2    3    4    4    5
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from matchrec.compile.compiled_query import CompiledQuery, SentWindow
from matchrec.errors.kinds import MakeRunError
from matchrec.errors.run import failures
from matchrec.plan.clauses import Distance, DistanceForm
from matchrec.search.matches import RunFailure
from matchrec.search.partitions import BoolArray, FloatArray, Frontier, IntArray
from matchrec.search.window_ends import (
    find_ends_by_bounds,
    find_ends_by_distance,
    find_ends_by_row_count,
)
from matchrec.worker import internal_names
from matchrec.worker.arrays import find_valid, read_floats, read_integers, take_column
from matchrec.worker.arrow_types import is_whole
from matchrec.worker.sort_keys import encode_float_order, make_sort_keys, rank_values

# If this bit of int64 values, viewed as uint64, is flipped, they become uint64 values with the same
# order.
SIGN_BIT = np.uint64(1 << 63)


def find_window_ends(
    compiled_query: CompiledQuery, table: pa.Table, starts: IntArray, frontier: Frontier | None
) -> IntArray | None:
    """Return for each row the first row that is outside of its windows: int64[n].

    None if the query has no window.

    If more rows of a partition will arrive, a window that contains the last row of the partition is
    still open: its end is a row that has not arrived.

    Args:
        compiled_query: has the windows, and the columns that they depend on.
        table: the rows, with the columns that are sent.
        starts: see `encode.encode_partitions`.
        frontier: how far each partition has been searched; None for whole partitions.
    """
    ends = find_ends_in_table(compiled_query, table, starts)
    if ends is None or frontier is None or not frontier.is_incomplete:
        return ends
    ends = frontier.extend_open_windows(starts, ends)
    if compiled_query.window_rows is not None:
        # The number of rows of a window is the same whatever rows follow.
        rows = np.arange(len(ends))
        ends = np.minimum(ends, rows + compiled_query.window_rows)
    return ends


def find_ends_in_table(
    compiled_query: CompiledQuery, table: pa.Table, starts: IntArray
) -> IntArray | None:
    """Return what `find_window_ends` returns if no more rows will arrive."""
    sent_columns = compiled_query.sent_columns
    if compiled_query.window_rows is not None:
        ends: IntArray | None = find_ends_by_row_count(starts, compiled_query.window_rows)
    else:
        ends = find_ends_along_order(table, starts, sent_columns.window)
    gap_ends = find_ends_along_order(table, starts, sent_columns.gap)
    if gap_ends is None:
        return ends
    first_gaps = find_first_gaps(gap_ends, starts)
    return first_gaps if ends is None else np.minimum(ends, first_gaps)


def find_ends_along_order(
    table: pa.Table, starts: IntArray, window: SentWindow | None
) -> IntArray | None:
    """Return for each row the first row outside of the window that begins with it: int64[n].

    None if there is no window.

    Args:
        table: the rows, with the columns that are sent.
        starts: see `encode.encode_partitions`.
        window: the window, as columns of `table`.
    """
    if window is None:
        return None
    order = take_column(table, internal_names.name_column(window.order))
    if window.distance is not None:
        return find_ends_at_distance(window.distance, order, starts)
    assert window.end is not None
    bounds = make_comparable(order, take_column(table, internal_names.name_column(window.end)))
    return find_ends_by_bounds(starts, bounds.keys, bounds.has_key, bounds.bounds, bounds.has_bound)


class WindowBounds(NamedTuple):
    """The order values of n rows and the bounds of their windows, as numbers of one scale.

    A row is outside of a window if its key is at least the bound of the window.
    """

    keys: IntArray  # int64[n], the order value of each row
    has_key: BoolArray  # bool[n], whether the order value is not NULL
    bounds: IntArray  # int64[n], the order value at which each row's window ends
    has_bound: BoolArray  # bool[n], whether the bound is not NULL


def make_comparable(order: pa.Array, window_end: pa.Array) -> WindowBounds:
    """Return two columns of one type as int64 that compare as the values do.

    Args:
        order: the values of the order column.
        window_end: the value of the order column at which the window of each row ends.
    """
    if pa.types.is_floating(order.type) or is_whole(order.type):
        keys = make_sort_keys(order)
        bounds = make_sort_keys(window_end)
    else:
        # int64 cannot hold such values, such as wide decimals, so their common ranks are compared.
        all_values = pa.chunked_array([order, window_end]).combine_chunks()
        ranks = read_integers(rank_values(all_values))
        keys, bounds = np.split(ranks, [len(order)])
    return WindowBounds(keys, find_valid(order), bounds, find_valid(window_end))


def find_first_gaps(gap_ends: IntArray, starts: IntArray) -> IntArray:
    """Return for each row the first later row that is too far from the row before it: int64[n].

    A match that begins with a row ends before this later row, because two consecutive rows would be
    too far apart. The first row of the next partition counts as too far.

    Args:
        gap_ends: int64[n], for each row the first row that is too far from it.
        starts: see `encode.encode_partitions`.
    """
    next_rows = np.arange(1, starts[-1] + 1)
    is_too_far = gap_ends <= next_rows
    borders = np.unique(np.append(next_rows[is_too_far], starts))
    return borders[np.searchsorted(borders, next_rows - 1, side="right")]


def find_ends_at_distance(distance: Distance, order: pa.Array, starts: IntArray) -> IntArray:
    """Return for each row the first row that is further away than a known distance: int64[n].

    Args:
        distance: the distance that the conditions allow, and how they compute it.
        order: the order column, of integers, dates, times or doubles.
        starts: see `encode.encode_partitions`.
    """
    has_key = find_valid(order)
    if not pa.types.is_floating(order.type):
        # Differences of uint64 do not overflow.
        keys = read_integers(order).view(np.uint64) ^ SIGN_BIT
        ends = find_ends_by_distance(starts, keys, has_key, np.uint64(distance.limit))
    elif distance.forms == (DistanceForm.DIFFERENCE,):
        limit = np.float64(distance.limit)
        ends = find_ends_by_distance(starts, read_floats(order), has_key, limit)
    else:
        ends = find_ends_by_rounded_bounds(distance, read_floats(order), has_key, starts)
    if distance.first_must_be_inside:
        return ends
    # The first row is always inside, even if its order value is NULL.
    return np.asarray(np.maximum(ends, np.arange(1, len(ends) + 1)), np.int64)


def find_ends_by_rounded_bounds(
    distance: Distance, values: FloatArray, has_key: BoolArray, starts: IntArray
) -> IntArray:
    """Return for each row `first` the next row `x` that fails the condition of a window: int64[n].

    The conditions `x <= first + limit` and `x - limit <= first` round the sum or the difference. So
    the bounds must be computed with the same operation on the same side.

    Args:
        distance: the distance along doubles.
        values: float64[n], the order of each row.
        has_key: bool[n], false if the order is NULL.
        starts: see `encode.encode_partitions`.
    """
    if distance.forms == (DistanceForm.SUM,):
        keys = encode_float_order(values)
        bounds = encode_float_order(values + distance.limit)
    else:
        keys = encode_float_order(values - distance.limit)
        bounds = encode_float_order(values)
    if not distance.excludes_limit:
        bounds = bounds + 1  # a key that equals its bound is inside
    return find_ends_by_bounds(starts, keys, has_key, bounds, has_key)


# Checks of windows.


def check_windows(compiled_query: CompiledQuery, table: pa.Table, starts: IntArray) -> None:
    """Check that the end of every window is known and right.

    Args:
        compiled_query: has the windows, and the columns that they depend on.
        table: the rows, with the columns that are sent.
        starts: see `encode.encode_partitions`.

    Raises:
        RunFailure: the end of a window is NULL or before its beginning, or an integer overflows in
            the conditions of a window.
    """
    window = compiled_query.sent_columns.window
    check_window_ends("WITHIN", table, window)
    check_window_ends("WITHIN BETWEEN ROWS", table, compiled_query.sent_columns.gap)
    if window is None or window.distance is None or compiled_query.ansi:
        return
    if window.distance.bits:  # integers, which wrap around without ANSI mode
        check_distance(
            window.distance, starts, take_column(table, internal_names.name_column(window.order))
        )


def check_window_ends(clause: str, table: pa.Table, window: SentWindow | None) -> None:
    """Check the ends of windows that the engine has computed for each row, if it has.

    Args:
        clause: the clause that the error names.
        table: the rows, with the columns that are sent.
        window: the window, as columns of `table`; None if there is no window.

    Raises:
        RunFailure: the sum of a row's order and the length of its window is NULL, or has wrapped
            around, so that it is less than the order.
    """
    if window is None or window.end is None:
        return
    order = take_column(table, internal_names.name_column(window.order))
    bounds = make_comparable(order, take_column(table, internal_names.name_column(window.end)))
    is_right = bounds.has_bound & (bounds.keys <= bounds.bounds)
    fail_at_first(bounds.has_key & ~is_right, failures.wrong_window_length, words=clause)


def check_distance(distance: Distance, starts: IntArray, order: pa.Array) -> None:
    """Check that no integer overflows in the conditions of a window.

    Without ANSI mode the engine's integers wrap around. So the conditions would hold again for rows
    that are far outside of the window.

    Args:
        distance: the distance that the conditions allow, along integers.
        starts: see `encode.encode_partitions`.
        order: the values of the order column.

    Raises:
        RunFailure: an integer overflows.
    """
    if not len(order):
        return
    keys = read_integers(order)
    has_key = find_valid(order)
    greatest = (1 << distance.bits - 1) - 1  # the greatest integer of the order column
    overflows = np.zeros(len(keys), np.bool_)
    if DistanceForm.SUM in distance.forms:
        overflows |= keys > greatest - distance.limit - 1
    if DistanceForm.LESS in distance.forms:
        overflows |= keys < distance.limit - greatest
    if DistanceForm.DIFFERENCE in distance.forms:
        present_keys = np.where(has_key, keys, np.iinfo(np.int64).max)
        least_of_partitions = np.minimum.reduceat(present_keys, starts[:-1])
        least = np.repeat(least_of_partitions, np.diff(starts))
        overflows |= (keys > least) & ((keys - least).view(np.uint64) > greatest)
    fail_at_first(
        np.asarray(overflows & has_key, np.bool_),
        failures.window_overflow,
        variables=" and ".join(distance.variables),
    )


def fail_at_first(is_wrong: BoolArray, make_error: MakeRunError, **fields: object) -> None:
    """Raise an error for the first wrong row. Do nothing if no row is wrong.

    Args:
        is_wrong: bool[n], which rows are wrong.
        make_error: makes the error.
        fields: the arguments of `make_error`, without the location of the row.

    Raises:
        RunFailure: a row is wrong. The error names the first wrong row.
    """
    if is_wrong.any():
        raise RunFailure(make_error, int(np.argmax(is_wrong)), fields)
