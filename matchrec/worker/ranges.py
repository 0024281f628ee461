"""Choose the stretches of rows that a match can reach, and group them into ranges.

Along the order of each partition, rows are divided into stretches of equal length. A match that
begins in a stretch ends in one of the next few, because its window is a few stretches long. So a
match can begin in a stretch only if each condition that every match needs holds for some row in
these. A stretch is kept if such a match can reach it. A range may begin with a stretch that no
match reaches from before, so that no match is in two ranges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from matchrec.search.partitions import BoolArray, IntArray
from matchrec.worker import wire
from matchrec.worker.arrays import make_array, read_numbers, take_column

# About how many ranges the kept rows are divided into. There are fewer if each of these would have
# fewer rows than `RangeWorker.least_rows`.
RANGES = 256


@dataclass(frozen=True, slots=True)
class Stretches:
    """Stretches of rows. They are sorted by class, a group of partitions, and by the order."""

    classes: IntArray  # the class of each stretch
    positions: IntArray  # the position of each stretch along the order, in stretches
    bits: IntArray  # which conditions hold for some row of each stretch
    rows: IntArray  # the number of rows of each stretch

    def are_near(self, distance: int, most: int) -> BoolArray:
        """Return whether a match can go from each stretch to the one `distance` further on.

        That one must be of the same class, and at most `most` positions away. The last `distance`
        stretches are left out.
        """
        is_same_class = self.classes[distance:] == self.classes[:-distance]
        is_near = self.positions[distance:] - self.positions[:-distance] <= most
        return np.asarray(is_same_class & is_near, np.bool_)


@dataclass(frozen=True, slots=True)
class RangeWorker:
    """A worker that groups stretches into ranges. Picklable."""

    # A match ends at most this many stretches after the one in which it begins.
    reach: int
    # The mask of the conditions that hold for some row of every match.
    needed_mask: int
    # The mask of the conditions that hold for the first row of every match.
    first_row_mask: int
    # The least number of rows of a range. Only the last range may have fewer.
    least_rows: int

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the kept stretches with the number of their range.

        Args:
            batches: all stretches in any order: class, position, bits, and number of rows.
        """
        stretch_batches = list(batches)
        if not stretch_batches:
            return
        table = pa.Table.from_batches(stretch_batches).combine_chunks()
        names = table.column_names
        columns = [read_numbers(take_column(table, name)).astype(np.int64) for name in names]
        order = np.lexsort((columns[1], columns[0]))
        stretches = Stretches(*(values[order] for values in columns))
        ranges = self.find_ranges(stretches)
        is_kept = ranges >= 0
        output = (stretches.classes, stretches.positions, ranges)
        arrays = [make_array(values[is_kept]) for values in output]
        yield pa.RecordBatch.from_arrays(arrays, names=[*names[:2], wire.RANGE])

    def find_ranges(self, stretches: Stretches) -> IntArray:
        """Return the range of each stretch, -1 for a stretch that no match can reach.

        >>> positions = np.array([0, 1, 5, 6])
        >>> bits, rows = np.array([2, 4, 2, 0]), np.full(4, 9000)
        >>> stretches = Stretches(0 * positions, positions, bits, rows)
        >>> RangeWorker(1, needed_mask=6, first_row_mask=2, least_rows=1).find_ranges(stretches)
        array([ 0,  0, -1, -1])
        """
        distances = range(1, self.reach + 1)
        near = [stretches.are_near(distance, self.reach) for distance in distances]
        bits_in_reach = stretches.bits.copy()
        for distance, is_near in zip(distances, near, strict=True):
            bits_in_reach[:-distance] |= np.where(is_near, stretches.bits[distance:], 0)
        can_begin = (bits_in_reach & self.needed_mask) == self.needed_mask
        can_begin &= (stretches.bits & self.first_row_mask) == self.first_row_mask
        is_reached = np.zeros_like(can_begin)  # by a match that begins before
        for distance, is_near in zip(distances, near, strict=True):
            is_reached[distance:] |= can_begin[:-distance] & is_near
        is_kept = can_begin | is_reached

        rows = np.where(is_kept, stretches.rows, 0)
        rows_before = np.cumsum(rows) - rows
        rows_per_range = max(self.least_rows, int(rows.sum()) // RANGES + 1)
        # stretches between two borders stay together, and go where the first of them goes
        is_border = is_kept & ~is_reached
        rows_before_border = np.maximum.accumulate(np.where(is_border, rows_before, 0))
        return np.where(is_kept, rows_before_border // rows_per_range, -1)
