"""Where windows end: those of WITHIN, of a number of rows, and those that conditions say."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from matchrec.compile.executable import Executable
from matchrec.engine.matches import FailureKind, RunFailure
from matchrec.engine.partitions import FloatArray, IntArray
from matchrec.engine.windows import ends_after, ends_by_distance, window_ends
from matchrec.plan.clauses import ConditionWindow, Form
from matchrec.spark import wire
from matchrec.spark.worker.arrays import (
    as_floats,
    as_integers,
    column,
    dense_ranks,
    is_whole,
    validity,
)

SIGN = np.uint64(1 << 63)


def window_end(executable: Executable, table: pa.Table, starts: IntArray) -> IntArray | None:
    """For each row the first row that is outside of its windows; None without a window."""
    whole, gap = window_of_match(executable, table, starts), executable.crossing.gap
    if not gap:
        return whole
    order, bound = (column(table, wire.column(i)) for i in gap)
    ends = ends_at_gaps(order, bound, starts)
    return ends if whole is None else np.minimum(whole, ends)


def ends_at_gaps(order: pa.Array, bound: pa.Array, starts: IntArray) -> IntArray:
    """int64[n], for each row the next one that lies too far after the row before it, or which is
    not of its partition.
    """
    order, bound = of_one_kind(order, bound)
    known = validity(order)[1:] & validity(bound)[:-1]
    if pa.types.is_floating(order.type):
        near = as_sortable(as_floats(order))[1:] < as_sortable(as_floats(bound))[:-1]
    else:
        near = as_integers(order)[1:] < as_integers(bound)[:-1]
    rows = len(order)
    first = np.append(np.flatnonzero(~(near & known)) + 1, starts)  # of what follows no gap
    borders = np.unique(first)
    return borders[np.searchsorted(borders, np.arange(rows), side="right")]


def of_one_kind(order: pa.Array, bound: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Two arrays of one type as they are, or as their ranks where they are no numbers."""
    if pa.types.is_floating(order.type) or is_whole(order.type):
        return order, bound
    both = dense_ranks(pa.chunked_array([order, bound]).combine_chunks())
    return both.slice(0, len(order)), both.slice(len(order))


def window_of_match(executable: Executable, table: pa.Table, starts: IntArray) -> IntArray | None:
    """The same of the window of a whole match."""
    if executable.window_rows is not None:
        return ends_after(starts, executable.window_rows)
    if not executable.crossing.window:
        return None
    order, bound = (column(table, wire.column(i)) for i in executable.crossing.window)
    if executable.crossing.said is not None:
        return ends_as_said(executable.crossing.said, order, starts)
    if pa.types.is_floating(order.type):
        keys, bounds = as_floats(order), as_floats(bound)
        return window_ends(starts, keys, validity(order), bounds, validity(bound))
    order, bound = of_one_kind(order, bound)
    ends = as_integers(order), validity(order), as_integers(bound), validity(bound)
    return window_ends(starts, *ends)


def ends_as_said(window: ConditionWindow, order: pa.Array, starts: IntArray) -> IntArray:
    """The same of a window that conditions say."""
    valid = validity(order)
    if not pa.types.is_floating(order.type):
        keys = as_integers(order).view(np.uint64) ^ SIGN  # a difference of these does not overflow
        ends = ends_by_distance(starts, keys, valid, np.uint64(window.limit))
    elif window.form is Form.DIFFERENCE:
        ends = ends_by_distance(starts, as_floats(order), valid, np.float64(window.limit))
    else:
        first = here = as_floats(order)
        if window.form is Form.SUM:
            first = first + window.limit
        else:
            here = here - window.limit
        bounds = as_sortable(first) + (not window.strict)
        ends = window_ends(starts, as_sortable(here), valid, bounds, valid)
    return ends if window.tests_first else np.maximum(ends, np.arange(1, len(ends) + 1))


def as_sortable(values: FloatArray) -> IntArray:
    """int64 that compare as Spark compares floats: NaN is the greatest, and equals itself."""
    bits = np.where(np.isnan(values), np.nan, values + 0.0).view(np.int64)
    return bits ^ ((bits >> 63) & np.iinfo(np.int64).max)


def check_window(executable: Executable, table: pa.Table, starts: IntArray) -> None:
    """Raises RunFailure where what conditions compute would wrap around, as Spark's does not in
    ANSI mode: then they would hold of rows again that are too far away.
    """
    window = executable.crossing.said
    if executable.ansi or window is None or not window.bits or not table.num_rows:
        return
    order = column(table, wire.column(executable.crossing.window[0]))
    keys, valid = as_integers(order), validity(order)
    most = (1 << window.bits - 1) - 1
    if window.form is Form.SUM:
        wraps = keys > most - window.limit - 1
    elif window.form is Form.LESS:
        wraps = keys < window.limit - most
    else:
        first = np.minimum.reduceat(np.where(valid, keys, np.iinfo(np.int64).max), starts[:-1])
        first = np.repeat(first, np.diff(starts))
        wraps = (keys > first) & ((keys - first).view(np.uint64) > most)
    if (wraps & valid).any():
        row = int(np.argmax(wraps & valid))
        partition = int(np.searchsorted(starts, row, side="right")) - 1
        raise RunFailure(FailureKind.WINDOW_WRAPS, partition, row, " and ".join(window.variables))
