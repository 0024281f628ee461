"""Functions of arrays: read elements that may be missing, and work with groups in flat arrays.

Groups of different sizes, such as the rows of partitions or of matches, are held in one flat array,
one group after the other:

    groups       a b   (empty)   c d e
    sizes        2     0         3
    positions    0 1             2 3 4
    starts       0     2         2        5, the total size
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from matchrec.jit.array_types import BoolArray, IntArray

ArrayElement = TypeVar("ArrayElement", bound=np.generic)


def take_or_default(
    values: npt.NDArray[ArrayElement], index: IntArray, default: int
) -> npt.NDArray[ArrayElement]:
    """Return `values[index]`, but `default` for each index that is -1.

    >>> take_or_default(np.array([5, 6]), np.array([1, -1]), 0).tolist()
    [6, 0]
    """
    if not len(values):
        return np.full((len(index), *values.shape[1:]), default, values.dtype)
    taken_values = values[index]
    overwrite_few(taken_values, index < 0, default)
    return taken_values


def overwrite_few(values: npt.NDArray[ArrayElement], is_overwritten: BoolArray, value: int) -> None:
    """Set some elements in place to a value. Mostly there are none, and then this is fast.

    `np.where` would take about as long as computing the values, even if it replaces none of them.

    >>> numbers = np.array([5, 6])
    >>> overwrite_few(numbers, np.array([False, True]), -1)
    >>> numbers.tolist()
    [5, -1]
    """
    if is_overwritten.any():
        values[is_overwritten] = value


def find_group_starts(sizes: IntArray) -> IntArray:
    """Return int64[k + 1]: the start of each of k groups in a flat array, then the total size.

    Args:
        sizes: int64[k], how many elements each group has.

    >>> find_group_starts(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    return add_up_before(sizes)


def add_up_before(values: BoolArray | IntArray) -> IntArray:
    """Return int64[n + 1]: for each position and the end, the sum of the values before it.

    Of booleans, True counts as 1.

    >>> add_up_before(np.array([True, False, True])).tolist()
    [0, 1, 1, 2]
    """
    sums = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=sums[1:])
    return sums


def list_positions(first_positions: IntArray, sizes: IntArray) -> IntArray:
    """Return all positions of ranges, range after range, given their first positions and sizes.

    >>> list_positions(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    shifts = np.repeat(first_positions - find_group_starts(sizes)[:-1], sizes)
    return np.asarray(shifts + np.arange(len(shifts)), np.int64)
