"""The function that runs inside Spark's Python workers: batches in, batches of output rows out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from matchrec.compile.executable import Executable
from matchrec.errors.run.failures import partition_without_room, undecided_without_room
from matchrec.errors.run.place import RowPlace
from matchrec.output.measures import Reader
from matchrec.output.rows import OutputRows, output_rows, rows_that_come_out, unmatched_rows
from matchrec.search.matches import Matches, RunFailure, no_matches
from matchrec.search.nearby import satisfy_nearby
from matchrec.search.partitions import NO_EDGE, IntArray, Partitions
from matchrec.worker import wire
from matchrec.worker.batches import PartitionWithoutRoom, Piece
from matchrec.worker.count import ENCODING, GATHERING, WAITING, Tally
from matchrec.worker.encode import check_windows, partitions_of, value_at
from matchrec.worker.gather import Gatherer, chain_matches


@contextmanager
def naming_rows(place: Callable[[int], RowPlace]) -> Iterator[None]:
    """Raises MatchRecognizeError with the place of the row at which RunFailure is raised inside."""
    try:
        yield
    except RunFailure as failure:
        raise failure.error(place(failure.row)) from failure


def name_row(executable: Executable, table: pa.Table, row: int, number: int | None) -> RowPlace:
    """A row as its partition's keys and its number there."""
    names = executable.crossing.keys
    keys = {name: value_at(table, wire.column(place), row) for name, place in names}
    return RowPlace(keys, number, bool(executable.relevant))


def place_of(executable: Executable, row: int, piece: Piece, partitions: Partitions) -> RowPlace:
    number: int | None = None
    if piece.passed is not None:
        partition = int(np.searchsorted(partitions.starts, row, side="right")) - 1
        number = row - int(partitions.starts[partition]) + 1
        number += piece.passed if partition == 0 else 0
    return name_row(executable, piece.table, row, number)


@contextmanager
def searching(executable: Executable, piece: Piece, partitions: Partitions) -> Iterator[None]:
    """As `naming_rows`, of a piece. Raises MatchRecognizeError where its windows wrap around."""
    with naming_rows(lambda row: place_of(executable, row, piece, partitions)):
        check_windows(executable, piece.table, piece.starts)
        yield


def naming_partitions(executable: Executable, pieces: Iterator[Piece]) -> Iterator[Piece]:
    """The pieces. Raises MatchRecognizeRunError for a partition for which there is no room."""
    try:
        yield from pieces
    except PartitionWithoutRoom as error:
        row, rows, size, whole = error.args
        message = partition_without_room if whole else undecided_without_room
        place = name_row(executable, row, 0, None)
        raise message(rows=rows, mebibytes=size >> 20, place=place) from error


# What makes batches for matches, and for the rows that come out for them. Picklable.
BatchMaker = Callable[[pa.Table, Partitions, Matches, OutputRows], Iterator[pa.RecordBatch]]


@dataclass(frozen=True)
class Worker:
    """Runs an executable over pieces. output: makes batches where not its reads alone come out."""

    executable: Executable
    tally: Tally = field(default_factory=Tally)
    output: BatchMaker | None = None

    def run(self, pieces: Iterator[Piece]) -> Iterator[pa.RecordBatch]:
        for piece in self.tally.time_items(WAITING, naming_partitions(self.executable, pieces)):
            for batch in self.match_piece(piece):
                yield self.tally.with_counters(batch)
            del piece  # a table less in memory while the next one grows
        yield from self.tally.row()

    def match_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        with self.tally.measure_time(ENCODING):
            partitions = partitions_of(self.executable, piece.table, piece.starts, piece.frontier)
        yield from self.match_partitions(piece, partitions)

    def match_partitions(self, piece: Piece, partitions: Partitions) -> Iterator[pa.RecordBatch]:
        executable, first = self.executable, piece.frontier.start.copy()
        with_unmatched = executable.rows_per_match.shows_unmatched
        with searching(executable, piece, partitions):
            with self.tally.measure_time(ENCODING):
                partitions = self.satisfy_nearby(partitions)
            for matches in self.find_matches(partitions, piece):
                if with_unmatched:
                    out = rows_that_come_out(matches, executable.rows_per_match, partitions.rows)
                    piece.covered[:] |= out
                with self.tally.measure_time(GATHERING):
                    rows = output_rows(matches, executable.rows_per_match)
                yield from self.output_of(piece.table, partitions, matches, rows)
            if with_unmatched:
                unmatched = self.unmatched_rows(piece, partitions, first)
                yield from self.output_of(piece.table, partitions, no_matches(), unmatched)

    def satisfy_nearby(self, partitions: Partitions) -> Partitions:
        """The partitions with the conditions that the worker computes. Raises RunFailure."""
        return satisfy_nearby(partitions, self.executable.nearby)

    def find_matches(self, partitions: Partitions, piece: Piece) -> Iterator[Matches]:
        strategy, tally = self.executable.strategy, self.tally
        task = self.executable.task
        if self.output is None:
            task = chain_matches(self.executable, piece.table, partitions.starts)
        return tally.count_matches(strategy.search(task, partitions, tally.of_kernels), piece)

    def unmatched_rows(self, piece: Piece, partitions: Partitions, first: IntArray) -> OutputRows:
        """The rows that no match covers, with every measure NULL. first: int64[p], where the search
        of each partition has begun. Rows before it have come out, those from where it has ended may
        still be matched.
        """
        frontier, lengths = piece.frontier, np.diff(partitions.starts)
        end = np.where(frontier.edge == NO_EDGE, frontier.until, frontier.start)
        row = np.arange(partitions.rows)
        searched = (row >= np.repeat(first, lengths)) & (row < np.repeat(end, lengths))
        return unmatched_rows(piece.covered | ~searched, partitions)

    def output_of(
        self, table: pa.Table, partitions: Partitions, matches: Matches, rows: OutputRows
    ) -> Iterator[pa.RecordBatch]:
        """The batches of rows, if there are any. Raises RunFailure."""
        if self.output is not None:
            yield from self.output(table, partitions, matches, rows)
            return
        members, frame = self.executable.task.members, self.executable.frame
        with self.tally.measure_time(GATHERING):
            reader = Reader(matches, rows, partitions, members, frame)
            gatherers = Gatherer(self.executable, table, reader).divide()
        for gatherer in gatherers:
            with self.tally.measure_time(GATHERING):
                batch = gatherer.batch()
            yield batch
