"""Choose the stretches of rows that a match can reach, and group them into ranges.

Along the order of each partition, rows are divided into stretches of equal length. The window of a
match is a few stretches long. The *reach* is the number of further stretches into which a match can
extend from the one in which it begins. A match can begin in a stretch only if each condition that
every match needs holds for some row of that stretch or of the stretches within its reach. A stretch
is kept if a match can begin in it, or can reach it from an earlier stretch.

Kept stretches are grouped into ranges. Ranges are searched separately, so no match may be in two
ranges. A range begins at a *border*: a kept stretch that no match reaches from an earlier stretch.

For instance, every match begins with a row that satisfies A and has a row that satisfies B. The
reach is 1:

    position         0    1    2    3    4    5    6
    conditions       A    B    -    B    A    -    A B
    can begin        yes  -    -    -    -    -    yes
    is reached       -    yes  -    -    -    -    -
    kept             yes  yes  -    -    -    -    yes
    border           yes  -    -    -    -    -    yes
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from matchrec.search.partitions import BoolArray, IntArray
from matchrec.worker import internal_names
from matchrec.worker.arrays import make_array, read_numbers, take_column

# About how many ranges the kept rows are divided into. There are fewer ranges if this many would
# have fewer than `RangeWorker.least_rows` rows on average.
USUAL_RANGE_COUNT = 256


@dataclass(frozen=True, slots=True)
class Stretches:
    """s stretches of rows, sorted by their class, and then by their position.

    The partitions of a class have keys with the same hash modulo `spark.ranges.CLASS_COUNT`. They
    are cut together, as if they had one key, so there are few classes however many keys there are.
    """

    classes: IntArray  # int64[s], the class of each stretch
    positions: IntArray  # int64[s], the number of each stretch along the order of its class
    bits: IntArray  # int64[s], which conditions hold for some row of each stretch
    row_counts: IntArray  # int64[s], the number of rows of each stretch

    def are_joined(self, index_distance: int, reach: int) -> BoolArray:
        """Return whether one match can have rows of stretch i and of stretch i + index_distance.

        The two must be of the same class, and at most `reach` positions apart. Their positions may
        be further apart than their indices, because stretches without rows are not in the arrays.

        Returns:
            bool[s - index_distance], for each stretch i.
        """
        is_same_class = self.classes[index_distance:] == self.classes[:-index_distance]
        is_near = self.positions[index_distance:] - self.positions[:-index_distance] <= reach
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
    # A range begins at the first border after each multiple of this number of kept rows, so few
    # ranges are small. The last range, and a range after a larger range, may have fewer rows.
    least_rows: int

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the class and the position of each kept stretch, with the number of its range.

        Args:
            batches: all stretches in any order, with four columns: class, position, bits and number
                of rows.
        """
        stretch_batches = list(batches)
        if not stretch_batches:
            return
        table = pa.Table.from_batches(stretch_batches).combine_chunks()
        class_name, position_name, *_ = table.column_names
        classes, positions, bits, row_counts = (
            read_numbers(take_column(table, name)).astype(np.int64) for name in table.column_names
        )
        order = np.lexsort((positions, classes))
        stretches = Stretches(
            classes=classes[order],
            positions=positions[order],
            bits=bits[order],
            row_counts=row_counts[order],
        )
        ranges = self.find_ranges(stretches)
        is_kept = ranges >= 0
        output = {
            class_name: stretches.classes,
            position_name: stretches.positions,
            internal_names.RANGE: ranges,
        }
        columns = [make_array(values[is_kept]) for values in output.values()]
        yield pa.RecordBatch.from_arrays(columns, names=[*output])

    def find_ranges(self, stretches: Stretches) -> IntArray:
        """Return the range of each stretch, -1 for a stretch that no match can reach.

        >>> positions = np.array([0, 1, 5, 6])
        >>> bits, row_counts = np.array([2, 4, 2, 0]), np.full(4, 9000)
        >>> stretches = Stretches(0 * positions, positions, bits, row_counts)
        >>> RangeWorker(1, needed_mask=6, first_row_mask=2, least_rows=1).find_ranges(stretches)
        array([ 0,  0, -1, -1])
        """
        can_begin = self.find_beginnings(stretches)
        is_reached = self.find_reached(stretches, can_begin)
        is_kept = can_begin | is_reached
        is_border = is_kept & ~is_reached

        kept_rows = np.where(is_kept, stretches.row_counts, 0)
        rows_before = np.cumsum(kept_rows) - kept_rows
        rows_per_range = max(self.least_rows, int(kept_rows.sum()) // USUAL_RANGE_COUNT + 1)
        # All stretches from a border to the next border are in the same range.
        rows_before_border = np.maximum.accumulate(np.where(is_border, rows_before, 0))
        return np.where(is_kept, rows_before_border // rows_per_range, -1)

    def find_beginnings(self, stretches: Stretches) -> BoolArray:
        """Return whether a match can begin in each stretch: bool[s]."""
        bits_within_reach = stretches.bits.copy()
        for index_distance in range(1, self.reach + 1):
            is_joined = stretches.are_joined(index_distance, self.reach)
            later_bits = stretches.bits[index_distance:]
            bits_within_reach[:-index_distance] |= np.where(is_joined, later_bits, 0)
        has_needed_rows = (bits_within_reach & self.needed_mask) == self.needed_mask
        has_first_row = (stretches.bits & self.first_row_mask) == self.first_row_mask
        return np.asarray(has_needed_rows & has_first_row, np.bool_)

    def find_reached(self, stretches: Stretches, can_begin: BoolArray) -> BoolArray:
        """Return whether a match that begins in an earlier stretch can reach each stretch: bool[s].

        Args:
            stretches: all stretches, sorted.
            can_begin: bool[s], whether a match can begin in each stretch.
        """
        is_reached = np.zeros_like(can_begin)
        for index_distance in range(1, self.reach + 1):
            is_joined = stretches.are_joined(index_distance, self.reach)
            is_reached[index_distance:] |= can_begin[:-index_distance] & is_joined
        return is_reached
