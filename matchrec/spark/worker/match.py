"""The function that runs inside Spark's Python workers: batches in, batches of output rows out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

import numpy as np
import pyarrow as pa

from matchrec.compile.executable import Executable
from matchrec.dataclass import dataclass
from matchrec.engine.matches import Matches, RunFailure, no_matches
from matchrec.engine.nearby import satisfy_nearby
from matchrec.engine.partitions import NO_EDGE, IntArray, Partitions
from matchrec.errors.run.failures import sum_too_large
from matchrec.output.aggregates import SumOverflow
from matchrec.output.chains import ChainReader
from matchrec.output.measures import Reader
from matchrec.output.rows import (
    OutputRows,
    output_rows,
    rows_that_come_out,
    unmatched_rows,
)
from matchrec.spark.wire import Struct
from matchrec.spark.worker.arrays import with_structs
from matchrec.spark.worker.batches import Piece
from matchrec.spark.worker.contiguous_runs import ContiguousRuns, find_contiguous_runs
from matchrec.spark.worker.count import ENCODING, GATHERING, WAITING, Tally
from matchrec.spark.worker.encode import partitions_of
from matchrec.spark.worker.failures import place_of, run_error
from matchrec.spark.worker.gather import Gatherer, chained
from matchrec.spark.worker.windows import check_window

T = TypeVar("T")


@dataclass(frozen=True)
class Worker:
    """Runs an executable over pieces of partitions. tally: counts, if anyone asks."""

    executable: Executable
    tally: Tally | None = None

    def run(self, found: Iterator[Piece], structs: Iterable[Struct]) -> Iterator[pa.RecordBatch]:
        """The output of pieces; the counters are the last batch. structs: that come in parts."""
        for piece in self.time_items(WAITING, found):
            piece.table = with_structs(piece.table, structs)
            for batch in self.match_piece(piece):
                yield batch if self.tally is None else self.tally.with_counters(batch)
            del piece  # a table less in memory while the next one grows
        if self.tally is not None:
            yield self.tally.row()

    def match_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        """Search a piece and yield its output rows."""
        executable = self.executable
        with self.measure_time(ENCODING):
            runs = (
                find_contiguous_runs(piece.table, piece.starts) if executable.neighbours else None
            )
            starts = runs.starts if runs else piece.starts
            if runs:
                piece.frontier = runs.frontier(piece.frontier)
            partitions = partitions_of(executable, piece.table, starts, piece.frontier)
        yield from self.match_partitions(piece, partitions, runs)

    def match_partitions(
        self, piece: Piece, partitions: Partitions, runs: ContiguousRuns | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Search the partitions of a piece. runs: what they are, if not those of the query."""
        executable, frontier = self.executable, piece.frontier
        first = frontier.start.copy()
        with_unmatched = executable.rows_per_match.shows_unmatched
        try:
            check_window(executable, piece.table, piece.starts)
            with self.measure_time(ENCODING):
                bits = len(executable.conditions)
                partitions = satisfy_nearby(partitions, executable.nearby, bits)
            found = self.find_matches(partitions, piece)
            for matches in runs.number_matches(found, frontier) if runs else found:
                if with_unmatched:
                    piece.covered[:] |= rows_that_come_out(
                        matches, executable.rows_per_match, partitions.rows
                    )
                with self.measure_time(GATHERING):
                    rows = output_rows(matches, executable.rows_per_match)
                yield from self.gather(piece, partitions, matches, rows)
        except RunFailure as failure:
            place = place_of(executable, failure.row, piece, partitions)
            raise run_error(failure, place) from failure
        if with_unmatched:
            yield from self.unmatched_rows(piece, partitions, first)

    def find_matches(self, partitions: Partitions, piece: Piece) -> Iterator[Matches]:
        """Find the matches of a piece; they come in chunks."""
        algorithm, tally = self.executable.algorithm, self.tally
        task = chained(self.executable, piece.table)
        if tally is None:
            return algorithm.search(task, partitions)
        found = algorithm.search(task, partitions, tally.of_kernels)
        return tally.count_matches(found, piece.fresh, piece.fresh_partitions)

    def time_items(self, stage: int, items: Iterator[T]) -> Iterator[T]:
        """Yield the same items, timed where counters are asked for."""
        return items if self.tally is None else self.tally.time_items(stage, items)

    def measure_time(self, stage: int) -> AbstractContextManager[None]:
        """Time the block where counters are asked for."""
        return nullcontext() if self.tally is None else self.tally.measure_time(stage)

    def unmatched_rows(
        self, piece: Piece, partitions: Partitions, first: IntArray
    ) -> Iterator[pa.RecordBatch]:
        """The rows that no match covers, with every measure NULL.

        first: int64[p], where the search of each partition has begun. Rows before it have come out,
        those from where it has ended may still be matched.
        """
        frontier, lengths = piece.frontier, np.diff(partitions.starts)
        end = np.where(frontier.edge == NO_EDGE, frontier.until, frontier.start)
        row = np.arange(partitions.rows)
        searched = (row >= np.repeat(first, lengths)) & (row < np.repeat(end, lengths))
        covered = piece.covered | ~searched
        yield from self.gather(piece, partitions, no_matches(), unmatched_rows(covered, partitions))

    def gather(
        self, piece: Piece, partitions: Partitions, matches: Matches, rows: OutputRows
    ) -> Iterator[pa.RecordBatch]:
        """What comes out of rows. Raises MatchRecognizeRunError for a sum that is too large."""
        try:
            yield from self.output_of(piece, partitions, matches, rows)
        except SumOverflow as overflow:
            place = place_of(self.executable, overflow.row, piece, partitions)
            raise sum_too_large(overflow.type_name, place) from overflow

    def output_of(
        self, piece: Piece, partitions: Partitions, matches: Matches, rows: OutputRows
    ) -> Iterator[pa.RecordBatch]:
        """The batches of rows, if there are any. Raises SumOverflow."""
        if not rows.count:
            return
        task = self.executable.task
        kind = Reader if matches.chains is None else ChainReader
        frame, variables = self.executable.frame, len(task.variables)
        with self.measure_time(GATHERING):
            reader = kind(matches, rows, partitions, task.members, variables, frame)
            batch = Gatherer(self.executable, piece.table, reader).batch()
        yield batch
