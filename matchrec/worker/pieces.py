"""Group a stream of record batches into pieces for the search.

A piece has whole partitions, or a part of a large one. Rows wait until their partition is complete.
Complete partitions wait until there are enough rows to make a search worth its fixed cost: so
200,000 tiny partitions are a few searches.

A partition that grows large is searched before it is complete. The search stops at the first
starting row whose run would look past the rows that have arrived. The rows from there on, and as
many before it as conditions and measures look back, wait for the rows that follow:

    first piece      rows 0 .. 99, searched up to row 80, conditions look back 2 rows
    second piece     rows 78 .. 199, searched from row 80 on

So each piece depends on the search of the piece before it. Whoever searches a piece calls
`Piece.record_search` at the end of the search, and only then asks for the next piece. The progress
is not sent back to `split_into_pieces`, because pieces pass through other generators on their way,
which name large partitions in errors and measure the time between pieces.

The number of waiting rows at least doubles before the next search. So searching the undecided rows
again costs no more, in sum, than searching each row once.

Memory: the rows of one search, which are fewer if the rows are wide, and the undecided rows of the
partition that is being read. If partitions must be whole, all rows of this partition are undecided.
If there is no room for the rows, PartitionWithoutRoom is raised.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from matchrec import memory
from matchrec.compile.lookaround import Lookaround
from matchrec.search.partitions import NO_EDGE, BoolArray, Frontier, IntArray, Partitions
from matchrec.worker import internal_names
from matchrec.worker.arrays import Batches, add_structs, read_numbers, take_column
from matchrec.worker.column_roles import Struct

# About how many bytes of rows are searched together, if the number of rows does not limit them.
BYTES_PER_SEARCH = 64 << 20
# How many rows are looked at together to find the last start of a partition.
ROWS_PER_BLOCK = 1 << 14
# How often waiting rows are in memory when they are searched: as a table, and as the arrays that
# are made of the table.
TIMES_IN_MEMORY = 2


class PartitionWithoutRoom(MemoryError):  # noqa: N818 -- a worker turns it into a user's error
    """There is no room for the rows of a partition that wait for a search."""

    def __init__(
        self, last_row: pa.Table, row_count: int, byte_count: int, *, must_be_whole: bool
    ) -> None:
        super().__init__(row_count, byte_count)
        self.last_row = last_row  # a table of the last row that has arrived
        self.row_count = row_count  # the number of waiting rows of the partition
        # The bytes of all waiting rows, which can belong to several partitions.
        self.byte_count = byte_count
        # Whether the rows wait because the partition must be whole.
        self.must_be_whole = must_be_whole


class SearchRecord(NamedTuple):
    """How far the search of a piece has come: two fields of `Piece`, as they are after it."""

    frontier: Frontier
    is_covered: BoolArray


@dataclass(slots=True)
class Piece:
    """The n rows of one search, in p partitions.

    All partitions are whole, except the last one if more of its rows will arrive, and the first one
    if earlier pieces had rows of it.

    A search leaves `frontier` and `is_covered` as they are. `record_search` stores what they are
    after the search.
    """

    table: pa.Table
    # int64[p + 1], the row at which each partition starts, then the number of rows.
    starts: IntArray
    # Where the search of each partition begins, and before which row it must stop.
    frontier: Frontier
    # The number of rows of the first partition before the table; None if that is not known.
    rows_before: int | None
    # bool[n], the rows that a match of an earlier piece covers.
    is_covered: BoolArray
    # The number of rows that no earlier piece had. They are the last rows of the table.
    new_rows: int
    # What the search of this piece has found; None before the search.
    search_record: SearchRecord | None = None

    @classmethod
    def create_whole(cls, table: pa.Table, starts: IntArray) -> Piece:
        """Return a piece of whole partitions, in which nothing has been searched before.

        Args:
            table: the rows of the partitions, one partition after the other.
            starts: see the field.
        """
        return cls(
            table=table,
            starts=starts,
            frontier=Frontier.create(starts),
            rows_before=0,
            is_covered=np.zeros(table.num_rows, np.bool_),
            new_rows=table.num_rows,
        )

    def record_search(self, partitions: Partitions, is_covered: BoolArray) -> None:
        """Record how far the search of this piece has come. The next piece begins at that row.

        Args:
            partitions: the rows of the piece as they were searched. The search has changed their
                frontier.
            is_covered: bool[n], the rows that a match of this piece or of an earlier piece covers.
                If the query does not output unmatched rows, nobody reads the array, and callers
                may pass `self.is_covered`.
        """
        assert partitions.frontier is not None, "the partitions have the frontier of the piece"
        self.search_record = SearchRecord(partitions.frontier, is_covered)

    def read_search(self) -> SearchRecord:
        """Return what `record_search` has recorded."""
        assert self.search_record is not None, "`record_search` was called"
        return self.search_record

    @property
    def new_partitions(self) -> int:
        """Return the number of partitions that start in this piece, not in an earlier one."""
        first_new_row = self.table.num_rows - self.new_rows
        return int(np.count_nonzero(self.starts[:-1] >= first_new_row))


def split_into_pieces(
    batches: Batches,
    lookaround: Lookaround | None,
    *,
    rows_per_call: int,
    structs: tuple[Struct, ...] = (),
) -> Iterator[Piece]:
    """Yield the rows of a task in pieces.

    The caller must call `Piece.record_search` before it asks for the next piece: if a partition is
    not complete, the next piece begins where the search has stopped.

    Args:
        batches: rows in the order of their partitions. Bit 0 of the first column of bits marks the
            first row of each partition.
        lookaround: how far a query looks around a match; None if partitions must be whole.
        rows_per_call: the number of rows that make a search worth its fixed cost. Fewer rows are
            searched together if they are wide.
        structs: columns of structs whose fields are sent as columns of their own.

    Raises:
        PartitionWithoutRoom: there is no room for the rows that wait.
    """
    waiting = WaitingRows(rows_per_call, structs)
    for batch in batches:
        if waiting.has_half_a_search and begins_partition(batch):
            # searching the waiting rows without this batch saves a copy of both
            yield waiting.take_partitions(waiting.row_count)
        waiting.add(batch)
        if waiting.last_start >= waiting.rows_per_search:
            yield waiting.take_partitions(waiting.last_start)
        waiting.check_room(must_be_whole=lookaround is None)
        if lookaround is not None and waiting.has_large_partition:
            if waiting.last_start:
                yield waiting.take_partitions(waiting.last_start)
            piece = waiting.make_piece(waiting.batches, waiting.row_count - lookaround.rows_after)
            yield piece
            waiting.drop_decided(piece, lookaround)
            del piece  # so that its table is gone while the next table grows
    if waiting.row_count:
        yield waiting.take_partitions(waiting.row_count)


@dataclass(frozen=True, slots=True)
class PartitionProgress:
    """The progress of the search in a partition whose first rows were in an earlier piece.

    The default values are the progress of a partition that was not searched yet.
    """

    # The next starting row, as a position among the waiting rows.
    next_start: int = 0
    # The number of the last match so far; 0 if there is none.
    match_number: int = 0
    # How often conditions on the run were evaluated so far.
    step_count: int = 0
    # The number of rows of the partition that were dropped, see `Piece.rows_before`.
    rows_before: int = 0
    # bool[u], `Piece.is_covered` of the u undecided rows: the rows of the latest search that wait
    # for another search.
    is_covered: BoolArray = field(default_factory=lambda: np.zeros(0, np.bool_))


@dataclass(slots=True)
class WaitingRows:
    """The rows that wait for a search.

    Row numbers are positions among the waiting rows. The first rows may belong to a partition of
    which earlier pieces had a part.
    """

    # The number of rows that make a search worth its fixed cost, however wide they are.
    rows_per_call: int
    # Columns of structs whose fields are sent as columns of their own.
    structs: tuple[Struct, ...]
    batches: list[pa.RecordBatch] = field(default_factory=list)
    # The number of rows of `batches`, and their bytes.
    row_count: int = 0
    byte_count: int = 0
    # The same as `rows_per_call`, or fewer rows if the rows of the latest batch are wide.
    rows_per_search: int = field(init=False)
    # The row at which the last partition starts; 0 if it starts before the waiting rows.
    last_start: int = 0
    # How far the search of the first partition has come.
    progress: PartitionProgress = field(default_factory=PartitionProgress)

    def __post_init__(self) -> None:
        """Assume that rows are not wide, until a batch arrives."""
        self.rows_per_search = self.rows_per_call

    @property
    def has_half_a_search(self) -> bool:
        """Return whether at least half as many rows wait as make a search worth its fixed cost."""
        return 2 * self.row_count >= self.rows_per_search

    @property
    def has_large_partition(self) -> bool:
        """Return whether the last partition must be searched before it is complete.

        The partition must have twice the rows that the latest search left undecided, and at least
        `rows_per_search` new rows.
        """
        undecided = len(self.progress.is_covered) or self.rows_per_search
        needed_rows = undecided + max(undecided, self.rows_per_search)
        return self.row_count - self.last_start >= needed_rows

    def check_room(self, *, must_be_whole: bool) -> None:
        """Raise PartitionWithoutRoom if the waiting rows need too much memory.

        Args:
            must_be_whole: whether all rows of a partition must be searched together.
        """
        if memory.has_room(TIMES_IN_MEMORY * self.byte_count):
            return
        last_batch = self.batches[-1]
        last_row = pa.Table.from_batches([last_batch.slice(last_batch.num_rows - 1)])
        raise PartitionWithoutRoom(
            last_row=add_structs(last_row, self.structs),
            row_count=self.row_count - self.last_start,
            byte_count=self.byte_count,
            must_be_whole=must_be_whole,
        )

    def add(self, batch: pa.RecordBatch) -> None:
        """Add the rows of a batch, if it has any."""
        if batch.num_rows == 0:
            return
        last_start = find_last_partition_start(batch.column(internal_names.FIRST_BITS))
        if last_start is not None:
            self.last_start = self.row_count + last_start
        self.batches.append(batch)
        self.row_count += batch.num_rows
        self.byte_count += batch.nbytes
        self.rows_per_search = min(self.rows_per_call, estimate_rows(BYTES_PER_SEARCH, batch))

    def take_partitions(self, row_count: int) -> Piece:
        """Return the first rows as a piece of whole partitions, and keep the others.

        Args:
            row_count: the number of rows to take, which must be whole partitions.
        """
        first_batches = self.remove_first(row_count)
        piece = self.make_piece(first_batches, NO_EDGE)
        self.last_start = 0
        self.progress = PartitionProgress()
        return piece

    def remove_first(self, row_count: int) -> list[pa.RecordBatch]:
        """Remove the first `row_count` rows, and return them. No row is copied."""
        table = pa.Table.from_batches(self.batches)
        first_batches: list[pa.RecordBatch] = table.slice(0, row_count).to_batches()
        self.batches = table.slice(row_count).to_batches()
        self.row_count -= row_count
        self.byte_count = sum(batch.nbytes for batch in self.batches)
        return first_batches

    def make_piece(self, batches: list[pa.RecordBatch], edge: int) -> Piece:
        """Return a piece with the rows of some batches.

        Args:
            batches: the first of the waiting rows, or all waiting rows.
            edge: the row before which the search of the last partition must stop; NO_EDGE if the
                partition is whole.
        """
        progress = self.progress
        table = add_structs(pa.Table.from_batches(batches).combine_chunks(), self.structs)
        starts = find_partition_starts(take_column(table, internal_names.FIRST_BITS))
        if progress.rows_before:  # the marked row of the first partition was dropped
            starts = np.append(0, starts)
        starts = np.append(starts, table.num_rows).astype(np.int64)
        undecided_rows = len(progress.is_covered)
        is_covered = np.zeros(table.num_rows, np.bool_)
        is_covered[:undecided_rows] = progress.is_covered
        return Piece(
            table=table,
            starts=starts,
            frontier=Frontier.create(
                starts,
                next_start=progress.next_start,
                edge=edge,
                match_number=progress.match_number,
                step_count=progress.step_count,
            ),
            rows_before=progress.rows_before,
            is_covered=is_covered,
            new_rows=table.num_rows - undecided_rows,
        )

    def drop_decided(self, piece: Piece, lookaround: Lookaround) -> None:
        """Drop the rows that no later search reads, after the search of an incomplete partition.

        Args:
            piece: the piece with all waiting rows, after its search.
            lookaround: how far the query looks before a match.
        """
        search = piece.read_search()
        frontier = search.frontier
        start = int(frontier.next_start[-1])
        rows_to_keep = max(1, lookaround.rows_before)  # one, so that the partition is not empty
        dropped = max(start - rows_to_keep, 0)
        self.remove_first(dropped)
        self.progress = PartitionProgress(
            next_start=start - dropped,
            match_number=int(frontier.match_number[-1]),
            step_count=int(frontier.step_count[-1]),
            rows_before=self.progress.rows_before + dropped,
            is_covered=search.is_covered[dropped:].copy(),
        )


def find_last_partition_start(bits: pa.Array) -> int | None:
    """Return the position of the last row that starts a partition; None if no row does.

    Blocks of rows are looked at from the end, because the last partition is mostly short.

    Args:
        bits: the first column of bits, see `find_partition_starts`.
    """
    for end in range(len(bits), 0, -ROWS_PER_BLOCK):
        begin = max(0, end - ROWS_PER_BLOCK)
        starts = find_partition_starts(bits.slice(begin, end - begin))
        if len(starts):
            return begin + int(starts[-1])
    return None


def begins_partition(batch: pa.RecordBatch) -> bool:
    """Return whether the first row of a batch starts a partition. False if there are no rows."""
    return len(find_partition_starts(batch.column(internal_names.FIRST_BITS).slice(0, 1))) > 0


def estimate_rows(byte_count: int, rows: pa.RecordBatch | pa.Table) -> int:
    """Return about how many rows fit into some bytes, at least 1.

    Args:
        byte_count: the number of bytes.
        rows: rows that are as wide as the rows to fit.
    """
    return max(1, byte_count * int(rows.num_rows) // max(1, int(rows.nbytes)))


def find_partition_starts(bits: pa.Array) -> IntArray:
    """Return the positions of the rows that start a partition, ascending.

    Args:
        bits: the first column of bits. Bit 0 marks the first row of each partition.
    """
    return np.flatnonzero((read_numbers(bits).astype(np.uint8) & 1).view(np.bool_))
