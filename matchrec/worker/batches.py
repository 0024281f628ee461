"""A stream of record batches → pieces for the engine: whole partitions, or parts of a large one.

Rows wait until their partition is complete, and complete partitions wait until there are enough
rows for a call of the engine to be worth while: 200,000 tiny partitions are a few calls.

A partition that grows large is searched before it is complete. The engine stops at the first
starting row whose search would look past the rows that are here; the rows from there on, and as
many before it as conditions and measures look back, wait for those that follow. What waits doubles
at least until the next call, so that a search which begins again costs no more in the end.

Memory: the rows of one call, fewer where they are wide, and of the partition that is being read
from the first row on from which a match is not yet decided; where partitions must be whole, all
rows of that partition. Where there is no room for these, that is an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from matchrec import memory
from matchrec.compile.executable import Lookaround
from matchrec.search.partitions import NO_EDGE, BoolArray, Frontier, IntArray
from matchrec.worker import wire
from matchrec.worker.arrays import Batches, column, numbers_of, with_structs
from matchrec.worker.wire import Structs

BYTES_A_CALL = 64 << 20
TIMES_IN_MEMORY = 2  # what becomes of waiting rows: a table, and the arrays that are made of it


class PartitionWithoutRoom(MemoryError):  # noqa: N818 -- the runtime words the error
    """The rows of a partition wait for a search for which there is no room. args: a table of the
    last one; how many they are, and bytes of them; whether because the partition must be whole.
    """


@dataclass(slots=True)
class Piece:
    """Rows for one call of the engine.

    starts: row positions at which partitions start, then the number of rows. frontier: from where
    on to search, and where the rows that are here end; the engine moves it.
    passed: rows of the first partition before the table, None if that is not known. covered:
    bool[n], rows that a match contains, or that have come out before. fresh: how many rows no other
    piece has had.
    """

    table: pa.Table
    starts: IntArray
    frontier: Frontier
    passed: int | None
    covered: BoolArray
    fresh: int

    @property
    def fresh_partitions(self) -> int:
        return int(np.count_nonzero(self.starts[:-1] >= self.table.num_rows - self.fresh))


def pieces(
    batches: Batches, lookaround: Lookaround | None, *, rows_a_call: int, structs: Structs = ()
) -> Iterator[Piece]:
    """The rows in pieces; the next piece begins where the search of the last one has ended.

    The first bit of the first bits marks partition starts. lookaround: None where partitions must
    be whole. rows_a_call: how many rows are worth a call of the engine, if they are not wide.
    structs: columns that cross in parts. Raises PartitionWithoutRoom.
    """
    waiting = Waiting(rows_a_call, structs)
    for batch in batches:
        first = batch.column(wire.FIRST_BITS).slice(0, 1)
        if 2 * waiting.rows >= waiting.rows_a_call and len(starts_in(first)):
            yield waiting.complete(waiting.rows)  # to join them would copy both
        waiting.add(batch)
        waiting.rows_a_call = min(rows_a_call, rows_in(BYTES_A_CALL, batch))
        if waiting.border >= waiting.rows_a_call:
            yield waiting.complete(waiting.border)
        waiting.check_room(whole=lookaround is None)
        if lookaround is not None and waiting.rows - waiting.border >= waiting.enough:
            if waiting.border:
                yield waiting.complete(waiting.border)
            piece = waiting.piece(waiting.batches, waiting.rows - lookaround.after)
            yield piece
            waiting.go_on(piece, lookaround)
            del piece  # a table less in memory while the next one grows
    if waiting.rows:
        yield waiting.complete(waiting.rows)


@dataclass(slots=True)
class Waiting:
    """Rows that wait to be searched.

    size: bytes of them. border: where the last partition starts. left: how many rows of it the last
    search has left, None where it has not been searched. start, number, steps, passed: of the first
    partition, see `Frontier` and `Piece`. covered: of its rows that an earlier piece has had.
    """

    rows_a_call: int
    structs: Structs
    batches: list[pa.RecordBatch] = field(default_factory=list)
    rows: int = 0
    size: int = 0
    border: int = 0
    left: int | None = None
    start: int = 0
    number: int = 0
    steps: int = 0
    passed: int = 0
    covered: BoolArray = field(default_factory=lambda: np.zeros(0, np.bool_))

    @property
    def enough(self) -> int:
        """How many rows of the last partition are worth a call."""
        left = self.rows_a_call if self.left is None else self.left
        return left + max(left, self.rows_a_call)

    def check_room(self, *, whole: bool) -> None:
        """Raises PartitionWithoutRoom for too many rows. whole: whether all must be there."""
        if not memory.has_room(TIMES_IN_MEMORY * self.size):
            last = self.batches[-1]
            row = with_structs(pa.Table.from_batches([last.slice(last.num_rows - 1)]), self.structs)
            raise PartitionWithoutRoom(row, self.rows - self.border, self.size, whole)

    def add(self, batch: pa.RecordBatch) -> None:
        if batch.num_rows == 0:
            return
        starts = starts_in(batch.column(wire.FIRST_BITS))
        if len(starts):
            self.border = self.rows + int(starts[-1])
        self.batches.append(batch)
        self.rows += batch.num_rows
        self.size += batch.nbytes

    def complete(self, rows: int) -> Piece:
        """The first so many rows, whole partitions, which wait no longer."""
        taken, left = divide(self.batches, rows)
        piece = self.piece(taken, NO_EDGE)
        self.batches, self.rows, self.border = left, self.rows - rows, 0
        self.size = sum(batch.nbytes for batch in left)
        self.start = self.number = self.steps = self.passed = 0
        self.covered = np.zeros(0, np.bool_)
        self.left = None
        return piece

    def piece(self, batches: list[pa.RecordBatch], edge: int) -> Piece:
        table = with_structs(pa.Table.from_batches(batches).combine_chunks(), self.structs)
        starts = starts_in(column(table, wire.FIRST_BITS))
        if self.passed:
            starts = np.append(0, starts)
        covered = np.zeros(table.num_rows, np.bool_)
        covered[: len(self.covered)] = self.covered
        fresh = table.num_rows - len(self.covered)
        starts = np.append(starts, table.num_rows).astype(np.int64)
        frontier = Frontier.of(starts, self.start, edge, self.number, self.steps)
        return Piece(table, starts, frontier, self.passed, covered, fresh)

    def go_on(self, piece: Piece, lookaround: Lookaround) -> None:
        """Keep of an unfinished piece what the search from its frontier on may look at."""
        frontier = piece.frontier
        of_search = frontier.start, frontier.number, frontier.steps
        start, self.number, self.steps = (int(array[-1]) for array in of_search)
        gone = max(start - max(1, lookaround.before), 0)
        _, self.batches = divide(self.batches, gone)
        self.rows -= gone
        self.size = sum(batch.nbytes for batch in self.batches)
        self.start = start - gone
        self.passed += gone
        self.covered = piece.covered[gone:].copy()
        self.left = self.rows


def divide(batches: list[pa.RecordBatch], rows: int) -> Iterator[list[pa.RecordBatch]]:
    table = pa.Table.from_batches(batches)
    return (part.to_batches() for part in (table.slice(0, rows), table.slice(rows)))


def rows_in(size: int, batch: pa.RecordBatch) -> int:
    """About how many rows like those of a batch or a table take so many bytes, at least one."""
    return max(1, size * int(batch.num_rows) // max(1, int(batch.nbytes)))


def starts_in(bits: pa.Array) -> IntArray:
    return np.flatnonzero((numbers_of(bits).astype(np.uint8) & 1).view(np.bool_))
