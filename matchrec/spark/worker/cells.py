"""Rows that go back in the cells of one column, where Spark takes a value for each row it sends.

    rows sent     r0 r1 r2 r3 | r4 r5 r6 r7           to a scalar function
    cells back    [m0 m1] [] [] | [] [] [m2] [] []    a list of output rows each

Spark keeps a row until its cell is back, so cells go back with each batch of output, but for one of
every few hundred, into which later output goes, and for the last one, which waits for the end. That
is enough where no more rows come out than come in; else all that is left would be in the last cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Protocol

import numpy as np
import pyarrow as pa

from matchrec.dataclass import dataclass

ROWS_A_CELL = 1 << 10
BYTES_A_CELL = 4 << 20
ROWS_FOR_ONE_KEPT = 1 << 8
BYTES_FOR_ONE_KEPT = 1 << 20


class Worker(Protocol):
    """What makes batches of batches. Picklable."""

    def run(self, batches: Iterable[pa.RecordBatch], /) -> Iterator[pa.RecordBatch]: ...


@dataclass(frozen=True)
class InCells:
    """A worker whose rows come as columns, and go in cells. Picklable.

    names: of the columns that come. cells: the type of their column, lists of structs.
    """

    worker: Worker
    names: tuple[str, ...]
    cells: pa.DataType

    def run(self, parts: Iterator[tuple[pa.Array, ...] | pa.Array]) -> Iterator[pa.Array]:
        """As many cells as rows come. A task without rows is not asked."""
        first = next(parts, None)
        if first is None:
            return
        rows = IncomingRows(chain([first], parts), list(self.names))
        held: list[pa.RecordBatch] = []
        for batch in self.worker.run(rows):
            held.append(batch)
            if rows.waiting > 1:
                yield self.fill(held, rows.answer(cells_for(held)))
                held = []
        for _ in rows:  # a worker may be done before
            pass
        yield self.fill(held, rows.waiting)

    def fill(self, batches: list[pa.RecordBatch], count: int) -> pa.Array:
        """So many cells: the first ones with the rows, the others empty."""
        rows = sum(batch.num_rows for batch in batches)
        assert count or not rows, "rows without a row that has come"
        filled = max(1, min(count, cells_for(batches)))
        ends = np.minimum(np.arange(count + 1) * -(-rows // filled), rows).astype(np.int32)
        return pa.ListArray.from_arrays(ends, self.structs(batches), type=self.cells)

    def structs(self, batches: list[pa.RecordBatch]) -> pa.StructArray:
        """The rows of batches."""
        fields = [*pa.schema(self.cells.value_type)]
        if not batches:
            return pa.array([], self.cells.value_type)
        table = pa.Table.from_batches(batches).combine_chunks()
        columns = [column.combine_chunks() for column in table.columns]
        typed = [
            column if column.type == field.type else column.cast(field.type)
            for column, field in zip(columns, fields, strict=True)
        ]
        return pa.StructArray.from_arrays(typed, fields=fields)


def cells_for(batches: list[pa.RecordBatch]) -> int:
    """How many cells rows are to have: none of them with too many rows, or bytes."""
    rows: int = sum(batch.num_rows for batch in batches)
    size: int = sum(batch.nbytes for batch in batches)
    return min(rows, max(-(-rows // ROWS_A_CELL), -(-size // BYTES_A_CELL)))


@dataclass(slots=True)
class IncomingRows:
    """Batches of what comes. waiting: how many of their rows have no cell yet. size: in bytes."""

    parts: Iterator[tuple[pa.Array, ...] | pa.Array]
    names: list[str]
    rows: int = 0
    size: int = 0
    waiting: int = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for part in self.parts:
            columns = list(part) if isinstance(part, tuple) else [part]
            batch = pa.RecordBatch.from_arrays(columns, self.names)
            self.rows += batch.num_rows
            self.size += batch.nbytes
            self.waiting += batch.num_rows
            yield batch

    def answer(self, wanted: int) -> int:
        """How many cells go back now: as many as are wanted if there are, and one stays."""
        kept = max(self.rows // ROWS_FOR_ONE_KEPT, self.size // BYTES_FOR_ONE_KEPT)
        count = min(max(1, wanted, self.waiting - kept), self.waiting - 1)
        self.waiting -= count
        return count
