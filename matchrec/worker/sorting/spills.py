"""Write sorted rows to files, which are called spills, and merge the spills.

    budget 1 ─ spill ┐
    budget 2 ─ spill ├─ merge ─ spill ┐
    ...              ┘                ├─ merge ─ output
    budget 33 ─ spill ─ ...           ┘

Spills are merged to one spill as soon as there are as many as a merge has room for. The merged
spills are merged in the same way, and so on. So few files are open at a time. If the system allows
files without a name, as Linux does, a spill has none: when it is closed, or its process is killed,
nothing is left on disk.

A merge has some rows of each spill in memory, its head. It goes on in steps:

1. Find the least of the last rows of all heads. No row that is still in a file comes before it.
2. Find by binary search how many rows of each head come before this least row. All heads are
   searched at once: each step of the search sorts the middle row of each head together with the
   least row.
3. Sort the rows that were found together with the head of the least row, and yield them.
4. Read the next rows of each spill whose head is empty.

So a merge yields each row after one sort, whatever rows the spills have. Among equal rows, the rows
of earlier spills come first.

Cost: a row is written once for each level, and there are few levels: with 32 spills to a merge and
256 MiB in memory, rows get to the second level after 8 GiB, and to the third after 256 GiB.
Source: Knuth, The Art of Computer Programming, volume 3, 5.4.1, Multiway Merging.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from tempfile import TemporaryFile
from typing import IO

import numpy as np
import pyarrow as pa

from matchrec.errors.machine import disk_full, sort_folder_not_writable
from matchrec.search.partitions import IntArray
from matchrec.worker import internal_names
from matchrec.worker.column_roles import Sorting, TieCounter
from matchrec.worker.sorting.budget import Budget
from matchrec.worker.sorting.order import find_order, sort_table

SPILLS_PER_MERGE = 32
# Errors of a full disk. The last one is a user's limit on the size of a file.
DISK_IS_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


# Rows in files.


@dataclass(slots=True)
class Spills:
    """The spills of a task. `close` removes their files."""

    sorting: Sorting
    # All heads of a merge together have about as many bytes of rows as the budget.
    budget: Budget
    # levels[n] has the spills whose rows were merged n times, in the order in which their rows
    # came: fewer than SPILLS_PER_MERGE. Rows of a higher level came before the rows of a lower one.
    levels: list[list[IO[bytes]]] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Return whether no rows were spilled."""
        return not self.levels

    def add(self, sorted_rows: pa.Table) -> None:
        """Write rows to a new spill. The rows must have come after all rows added before.

        Raises:
            MatchRecognizeRunError: a file cannot be written.
        """
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
        all_spills = [spill for level in reversed(self.levels) for spill in level]
        self.levels = [all_spills]
        while len(all_spills) > SPILLS_PER_MERGE:
            # The last spills are the smallest ones.
            all_spills[-SPILLS_PER_MERGE:] = [self.merge_to_one(all_spills[-SPILLS_PER_MERGE:])]
        yield from merge(all_spills, self.sorting, self.sorting.tie_counter)

    def merge_to_one(self, spills: list[IO[bytes]]) -> IO[bytes]:
        """Return a new spill with the rows of consecutive spills, and close the latter."""
        merged = write_spill(merge(spills, self.sorting), self.bytes_per_batch)
        for spill in spills:
            spill.close()
        return merged

    @property
    def bytes_per_batch(self) -> int:
        """Return the size of a batch of a spill. A merge has one batch of each spill in memory."""
        return self.budget.size // SPILLS_PER_MERGE

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
    # A batch of the row that was yielded last; empty before the first row. This row is sorted again
    # together with the next rows, to find out whether they begin a partition.
    last_row: list[pa.RecordBatch] = []
    while True:
        for head in heads:
            head.load_if_empty()
        heads = [head for head in heads if head.has_rows]
        if not heads:
            return
        counts = count_next_rows(heads, sorting)
        next_rows = [head.take(int(count)) for head, count in zip(heads, counts, strict=True)]
        table = pa.Table.from_batches([*last_row, *next_rows]).combine_chunks()
        table = sort_table(table, sorting, tie_counter=tie_counter)
        yield table.slice(len(last_row))
        last_row = table.take([table.num_rows - 1]).to_batches()


def count_next_rows(heads: Sequence[Head], sorting: Sorting) -> IntArray:
    """Return how many rows of each head can be yielded next: int64, one for each head.

    These are all rows of the head whose last row is the least one, and the rows of other heads that
    come before this row.

    Args:
        heads: one or more heads that have rows.
        sorting: what the rows are sorted by.
    """
    names = [*dict.fromkeys(item.name for item in sorting.columns), internal_names.FIRST_BITS]
    batches = [head.rows.select(names) for head in heads if head.rows is not None]
    row_counts = np.array([batch.num_rows for batch in batches], np.int64)
    least_head = int(np.argmin(rank_rows(batches, row_counts - 1, sorting)))
    # Binary search in all heads at once: rows before `low` are next rows, rows from `high` are not.
    low = np.zeros_like(row_counts)
    high = row_counts.copy()
    low[least_head] = row_counts[least_head]
    while (is_undecided := low < high).any():
        # Of a head that is decided, any row will do. Its last row is picked.
        middle = np.where(is_undecided, (low + high) // 2, row_counts - 1)
        ranks = rank_rows(batches, middle, sorting)
        is_next = ranks < ranks[least_head]
        low = np.where(is_undecided & is_next, middle + 1, low)
        high = np.where(is_undecided & ~is_next, middle, high)
    return low


def rank_rows(batches: Sequence[pa.RecordBatch], rows: IntArray, sorting: Sorting) -> IntArray:
    """Rank one row of each batch among these rows: int64, one rank from 0 on for each batch.

    Equal rows have different ranks, in the order of their batches.

    Args:
        batches: one or more batches.
        rows: int64, for each batch, the position of its row to rank.
        sorting: what the rows are sorted by.
    """
    slices = [batch.slice(int(row), 1) for batch, row in zip(batches, rows, strict=True)]
    order = find_order(pa.Table.from_batches(slices).combine_chunks(), sorting).row_numbers
    return np.arange(len(slices)) if order is None else np.argsort(order)


@dataclass(slots=True)
class Head:
    """The head of a spill: the rows of the spill that come next in a merge.

    One batch is in memory at a time. The batches after it are read when it is empty.
    """

    batches: Iterator[pa.RecordBatch]  # the batches that are still in the file
    rows: pa.RecordBatch | None = None  # the rows in memory; None or empty if there are none

    @property
    def has_rows(self) -> bool:
        """Return whether there are rows in memory."""
        return self.rows is not None and self.rows.num_rows > 0

    def load_if_empty(self) -> None:
        """Load the next batch with rows if there are no rows in memory, unless there is none."""
        if not self.has_rows:
            self.rows = next((batch for batch in self.batches if batch.num_rows), None)

    def take(self, count: int) -> pa.RecordBatch:
        """Remove and return the first `count` rows. There must be rows in memory."""
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
    """Return a new file with the rows of one or more tables.

    Args:
        tables: one or more tables. If they cannot be written, the file is removed.
        bytes_per_batch: about how large the batches in the file are.

    Raises:
        MatchRecognizeRunError: the disk is full, or the folder for spills is gone or not writable.
    """
    spill_folder = find_folder()
    with ExitStack() as undo, report_failed_files(spill_folder):
        file = undo.enter_context(TemporaryFile(prefix="matchrec-", dir=spill_folder))
        first_table = next(tables)
        with pa.ipc.new_stream(file, first_table.schema) as writer:
            for table in chain([first_table], tables):
                rows_per_batch = bytes_per_batch * table.num_rows // max(1, table.nbytes)
                writer.write_table(table, max_chunksize=max(1, rows_per_batch))
        undo.pop_all()  # the file stays open
    return file


@contextmanager
def report_failed_files(spill_folder: str | None) -> Iterator[None]:
    """Return a context that turns an OSError into an error that names the folder.

    Args:
        spill_folder: the folder; None for the system's folder of temporary files.

    Raises:
        MatchRecognizeRunError: the `with` block has raised an OSError.
    """
    try:
        yield
    except OSError as error:
        folder_name = spill_folder or "temporary files"
        if error.errno in DISK_IS_FULL:
            raise disk_full(folder=folder_name) from error
        reason = error.strerror or str(error)
        raise sort_folder_not_writable(folder=folder_name, reason=reason) from error


def find_folder() -> str | None:
    """Return the folder for spills: a folder that Spark has set aside for files of its workers.

    If Spark has several folders, different processes use different folders. None stands for the
    system's folder of temporary files, if Spark has no folder to which this process can write.
    """
    folders = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
    writable_folders = [name for name in folders if os.access(name, os.W_OK)]
    if not writable_folders:
        return None
    return writable_folders[os.getpid() % len(writable_folders)]
