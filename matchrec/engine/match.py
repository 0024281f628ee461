"""Matches: what an engine answers, in flat arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from matchrec.engine.partitions import BoolArray, IntArray


@dataclass(frozen=True, slots=True)
class Matches:
    """Matches of some partitions, in the order in which they were found; k rows are mapped in all.

    partition: int64[m], index of each match's partition.
    number: int64[m], match number in its partition, from 1, empty matches counted.
    start: int64[m], row position of the starting row.
    offsets: int64[m + 1]; match i is mapped to rows start[i] .. start[i] + offsets[i+1] - offsets[i].
    classifiers: int16[k], variable id of each mapped row, match after match.
    excluded: bool[k], true for rows matched inside an exclusion.
    """

    partition: IntArray
    number: IntArray
    start: IntArray
    offsets: IntArray
    classifiers: npt.NDArray[np.int16]
    excluded: BoolArray

    @property
    def count(self) -> int:
        """The number of matches m."""
        return len(self.start)
