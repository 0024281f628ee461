"""Sort the rows of a task: batches in any order become batches in order, partition by partition.

Rows that fit into a budget of memory are sorted there. Otherwise each full budget is sorted and
spilled to a file, and the spills are merged: see `worker.sorting.spills`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import pairwise
from threading import BoundedSemaphore

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from matchrec.search.partitions import IntArray
from matchrec.shortcuts import current_shortcuts
from matchrec.worker import arrays, internal_names
from matchrec.worker.arrays import Batches, take_column
from matchrec.worker.arrow_types import is_text
from matchrec.worker.column_roles import Sorting
from matchrec.worker.pieces import BYTES_PER_SEARCH, estimate_rows, find_partition_starts
from matchrec.worker.sorting.budget import SORTS_AT_ONCE, Budget
from matchrec.worker.sorting.matchless import drop_matchless_partitions
from matchrec.worker.sorting.order import sort_table
from matchrec.worker.sorting.spills import Spills
from matchrec.worker.sorting.texts import SAMPLE_ROWS, encode_texts

# A task of this process holds a permit while it sorts.
_free_sorts = BoundedSemaphore(SORTS_AT_ONCE)


def sort_batches(
    batches: Batches,
    sorting: Sorting,
    rows_per_batch: int,
    budget: int | None = None,
    task_count: int = 1,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a task in order, with the first row of each partition marked.

    The mark is bit 0 of the column `internal_names.FIRST_BITS`, which is added if there is none.
    Rows that are equal in all columns of `sorting` stay in the order in which they came. Partitions
    that cannot have a match may be missing.

    Args:
        batches: the rows of the task, in any order.
        sorting: what the rows are sorted by.
        rows_per_batch: the most rows of a batch of several partitions, see `find_cuts`. Batches are
            smaller if rows are wide.
        budget: how many bytes of rows to hold before they are spilled, less than 2 GiB. None to
            choose it by the memory that the process can still take, see `budget.Budget`.
        task_count: the number of tasks of this process.

    Raises:
        MatchRecognizeRunError: a file for spilled rows cannot be written.
    """
    if budget is None:
        budget = current_shortcuts().max_sort_bytes
    with closing(sort_tables(batches, sorting, Budget(budget, task_count))) as tables:
        for table in tables:
            most_rows = min(rows_per_batch, estimate_rows(BYTES_PER_SEARCH, table))
            yield from cut_into_batches(table, most_rows)


def cut_into_batches(table: pa.Table, most_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table in batches. No row is copied.

    Args:
        table: rows in order, with the first row of each partition marked.
        most_rows: the most rows of a batch, see `find_cuts`.
    """
    if table.num_rows <= most_rows:
        yield from table.to_batches()
        return
    starts = find_partition_starts(take_column(table, internal_names.FIRST_BITS))
    for begin, end in pairwise(find_cuts(starts, table.num_rows, most_rows)):
        yield from table.slice(begin, end - begin).to_batches()


def find_cuts(starts: IntArray, row_count: int, most_rows: int) -> Iterator[int]:
    """Yield the rows at which batches begin, then the number of rows.

    A batch ends where a partition does, if possible, so that no row has to wait for the next batch.
    A partition with more than `most_rows` rows gets batches of twice as many: the first search in
    it waits for this number of rows, and need not copy them if they are one batch.

    >>> list(find_cuts(np.array([0, 3, 5, 9]), row_count=12, most_rows=6))
    [0, 5, 9, 12]
    >>> list(find_cuts(np.array([0, 8]), row_count=12, most_rows=6))
    [0, 8, 12]
    >>> list(find_cuts(np.array([0, 3, 5, 6]), row_count=20, most_rows=6))
    [0, 6, 18, 20]

    Args:
        starts: the rows at which partitions start. If the first row is not among them, it belongs
            to a partition that has started before.
        row_count: the number of rows.
        most_rows: the most rows of a batch that has more than one partition.
    """
    begin = 0
    while begin < row_count:
        yield begin
        if begin + most_rows >= row_count:
            break
        starts_so_far = int(np.searchsorted(starts, begin + most_rows, side="right"))
        if starts_so_far and begin < starts[starts_so_far - 1]:
            # The last partition that starts in these rows gets into the next batch.
            begin = int(starts[starts_so_far - 1])
        else:
            # One partition has all of these rows.
            next_start = int(starts[starts_so_far]) if starts_so_far < len(starts) else row_count
            begin = min(begin + 2 * most_rows, next_start)
    yield row_count


def sort_tables(batches: Batches, sorting: Sorting, budget: Budget) -> Generator[pa.Table]:
    """Yield the rows of a task in order, in tables of at most about one budget of rows.

    The arguments are as for `sort_batches`.
    """
    held_batches: list[pa.RecordBatch] = []
    held_bytes = 0
    with closing(Spills(sorting, budget)) as spills:
        for batch in batches:
            if batch.num_rows:
                held_batches.append(batch)
                held_bytes += batch.nbytes
            if budget.is_exceeded_by(held_bytes):
                spill_rows(spills, take_all(held_batches))
                held_bytes = 0
        if spills.is_empty:
            if held_batches:
                yield sort_in_memory(held_batches, sorting)
            return
        if held_batches:
            spill_rows(spills, take_all(held_batches))
        yield from spills.merge_all()


def take_all(held_batches: list[pa.RecordBatch]) -> pa.Table:
    """Return the rows of some batches as a table, and clear the list of batches."""
    table = pa.Table.from_batches(held_batches).combine_chunks()
    held_batches.clear()
    return table


def spill_rows(spills: Spills, table: pa.Table) -> None:
    """Sort rows and write them to a new spill."""
    with _free_sorts:
        sorted_rows = sort_table(table, spills.sorting)
    spills.add(sorted_rows)


def sort_in_memory(held_batches: list[pa.RecordBatch], sorting: Sorting) -> pa.Table:
    """Return all rows of a task in order, and clear the list of batches.

    Because no row of the task was spilled, partitions that cannot have a match are dropped before
    the sort, and the partitions may come in any order.
    """
    with _free_sorts:
        table = drop_matchless_partitions(take_all(held_batches), sorting)
        table = encode_repeated_texts(table, sorting)
        return sort_table(table, sorting, in_any_order=True, tie_counter=sorting.tie_counter)


def encode_repeated_texts(table: pa.Table, sorting: Sorting) -> pa.Table:
    """Give a dictionary to columns of repeated texts, except to columns that rows are sorted by.

    With a dictionary, a sort moves numbers instead of texts, and only the texts of the dictionary
    are ranked for conditions.
    """
    sort_names = {item.name for item in sorting.columns}
    for index, name in enumerate(table.column_names):
        values = arrays.take_encoded_column(table, name)
        if name not in sort_names and is_text(values.type) and are_repeated(values):
            table = table.set_column(index, name, encode_texts(values))
    return table


def are_repeated(values: pa.Array) -> bool:
    """Return whether values are repeated often enough for a dictionary to save time.

    Only the first SAMPLE_ROWS values are looked at.
    """
    sample = values.slice(0, SAMPLE_ROWS)
    return len(pc.unique(sample)) * current_shortcuts().min_repeats_of_text <= len(sample)
