"""Find where windows end, and check that every end is known and right.

There are three kinds of windows: those of WITHIN, those of a number of rows, and those that the
conditions of a query amount to. For a search, each of them is one number for each row: the first
row that is outside of the window that begins with it.

    ts                             0    1    5    6    20
    first row outside WITHIN 5     2    3    4    4    5
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.errors.kinds import MakeRunError
from matchrec.errors.run import failures
from matchrec.plan.clauses import Distance, DistanceForm
from matchrec.search.matches import RunFailure
from matchrec.search.partitions import (
    BoolArray,
    Frontier,
    IntArray,
    find_ends_by_bounds,
    find_ends_by_distance,
    find_ends_by_row_count,
)
from matchrec.worker import arrays, wire
from matchrec.worker.arrays import find_valid, read_floats, read_integers, take_column

SIGN_BIT = np.uint64(1 << 63)


def find_window_ends(
    compiled_query: CompiledQuery, table: pa.Table, starts: IntArray, frontier: Frontier | None
) -> IntArray | None:
    """Return for each row the first row that is outside of its windows; None without a window.

    If more rows of a partition will arrive, a window that contains its last row is still open: it
    ends after the rows that have arrived.

    Args:
        compiled_query: the compiled query.
        table: the rows.
        starts: see `encode.encode_partitions`.
        frontier: how far each partition has been searched; None for whole partitions.
    """
    window_end = find_first_rows_outside(compiled_query, table, starts)
    if window_end is None or frontier is None or not frontier.is_incomplete:
        return window_end
    window_end = frontier.extend_open_windows(starts, window_end)
    if compiled_query.window_rows is not None:
        # a window of a number of rows does not grow beyond them, whatever rows follow
        row = np.arange(len(window_end))
        window_end = np.minimum(window_end, row + compiled_query.window_rows)
    return window_end


def find_first_rows_outside(
    compiled_query: CompiledQuery, table: pa.Table, starts: IntArray
) -> IntArray | None:
    """Do the same as `find_window_ends`, as if no more rows will arrive."""
    sent_columns = compiled_query.sent_columns
    if compiled_query.window_rows is not None:
        ends: IntArray | None = find_ends_by_row_count(starts, compiled_query.window_rows)
    else:
        ends = find_ends_along_order(table, starts, sent_columns.window, sent_columns.distance)
    ends_of_gaps = find_ends_along_order(table, starts, sent_columns.gap, sent_columns.gap_distance)
    if ends_of_gaps is None:
        return ends
    first_gaps = find_first_gaps(ends_of_gaps, starts)
    return first_gaps if ends is None else np.minimum(ends, first_gaps)


def find_ends_along_order(
    table: pa.Table, starts: IntArray, columns: tuple[int, ...], distance: Distance | None
) -> IntArray | None:
    """Return for each row the first row outside of the window that begins with it.

    Args:
        table: the rows.
        starts: see `encode.encode_partitions`.
        columns: the columns of the order and of the end of each window, or of the order alone if
            there is a distance. Empty without a window, for which None is returned.
        distance: how far the window reaches, if that was known when the query was compiled.
    """
    if not columns:
        return None
    order = take_column(table, wire.name_column(columns[0]))
    if distance is not None:
        return find_ends_at_distance(distance, order, starts)
    bound = take_column(table, wire.name_column(columns[1]))
    return find_ends_by_bounds(starts, *make_comparable(order, bound))


class WindowBounds(NamedTuple):
    """For n rows, the keys of the order and the ends of their windows, as numbers that compare."""

    keys: IntArray  # int64[n]
    has_key: BoolArray  # bool[n], whether the key is not NULL
    bounds: IntArray  # int64[n], the ends
    has_bound: BoolArray  # bool[n], whether the end is not NULL


def make_comparable(order: pa.Array, bound: pa.Array) -> WindowBounds:
    """Return the keys of rows and the ends of their windows as int64 that compare as they do."""
    if pa.types.is_floating(order.type) or arrays.is_whole(order.type):
        keys = arrays.make_sort_keys(order)
        bounds = arrays.make_sort_keys(bound)
    else:
        # int64 cannot hold such values, but both columns have one type, so their ranks compare
        together = pa.chunked_array([order, bound]).combine_chunks()
        ranks = read_integers(arrays.rank_values(together))
        keys, bounds = np.split(ranks, [len(order)])
    return WindowBounds(keys, find_valid(order), bounds, find_valid(bound))


def find_first_gaps(ends_of_gaps: IntArray, starts: IntArray) -> IntArray:
    """Return for each row the next row that is too far from the row before it, as int64[n].

    The first row of the next partition counts as too far.

    Args:
        ends_of_gaps: int64[n], for each row the first row that is too far from it.
        starts: see `encode.encode_partitions`.
    """
    next_row = np.arange(1, starts[-1] + 1)
    borders = np.unique(np.append(next_row[ends_of_gaps <= next_row], starts))
    return borders[np.searchsorted(borders, next_row - 1, side="right")]


def find_ends_at_distance(window: Distance, order: pa.Array, starts: IntArray) -> IntArray:
    """Return for each row the first row that is further from it than a known distance."""
    valid = find_valid(order)
    if not pa.types.is_floating(order.type):
        # with the sign bit flipped, they compare as uint64, whose differences do not overflow
        keys = read_integers(order).view(np.uint64) ^ SIGN_BIT
        ends = find_ends_by_distance(starts, keys, valid, np.uint64(window.limit))
    elif window.forms == (DistanceForm.DIFFERENCE,):
        ends = find_ends_by_distance(starts, read_floats(order), valid, np.float64(window.limit))
    else:
        # the conditions round floats, so the same operation is done to the same side
        values = read_floats(order)
        bounds = values
        if window.forms == (DistanceForm.SUM,):
            bounds = values + window.limit
        else:
            values = values - window.limit
        rising_bounds = arrays.encode_float_order(bounds) + (not window.strict)
        rising_values = arrays.encode_float_order(values)
        ends = find_ends_by_bounds(starts, rising_values, valid, rising_bounds, valid)
    if window.first_must_be_inside:
        return ends
    # the first row is always inside
    return np.asarray(np.maximum(ends, np.arange(1, len(ends) + 1)), np.int64)


# Checks of windows.


def check_windows(compiled_query: CompiledQuery, table: pa.Table, starts: IntArray) -> None:
    """Check that the end of every window is known and right.

    Args:
        compiled_query: the compiled query.
        table: the rows.
        starts: see `encode.encode_partitions`.

    Raises:
        RunFailure: the end of a window is NULL, it is before its beginning, or what the conditions
            compute for a window wraps around.
    """
    sent_columns = compiled_query.sent_columns
    for clause, columns in (
        ("WITHIN", sent_columns.window),
        ("WITHIN BETWEEN ROWS", sent_columns.gap),
    ):
        if len(columns) == 2:
            order, bound = (take_column(table, wire.name_column(index)) for index in columns)
            check_window_ends(clause, order, bound)
    distance = sent_columns.distance
    if distance is not None and distance.bits and not compiled_query.ansi:
        check_distance(
            distance, starts, take_column(table, wire.name_column(sent_columns.window[0]))
        )


def check_window_ends(clause: str, order: pa.Array, bound: pa.Array) -> None:
    """Raise RunFailure if the sum of a key and a length is NULL or has wrapped around.

    Args:
        clause: the clause that the error names.
        order: the keys of the rows.
        bound: the ends of the windows that begin with them.
    """
    window = make_comparable(order, bound)
    is_wrong = window.has_key & ~(window.has_bound & (window.keys <= window.bounds))
    fail_at_first(is_wrong, failures.wrong_window_length, words=clause)


def check_distance(window: Distance, starts: IntArray, order: pa.Array) -> None:
    """Raise RunFailure if what the conditions of a window compute would wrap around.

    Without ANSI mode the engine's integers wrap around, and the conditions would hold again for
    rows that are far outside of the window.

    Args:
        window: the distance, along integers.
        starts: see `encode.encode_partitions`.
        order: the keys of the rows.
    """
    if not len(order):
        return
    keys = read_integers(order)
    valid = find_valid(order)
    greatest = (1 << window.bits - 1) - 1
    wraps = np.zeros(len(keys), np.bool_)
    if DistanceForm.SUM in window.forms:
        wraps |= keys > greatest - window.limit - 1
    if DistanceForm.LESS in window.forms:
        wraps |= keys < window.limit - greatest
    if DistanceForm.DIFFERENCE in window.forms:
        present_keys = np.where(valid, keys, np.iinfo(np.int64).max)
        least = np.minimum.reduceat(present_keys, starts[:-1])  # of each partition
        least = np.repeat(least, np.diff(starts))
        wraps |= (keys > least) & ((keys - least).view(np.uint64) > greatest)
    variables = " and ".join(window.variables)
    fail_at_first(
        np.asarray(wraps & valid, np.bool_), failures.window_overflow, variables=variables
    )


def fail_at_first(is_wrong: BoolArray, make_error: MakeRunError, **fields: object) -> None:
    """Raise RunFailure for the first row that is wrong, if there is one.

    Args:
        is_wrong: bool[n], which rows are wrong.
        make_error: makes the error.
        fields: its arguments, without the location of the row.
    """
    if is_wrong.any():
        raise RunFailure(make_error, int(np.argmax(is_wrong)), fields)
