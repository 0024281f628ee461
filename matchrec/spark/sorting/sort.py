"""A stream of record batches in any order → the same rows, sorted, each partition's first marked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from matchrec.spark.sorting.gather import in_order, with_begins
from matchrec.spark.sorting.order import order_of
from matchrec.spark.sorting.sorting import Sorting

BYTES_IN_MEMORY = 256 << 20
ROWS_A_BATCH = 1 << 17


def sorted_batches(
    batches: Iterable[pa.RecordBatch],
    sorting: Sorting,
    budget: int = BYTES_IN_MEMORY,
    rows_a_batch: int = ROWS_A_BATCH,
) -> Iterator[pa.RecordBatch]:
    """The rows of all batches in order, at most `rows_a_batch` at a time."""
    held = [batch for batch in batches if batch.num_rows]
    if not held:
        return
    table = pa.Table.from_batches(held).combine_chunks()
    del held
    order = order_of(table, sorting)
    table = with_begins(in_order(table, order, sorting), order)
    yield from table.to_batches(max_chunksize=rows_a_batch)
