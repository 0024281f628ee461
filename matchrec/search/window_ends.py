"""Compute, for each row, the end of the window of a match that starts there.

The end is the first row after the window, or the end of the partition. A search needs WITHIN in
this form. For rows that are in a window if their key is less than the first key plus 3:

    row       0    1    2    3    4
    key       1    2    4    4    9
    end       2    4    4    4    5
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from matchrec.jit.array_types import BoolArray, IntArray
from matchrec.jit.decorators import allocating


@allocating
def find_ends_by_bounds(
    starts: IntArray, keys: IntArray, valid: BoolArray, bounds: IntArray, bounds_valid: BoolArray
) -> IntArray:
    """Return int64[n], for each row the first row of its partition whose key reaches its bound.

    If no key reaches the bound, the result is the end of the partition. One pass suffices, because
    bounds ascend as keys do.

    Args:
        starts: see `Partitions`.
        keys: int64[n], the first ORDER BY key, ascending.
        valid: bool[n], false where the key is NULL. Such a row is in no window, not even its own.
        bounds: int64[n], the key plus the length of the window.
        bounds_valid: bool[n], false where the bound is NULL.
    """
    ends = np.empty(len(keys), np.int64)
    for partition in range(len(starts) - 1):
        end = starts[partition]
        for row in range(starts[partition], starts[partition + 1]):
            end = max(end, row)
            if valid[row] and bounds_valid[row]:
                while end < starts[partition + 1] and valid[end] and keys[end] < bounds[row]:
                    end += 1
            ends[row] = end
    return ends


@allocating
def find_ends_by_distance(
    starts: IntArray, keys: npt.NDArray[np.generic], valid: BoolArray, limit: float
) -> IntArray:
    """Return int64[n], for each row the first later row of its partition that is too far from it.

    If no row is too far, the result is the end of the partition. One pass suffices, as in
    `find_ends_by_bounds`.

    Args:
        starts: see `Partitions`.
        keys: uint64[n] or float64[n], ascending.
        valid: bool[n], false where the key is NULL. Such a row is in no window, not even its own;
            nor is a row whose distance from itself is not a number.
        limit: the greatest distance in the window, of the keys' type.
    """
    ends = np.empty(len(keys), np.int64)
    for partition in range(len(starts) - 1):
        end = starts[partition]
        for row in range(starts[partition], starts[partition + 1]):
            end = max(end, row)
            if valid[row]:
                while end < starts[partition + 1] and valid[end] and keys[end] - keys[row] <= limit:
                    end += 1
            ends[row] = end
    return ends


def find_ends_by_row_count(starts: IntArray, window_rows: int) -> IntArray:
    """Return int64[n], for each row the end of a window of at most `window_rows` rows.

    A window ends with its partition at the latest.

    >>> find_ends_by_row_count(np.array([0, 3, 4]), 2).tolist()
    [2, 3, 3, 4]
    """
    ends = np.repeat(starts[1:], np.diff(starts))
    return np.minimum(np.arange(window_rows, window_rows + len(ends)), ends)
