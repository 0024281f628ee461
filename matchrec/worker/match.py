"""Search pieces of partitions for matches and make batches of output rows.

This is what runs in a Python worker. A piece goes through four steps:

1. Encode the columns as the arrays that the search reads (`worker.encode`).
2. Compute the conditions on neighbouring rows that the worker itself computes.
3. Search for matches.
4. Turn the matches into output rows, and these into Arrow columns (`worker.gather`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import pyarrow as pa

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.conditions.run_condition import Reduction
from matchrec.errors.run.failures import partition_out_of_memory, waiting_rows_out_of_memory
from matchrec.errors.run.location import RowLocation
from matchrec.output.exact_sums import never_wraps
from matchrec.output.match_reader import MatchReader
from matchrec.output.reads import ReadBasicAggregate, can_read_all_from_chains
from matchrec.output.rows import (
    OutputRows,
    find_covered_rows,
    find_output_rows,
    find_unmatched_rows,
)
from matchrec.search.matches import Matches, RunFailure, make_empty_matches
from matchrec.search.nearby import satisfy_nearby
from matchrec.search.partitions import NO_EDGE, IntArray, Partitions
from matchrec.search.task import Task
from matchrec.worker import arrays, wire
from matchrec.worker.arrays import take_column
from matchrec.worker.batches import PartitionWithoutRoom, Piece
from matchrec.worker.count import ENCODING, GATHERING, WAITING, Tally
from matchrec.worker.decimals import has_exact_sums
from matchrec.worker.encode import encode_partitions
from matchrec.worker.gather import Gatherer
from matchrec.worker.python_values import read_value_at
from matchrec.worker.windows import check_windows
from matchrec.worker.wire import OrderColumn

# Matches that share their rows.


def request_chains(compiled_query: CompiledQuery, table: pa.Table) -> Task:
    """Return the task, which asks for chains if all reads can be read from them.

    In chains, matches share their rows: see `search.matches.Chains`.

    Args:
        compiled_query: the compiled query.
        table: the rows that are searched.
    """
    task = compiled_query.task
    reads = compiled_query.reads
    if not (task.can_share_rows and can_read_all_from_chains(reads, compiled_query.rows_per_match)):
        return task
    all_exact = all(
        adds_exactly(take_column(table, wire.name_column(read.column)), ansi=compiled_query.ansi)
        for read in reads
        if isinstance(read, ReadBasicAggregate) and read.function is Reduction.SUM
        if read.column is not None
    )
    return replace(task, wants_chains=all_exact)


def adds_exactly(values: pa.Array, *, ansi: bool) -> bool:
    """Return whether the sums of some of these values can be read from chains.

    They can if they are the same in any order of additions, and if no intermediate sum raises an
    error that another order would not raise. Doubles are always added up in the order of the rows,
    even if matches share their rows, so their sums can be read from chains as well.
    """
    if pa.types.is_decimal(values.type):
        return has_exact_sums(values)
    if pa.types.is_floating(values.type):
        return True
    return not ansi or never_wraps(arrays.read_integers(values))


# Errors. A search knows a row only by its position in the arrays; users get the keys of the
# partition and the number of the row in it.


@contextmanager
def locate_failures(locate: Callable[[int], RowLocation]) -> Iterator[None]:
    """Turn a RunFailure that is raised inside into an error that names the row.

    Args:
        locate: returns the location of a row, given its position in the arrays.

    Raises:
        MatchRecognizeError: the error of the RunFailure.
    """
    try:
        yield
    except RunFailure as failure:
        raise failure.build_error(locate(failure.row)) from failure


def locate_row(
    compiled_query: CompiledQuery,
    table: pa.Table,
    row: int,
    row_number: int | None,
    orders: tuple[OrderColumn, ...] = (),
) -> RowLocation:
    """Return the location of a row: the keys of its partition, and its number in the partition.

    Args:
        compiled_query: the compiled query.
        table: rows as the worker gets them.
        row: the position of the row in `table`.
        row_number: its number in the partition, from 1; None if it is not known.
        orders: the ORDER BY keys whose values are added to the location.
    """
    keys = {
        name: read_value_at(table, wire.name_column(index), row)
        for name, index in compiled_query.sent_columns.keys
    }
    order = {key.text: read_value_at(table, key.name, row) for key in orders}
    return RowLocation(keys, row_number, bool(compiled_query.row_filters), order=order)


def locate_row_of_piece(
    compiled_query: CompiledQuery,
    row: int,
    piece: Piece,
    partitions: Partitions,
    orders: tuple[OrderColumn, ...],
) -> RowLocation:
    """Return the location of a row of a piece, given its position in the table of the piece."""
    row_number: int | None = None
    if piece.rows_before is not None:
        partition = int(np.searchsorted(partitions.starts, row, side="right")) - 1
        row_number = row - int(partitions.starts[partition]) + 1
        if partition == 0:
            row_number += piece.rows_before
    return locate_row(compiled_query, piece.table, row, row_number, orders)


@contextmanager
def check_and_locate(
    compiled_query: CompiledQuery,
    piece: Piece,
    partitions: Partitions,
    orders: tuple[OrderColumn, ...] = (),
) -> Iterator[None]:
    """Check the windows of a piece, and name the row of a RunFailure that is raised inside.

    Raises:
        MatchRecognizeError: the end of a window is unknown or wraps around, or a RunFailure was
            raised inside.
    """
    locate = partial(
        locate_row_of_piece, compiled_query, piece=piece, partitions=partitions, orders=orders
    )
    with locate_failures(locate):
        check_windows(compiled_query, piece.table, piece.starts)
        yield


def name_large_partitions(
    compiled_query: CompiledQuery, pieces: Iterator[Piece]
) -> Iterator[Piece]:
    """Yield the pieces. If there is too little memory for a partition, name it in the error.

    Raises:
        MatchRecognizeRunError: there is too little memory for the rows of a partition.
    """
    try:
        yield from pieces
    except PartitionWithoutRoom as error:
        make_error = partition_out_of_memory if error.must_be_whole else waiting_rows_out_of_memory
        location = locate_row(compiled_query, error.last_row, 0, None)
        raise make_error(rows=error.rows, mebibytes=error.size >> 20, location=location) from error


# The search.


# Makes batches of output rows from matches, given the rows to output for them. Picklable. It may
# raise RunFailure.
BatchMaker = Callable[[pa.Table, Partitions, Matches, OutputRows], Iterator[pa.RecordBatch]]


@dataclass(frozen=True)
class PieceWorker:
    """A worker that runs a compiled query over pieces of partitions."""

    compiled_query: CompiledQuery
    tally: Tally = field(default_factory=Tally)
    # Makes the batches of the output; None if the output consists of the reads of the query.
    output: BatchMaker | None = None
    # The ORDER BY keys whose values errors show.
    orders: tuple[OrderColumn, ...] = ()

    def run(self, pieces: Iterator[Piece]) -> Iterator[pa.RecordBatch]:
        """Yield the output of all pieces, then the batch of the counters if there are any.

        Raises:
            MatchRecognizeError: the rows do not allow a search or a measure. The error names the
                row or the partition.
        """
        for piece in self.tally.time_items(
            WAITING, name_large_partitions(self.compiled_query, pieces)
        ):
            for batch in self.match_piece(piece):
                yield self.tally.append_counters(batch)
            del piece  # so that its table is gone while the next one grows
        yield from self.tally.make_counter_row()

    def match_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        """Encode and search a piece, and yield its output."""
        with self.tally.measure_time(ENCODING):
            partitions = encode_partitions(
                self.compiled_query, piece.table, piece.starts, piece.frontier
            )
        yield from self.match_partitions(piece, partitions)

    def match_partitions(self, piece: Piece, partitions: Partitions) -> Iterator[pa.RecordBatch]:
        """Search the partitions of a piece, and yield their output.

        If unmatched rows are output, the rows of matches are marked in `piece.covered`.
        """
        rows_per_match = self.compiled_query.rows_per_match
        search_start = piece.frontier.start.copy()  # the search moves the frontier
        with check_and_locate(self.compiled_query, piece, partitions, self.orders):
            with self.tally.measure_time(ENCODING):
                partitions = self.satisfy_nearby(partitions)
            for matches in self.find_matches(partitions, piece):
                if rows_per_match.shows_unmatched:
                    covered = find_covered_rows(matches, rows_per_match, partitions.rows)
                    piece.covered[:] |= covered
                with self.tally.measure_time(GATHERING):
                    rows = find_output_rows(matches, rows_per_match)
                yield from self.make_batches(piece.table, partitions, matches, rows)
            if rows_per_match.shows_unmatched:
                unmatched = self.find_unmatched_rows(piece, partitions, search_start)
                yield from self.make_batches(
                    piece.table, partitions, make_empty_matches(), unmatched
                )

    def satisfy_nearby(self, partitions: Partitions) -> Partitions:
        """Return the partitions with the bits of the row conditions that the worker computes.

        Raises:
            RunFailure: a condition cannot be computed on a row.
        """
        return satisfy_nearby(partitions, self.compiled_query.nearby)

    def find_matches(self, partitions: Partitions, piece: Piece) -> Iterator[Matches]:
        """Yield the matches of a piece in chunks, and count them."""
        task = self.compiled_query.task
        if self.output is None:
            task = request_chains(self.compiled_query, piece.table)
        matches = self.compiled_query.strategy.search(task, partitions, self.tally.kernel_counters)
        return self.tally.count_while_matching(matches, piece)

    def find_unmatched_rows(
        self, piece: Piece, partitions: Partitions, search_start: IntArray
    ) -> OutputRows:
        """Return the searched rows that no match covers, as output rows with NULL measures.

        Rows before the start of the search were output with an earlier piece. Rows from its end on
        may still be matched by a later one.

        Args:
            piece: the piece, after its search.
            partitions: the partitions of the piece.
            search_start: int64[p], the row at which the search of each partition began.
        """
        frontier = piece.frontier
        lengths = np.diff(partitions.starts)
        search_end = np.where(frontier.edge == NO_EDGE, frontier.until, frontier.start)
        row = np.arange(partitions.rows)
        was_searched = row >= np.repeat(search_start, lengths)
        was_searched &= row < np.repeat(search_end, lengths)
        return find_unmatched_rows(piece.covered | ~was_searched, partitions)

    def make_batches(
        self, table: pa.Table, partitions: Partitions, matches: Matches, rows: OutputRows
    ) -> Iterator[pa.RecordBatch]:
        """Yield the output rows as batches; none if there are no rows.

        Args:
            table: the rows of a piece.
            partitions: the same rows as the search sees them.
            matches: matches in these partitions.
            rows: the output rows of these matches.

        Raises:
            RunFailure: a measure is too large for its type, or a row is too large for Arrow.
        """
        if self.output is not None:
            yield from self.output(table, partitions, matches, rows)
            return
        members = self.compiled_query.task.members
        frame = self.compiled_query.frame
        with self.tally.measure_time(GATHERING):
            reader = MatchReader(matches, rows, partitions, members, frame)
        gatherers = Gatherer(self.compiled_query, table, reader).divide()
        batches = (gatherer.build_batch() for gatherer in gatherers)
        yield from self.tally.time_items(GATHERING, batches)
