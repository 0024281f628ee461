"""The worker of a backtest: for each starting row, how far its nearest run came.

A starting row without a match is represented by its *nearest run*, the run after which a match
needs the fewest rows: see `search.kernels.nearest_runs`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from matchrec.compile.coverage import CoverageTask
from matchrec.search.coverage import find_nearest_runs
from matchrec.search.kernels import nearest_runs
from matchrec.search.partitions import BoolArray, IntArray
from matchrec.worker import internal_names
from matchrec.worker.arrays import take_column
from matchrec.worker.coverage_input import cast_to_batch, prepare_partitions, read_pieces
from matchrec.worker.pieces import Piece
from matchrec.worker.task_input import TaskInput

# The columns of `AttemptWorker` about the nearest run of a starting row, in their order.
ATTEMPT_NOTES = (
    "remaining",  # how many further rows the run needed to become a match
    "choice",  # the number of the last choice of the run, from 1; 0 if the run has none
    "reason",  # why the run ended, a number of `explain.clause_coverage.Reason`
    "rows",  # the number of rows of the run
    "parts",  # a bit for each part of a condition that was not true
)


@dataclass(frozen=True)
class AttemptWorker:
    """A worker that returns how far each starting row of one task came. Picklable."""

    # What is searched.
    task: CoverageTask
    # The schema of the rows that are returned: the columns that name the partition; the first
    # column of the order, on the starting row and on the last row of its nearest run; and
    # `ATTEMPT_NOTES`, which are NULL if the row begins a match or is inside of one.
    schema: pa.Schema
    # How rows arrive, and whether the worker sorts them.
    task_input: TaskInput = TaskInput()

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield a batch for each piece. If two pieces have a row, both batches can have the row.

        Raises:
            MatchRecognizeRunError: the rows do not allow the search.
        """
        for piece in read_pieces(self.task, self.task_input, batches):
            with prepare_partitions(self.task, self.task_input, piece) as partitions:
                notes = find_nearest_runs(self.task.annotated_task, partitions)
            piece.record_search(partitions, piece.is_covered)
            yield self.make_attempts(piece, notes)
            del piece  # so that its table is gone while the next table grows

    def make_attempts(self, piece: Piece, notes: IntArray) -> pa.RecordBatch:
        """Return an output row for each starting row with notes, and for each row that is new.

        A row is new if no earlier piece had it.

        Args:
            piece: the piece that was searched.
            notes: int64[n, NOTE_SIZE], see `kernels.nearest_runs`.
        """
        row_has_notes = notes[:, nearest_runs.NOTE_REMAINING] != nearest_runs.NOTHING_NOTED
        is_returned = row_has_notes.copy()
        is_returned[len(is_returned) - piece.new_rows :] = True
        starts = np.flatnonzero(is_returned)
        has_notes = row_has_notes[starts]
        notes = notes[starts]
        last_rows = np.maximum(notes[:, nearest_runs.NOTE_ROW] - 1, starts)
        last_rows = np.where(has_notes, last_rows, starts)
        *keys, order = [
            take_column(piece.table, internal_names.name_column(index))
            for index in self.task.first_naming_columns
        ]
        columns = [key.take(pa.array(starts)) for key in keys]
        columns += [order.take(pa.array(rows)) for rows in (starts, last_rows)]
        columns += make_note_columns(notes, has_notes, last_rows - starts)
        return cast_to_batch(columns, self.schema)


def make_note_columns(
    notes: IntArray, has_notes: BoolArray, rows_after_first: IntArray
) -> list[pa.Array]:
    """Return the columns of `ATTEMPT_NOTES` for r starting rows.

    Args:
        notes: int64[r, NOTE_SIZE], see `kernels.nearest_runs`.
        has_notes: bool[r], which of the rows have notes. The columns are NULL for the others.
        rows_after_first: int64[r], the distance from each starting row to the last row of its
            nearest run.
    """
    choice = notes[:, nearest_runs.NOTE_CHOICE]
    columns = {
        "remaining": notes[:, nearest_runs.NOTE_REMAINING],
        "choice": choice,
        "reason": notes[:, nearest_runs.NOTE_REASON],
        # a run without a choice has not mapped even its starting row
        "rows": rows_after_first + (choice > 0),
        "parts": notes[:, nearest_runs.NOTE_PARTS],
    }
    return [pa.array(columns[name], mask=~has_notes) for name in ATTEMPT_NOTES]
