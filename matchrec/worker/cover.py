"""The functions that count inside Spark's Python workers: batches in, one row of counts out, or a
row for each starting row.

The row of counts has an array of them, what the nearest run of all still needed that began no
match, and the columns that name its starting row; NULL where there was none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields

import numpy as np
import pyarrow as pa

from matchrec.compile.coverage import SUMS, CoverageTask, Figures
from matchrec.compile.executable import Executable
from matchrec.output.rows import matched_rows
from matchrec.search.coverage import Counts, find_matches, note_starts
from matchrec.search.interface import NearbyCondition
from matchrec.search.kernels import counting
from matchrec.search.nearby import rows_that_satisfy, rows_with, satisfy_nearby
from matchrec.search.partitions import IntArray, Partitions
from matchrec.worker import wire
from matchrec.worker.arrays import column
from matchrec.worker.batches import Piece
from matchrec.worker.encode import partitions_of
from matchrec.worker.match import searching
from matchrec.worker.matching import Incoming

Nearest = list[pa.Array] | None  # how many rows a run needed, and what names its starting row
NO_START = -1
NOTED = counting.NOTE_REMAINING, counting.NOTE_CHOICE, counting.NOTE_REASON, counting.NOTE_PARTS


@dataclass(frozen=True)
class CoverageWorker:
    """Counts over one task's stream of batches. schema: of the row."""

    task: CoverageTask
    schema: pa.Schema
    incoming: Incoming = Incoming()

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        figures, counts = [Figures()], Counts.of(self.task.coverable)
        nearest: Nearest = None
        for piece in self.incoming.read_pieces(batches, self.task.executable.lookaround):
            figures.append(self.count_matches(piece, counts))
            nearest = self.nearest(piece, counts) or nearest
            del piece  # a table less in memory while the next one grows
        counted = together(np.array(list(map(astuple, figures))))
        numbers = [*astuple(counted), *flat(counts).tolist()]
        found = nearest or [pa.nulls(1)] * (1 + len(self.task.naming_columns))
        yield batch_of([pa.array([numbers]), *found], self.schema)

    def count_matches(self, piece: Piece, counts: Counts) -> Figures:
        """Search a piece, and count what is found in it. Raises MatchRecognizeRunError."""
        executable, covered = self.task.executable, int(np.count_nonzero(piece.covered))
        known = {0} if piece.frontier.number[:1].any() else set()
        matched, number, longest = set(known), 0, 0
        with all_conditions(executable, piece) as partitions:
            for matches in find_matches(self.task.coverable, counts, partitions):
                number += matches.count
                longest = max(longest, int(np.diff(matches.offsets).max()))
                matched.update(np.unique(matches.partition).tolist())
                piece.covered[:] |= matched_rows(matches, partitions.rows)
        sizes = np.diff(piece.starts)
        sizes[0] += piece.passed
        return Figures(
            rows=piece.fresh,
            partitions=piece.fresh_partitions,
            matched_partitions=len(matched - known),
            matches=number,
            covered=int(np.count_nonzero(piece.covered)) - covered,
            ties=self.ties(piece, partitions),
            longest_match=longest,
            largest_partition=int(sizes.max()),
            rows_held=piece.table.num_rows,
        )

    def ties(self, piece: Piece, partitions: Partitions) -> int:
        """How many rows that no piece has had before equal the one before in their order."""
        if (tie := self.task.tie) is None:
            return 0
        if isinstance(tie, NearbyCondition):
            flags = rows_that_satisfy(partitions, tie)
        else:
            flags = rows_with(partitions.satisfied, tie)
        flags[piece.starts[:-1]] = 0  # the row before is of another partition
        return int(flags[len(flags) - piece.fresh :].sum())

    def nearest(self, piece: Piece, counts: Counts) -> Nearest:
        """What the nearest run that began no match needed, and what names its first row; if any."""
        if (start := int(counts.best[counting.BEST_START])) == NO_START:
            return None
        counts.best[counting.BEST_START] = NO_START
        columns = (piece.table.column(wire.column(one)) for one in self.task.naming_columns)
        named_by = (one.slice(start, 1).combine_chunks() for one in columns)
        return [pa.array([int(counts.best[counting.BEST_REMAINING])]), *named_by]


@dataclass(frozen=True)
class AttemptWorker:
    """How far each starting row came, of one task's stream of batches.

    schema: of the rows: what names the partition, the first column of the order on the starting row
    and on the last row of its nearest run, then what was noted, NULL of a row that begins a match
    or lies inside of one.
    """

    task: CoverageTask
    schema: pa.Schema
    incoming: Incoming = Incoming()

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """A batch for each piece; a row that two pieces have may be in both."""
        executable = self.task.executable
        for piece in self.incoming.read_pieces(batches, executable.lookaround):
            with all_conditions(executable, piece) as partitions:
                notes = note_starts(self.task.coverable, partitions)
            yield self.rows(piece, notes)
            del piece  # a table less in memory while the next one grows

    def rows(self, piece: Piece, notes: IntArray) -> pa.RecordBatch:
        """The rows of which something is known, and those that no piece has had before."""
        noted = notes[:, counting.NOTE_REMAINING] != counting.NOTHING_NOTED
        wanted = noted.copy()
        wanted[len(wanted) - piece.fresh :] = True
        starts = np.flatnonzero(wanted)
        noted, notes = noted[starts], notes[starts]
        last = np.where(noted, np.maximum(notes[:, counting.NOTE_ROW] - 1, starts), starts)
        named = [
            column(piece.table, wire.column(place)) for place in self.task.first_naming_columns
        ]
        keys, order = named[:-1], named[-1]
        remaining, choice, reason, parts = (notes[:, place] for place in NOTED)
        numbers = (remaining, choice, reason, last - starts + (choice > 0), parts)
        columns = [
            *(key.take(pa.array(starts)) for key in keys),
            *(order.take(pa.array(rows)) for rows in (starts, last)),
            *(pa.array(number, mask=~noted) for number in numbers),
        ]
        return batch_of(columns, self.schema)


@contextmanager
def all_conditions(executable: Executable, piece: Piece) -> Iterator[Partitions]:
    """The partitions of a piece, for a search that raises MatchRecognizeRunError where it fails."""
    partitions = partitions_of(executable, piece.table, piece.starts, piece.frontier)
    with searching(executable, piece, partitions):
        yield satisfy_nearby(partitions, executable.nearby)


def batch_of(columns: Sequence[pa.Array], schema: pa.Schema) -> pa.RecordBatch:
    arrays = [one.cast(kind) for one, kind in zip(columns, schema.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def flat(counts: Counts) -> IntArray:
    return np.concatenate([counts.came, counts.ended.ravel(), counts.parts_false.ravel()])


def together(figures: IntArray) -> Figures:
    """What several pieces, or tasks, have counted. figures: int64[n, f], at least one of each."""
    added, most = figures[:, :SUMS].sum(axis=0), figures[:, SUMS:].max(axis=0)
    return Figures(*map(int, (*added, *most)))


def add_up(task: CoverageTask, rows: Iterable[list[int]]) -> tuple[Figures, Counts]:
    counts = Counts.of(task.coverable)
    size = len(fields(Figures))
    numbers = np.array([np.zeros(size + len(flat(counts)), np.int64), *rows], np.int64)
    parts = counts.came, counts.ended, counts.parts_false
    totals = np.split(numbers[:, size:].sum(axis=0), np.cumsum([part.size for part in parts]))
    found = (total.reshape(part.shape) for total, part in zip(totals, parts, strict=False))
    return together(numbers[:, :size]), Counts(*found, *counts[len(parts) :])
