"""Which stretches of rows along an order are kept, and where ranges of them end.

A match that begins in a stretch ends in one of the next few, as its window is so many of them
long. So it may begin there only if each condition that it needs holds somewhere in these. A stretch
is kept if some match may reach it, and a range may begin with one that none reaches from before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from matchrec.search.partitions import BoolArray, IntArray
from matchrec.worker import wire
from matchrec.worker.arrays import arrow_of, column, numbers_of

RANGES = 256  # of all rows that are kept


@dataclass(frozen=True, slots=True)
class Stretches:
    """Stretches in the order of their places, class by class, and what is known of their rows."""

    classes: IntArray
    places: IntArray
    bits: IntArray
    rows: IntArray

    def are_near(self, distance: int, most: int) -> BoolArray:
        """Of each stretch but the last `distance` ones whether that many further on another one
        follows of the same class, no more than `most` places away.
        """
        same = self.classes[distance:] == self.classes[:-distance]
        near = self.places[distance:] - self.places[:-distance] <= most
        return np.asarray(same & near, np.bool_)


@dataclass(frozen=True, slots=True)
class Cutting:
    """Tells ranges. Picklable. parts: how many stretches further on a match may end. needed, first:
    bits that some row of each match has, and its first row has. least: rows of all ranges but one.
    """

    parts: int
    needed: int
    first: int
    least: int

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The stretches that are kept, with the numbers of their ranges."""
        if not (found := list(batches)):
            return
        table = pa.Table.from_batches(found).combine_chunks()
        names = table.column_names
        columns = [numbers_of(column(table, name)).astype(np.int64) for name in names]
        order = np.lexsort((columns[1], columns[0]))
        stretches = Stretches(*(one[order] for one in columns))
        ranges = self.ranges(stretches)
        kept = ranges >= 0
        arrays = [arrow_of(array[kept]) for array in (stretches.classes, stretches.places, ranges)]
        yield pa.RecordBatch.from_arrays(arrays, names=[*names[:2], wire.RANGE])

    def ranges(self, stretches: Stretches) -> IntArray:
        """The range of each stretch, -1 of one that no match may have.

        >>> places = np.array([0, 1, 5, 6])
        >>> stretches = Stretches(0 * places, places, np.array([2, 4, 2, 0]), places * 0 + 9000)
        >>> Cutting(1, needed=6, first=2, least=1).ranges(stretches)
        array([ 0,  0, -1, -1])
        """
        near = [stretches.are_near(distance, self.parts) for distance in range(1, self.parts + 1)]
        bits = stretches.bits.copy()
        for distance, follows in enumerate(near, 1):
            bits[:-distance] |= np.where(follows, stretches.bits[distance:], 0)
        begins = (bits & self.needed) == self.needed
        begins &= (stretches.bits & self.first) == self.first
        reached = np.zeros_like(begins)
        for distance, follows in enumerate(near, 1):
            reached[distance:] |= begins[:-distance] & follows
        kept = begins | reached
        rows = np.where(kept, stretches.rows, 0)
        before = np.cumsum(rows) - rows
        size = max(self.least, int(rows.sum()) // RANGES + 1)
        since = np.maximum.accumulate(np.where(kept & ~reached, before, 0))
        return np.where(kept, since // size, -1)
