"""A stream of record batches in any order → the same rows in order, partition by partition.

Memory: about three times the budget: the rows that are held, the same in one piece or in order, and
what they are sorted by. What comes out of one stream is sorted in memory if it fits; otherwise each
full budget is sorted and spilled, and all spills are merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field

import pyarrow as pa

from matchrec.spark.sorting.gather import sort_table
from matchrec.spark.sorting.sorting import Sorting
from matchrec.spark.sorting.spilling import Spills

BYTES_IN_MEMORY = 256 << 20
ROWS_A_BATCH = 1 << 17


def sorted_batches(
    batches: Iterable[pa.RecordBatch],
    sorting: Sorting,
    budget: int = BYTES_IN_MEMORY,
    rows_a_batch: int = ROWS_A_BATCH,
) -> Iterator[pa.RecordBatch]:
    """The rows in order, at most so many at a time; bit 0 of the first bits marks partitions.

    Rows that are equal in all columns of `sorting` stay in the order in which they have come.
    budget: bytes of rows that are held before they are spilled, less than 2 GiB.
    """
    for table in sorted_tables(batches, sorting, budget):
        yield from table.to_batches(max_chunksize=rows_a_batch)


def sorted_tables(
    batches: Iterable[pa.RecordBatch], sorting: Sorting, budget: int
) -> Iterator[pa.Table]:
    """The rows in order, as many at a time as are in memory together."""
    held = Held()
    with closing(Spills(sorting, budget)) as spills:
        for batch in batches:
            held.add(batch)
            if held.bytes > budget:
                spills.add(held.take())
        if held.batches:
            if not spills.levels:
                yield sort_table(held.take(), sorting)
                return
            spills.add(held.take())
        yield from spills.rows()


@dataclass(slots=True)
class Held:
    """Batches in memory, and how many bytes they have."""

    batches: list[pa.RecordBatch] = field(default_factory=list)
    bytes: int = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """One more, unless it is empty."""
        if batch.num_rows:
            self.batches.append(batch)
            self.bytes += batch.nbytes

    def take(self) -> pa.Table:
        """All rows in one piece, which are then held no longer."""
        table = pa.Table.from_batches(self.batches).combine_chunks()
        self.batches.clear()
        self.bytes = 0
        return table
