"""The worker of coverage: it counts how far starting rows come instead of returning matches.

The worker returns one row for a task: an array of counts, then the starting row that came closest
to a match without beginning a match. `sum_coverage` adds up the counts of all tasks. A starting row
without a match is represented by its *nearest run*, the run after which a match needs the fewest
rows: see `search.kernels.nearest_runs`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, fields

import numpy as np
import pyarrow as pa

from matchrec.compile.counted_coverage import Figures
from matchrec.compile.coverage import CoverageTask
from matchrec.search.coverage import NO_START, Counts, find_matches
from matchrec.search.kernels import nearest_runs
from matchrec.search.nearby import find_rows_with_bit, find_satisfying_rows
from matchrec.search.partitions import IntArray, Partitions
from matchrec.search.task import NearbyCondition
from matchrec.worker import internal_names
from matchrec.worker.arrays import take_column
from matchrec.worker.coverage_input import cast_to_batch, prepare_partitions, read_pieces
from matchrec.worker.pieces import Piece
from matchrec.worker.task_input import TaskInput


@dataclass(frozen=True)
class NearestRun:
    """The run that came closest to a match, among the nearest runs of all starting rows."""

    # The number of further rows that the run needed to become a match.
    remaining: int
    # The values of `CoverageTask.naming_columns` on the starting row of the run, each as an array
    # of one value.
    naming_values: tuple[pa.Array, ...]

    def list_columns(self) -> list[pa.Array]:
        """Return the run as columns of one row."""
        return [pa.array([self.remaining]), *self.naming_values]


@dataclass(frozen=True)
class CoverageWorker:
    """A worker that counts how far the starting rows of one task come. Picklable."""

    # What is searched and counted.
    task: CoverageTask
    # The schema of the one row that is returned: the counts, then the columns of the nearest run.
    schema: pa.Schema
    # How rows arrive, and whether the worker sorts them.
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
            nearest = self.pop_nearest(piece, counts) or nearest
            del piece  # so that its table is gone while the next table grows
        all_counts = [*astuple(figures), *flatten_counts(counts).tolist()]
        if nearest is None:
            columns_of_run = [pa.nulls(1)] * (1 + len(self.task.naming_columns))
        else:
            columns_of_run = nearest.list_columns()
        yield cast_to_batch([pa.array([all_counts]), *columns_of_run], self.schema)

    def search_piece(self, piece: Piece, counts: Counts) -> Figures:
        """Search a piece, add to `counts` in place, and return the figures of the piece.

        Raises:
            MatchRecognizeRunError: the rows do not allow the search.
        """
        is_covered = piece.is_covered.copy()
        # The first partition may have had matches in an earlier piece, and was counted there then.
        matched_before = {0} if piece.frontier.match_number[:1].any() else set()
        matched_partitions = set(matched_before)
        match_count = 0
        longest_match = 0
        with prepare_partitions(self.task, self.task_input, piece) as partitions:
            for matches in find_matches(self.task.annotated_task, counts, partitions):
                match_count += matches.count
                longest_match = max(longest_match, int(np.diff(matches.offsets).max()))
                matched_partitions.update(np.unique(matches.partition).tolist())
                is_covered[matches.mapped_rows] = True
        piece.record_search(partitions, is_covered)
        sizes = np.diff(piece.starts)
        sizes[0] += piece.rows_before
        return Figures(
            rows=piece.new_rows,
            partitions=piece.new_partitions,
            matched_partitions=len(matched_partitions - matched_before),
            matches=match_count,
            rows_in_matches=int(np.count_nonzero(is_covered & ~piece.is_covered)),
            ties=self.count_ties(piece, partitions),
            longest_match=longest_match,
            largest_partition=int(sizes.max()),
            rows_held=piece.table.num_rows,
        )

    def count_ties(self, piece: Piece, partitions: Partitions) -> int:
        """Return how many rows equal the row before them in all ORDER BY columns.

        Only rows that no earlier piece had are counted.
        """
        tie_test = self.task.tie_test
        if tie_test is None:
            return 0
        if isinstance(tie_test, NearbyCondition):
            is_tie = find_satisfying_rows(partitions, tie_test)
        else:
            is_tie = find_rows_with_bit(partitions.condition_bits, tie_test)
        # The row before the first row of a partition is in another partition.
        is_tie[piece.starts[:-1]] = False
        return int(is_tie[len(is_tie) - piece.new_rows :].sum())

    def pop_nearest(self, piece: Piece, counts: Counts) -> NearestRun | None:
        """Return the nearest run of this piece if it is nearer than the runs of all earlier pieces.

        Remove the starting row of the run from `counts`. The number of rows that the run needed
        stays there. So if `counts` has a starting row after the next piece, the next piece has a
        nearer run.
        """
        start = int(counts.nearest_of_all[nearest_runs.NEAREST_START])
        if start == NO_START:
            return None
        counts.nearest_of_all[nearest_runs.NEAREST_START] = NO_START
        remaining = int(counts.nearest_of_all[nearest_runs.NEAREST_REMAINING])
        naming_values = (
            take_column(piece.table.slice(start, 1), internal_names.name_column(index))
            for index in self.task.naming_columns
        )
        return NearestRun(remaining, tuple(naming_values))


def flatten_counts(counts: Counts) -> IntArray:
    """Return the counts as one array. `sum_coverage` divides it again."""
    return np.concatenate(
        [counts.reached_counts, counts.end_counts.ravel(), counts.false_parts.ravel()]
    )


def sum_coverage(task: CoverageTask, count_arrays: Iterable[list[int]]) -> tuple[Figures, Counts]:
    """Return the figures and the counts of all tasks together.

    Args:
        task: what the workers have counted.
        count_arrays: the array of counts that each worker has returned: the fields of `Figures`,
            then the counts as `flatten_counts` returns them.
    """
    empty = Counts.create(task.annotated_task)
    figure_count = len(fields(Figures))
    figures = Figures()
    sums = np.zeros(len(flatten_counts(empty)), np.int64)
    for all_counts in count_arrays:
        figures = figures.merge(Figures(*all_counts[:figure_count]))
        sums += np.array(all_counts[figure_count:], np.int64)

    ends = np.cumsum([empty.reached_counts.size, empty.end_counts.size, empty.false_parts.size])
    reached, end_counts, false_parts = np.split(sums, ends[:-1])
    counts = empty._replace(
        reached_counts=reached.reshape(empty.reached_counts.shape),
        end_counts=end_counts.reshape(empty.end_counts.shape),
        false_parts=false_parts.reshape(empty.false_parts.shape),
    )
    return figures, counts
