"""A stream of record batches → whole partitions: batch borders and partition borders are unrelated.

Rows wait until their partition is complete, and complete partitions wait until there are enough
rows for a call of the engine to be worth while: 200,000 tiny partitions are a few calls.
Memory: the rows of the partition that is being read, and of one call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from matchrec.engine.partitions import IntArray

ROWS_A_CALL = 1 << 17


def whole_partitions(
    batches: Iterable[pa.RecordBatch], rows_a_call: int = ROWS_A_CALL
) -> Iterator[tuple[pa.Table, IntArray]]:
    """Tables of whole partitions, each with the row positions at which its partitions start.

    The first bit of column `__bits0` marks partition starts.
    """
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if batch.num_rows == 0:
            continue
        border = last_start(batch)
        if rows + border >= rows_a_call and border >= 0 and rows + border > 0:
            yield table_of([*waiting, batch.slice(0, border)])
            waiting, rows = [batch.slice(border)], batch.num_rows - border
        else:
            waiting.append(batch)
            rows += batch.num_rows
    if waiting:
        yield table_of(waiting)


def starts_in(bits: pa.ChunkedArray | pa.Array) -> IntArray:
    """Row positions at which partitions start."""
    return np.flatnonzero(bits.to_numpy(zero_copy_only=False) & 1)


def last_start(batch: pa.RecordBatch) -> int:
    """The position of the last row that starts a partition, or -1."""
    starts = starts_in(batch.column("__bits0"))
    return int(starts[-1]) if len(starts) else -1


def table_of(batches: list[pa.RecordBatch]) -> tuple[pa.Table, IntArray]:
    """The batches as one table of contiguous columns, and its partition starts with the end."""
    table = pa.Table.from_batches(batches).combine_chunks()
    starts = starts_in(table.column("__bits0"))
    return table, np.append(starts, table.num_rows).astype(np.int64)
