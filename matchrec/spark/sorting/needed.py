"""Leaves out partitions from which nothing can come, before their rows are sorted.

Where each match needs a row that satisfies some condition on one row, a partition without such a
row has no match. Sorting is the largest part of a worker's time, so few such rows save most of it.

    PATTERN (FAILED{4} LOGIN)    a partition in which nobody logs in is not sorted

Rows that satisfy the condition are counted first. Only where they are few are keys looked up, one
column after the other: what has one of their values in each column stays, which may be more than it
must. Where rows spill, none are left out.

Source: Zhu, Huang, Chaudhuri, "High-Performance Row Pattern Recognition Using Joins", PVLDB 16(5),
2023, on what must be there before anything is matched.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from matchrec.shortcuts import taken
from matchrec.spark.wire import Sorting
from matchrec.spark.worker.arrays import arrow_of, column, flags_of, is_text, is_whole, numbers_of


def without_matchless(table: pa.Table, sorting: Sorting) -> pa.Table:
    """The rows of all partitions that have a row for each needed condition, at least."""
    for condition in sorting.needed:
        holds = flags_of(table, condition).astype(np.bool_)
        count = int(np.count_nonzero(holds))
        if count == 0:
            return table.slice(0, 0)
        if count * taken().few > table.num_rows:
            continue
        for key in filter(table.column_names.__contains__, sorting.keys):
            values = column(table, key)
            if not (is_text(values.type) or is_whole(values.type)):
                continue  # Arrow tells values apart that are equal for Spark, 0.0 and -0.0
            known = pc.unique(values.filter(arrow_of(holds)))
            kept = pc.is_in(values, value_set=known)
            table = table.filter(kept).combine_chunks()
            holds = holds[numbers_of(kept)]
    return table
