"""Search pieces of partitions for matches and make batches of output rows.

A Python worker runs `PieceWorker`. For each piece, `PieceWorker.match_piece` takes four steps:

1. Encode the columns as the arrays that the search reads (`worker.encode`).
2. Compute the conditions on neighbouring rows that the worker itself computes (`search.nearby`).
3. Search for matches with the strategy of the compiled query.
4. Turn the matches into output rows (`output.rows`), and these into Arrow columns
   (`worker.gather`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.output.match_reader import MatchReader
from matchrec.output.rows import (
    OutputRows,
    find_covered_rows,
    find_output_rows,
    find_unmatched_rows,
)
from matchrec.search.matches import Matches, make_empty_matches
from matchrec.search.nearby import add_nearby_bits
from matchrec.search.partitions import NO_EDGE, Partitions
from matchrec.search.task import NearbyCondition
from matchrec.worker.chains import request_chains
from matchrec.worker.column_roles import ShownColumn
from matchrec.worker.encode import encode_partitions
from matchrec.worker.gather import Gatherer
from matchrec.worker.pieces import Piece
from matchrec.worker.row_locations import check_and_locate, name_large_partitions
from matchrec.worker.tally import Tally, WorkerCounter

# Makes batches of output, given the table of a piece, its partitions, some of their matches, and
# the output rows of these matches. Picklable. Batch makers may raise RunFailure.
BatchMaker = Callable[[pa.Table, Partitions, Matches, OutputRows], Iterator[pa.RecordBatch]]
# Returns the partitions with the bits of some conditions set, as `add_nearby_bits` does.
AddNearbyBits = Callable[[Partitions, tuple[NearbyCondition, ...]], Partitions]
# Yields the same matches with other numbers.
NumberMatches = Callable[[Iterator[Matches]], Iterator[Matches]]


@dataclass(frozen=True)
class PieceWorker:
    """A worker that runs a compiled query over pieces of partitions."""

    compiled_query: CompiledQuery
    tally: Tally = field(default_factory=Tally)  # counts and times the work
    # Makes the batches of the output; None for batches of the reads of the query.
    batch_maker: BatchMaker | None = None
    # The ORDER BY keys whose values errors show.
    order_columns: tuple[ShownColumn, ...] = ()

    def run(self, pieces: Iterator[Piece]) -> Iterator[pa.RecordBatch]:
        """Yield the output of all pieces, then the batch of the counters if there are any.

        Raises:
            MatchRecognizeRunError: a condition or a measure cannot be computed, or there is too
                little memory. The error names the row or the partition.
        """
        named_pieces = name_large_partitions(self.compiled_query, pieces)
        for piece in self.tally.time_items(WorkerCounter.WAITING, named_pieces):
            for batch in self.match_piece(piece):
                yield self.tally.append_empty_counter_column(batch)
            del piece  # so that its table is gone while the next table grows
        yield from self.tally.make_counter_row()

    def match_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        """Encode and search a piece, yield its output, and record the search in the piece.

        Raises:
            MatchRecognizeRunError: the rows do not allow the search or a measure.
        """
        with self.tally.measure_time(WorkerCounter.ENCODING):
            partitions = encode_partitions(
                self.compiled_query, piece.table, piece.starts, piece.frontier
            )
        yield from self.match_partitions(piece, partitions)

    def match_partitions(
        self,
        piece: Piece,
        partitions: Partitions,
        add_bits: AddNearbyBits = add_nearby_bits,
        number_matches: NumberMatches | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Search the partitions of a piece, yield their output, and record the search.

        Args:
            piece: the piece, before its search.
            partitions: the rows of the piece as the search sees them, with the bits of the
                conditions that the engine has computed.
            add_bits: sets the bits of the conditions on neighbouring rows. The rules of a set share
                these bits.
            number_matches: gives the matches other numbers, if a rule of a set divides the
                partitions of the set; None to keep the numbers.

        Raises:
            MatchRecognizeRunError: the rows do not allow the search or a measure.
        """
        with check_and_locate(self.compiled_query, piece, partitions, self.order_columns):
            with self.tally.measure_time(WorkerCounter.ENCODING):
                partitions = add_bits(partitions, self.compiled_query.nearby_conditions)
            matches = self.find_matches(partitions, piece)
            if number_matches is not None:
                matches = number_matches(matches)
            yield from self.make_output(piece, partitions, matches)

    def make_output(
        self, piece: Piece, partitions: Partitions, matches: Iterator[Matches]
    ) -> Iterator[pa.RecordBatch]:
        """Yield the output of the matches of a piece, then of its unmatched rows if they are shown.

        When all matches have been read, record the search in the piece.

        Args:
            piece: the piece, before its search.
            partitions: the rows of the piece as the search sees them.
            matches: the matches in chunks, which the search finds as they are read.

        Raises:
            RunFailure: the search fails, a measure is too large for its type, or a row is too large
                for Arrow.
        """
        rows_per_match = self.compiled_query.rows_per_match
        is_covered = piece.is_covered
        for chunk in matches:
            if rows_per_match.shows_unmatched:
                covered_now = find_covered_rows(chunk, rows_per_match, partitions.row_count)
                is_covered = is_covered | covered_now
            with self.tally.measure_time(WorkerCounter.GATHERING):
                rows = find_output_rows(chunk, rows_per_match)
            yield from self.make_batches(piece.table, partitions, chunk, rows)
        piece.record_search(partitions, is_covered)
        if rows_per_match.shows_unmatched:
            unmatched_rows = self.find_unmatched_rows(piece, partitions)
            no_matches = make_empty_matches()
            yield from self.make_batches(piece.table, partitions, no_matches, unmatched_rows)

    def find_matches(self, partitions: Partitions, piece: Piece) -> Iterator[Matches]:
        """Search a piece, and yield its matches in chunks. Count the matches.

        Matches may share their rows as chains, see `worker.chains`. But a batch maker gets no
        chains.
        """
        task = self.compiled_query.task
        if self.batch_maker is None:
            task = request_chains(self.compiled_query, piece.table)
        matches = self.compiled_query.strategy.search(task, partitions, self.tally.kernel_counters)
        return self.tally.count_while_matching(matches, piece)

    def find_unmatched_rows(self, piece: Piece, partitions: Partitions) -> OutputRows:
        """Return the rows that were searched and that no match covers, as output rows.

        Rows before the start of the search were output with an earlier piece. Rows from the end of
        the search on may still be matched with a later piece.

        Args:
            piece: the piece, after its search.
            partitions: the partitions of the piece.
        """
        frontier, is_covered = piece.read_search()
        lengths = np.diff(partitions.starts)
        is_complete = frontier.edge == NO_EDGE
        search_end = np.where(is_complete, frontier.start_limit, frontier.next_start)
        rows = np.arange(partitions.row_count)
        was_searched = rows >= np.repeat(piece.frontier.next_start, lengths)
        was_searched &= rows < np.repeat(search_end, lengths)
        return find_unmatched_rows(is_covered | ~was_searched, partitions)

    def make_batches(
        self, table: pa.Table, partitions: Partitions, matches: Matches, rows: OutputRows
    ) -> Iterator[pa.RecordBatch]:
        """Yield the output rows as batches. Yield no batch if there are no rows.

        Args:
            table: the rows of a piece.
            partitions: the same rows as the search sees them.
            matches: matches in these partitions.
            rows: the output rows of these matches.

        Raises:
            RunFailure: a measure is too large for its type, or a row is too large for Arrow.
        """
        if self.batch_maker is not None:
            yield from self.batch_maker(table, partitions, matches, rows)
            return
        members = self.compiled_query.task.members
        frame = self.compiled_query.frame
        with self.tally.measure_time(WorkerCounter.GATHERING):
            reader = MatchReader(matches, rows, partitions, members, frame)
        gatherers = Gatherer(self.compiled_query, table, reader).divide_into_batches()
        batches = (gatherer.build_batch() for gatherer in gatherers)
        yield from self.tally.time_items(WorkerCounter.GATHERING, batches)
