"""A stream of record batches in any order → the same rows in order, partition by partition.

Rows that fit into the budget are sorted in memory. Otherwise each full budget is sorted and
spilled, then all spills are merged.

Memory: three to four times the budget: the rows that are held, the same in order, what they are
sorted by, and what Arrow keeps for later.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import field

import pyarrow as pa

from matchrec.dataclass import dataclass
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
    """The rows in order, at most so many at a time; bit 0 of the first bits marks partitions, which
    are added where no row has any.

    Rows that are equal in all columns of `sorting` stay in the order in which they have come.
    budget: bytes of rows that are held before they are spilled, less than 2 GiB.
    """
    with closing(sorted_tables(batches, sorting, budget)) as tables:
        for table in tables:
            yield from table.to_batches(max_chunksize=rows_a_batch)


def sorted_tables(
    batches: Iterable[pa.RecordBatch], sorting: Sorting, budget: int
) -> Generator[pa.Table, None, None]:
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
