"""Partitions: what an engine sees of the data, sorted columns of many partitions in flat arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
WordArray = npt.NDArray[np.uint64]


@dataclass(slots=True)
class Frontier:
    """How far the search of a partition has come whose rows come in pieces.

    start: row position of the next starting row: in the first partition when a search begins, in
    the last one when it is at its end. number: how many matches were found before in that
    partition, and steps how often conditions on the run were asked there. edge: no search may look
    at the last partition's rows from here on, and one that would ends there; None where that
    partition is whole.
    """

    start: int
    number: int = 0
    edge: int | None = None
    steps: int = 0


@dataclass(frozen=True, slots=True)
class Partitions:
    """Whole partitions, one after the other, each in its order.

    starts: int64[p + 1], row position of each partition's first row, then the number of rows n.
    satisfied: uint64[n, w], bit c of a row (word c // 64) says that row condition c is true there.
    integers, floats: int64[a, n] and float64[b, n], the columns that run conditions read.
    integers_valid, floats_valid: bool[a, n] and bool[b, n], false where the value is NULL.
    window_end: int64[n], for a match that starts at a row, the first row that is outside of its
    window; None without a window. It never decreases within a partition.
    ends: int64[1 + w, n], when windows end that begin with a row, that of the match first, then
    those between neighbours; None where no run comes out at the end of one of the latter.
    frontier: where the first partition's rows are not its first ones, or the last one's not its
    last ones. searched: int64[2, p], from which row on and before which one matches of each
    partition begin; None where any row may begin one. Only a search without event selection keeps
    to these two.
    ranked: by integer column, the values of which the column has the ranks, from rank 1 on, where
    Python computes with them.
    """

    starts: IntArray
    satisfied: WordArray
    integers: IntArray
    floats: FloatArray
    integers_valid: BoolArray
    floats_valid: BoolArray
    window_end: IntArray | None = None
    ends: IntArray | None = None
    frontier: Frontier | None = None
    searched: IntArray | None = None
    ranked: Mapping[int, Sequence[object]] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """The number of rows n."""
        return int(self.starts[-1])
