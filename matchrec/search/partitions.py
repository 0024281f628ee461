"""Partitions: what an engine sees of the data, sorted columns of many partitions in flat arrays.

And the engine's form of WITHIN: where the window of a match ends that starts at a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from matchrec.jit.decorators import allocating

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
WordArray = npt.NDArray[np.uint64]


def at(values: npt.NDArray[Any], index: IntArray, otherwise: int) -> npt.NDArray[Any]:
    """values[index], `otherwise` where the index is -1."""
    if not len(values):
        return np.full((len(index), *values.shape[1:]), otherwise, values.dtype)
    known = (index >= 0).reshape(-1, *[1] * (values.ndim - 1))
    return np.where(known, values[index], otherwise)


def starts_of(sizes: BoolArray | IntArray) -> IntArray:
    """int64[k + 1], where the values of each start, then how many there are; of marks, how many
    come before each.
    """
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def ranges(first: IntArray, sizes: IntArray) -> IntArray:
    """So many positions from each first one on, range after range."""
    shifts = np.repeat(first - starts_of(sizes)[:-1], sizes)
    return np.asarray(shifts + np.arange(len(shifts)), np.int64)


NO_EDGE = 2**62  # after every row: the partition is whole


class Frontier(NamedTuple):
    """How far the search of each of p partitions has come, where rows come in pieces.

    start: int64[p], row position of the next starting row; until: int64[p], the row before which
    matches begin. edge: int64[p], no search may look at the partition's rows from here on; NO_EDGE
    where the partition is whole. number: int64[p], how many matches were found in the partition,
    and steps how often conditions on the run were asked there.
    The search of a partition moves start, number and steps as it comes to its end.

    A search that may take the row at the edge ends there without a decision, and begins again at
    its starting row when there are more rows. What is found without it is found whatever comes:

        PATTERN (A B+)   rows A B B   the loop may take the row at the edge: undecided
        PATTERN (A B)    rows A B     a match, as nothing preferred may take it

    Cost: that of the rows from the first undecided starting row on, each time.
    """

    start: IntArray
    until: IntArray
    edge: IntArray
    number: IntArray
    steps: IntArray

    @staticmethod
    def of(
        starts: IntArray, start: int = 0, edge: int = NO_EDGE, number: int = 0, steps: int = 0
    ) -> Frontier:
        """That of partitions of which the first may have begun before, and the last may go on.

        starts: as in `Partitions`. start, number, steps: of the first one; edge: of the last one.
        """
        count = len(starts) - 1
        own = [starts[:-1], starts[1:], np.full(count, NO_EDGE), np.zeros(count), np.zeros(count)]
        found = Frontier(*(column.astype(np.int64) for column in own))
        if count:
            found.start[0], found.number[0], found.steps[0] = start, number, steps
            found.edge[-1] = edge
        return found

    @property
    def goes_on(self) -> bool:
        return bool((self.edge != NO_EDGE).any())

    def let_grow(self, starts: IntArray, window_end: IntArray) -> IntArray:
        """The ends of windows, one row later of those that end with rows after which more come."""
        ends = np.where(self.edge != NO_EDGE, starts[1:], -1)
        return np.asarray(window_end + (window_end == np.repeat(ends, np.diff(starts))), np.int64)


@dataclass(frozen=True, slots=True)
class Partitions:
    """Whole partitions, one after the other, each in its order.

    starts: int64[p + 1], row position of each partition's first row, then the number of rows n.
    satisfied: uint64[n, w], bit c of a row (word c // 64) says that row condition c is true there;
    one word at least.
    columns, valid: int64[c, n] and bool[c, n], the columns that run conditions read, first so many
    `integers`, then floats as their bits; last those that totals over all matches read, likewise.
    Not valid where the value is NULL.
    window_end: int64[n], for a match that starts at a row, the first row that is outside of its
    window; None without a window. It never decreases within a partition. Where more rows come that
    may be in it, it is after the row that follows those that are here.
    ends: int64[1 + w, n], when windows end that begin with a row, that of the match first, then
    those between neighbours; None where no run comes out at the end of a window between
    neighbours.
    frontier: where some partition's rows are not all of its rows, or have been searched before;
    None where all are whole. Only a search without event selection keeps to it.
    ranked: by integer column, the values of which the column has the ranks, from rank 1 on, where
    Python computes with them.
    """

    starts: IntArray
    satisfied: WordArray
    columns: IntArray
    valid: BoolArray
    integers: int
    window_end: IntArray | None = None
    ends: IntArray | None = None
    frontier: Frontier | None = None
    ranked: Mapping[int, Sequence[object]] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return int(self.starts[-1])

    def only(self, partition: int) -> Partitions:
        """One of them by itself. It has no frontier."""
        begin, end = self.starts[partition : partition + 2].tolist()
        rows = slice(begin, end)
        starts, columns = np.array([0, end - begin], np.int64), self.columns[:, rows]
        own = starts, self.satisfied[rows], columns, self.valid[:, rows], self.integers
        window_end = None if self.window_end is None else self.window_end[rows] - begin
        ends = None if self.ends is None else self.ends[:, rows]
        return Partitions(*own, window_end, ends, ranked=self.ranked)


@allocating
def window_ends(
    starts: IntArray, keys: IntArray, valid: BoolArray, bounds: IntArray, bounds_valid: BoolArray
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
