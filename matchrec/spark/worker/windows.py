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
    """For each row the first row that is outside of its window; None without a window."""
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
    if not is_whole(order.type):
        both = dense_ranks(pa.chunked_array([order, bound]).combine_chunks())
        order, bound = both.slice(0, table.num_rows), both.slice(table.num_rows)
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
