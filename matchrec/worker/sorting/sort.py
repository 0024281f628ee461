"""Sort the rows of a task: batches in any order become batches in order, partition by partition.

Rows that fit into a budget of memory are sorted there. Otherwise each full budget is sorted and
spilled to a file, and the spills are merged:

    budget 1 ─ spill ┐
    budget 2 ─ spill ├─ merge ─ spill ┐
    ...              ┘                ├─ merge ─ output
    budget 33 ─ spill ─ ...           ┘

Spills are merged to one as soon as there are as many as a merge has room for. The same is done with
the spills that result, and so on. So few files are open at a time. A file has no name from the
beginning if the system allows that, as Linux does: when it is closed, or its process is killed,
nothing is left.

A merge has some rows of each spill in memory, its head. The rows that it yields next are those that
are not after the last row of any head. Their number in each head is found by halving: a row from
the middle of each head is sorted together with the least of those last rows. So each row is sorted
once, whatever rows the spills have. Among equal rows, those of earlier spills come first.

Cost: a row is written once for each level, and there are few: with 32 spills to a merge and 256 MiB
in memory, the levels are at 8 GiB and 256 GiB. Memory: three to five times the budget, for the rows
that are held, the same in order, the words that they are sorted by, and what Arrow keeps for later.
So the budget is smaller if there is less room. If many tasks share a process, as on Sail, all of
them hold rows, but only a few sort at the same time.
Source: Knuth, The Art of Computer Programming, volume 3, 5.4.1, Multiway Merging.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from itertools import chain, pairwise
from tempfile import TemporaryFile
from threading import BoundedSemaphore
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from matchrec import memory
from matchrec.errors.machine import disk_full, sort_folder_not_writable
from matchrec.search.partitions import IntArray
from matchrec.shortcuts import current_shortcuts
from matchrec.worker import arrays, wire
from matchrec.worker.arrays import Batches, take_column
from matchrec.worker.batches import BYTES_PER_SEARCH, estimate_rows, find_partition_starts
from matchrec.worker.sorting.codes import SAMPLE_ROWS
from matchrec.worker.sorting.matchless import drop_matchless_partitions
from matchrec.worker.sorting.order import find_order, sort_table
from matchrec.worker.wire import Sorting, TieCounter

# Errors of a full disk. The last one is a user's limit on the size of a file.
DISK_IS_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
SPILLS_PER_MERGE = 32
# The budget if there is room for it, and the smallest budget.
BYTES_IN_MEMORY = 256 << 20
LEAST_IN_MEMORY = 16 << 20
# How many times the budget a sort may take in all.
TIMES_IN_MEMORY = 5
# How many tasks of a process sort at the same time: 1.5 for each core, as a query has at least.
SORTS_AT_ONCE = (os.cpu_count() or 1) * 3 // 2

# Tasks of this process that may still begin a sort.
_free_sorts = BoundedSemaphore(SORTS_AT_ONCE)


def sort_batches(
    batches: Batches,
    sorting: Sorting,
    rows_per_batch: int,
    budget: int | None = None,
    task_count: int = 1,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a task in order. Bit 0 of the first column of bits marks partitions.

    The column is added if there is none. Rows that are equal in all columns of `sorting` stay in
    the order in which they came.

    Args:
        batches: the rows.
        sorting: what they are sorted by.
        rows_per_batch: see `find_cuts`.
        budget: how many bytes of rows are held before they are spilled, less than 2 GiB. None to
            use the room that there is beside the other tasks of this process.
        task_count: the number of tasks of this process.

    Raises:
        MatchRecognizeRunError: a file for spilled rows cannot be written.
    """
    if budget is None:
        budget = current_shortcuts().max_sort_bytes
    if budget is None:
        budget = find_budget(memory.find_room(), task_count)
    with closing(sort_tables(batches, sorting, budget)) as tables:
        for table in tables:
            most = min(rows_per_batch, estimate_rows(BYTES_PER_SEARCH, table))
            starts = find_partition_starts(take_column(table, wire.FIRST_BITS))
            for begin, end in pairwise(find_cuts(starts, table.num_rows, most)):
                yield from table.slice(begin, end - begin).to_batches()


def find_budget(room: int, task_count: int = 1) -> int:
    """Return how many bytes of rows a task holds before it spills.

    >>> find_budget(10 << 30) >> 20, find_budget(640 << 20) >> 20
    (256, 128)

    Args:
        room: how many bytes the process may take.
        task_count: the number of tasks of the process. All of them hold rows at the same time, and
            some of them sort.
    """
    sorts = min(task_count, SORTS_AT_ONCE)
    shares = task_count + (TIMES_IN_MEMORY - 1) * sorts
    return max(LEAST_IN_MEMORY, min(BYTES_IN_MEMORY, room // shares))


def find_cuts(starts: IntArray, rows: int, most: int) -> Iterator[int]:
    """Yield the rows at which batches begin, then the number of rows.

    A batch begins where a partition starts, if possible, so that no row of the partition has to
    wait for the next batch. A partition with more than `most` rows gets batches of twice as many.
    The first search in it waits for this number of rows: if they are one batch, they need not be
    copied.

    >>> list(find_cuts(np.array([0, 3, 5, 6]), rows=20, most=6))
    [0, 6, 18, 20]
    >>> list(find_cuts(np.array([0, 3, 5, 9]), rows=12, most=6))
    [0, 5, 9, 12]
    >>> list(find_cuts(np.array([0, 8]), rows=12, most=6))
    [0, 8, 12]

    Args:
        starts: the rows at which partitions start. The first row may belong to an earlier one.
        rows: the number of rows.
        most: the most rows of a batch that has more than one partition.
    """
    begin = 0
    while begin < rows:
        yield begin
        if begin + most >= rows:
            break
        # the starts in the batch, and those before it
        count = int(np.searchsorted(starts, begin + most, side="right"))
        if count and begin < starts[count - 1]:
            begin = int(starts[count - 1])
        else:
            next_start = int(starts[count]) if count < len(starts) else rows
            begin = min(begin + 2 * most, next_start)
    yield rows


def sort_tables(batches: Batches, sorting: Sorting, budget: int) -> Generator[pa.Table]:
    """Yield the rows in order, as tables of the rows that are in memory at a time."""
    held: list[pa.RecordBatch] = []
    size = 0
    with closing(Spills(sorting, budget)) as spills:
        for batch in batches:
            if batch.num_rows:
                held.append(batch)
                size += batch.nbytes
            if size > budget:
                spills.add(take_all(held))
                size = 0
        if held and not spills.levels:
            with _free_sorts:
                sorted_rows = sort_held_rows(held, sorting)
            yield sorted_rows
            return
        if held:
            spills.add(take_all(held))
        yield from spills.merge_all()


def sort_held_rows(held: list[pa.RecordBatch], sorting: Sorting) -> pa.Table:
    """Return the rows of some batches in order, and clear the list of batches.

    Partitions that cannot have a match are dropped.
    """
    table = drop_matchless_partitions(take_all(held), sorting)
    table = encode_repeated_texts(table, sorting)
    return sort_table(table, sorting, in_any_order=True, tie_counter=sorting.tie_counter)


def take_all(held: list[pa.RecordBatch]) -> pa.Table:
    """Return the rows of some batches as a table, and clear the list of batches."""
    table = pa.Table.from_batches(held).combine_chunks()
    held.clear()
    return table


def encode_repeated_texts(table: pa.Table, sorting: Sorting) -> pa.Table:
    """Give a dictionary to columns of texts that repeat, except to those that rows are sorted by.

    Then a sort moves numbers instead of texts, and conditions find ranks in the dictionary.
    """
    sorted_by = {item.name for item in sorting.columns}
    for index, name in enumerate(table.column_names):
        values = arrays.take_encoded_column(table, name)
        if name not in sorted_by and arrays.is_text(values.type) and are_repeated(values):
            table = table.set_column(index, name, values.dictionary_encode())
    return table


def are_repeated(values: pa.Array) -> bool:
    """Return whether each value comes often enough for a dictionary, as the first values show."""
    sample = values.slice(0, SAMPLE_ROWS)
    return len(pc.unique(sample)) * current_shortcuts().min_repeats_of_text <= len(sample)


# Rows in files.


@dataclass(slots=True)
class Spills:
    """Sorted rows in files. The files are removed when it is closed."""

    sorting: Sorting
    # How many bytes of rows are held in memory.
    budget: int
    # Spills of rows that were merged once, twice, ... Each level has fewer than SPILLS_PER_MERGE.
    levels: list[list[IO[bytes]]] = field(default_factory=list)

    def add(self, table: pa.Table) -> None:
        """Sort and spill rows."""
        with _free_sorts:
            sorted_rows = sort_table(table, self.sorting)
        self.add_to_level(write_spill(iter([sorted_rows]), self.bytes_per_batch), 0)

    def add_to_level(self, spill: IO[bytes], level: int) -> None:
        """Add a spill to a level, and merge the level if it is full."""
        if level == len(self.levels):
            self.levels.append([])
        spills = self.levels[level]
        spills.append(spill)
        if len(spills) == SPILLS_PER_MERGE:
            merged = self.merge_to_one(spills)
            spills.clear()
            self.add_to_level(merged, level + 1)

    def merge_all(self) -> Iterator[pa.Table]:
        """Yield all rows in order, with the first row of each partition marked."""
        spills = [spill for level in reversed(self.levels) for spill in level]  # as the rows came
        self.levels = [spills]
        while len(spills) > SPILLS_PER_MERGE:
            spills[-SPILLS_PER_MERGE:] = [self.merge_to_one(spills[-SPILLS_PER_MERGE:])]
        yield from merge(spills, self.sorting, self.sorting.tie_counter)

    def merge_to_one(self, spills: list[IO[bytes]]) -> IO[bytes]:
        """Merge consecutive spills to one, and close them."""
        merged = write_spill(merge(spills, self.sorting), self.bytes_per_batch)
        for spill in spills:
            spill.close()
        return merged

    @property
    def bytes_per_batch(self) -> int:
        """Return the size of a batch of a spill. A merge has one batch of each spill in memory."""
        return self.budget // SPILLS_PER_MERGE

    def close(self) -> None:
        """Close all files, which removes them."""
        for spill in chain(*self.levels):
            spill.close()


def merge(
    spills: Sequence[IO[bytes]], sorting: Sorting, tie_counter: TieCounter | None = None
) -> Iterator[pa.Table]:
    """Yield the rows of spills in order, with the first row of each partition marked.

    Args:
        spills: the spills, in the order in which their rows came.
        sorting: what the rows are sorted by.
        tie_counter: counts the ties, also between the last row of a table and the first row of the
            next one.
    """
    heads = [Head(read_spill(spill)) for spill in spills]
    # the row that was yielded last: it shows whether the next row begins a partition
    last_row: list[pa.RecordBatch] = []
    while heads := [head for head in heads if head.load()]:
        counts = count_next_rows(heads, sorting)
        next_rows = [head.take(int(count)) for head, count in zip(heads, counts, strict=True)]
        table = pa.Table.from_batches([*last_row, *next_rows]).combine_chunks()
        table = sort_table(table, sorting, tie_counter=tie_counter)
        yield table.slice(len(last_row))
        last_row = table.take([table.num_rows - 1]).to_batches()


def count_next_rows(heads: Sequence[Head], sorting: Sorting) -> IntArray:
    """Return how many rows of each head are not after the last row of any head.

    Args:
        heads: one or more heads that have rows.
        sorting: what the rows are sorted by.
    """
    names = [*dict.fromkeys(item.name for item in sorting.columns), wire.FIRST_BITS]
    batches = [head.rows.select(names) for head in heads if head.rows is not None]
    row_counts = np.array([batch.num_rows for batch in batches], np.int64)
    # The head with the least last row.
    least_head = int(np.argmin(rank_rows(batches, row_counts - 1, sorting)))
    low = np.zeros_like(row_counts)
    high = row_counts.copy()
    low[least_head] = row_counts[least_head]
    while (is_undecided := low < high).any():
        middle = np.where(is_undecided, (low + high) // 2, row_counts - 1)
        ranks = rank_rows(batches, middle, sorting)
        is_next = ranks < ranks[least_head]
        low = np.where(is_undecided & is_next, middle + 1, low)
        high = np.where(is_undecided & ~is_next, middle, high)
    return low


def rank_rows(batches: Sequence[pa.RecordBatch], rows: IntArray, sorting: Sorting) -> IntArray:
    """Return the rank of one row of each batch among these rows.

    Args:
        batches: the batches.
        rows: the row of each batch.
        sorting: what the rows are sorted by.
    """
    slices = [batch.slice(int(row), 1) for batch, row in zip(batches, rows, strict=True)]
    order = find_order(pa.Table.from_batches(slices).combine_chunks(), sorting).rows
    return np.arange(len(slices)) if order is None else np.argsort(order)


@dataclass(slots=True)
class Head:
    """The next rows of a spill that are in memory."""

    batches: Iterator[pa.RecordBatch]  # the batches that are still in the file
    rows: pa.RecordBatch | None = None

    def load(self) -> bool:
        """Load a batch if there are no rows in memory. Return whether there are rows."""
        if not self.rows:
            self.rows = next(self.batches, None)
        return self.rows is not None

    def take(self, count: int) -> pa.RecordBatch:
        """Remove and return the first rows, given their number."""
        assert self.rows is not None
        first_rows = self.rows.slice(0, count)
        self.rows = self.rows.slice(count)
        return first_rows


def read_spill(spill: IO[bytes]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a spill from its beginning."""
    spill.seek(0)
    with pa.ipc.open_stream(spill) as reader:
        yield from reader


def write_spill(tables: Iterator[pa.Table], bytes_per_batch: int) -> IO[bytes]:
    """Write one or more tables to a file, in batches of about `bytes_per_batch`.

    Raises:
        MatchRecognizeRunError: the disk is full, or its folder is gone or cannot be written to.
    """
    spill_folder = find_folder()
    with ExitStack() as undo, report_failed_files(spill_folder):
        file = undo.enter_context(TemporaryFile(prefix="matchrec-", dir=spill_folder))
        first = next(tables)
        with pa.ipc.new_stream(file, first.schema) as writer:
            for table in chain([first], tables):
                rows = bytes_per_batch * table.num_rows // max(1, table.nbytes)
                writer.write_table(table, max_chunksize=max(1, rows))
        undo.pop_all()
    return file


@contextmanager
def report_failed_files(spill_folder: str | None) -> Iterator[None]:
    """Raise an error that names the folder if a file cannot be made or written."""
    try:
        yield
    except OSError as error:
        folder_name = spill_folder or "temporary files"
        if error.errno in DISK_IS_FULL:
            raise disk_full(folder=folder_name) from error
        reason = error.strerror or str(error)
        raise sort_folder_not_writable(folder=folder_name, reason=reason) from error


def find_folder() -> str | None:
    """Return the folder for spills: where Spark has its workers write, else None for the system's.

    If Spark has several folders, its processes use different ones.
    """
    folders = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
    writable = [name for name in folders if os.access(name, os.W_OK)]
    return writable[os.getpid() % len(writable)] if writable else None
