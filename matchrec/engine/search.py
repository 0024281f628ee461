"""What both engines share: a task as arrays, and the loop around a kernel that fills buffers.

A kernel searches all partitions in one call. When the output is full, the matches so far are handed
on and the kernel is called again, so that the matches of a chunk, not all of them, are in memory;
when its own memory is full, that grows. Only a single match larger than a chunk makes chunks grow.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from matchrec.engine.interface import Task
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import ChoiceArray
from matchrec.engine.match import FailureKind, Matches, RunFailure
from matchrec.engine.partitions import IntArray, Partitions
from matchrec.nfa.closure import fold
from matchrec.nfa.program import Program
from matchrec.nfa.tables import ProgramTables, program_tables
from matchrec.plan.clauses import SkipTo

SKIP_TO = {
    SkipTo.NEXT_ROW: layout.TO_NEXT_ROW,
    SkipTo.PAST_LAST_ROW: layout.PAST_LAST_ROW,
    SkipTo.FIRST: layout.TO_FIRST,
    SkipTo.LAST: layout.TO_LAST,
}
_FAILURES = {
    layout.SKIP_TO_NO_ROW: FailureKind.SKIP_TO_NO_ROW,
    layout.SKIP_TO_FIRST_ROW: FailureKind.SKIP_TO_FIRST_ROW,
    layout.OVERFLOW: FailureKind.OVERFLOW,
    layout.DIVISION_BY_ZERO: FailureKind.DIVISION_BY_ZERO,
}


@dataclass(frozen=True, slots=True)
class Chunk:
    """How much one `Matches` may hold: mapped rows and matches."""

    rows: int = 1 << 20
    matches: int = 1 << 18


class Search(Protocol):
    """One search: a kernel with the arrays it works in."""

    progress: IntArray

    def advance(self, found: IntArray, taken: ChoiceArray) -> int:
        """Call the kernel on an output; return its status."""

    def grow(self, status: int) -> None:
        """Enlarge what `status` says is full."""


def run(search: Search, task: Task, chunk: Chunk) -> Iterator[Matches]:
    """All matches in chunks. Raises RunFailure."""
    progress = search.progress
    tables = tables_of(task.program)
    room = chunk.rows
    status = layout.OUTPUT_FULL
    while status == layout.OUTPUT_FULL:
        found = np.empty((4, chunk.matches + 1), np.int64)
        found[layout.FOUND_OFFSET, 0] = 0
        taken = np.empty(room, np.int32)
        progress[[layout.MATCHES, layout.MAPPED]] = 0
        status = search.advance(found, taken)
        while layout.OUTPUT_FULL < status < layout.SKIP_TO_NO_ROW:
            search.grow(status)
            status = search.advance(found, taken)
        if status in _FAILURES:
            raise _failure(status, task, progress)
        if progress[layout.MATCHES]:
            yield _matches(tables, found, taken, progress)
        if status == layout.OUTPUT_FULL:
            room = max(room, int(progress[layout.NEEDED]))


def _failure(status: int, task: Task, progress: IntArray) -> RunFailure:
    detail = task.after_match.variable or ""
    return RunFailure(
        _FAILURES[status], int(progress[layout.PARTITION]), int(progress[layout.ROW]), detail
    )


def _matches(
    tables: ProgramTables, found: IntArray, taken: ChoiceArray, progress: IntArray
) -> Matches:
    count = int(progress[layout.MATCHES])
    choices = taken[: progress[layout.MAPPED]]
    return Matches(
        partition=found[layout.FOUND_PARTITION, :count],
        number=found[layout.FOUND_NUMBER, :count],
        start=found[layout.FOUND_START, :count],
        offsets=found[layout.FOUND_OFFSET, : count + 1],
        classifiers=tables.variable[choices],
        excluded=tables.excluded[choices],
    )


def new_progress(partitions: Partitions) -> IntArray:
    """The progress of a search that has not begun."""
    progress = np.zeros(layout.PROGRESS_SIZE, np.int64)
    progress[[layout.START, layout.MEMO_FROM, layout.MEMO_TO]] = partitions.starts[0]
    return progress


@lru_cache(maxsize=64)
def tables_of(program: Program) -> ProgramTables:
    """The program's arrays; a worker asks for the same ones batch after batch."""
    folded = fold(program)
    assert folded is not None
    return program_tables(folded)


def program_of(task: Task) -> IntArray:
    """The task's choices as kernels read them."""
    tables = tables_of(task.program)
    program = np.zeros((len(tables.target), layout.CHOICE_SIZE), np.int64)
    program[:, layout.SOURCE] = tables.source
    program[:, layout.TARGET] = tables.target
    program[:, layout.VARIABLE] = tables.variable
    program[:, layout.GUARD] = tables.guard
    program[:, layout.MEMO] = tables.memo
    skip_to = task.members.get(task.after_match.variable or "", frozenset())
    for choice, variable in zip(program, tables.variable, strict=True):
        condition = task.conditions[variable].row_condition if variable >= 0 else None
        if condition is not None:
            choice[layout.WORD] = condition // 64
            choice[layout.MASK] = np.uint64(1 << condition % 64).astype(np.int64)
        choice[layout.SKIP_HERE] = int(variable) in skip_to
    return program


def satisfied_of(partitions: Partitions) -> IntArray:
    """The row conditions as a kernel reads them; it reads word 0 even where nothing is needed."""
    if partitions.satisfied.shape[1] == 0:
        return np.zeros((partitions.rows, 1), np.int64)
    return plain(partitions.satisfied, np.uint64).view(np.int64)


def plain(array: npt.NDArray[Any], dtype: type) -> npt.NDArray[Any]:
    """A contiguous array of `dtype` that counts as writable, copied only if it must be.

    A read-only view, as Arrow gives, is another type for numba: every kernel would be compiled
    again for each mixture. No kernel writes to rows.
    """
    array = np.ascontiguousarray(array, dtype)
    if array.flags.writeable or array.size == 0:
        return array if array.flags.writeable else np.empty(array.shape, dtype)
    pointer = ctypes.cast(array.ctypes.data, ctypes.POINTER(ctypes.c_uint8))
    return np.ctypeslib.as_array(pointer, (array.nbytes,)).view(dtype).reshape(array.shape)
