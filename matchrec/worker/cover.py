"""Workers that count instead of returning matches, for coverage.

`CoverageWorker` returns one row for a task: an array of counts, then the starting row that came
closest to a match without beginning one. `AttemptWorker` returns a row for each starting row: how
far its runs came. A starting row without a match is represented by its *nearest run*, the run after
which a match needs the fewest rows: see `search.kernels.nearest_runs`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields

import numpy as np
import pyarrow as pa

from matchrec.compile.counted_coverage import Figures
from matchrec.compile.coverage import CoverageTask
from matchrec.output.rows import find_matched_rows
from matchrec.search.coverage import NO_START, Counts, find_matches, find_nearest_runs
from matchrec.search.kernels import nearest_runs
from matchrec.search.nearby import find_rows_with, find_satisfying_rows, satisfy_nearby
from matchrec.search.partitions import IntArray, Partitions
from matchrec.search.task import NearbyCondition
from matchrec.worker import wire
from matchrec.worker.arrays import decode, take_column, take_encoded_column
from matchrec.worker.batches import Piece
from matchrec.worker.encode import encode_partitions
from matchrec.worker.locate import check_and_locate, name_large_partitions
from matchrec.worker.query_worker import TaskInput

# The columns of `AttemptWorker` about the nearest run of a starting row, in their order: how many
# rows a match still needed, the last choice of the run (0 for none), the reason why it ended, its
# number of rows, and a bit for each part of a condition that was not true.
ATTEMPT_NOTES = ("remaining", "choice", "reason", "rows", "parts")


@dataclass(frozen=True)
class NearestRun:
    """The nearest run that came closest to a match, of all starting rows without a match."""

    # The number of rows that the run still needed.
    remaining: int
    # The values that name its starting row, each as an array of one value.
    names: tuple[pa.Array, ...]

    def list_columns(self) -> list[pa.Array]:
        """Return the run as columns of one row."""
        return [pa.array([self.remaining]), *self.names]


@dataclass(frozen=True)
class CoverageWorker:
    """A worker that counts how far the starting rows of one task come. Picklable."""

    task: CoverageTask
    # The schema of the one row that is returned: the counts, then the columns of the nearest run.
    schema: pa.Schema
    task_input: TaskInput = TaskInput()

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield a batch of one row.

        Raises:
            MatchRecognizeRunError: the rows do not allow the search.
        """
        figures = Figures()
        counts = Counts.create(self.task.annotated_task)
        nearest: NearestRun | None = None
        for piece in read_pieces(self.task, self.task_input, batches):
            figures = figures.merge(self.search_piece(piece, counts))
            nearest = self.take_nearest(piece, counts) or nearest
            del piece  # so that its table is gone while the next one grows
        all_counts = [*astuple(figures), *flatten_counts(counts).tolist()]
        if nearest is None:
            columns_of_run = [pa.nulls(1)] * (1 + len(self.task.naming_columns))
        else:
            columns_of_run = nearest.list_columns()
        yield make_batch([pa.array([all_counts]), *columns_of_run], self.schema)

    def search_piece(self, piece: Piece, counts: Counts) -> Figures:
        """Search a piece, add to `counts`, and return the figures of the piece.

        Raises:
            MatchRecognizeRunError: the rows do not allow the search.
        """
        covered = piece.covered
        # the first partition may have had matches in an earlier piece, and been counted there
        matched_before = {0} if piece.frontier.number[:1].any() else set()
        matched = set(matched_before)
        match_count = 0
        longest_match = 0
        with prepare_partitions(self.task, self.task_input, piece) as partitions:
            for matches in find_matches(self.task.annotated_task, counts, partitions):
                match_count += matches.count
                longest_match = max(longest_match, int(np.diff(matches.offsets).max()))
                matched.update(np.unique(matches.partition).tolist())
                covered = covered | find_matched_rows(matches, partitions.rows)
        piece.record_search(partitions, covered)
        sizes = np.diff(piece.starts)
        sizes[0] += piece.rows_before
        return Figures(
            rows=piece.new_rows,
            partitions=piece.new_partitions,
            matched_partitions=len(matched - matched_before),
            matches=match_count,
            covered=int(np.count_nonzero(covered)) - int(np.count_nonzero(piece.covered)),
            ties=self.count_ties(piece, partitions),
            longest_match=longest_match,
            largest_partition=int(sizes.max()),
            rows_held=piece.table.num_rows,
        )

    def count_ties(self, piece: Piece, partitions: Partitions) -> int:
        """Return how many rows equal the row before them in their order.

        Only rows count that no earlier piece had.
        """
        tie = self.task.tie
        if tie is None:
            return 0
        if isinstance(tie, NearbyCondition):
            flags = find_satisfying_rows(partitions, tie)
        else:
            flags = find_rows_with(partitions.satisfied, tie)
        flags[piece.starts[:-1]] = 0  # the row before is of another partition
        return int(flags[len(flags) - piece.new_rows :].sum())

    def take_nearest(self, piece: Piece, counts: Counts) -> NearestRun | None:
        """Return the nearest run of this piece if it is nearer than in all pieces before it.

        Its starting row is removed from `counts`. So if `counts` has a starting row after the next
        piece, that piece has a nearer run.
        """
        start = int(counts.nearest_of_all[nearest_runs.NEAREST_START])
        if start == NO_START:
            return None
        counts.nearest_of_all[nearest_runs.NEAREST_START] = NO_START
        remaining = int(counts.nearest_of_all[nearest_runs.NEAREST_REMAINING])
        names = (
            decode(take_encoded_column(piece.table, wire.name_column(index)).slice(start, 1))
            for index in self.task.naming_columns
        )
        return NearestRun(remaining, tuple(names))


@dataclass(frozen=True)
class AttemptWorker:
    """A worker that returns how far each starting row of one task came. Picklable."""

    task: CoverageTask
    # The schema of the rows that are returned: the columns that name the partition; the first
    # column of the order, on the starting row and on the last row of its nearest run; and
    # `ATTEMPT_NOTES`, which are NULL if the row begins a match or is inside of one.
    schema: pa.Schema
    task_input: TaskInput = TaskInput()

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield a batch for each piece. A row that two pieces have may be in both batches.

        Raises:
            MatchRecognizeRunError: the rows do not allow the search.
        """
        for piece in read_pieces(self.task, self.task_input, batches):
            with prepare_partitions(self.task, self.task_input, piece) as partitions:
                notes = find_nearest_runs(self.task.annotated_task, partitions)
            piece.record_search(partitions, piece.covered)
            yield self.make_rows(piece, notes)
            del piece  # so that its table is gone while the next one grows

    def make_rows(self, piece: Piece, notes: IntArray) -> pa.RecordBatch:
        """Return the rows that have notes, and those that no earlier piece had.

        Args:
            piece: the piece that was searched.
            notes: int64[n, NOTE_SIZE], see `kernels.nearest_runs`.
        """
        has_notes = notes[:, nearest_runs.NOTE_REMAINING] != nearest_runs.NOTHING_NOTED
        is_returned = has_notes.copy()
        is_returned[len(is_returned) - piece.new_rows :] = True
        starts = np.flatnonzero(is_returned)
        notes = notes[starts]
        has_no_notes = ~has_notes[starts]
        last_rows = np.maximum(notes[:, nearest_runs.NOTE_ROW] - 1, starts)
        last_rows = np.where(has_no_notes, starts, last_rows)
        choice = notes[:, nearest_runs.NOTE_CHOICE]
        note_columns = {
            "remaining": notes[:, nearest_runs.NOTE_REMAINING],
            "choice": choice,
            "reason": notes[:, nearest_runs.NOTE_REASON],
            "rows": last_rows - starts + (choice > 0),
            "parts": notes[:, nearest_runs.NOTE_PARTS],
        }
        *keys, order = [
            take_column(piece.table, wire.name_column(index))
            for index in self.task.first_naming_columns
        ]
        columns = [key.take(pa.array(starts)) for key in keys]
        columns += [order.take(pa.array(rows)) for rows in (starts, last_rows)]
        columns += [pa.array(note_columns[name], mask=has_no_notes) for name in ATTEMPT_NOTES]
        return make_batch(columns, self.schema)


def read_pieces(
    task: CoverageTask, task_input: TaskInput, batches: Iterable[pa.RecordBatch]
) -> Iterator[Piece]:
    """Yield the rows of a task in pieces for the search.

    Raises:
        MatchRecognizeRunError: there is too little memory for the rows of a partition.
    """
    compiled_query = task.compiled_query
    pieces = task_input.read_pieces(batches, compiled_query.lookaround)
    return name_large_partitions(compiled_query, pieces)


@contextmanager
def prepare_partitions(
    task: CoverageTask, task_input: TaskInput, piece: Piece
) -> Iterator[Partitions]:
    """Yield the partitions of a piece, with the bits of all conditions, for a search inside.

    Raises:
        MatchRecognizeRunError: the rows do not allow the search. The error names the row.
    """
    compiled_query = task.compiled_query
    partitions = encode_partitions(compiled_query, piece.table, piece.starts, piece.frontier)
    with check_and_locate(compiled_query, piece, partitions, task_input.orders):
        yield satisfy_nearby(partitions, compiled_query.nearby)


def make_batch(columns: Sequence[pa.Array], schema: pa.Schema) -> pa.RecordBatch:
    """Return columns as a batch, cast to the types of a schema."""
    arrays = [
        values.cast(data_type) for values, data_type in zip(columns, schema.types, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


# Counts of several tasks.


def flatten_counts(counts: Counts) -> IntArray:
    """Return the counts as one array. `sum_coverage` takes it apart."""
    return np.concatenate([counts.reached, counts.end_counts.ravel(), counts.false_parts.ravel()])


def sum_coverage(task: CoverageTask, rows: Iterable[list[int]]) -> tuple[Figures, Counts]:
    """Return the figures and the counts of all tasks together.

    Args:
        task: what the workers have counted.
        rows: the array of counts that each worker has returned.
    """
    empty = Counts.create(task.annotated_task)
    figure_count = len(fields(Figures))
    figures = Figures()
    sums = np.zeros(len(flatten_counts(empty)), np.int64)
    for row in rows:
        figures = figures.merge(Figures(*row[:figure_count]))
        sums += np.array(row[figure_count:], np.int64)

    arrays = (empty.reached, empty.end_counts, empty.false_parts)
    ends = np.cumsum([array.size for array in arrays])
    parts = np.split(sums, ends[:-1])
    reached, end_counts, false_parts = (
        part.reshape(array.shape) for part, array in zip(parts, arrays, strict=True)
    )
    return figures, empty._replace(reached=reached, end_counts=end_counts, false_parts=false_parts)
