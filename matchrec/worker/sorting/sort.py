"""A stream of record batches in any order → the same rows in order, partition by partition.

Rows that fit into the budget are sorted in memory. Otherwise each full budget is sorted and spilled
to a file, then all spills are merged, many to few before all of them are: spills are merged as soon
as there are as many as a merge has room for, so are the spills that come of that, and so on. The
files that are open at a time are few. A file has no name from the beginning where the system allows
that, as Linux does: when it is closed, or its process is killed, nothing is left.

What a merge gives next are the rows that are not after the last row in memory of any spill. How
many these are of a spill is found by halving: a row from the middle of each is sorted together with
the least of those last rows. So each row is sorted once, however the spills lie to each other. Of
equal rows those of earlier spills come first.

Cost: a row is written once for each level, which are few: with 32 spills to a merge, 256 MiB in
memory and levels of 8 GiB and 256 GiB. Memory: three to five times the budget: the rows that are
held, the same in order, what they are sorted by, and what Arrow keeps for later. So the budget is
less where there is less room.
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
from typing import IO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from matchrec import memory
from matchrec.errors.calls import no_file_for_sorting, no_room_on_disk
from matchrec.search.partitions import IntArray
from matchrec.shortcuts import taken
from matchrec.worker import wire
from matchrec.worker.arrays import Batches, arrow_of, column, flags_of, numbers_of
from matchrec.worker.batches import BYTES_A_CALL, rows_in, starts_in
from matchrec.worker.sorting.order import SAMPLE, has_one_form, order_of, sort_table
from matchrec.worker.wire import CountsTies, Sorting

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # the last is a user's limit of a file's size
SPILLS_A_MERGE = 32
BYTES_IN_MEMORY = 256 << 20
LEAST_IN_MEMORY = 16 << 20
TIMES_IN_MEMORY = 5


def sorted_batches(
    batches: Batches, sorting: Sorting, rows_a_batch: int, budget: int | None = None, tasks: int = 1
) -> Iterator[pa.RecordBatch]:
    """The rows in order, at most so many at a time; bit 0 of the first bits marks partitions, which
    are added where no row has any.

    Rows that are equal in all columns of `sorting` stay in the order in which they have come.
    budget: bytes of rows that are held before they are spilled, less than 2 GiB; None for those
    that there is room for beside the other tasks of this process. tasks: how many it has.
    """
    budget = taken().sort_bytes if budget is None else budget
    if budget is None:
        room = memory.room() // tasks // TIMES_IN_MEMORY
        budget = max(LEAST_IN_MEMORY, min(BYTES_IN_MEMORY, room))
    with closing(sorted_tables(batches, sorting, budget)) as tables:
        for table in tables:
            most = min(rows_a_batch, rows_in(BYTES_A_CALL, table))
            starts = starts_in(column(table, wire.FIRST_BITS))
            for begin, end in pairwise(cuts(starts, table.num_rows, most)):
                yield from table.slice(begin, end - begin).to_batches()


def cuts(starts: IntArray, rows: int, most: int) -> Iterator[int]:
    """Where batches of at most so many rows begin, and where the last one ends: where a partition
    starts if one does, so that no row of it has to wait for those of the next batch.

    >>> list(cuts(np.array([0, 3, 5, 6]), rows=20, most=6))
    [0, 6, 12, 18, 20]
    >>> list(cuts(np.array([0, 3, 5, 9]), rows=12, most=6))
    [0, 5, 9, 12]

    starts: the first row may go on with a partition.
    """
    begin = 0
    while begin < rows:
        yield begin
        before = int(np.searchsorted(starts, begin + most, side="right"))
        last = int(starts[before - 1]) if before else 0
        begin = last if begin < last and begin + most < rows else begin + most
    yield rows


def sorted_tables(batches: Batches, sorting: Sorting, budget: int) -> Generator[pa.Table]:
    """The rows in order, as many at a time as are in memory together."""
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
            table = without_matchless(take_all(held), sorting)
            yield sort_table(table, sorting, in_any_order=True, watch=sorting.watch)
            return
        if held:
            spills.add(take_all(held))
        yield from spills.rows()


def take_all(held: list[pa.RecordBatch]) -> pa.Table:
    """All rows of some batches in one piece, which are then held no longer."""
    table = pa.Table.from_batches(held).combine_chunks()
    held.clear()
    return table


@dataclass(slots=True)
class Spills:
    """Spills by level, at most as many on each as a merge has room for; closing removes them."""

    sorting: Sorting
    budget: int
    levels: list[list[IO[bytes]]] = field(default_factory=list)

    def add(self, table: pa.Table) -> None:
        self.put(spill(iter([sort_table(table, self.sorting)]), self.bytes_a_batch), 0)

    def put(self, one: IO[bytes], level: int) -> None:
        if level == len(self.levels):
            self.levels.append([])
        spills = self.levels[level]
        spills.append(one)
        if len(spills) == SPILLS_A_MERGE:
            merged = self.merge_to_one(spills)
            spills.clear()
            self.put(merged, level + 1)

    def rows(self) -> Iterator[pa.Table]:
        spills = [one for level in reversed(self.levels) for one in level]  # as they have come
        self.levels = [spills]
        while len(spills) > SPILLS_A_MERGE:
            spills[-SPILLS_A_MERGE:] = [self.merge_to_one(spills[-SPILLS_A_MERGE:])]
        yield from merge(spills, self.sorting, self.sorting.watch)

    def merge_to_one(self, spills: list[IO[bytes]]) -> IO[bytes]:
        """Merge spills that follow each other; they are closed."""
        merged = spill(merge(spills, self.sorting), self.bytes_a_batch)
        for one in spills:
            one.close()
        return merged

    @property
    def bytes_a_batch(self) -> int:
        """So that a batch of each spill of a merge fits into the budget."""
        return self.budget // SPILLS_A_MERGE

    def close(self) -> None:
        for one in chain(*self.levels):
            one.close()


def merge(
    spills: Sequence[IO[bytes]], sorting: Sorting, watch: CountsTies | None = None
) -> Iterator[pa.Table]:
    """The rows of spills in order, a table at a time; the first of each partition are marked.

    watch: counts the ties, also those of the last row of a table and the first one of the next.
    """
    heads = [Head(batches_of(one)) for one in spills]
    last: list[pa.RecordBatch] = []  # the row that came out last: it tells where a partition begins
    while heads := [head for head in heads if head.is_there()]:
        counts = rows_that_come_next(heads, sorting)
        taken = [head.take(int(count)) for head, count in zip(heads, counts, strict=True)]
        table = sort_table(
            pa.Table.from_batches([*last, *taken]).combine_chunks(), sorting, watch=watch
        )
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
    some = [batch.slice(int(row), 1) for batch, row in zip(batches, rows, strict=True)]
    order = order_of(pa.Table.from_batches(some).combine_chunks(), sorting).rows
    return np.arange(len(some)) if order is None else np.argsort(order)


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


def batches_of(spilled: IO[bytes]) -> Iterator[pa.RecordBatch]:
    spilled.seek(0)
    with pa.ipc.open_stream(spilled) as reader:
        yield from reader


def spill(tables: Iterator[pa.Table], bytes_a_batch: int) -> IO[bytes]:
    """Write tables, at least one, to a file, in batches of about so many bytes.

    Raises:
        MatchRecognizeRunError: the disk is full, or its folder is gone or cannot be written to.
    """
    place = folder()
    with ExitStack() as undo, reporting_failures(place):
        file = undo.enter_context(TemporaryFile(prefix="matchrec-", dir=place))
        first = next(tables)
        with pa.ipc.new_stream(file, first.schema) as writer:
            for table in chain([first], tables):
                rows = bytes_a_batch * table.num_rows // max(1, table.nbytes)
                writer.write_table(table, max_chunksize=max(1, rows))
        undo.pop_all()
    return file


@contextmanager
def reporting_failures(place: str | None) -> Iterator[None]:
    """Raise an error that names the folder if a file cannot be made or written."""
    try:
        yield
    except OSError as error:
        named = place or "temporary files"
        if error.errno in FULL:
            raise no_room_on_disk(folder=named) from error
        raise no_file_for_sorting(folder=named, reason=error.strerror or str(error)) from error


def folder() -> str | None:
    """Where Spark has its workers write, one of the folders for each process; else the system's."""
    folders = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
    able = [one for one in folders if os.access(one, os.W_OK)]
    return able[os.getpid() % len(able)] if able else None


# Partitions from which nothing can come are left out, before their rows are sorted.
#
# Where each match needs a row that satisfies some condition on one row, a partition without such a
# row has no match: with PATTERN (FAILED{4} LOGIN), one in which nobody logs in. What has a key of
# such a row in each column stays, which may be more than it must. Where rows spill, all stay.
# Source: Zhu, Huang, Chaudhuri, "High-Performance Row Pattern Recognition Using Joins", PVLDB
# 16(5), 2023, on what must be there before anything is matched.


def without_matchless(table: pa.Table, sorting: Sorting) -> pa.Table:
    """The rows of all partitions that have a row for each needed condition, at least."""
    for condition in sorting.needed:
        if are_many(flags_of(table.slice(0, SAMPLE), condition)):
            continue  # the first ones mostly say so
        holds = flags_of(table, condition).astype(np.bool_)
        if not holds.any():
            return table.slice(0, 0)
        if are_many(holds):
            continue
        for key in filter(table.column_names.__contains__, sorting.keys):
            values = column(table, key)
            if not has_one_form(values.type):
                continue  # Arrow tells values apart that are equal for Spark
            known = pc.unique(values.filter(arrow_of(holds)))
            kept = pc.is_in(values, value_set=known)
            table = table.filter(kept).combine_chunks()
            holds = holds[numbers_of(kept)]
    return table


def are_many(holds: npt.NDArray[np.generic]) -> bool:
    """Whether a condition holds of so many of these rows that no keys are worth looking up."""
    return int(np.count_nonzero(holds)) * taken().few > len(holds)
