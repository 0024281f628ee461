"""A few rows of every kind of column, so that what sorts them is compiled."""

from __future__ import annotations

import pyarrow as pa

from matchrec.spark import wire
from matchrec.spark.sorting.sort import sorted_batches
from matchrec.spark.sorting.sorting import SortColumn, Sorting

ROWS = range(100)


def sort_few() -> None:
    """Sort rows as a worker does: by a text, a time, a number and one that may be NULL."""
    times = pa.array(ROWS).cast(pa.timestamp("us", "UTC"))
    columns = [[str(row) for row in ROWS], times, [row / 2 for row in ROWS], [*ROWS[1:], None]]
    arrays = [*map(pa.array, columns), pa.array([0] * len(ROWS))]
    batch = pa.record_batch(arrays, ["k", "t", "d", "n", wire.FIRST_BITS])
    order = (SortColumn(name, descending=True, nulls_first=False) for name in ("t", "d", "n"))
    for _ in sorted_batches([batch], Sorting(("k",), tuple(order))):
        pass
