"""Several spills → all of their rows in order, with a batch of each in memory.

What comes out next are the rows that are not after the last row in memory of any spill. How many
these are of a spill is found by halving: a row from the middle of each is sorted together with the
least of those last rows. So each row is sorted once, however the spills lie to each other. Of equal
rows those of earlier spills come first.

Source: Knuth, The Art of Computer Programming, volume 3, 5.4.1, Multiway Merging.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from matchrec.dataclass import dataclass
from matchrec.engine.partitions import IntArray
from matchrec.spark import wire
from matchrec.spark.sorting.gather import sort_table
from matchrec.spark.sorting.order import order_of
from matchrec.spark.sorting.sorting import Sorting
from matchrec.spark.sorting.spills import Spill


@dataclass(slots=True)
class Head:
    """The first rows of a spill that have not come out, as far as they are in memory."""

    later: Iterator[pa.RecordBatch]
    rows: pa.RecordBatch | None = None

    def is_there(self) -> bool:
        """Whether there are more rows; brings some into memory."""
        if not self.rows:
            self.rows = next(self.later, None)
        return self.rows is not None

    def take(self, count: int) -> pa.RecordBatch:
        """The first rows, which have then come out."""
        assert self.rows is not None
        taken, self.rows = self.rows.slice(0, count), self.rows.slice(count)
        return taken


def merge(spills: Sequence[Spill], sorting: Sorting) -> Iterator[pa.Table]:
    """The rows of spills in order, a table at a time; the first of each partition are marked."""
    heads = [Head(one.batches()) for one in spills]
    last: list[pa.RecordBatch] = []  # the row that came out last: it tells where a partition begins
    while heads := [head for head in heads if head.is_there()]:
        counts = rows_that_come_next(heads, sorting)
        taken = [head.take(int(count)) for head, count in zip(heads, counts, strict=True)]
        table = sort_table(pa.Table.from_batches([*last, *taken]).combine_chunks(), sorting)
        yield table.slice(len(last))
        last = table.take([table.num_rows - 1]).to_batches()


def rows_that_come_next(heads: Sequence[Head], sorting: Sorting) -> IntArray:
    """How many rows of each head are not after the last row of any."""
    names = [*dict.fromkeys(item.name for item in sorting.columns), wire.FIRST_BITS]
    batches = [head.rows.select(names) for head in heads if head.rows is not None]
    rows = np.array([batch.num_rows for batch in batches], np.int64)
    least = int(np.argmin(ranks(batches, rows - 1, sorting)))
    low, high = np.zeros_like(rows), rows.copy()
    low[least] = rows[least]
    while (undecided := low < high).any():
        middle = np.where(undecided, (low + high) // 2, rows - 1)
        found = ranks(batches, middle, sorting)
        comes = found < found[least]
        low = np.where(undecided & comes, middle + 1, low)
        high = np.where(undecided & ~comes, middle, high)
    return low


def ranks(batches: Sequence[pa.RecordBatch], rows: IntArray, sorting: Sorting) -> IntArray:
    """The rank of a row of each batch among these rows."""
    some = [batch.slice(int(row), 1) for batch, row in zip(batches, rows, strict=True)]
    order = order_of(pa.Table.from_batches(some).combine_chunks(), sorting).rows
    return np.arange(len(some)) if order is None else np.argsort(order)
