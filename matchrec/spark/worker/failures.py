"""What a failed search is told as: the error of its kind, with the place of the row."""

from __future__ import annotations

import numpy as np

from matchrec.compile.executable import Executable
from matchrec.engine.matches import FailureKind, RunFailure
from matchrec.engine.partitions import Partitions
from matchrec.errors import MatchRecognizeError
from matchrec.errors.run.failures import (
    division_by_zero,
    function_failed,
    function_failed_under_ansi,
    overflow_in_condition,
    skip_to_first_row,
    skip_to_no_row,
    stage_is_first,
    stage_missed,
    too_many_steps,
    window_wraps,
)
from matchrec.errors.run.place import Place
from matchrec.spark import wire
from matchrec.spark.worker.batches import Piece
from matchrec.spark.worker.encode import value_at

WORDING = {
    FailureKind.SKIP_TO_NO_ROW: skip_to_no_row,
    FailureKind.SKIP_TO_FIRST_ROW: skip_to_first_row,
    FailureKind.STAGE_MISSED: stage_missed,
    FailureKind.STAGE_IS_FIRST: stage_is_first,
    FailureKind.OVERFLOW: overflow_in_condition,
    FailureKind.WINDOW_WRAPS: window_wraps,
    FailureKind.DIVISION_BY_ZERO: division_by_zero,
    FailureKind.TOO_MANY_STEPS: too_many_steps,
}
OF_FUNCTIONS = {
    FailureKind.FUNCTION_FAILED: function_failed,
    FailureKind.FUNCTION_FAILED_UNDER_ANSI: function_failed_under_ansi,
}


def run_error(failure: RunFailure, place: Place) -> MatchRecognizeError:
    """The error of a search that its rows have ended."""
    if failure.kind in OF_FUNCTIONS:
        return OF_FUNCTIONS[failure.kind](failure.detail, failure.reason, place)
    return WORDING[failure.kind](failure.detail, place)


def place_of(executable: Executable, row: int, piece: Piece, partitions: Partitions) -> Place:
    """A row as its partition's keys and its number there."""
    keys = {
        name: value_at(piece.table, wire.column(column), row)
        for name, column in executable.crossing.keys
    }
    number: int | None
    if piece.passed is None:
        number = None
    elif executable.neighbours:
        number = piece.table.column(wire.ROW_NUMBER)[row].as_py()
    else:
        partition = int(np.searchsorted(partitions.starts, row, side="right")) - 1
        number = row - int(partitions.starts[partition]) + 1
        number += piece.passed if partition == 0 else 0
    return Place(keys, number, bool(executable.relevant))
