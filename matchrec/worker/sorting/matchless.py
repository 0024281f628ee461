"""Drop partitions that cannot have a match, before their rows are sorted.

If every match needs a row that satisfies some condition on one row, a partition without such a row
has no match: with PATTERN (FAILED{4} LOGIN), a partition in which nobody logs in.

The rows that satisfy the condition are counted first. If they are few, their keys are looked up,
one key column after the other: a row stays if one of these rows has the same value in the column.
With several key columns, partitions may stay that have no such row. If rows spill, all partitions
stay.

Source: Zhu, Huang, Chaudhuri, "High-Performance Row Pattern Recognition Using Joins", PVLDB 16(5),
2023, on rows without which nothing can match.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from matchrec.search.partitions import BoolArray
from matchrec.shortcuts import current_shortcuts
from matchrec.worker.arrays import make_array, read_flags, read_numbers, take_column
from matchrec.worker.column_roles import Sorting
from matchrec.worker.sorting.order import has_unique_representation
from matchrec.worker.sorting.texts import SAMPLE_ROWS


def drop_matchless_partitions(table: pa.Table, sorting: Sorting) -> pa.Table:
    """Drop the rows of partitions that cannot have a match.

    A partition is kept if each of `sorting.bits_needed_for_output` is set on one of its rows. Other
    partitions may be kept, too.
    """
    for bit in sorting.bits_needed_for_output:
        if are_too_many(read_flags(table.slice(0, SAMPLE_ROWS), bit)):
            continue  # the first rows mostly show that the others need not be counted
        is_needed = read_flags(table, bit).astype(np.bool_)
        if not is_needed.any():
            return table.slice(0, 0)
        if not are_too_many(is_needed):
            table = keep_partitions_of_rows(table, sorting.keys, is_needed)
    return table


def keep_partitions_of_rows(
    table: pa.Table, keys: tuple[str, ...], is_needed: BoolArray
) -> pa.Table:
    """Return the rows that have the same value as some needed row in each key column.

    Args:
        table: n rows, in any order.
        keys: the columns of the partition keys.
        is_needed: bool[n], the needed rows.
    """
    for key in keys:
        values = take_column(table, key)
        if not has_unique_representation(values.type):
            continue  # Arrow tells values apart that are equal for Spark, such as 0.0 and -0.0
        needed_values = pc.unique(values.filter(make_array(is_needed)))
        is_kept = pc.is_in(values, value_set=needed_values)
        table = table.filter(is_kept).combine_chunks()
        is_needed = is_needed[read_numbers(is_kept)]
    return table


def are_too_many(is_needed: npt.NDArray[np.generic]) -> bool:
    """Return whether too many rows are needed for a look-up of their keys to save time.

    Args:
        is_needed: bool[n], or integers that are 0 or 1: the needed rows.
    """
    return int(np.count_nonzero(is_needed)) * current_shortcuts().needed_rows_one_in > len(
        is_needed
    )
