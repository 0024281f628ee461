"""Run a plain search: the loop around a kernel that fills buffers.

A kernel searches all partitions in one call. When the output is full, the matches so far are handed
on and the kernel is called again, so that the matches of a chunk, not all of them, are in memory;
when its own memory is full, that grows. Only a single match larger than a chunk makes chunks grow.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

import numpy as np

from matchrec.conditions.functions.function import AnsiError
from matchrec.engine.interface import Room, Task
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import ByteArray, ChoiceArray
from matchrec.engine.matches import FailureKind, Matches, RunFailure
from matchrec.engine.partitions import IntArray, Partitions
from matchrec.nfa.tables import ProgramTables

if TYPE_CHECKING:
    from matchrec.evaluate.python_calls import PythonCalls

_FAILURES = {
    layout.SKIP_TO_NO_ROW: FailureKind.SKIP_TO_NO_ROW,
    layout.SKIP_TO_FIRST_ROW: FailureKind.SKIP_TO_FIRST_ROW,
    layout.OVERFLOW: FailureKind.OVERFLOW,
    layout.DIVISION_BY_ZERO: FailureKind.DIVISION_BY_ZERO,
    layout.FUNCTION_FAILED: FailureKind.FUNCTION_FAILED,
    layout.TOO_MANY_STEPS: FailureKind.TOO_MANY_STEPS,
}
CONDITION_FAILURES = (layout.OVERFLOW, layout.DIVISION_BY_ZERO, layout.FUNCTION_FAILED)


class Search(Protocol):
    """One search: a kernel with the arrays it works in."""

    tables: ProgramTables
    rows: layout.Rows
    progress: IntArray
    python: PythonCalls | None

    def output(self, matches: int, rows: int) -> layout.Found:
        """An empty output for so many matches and mapped rows."""

    def advance(self, output: layout.Found) -> int:
        """Call the kernel on an output; return its status."""

    def matches(self, output: layout.Found) -> Matches:
        """The matches in an output."""

    def grow(self, status: int) -> None:
        """Enlarge what `status` says is full."""


def run(search: Search, task: Task, partitions: Partitions, room: Room) -> Iterator[Matches]:
    """All matches in chunks; at the end the frontier is moved. Raises RunFailure."""
    progress = search.progress
    rows = room.rows
    status = layout.OUTPUT_FULL
    while status == layout.OUTPUT_FULL:
        output = search.output(room.matches, rows)
        output.found[layout.FOUND_OFFSET, 0] = 0
        progress[[layout.MATCHES, layout.MAPPED]] = 0
        status = search.advance(output)
        while layout.OUTPUT_FULL < status < layout.SKIP_TO_NO_ROW:
            search.grow(status)
            status = search.advance(output)
        raise_failure(status, progress, search.tables, task, search.python)
        if progress[layout.MATCHES]:
            yield search.matches(output)
        if status == layout.OUTPUT_FULL:
            rows = max(rows, int(progress[layout.NEEDED]))
    if partitions.frontier is not None:
        partitions.frontier.start[:] = search.rows.frontier[layout.FRONTIER_START]
        partitions.frontier.number[:] = search.rows.frontier[layout.FRONTIER_NUMBER]
        partitions.frontier.steps[:] = search.rows.frontier[layout.FRONTIER_STEPS]


def raise_failure(
    status: int,
    progress: IntArray,
    tables: ProgramTables,
    task: Task,
    python: PythonCalls | None,
) -> None:
    """Raises RunFailure where a status says that something has failed."""
    kind = _FAILURES.get(status)
    if kind is None:
        return
    detail = task.after_match.variable or ""
    if status in CONDITION_FAILURES:
        detail = task.variables[tables.test[progress[layout.CHOICE]]]
    partition, row = progress[[layout.PARTITION, layout.ROW]]
    if kind is FailureKind.TOO_MANY_STEPS:
        row, detail = progress[layout.START], str(task.max_steps)
    reason = ""
    if kind is FailureKind.FUNCTION_FAILED:
        assert python is not None
        error = python.failed()
        reason = str(error)
        if isinstance(error, AnsiError):
            kind = FailureKind.FUNCTION_FAILED_UNDER_ANSI
    raise RunFailure(kind, int(partition), int(row), detail, reason)


def matches_of(found: IntArray, count: int, choices: ChoiceArray, tables: ProgramTables) -> Matches:
    """The first matches in an output; choices: by which each of their rows is mapped."""
    return Matches(
        partition=found[layout.FOUND_PARTITION, :count],
        number=found[layout.FOUND_NUMBER, :count],
        start=found[layout.FOUND_START, :count],
        offsets=found[layout.FOUND_OFFSET, : count + 1],
        classifiers=tables.variable[choices],
        excluded=tables.excluded[choices],
    )


def new_progress(task: Task) -> IntArray:
    """The progress of a search that has not begun."""
    progress = np.zeros(layout.PROGRESS_SIZE, np.int64)
    progress[layout.PARTITION] = -1
    progress[layout.MEMO_WINDOW] = -1
    progress[layout.STEP_LIMIT] = min(task.max_steps or layout.NO_LIMIT, layout.NO_LIMIT)
    return progress


def larger(memo: ByteArray, needed: int) -> ByteArray:
    """An empty memo of at least twice the size that holds `needed` rows."""
    return np.zeros((doubled(len(memo), needed), memo.shape[1]), np.uint8)


def doubled(size: int, needed: int) -> int:
    """A size that has been doubled, as often as it takes until `needed` rows have room."""
    size *= 2
    while size < needed:
        size *= 2
    return size
