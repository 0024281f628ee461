"""Where the window of a match ends that starts at a row: the engine's form of WITHIN."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from matchrec.engine.partitions import BoolArray, IntArray
from matchrec.jit.decorators import allocating

Keys = npt.NDArray[np.int64] | npt.NDArray[np.float64]


@allocating
def window_ends(
    starts: IntArray, keys: Keys, valid: BoolArray, bounds: Keys, bounds_valid: BoolArray
) -> IntArray:
    """int64[n], for each row the first row of its partition whose key is not below its bound.

    keys: the first ORDER BY key, ascending; bounds: the key plus the window's length. A row whose
    key is NULL is in no window, not even its own. One pass: bounds ascend as keys do.
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
def ends_by_distance(
    starts: IntArray, keys: npt.NDArray[np.generic], valid: BoolArray, limit: float
) -> IntArray:
    """int64[n], for each row the first row of its partition further from it than `limit`.

    keys: uint64 or float64, ascending, with a limit of that type. A row whose key is NULL, or is at
    no distance from itself, is in no window, not even its own. One pass, as in `window_ends`.
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


def ends_after(starts: IntArray, rows: int) -> IntArray:
    """int64[n], for each row the row `rows` rows on, or the end of its partition."""
    ends = np.repeat(starts[1:], np.diff(starts))
    return np.minimum(np.arange(rows, rows + len(ends)), ends)


def ends_by_number(numbers: IntArray, rows: int) -> IntArray:
    """int64[n], for each row the first one whose number is `rows` greater, or n. One partition."""
    return np.searchsorted(numbers, numbers + rows).astype(np.int64)
