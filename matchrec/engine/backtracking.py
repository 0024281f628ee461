"""The backtracking engine: one run at a time, in preferment order, with remembered failures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from matchrec.engine import selection_backtracking
from matchrec.engine.chained import ChainedSearch, unchained
from matchrec.engine.compiled import (
    columns_of,
    compile_task,
    plain,
    satisfied_of,
    searched_of,
    window_end_of,
)
from matchrec.engine.interface import Task
from matchrec.engine.kernels import backtracking as kernel
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import ByteArray, ChoiceArray
from matchrec.engine.match import Matches
from matchrec.engine.partitions import BoolArray, IntArray, Partitions
from matchrec.engine.search import PlainOutput, Room, larger, new_progress, run
from matchrec.engine.windowed import WindowedSearch
from matchrec.plan.clauses import MatchOutput


@dataclass(frozen=True, slots=True)
class Backtracking:
    """Depth-first search. Linear in the rows where conditions look only at the data."""

    room: Room = Room()
    name: str = field(default="backtracking", init=False)

    def supports(self, task: Task) -> str | None:
        """Why a task cannot be searched depth-first, or None."""
        if task.output is MatchOutput.GRAPH:
            return "the compressed form is the shared buffer of the breadth-first engine"
        if task.output is MatchOutput.PREFERRED and (task.absent or task.closing is not None):
            return "negation is tested on all matches, not on the preferred ones"
        return None

    def search(
        self, task: Task, partitions: Partitions, counters: IntArray | None = None
    ) -> Iterator[Matches]:
        """All matches, in chunks, in order of partition and match number. Raises RunFailure."""
        if task.selects:
            return selection_backtracking.search(task, partitions, self.room, counters)
        if partitions.window_end is not None and task.looks_only_at_data:
            return run(
                WindowedSearch(task, partitions, self.room.memory), task, partitions, self.room
            )
        if task.shares_rows and partitions.window_end is None:
            found = run(
                ChainedSearch(task, partitions, self.room.memory), task, partitions, self.room
            )
            return found if task.chained else unchained(found, self.room.rows)
        return run(
            _BacktrackingSearch(task, partitions, self.room.memory), task, partitions, self.room
        )


class _BacktrackingSearch(PlainOutput):
    """The path of the one run, its computation state at each row, the failures remembered."""

    def __init__(self, task: Task, partitions: Partitions, memory: int) -> None:
        compiled = compile_task(task, len(partitions.integers))
        self.tables = compiled.tables
        self.program = compiled.program
        self.skip_to = compiled.skip_to
        self.starts = plain(partitions.starts, np.int64)
        self.searched = searched_of(partitions)
        self.satisfied = satisfied_of(partitions)
        self.window_end = window_end_of(partitions)
        self.progress = new_progress(task, partitions)
        self.path = np.empty(memory, np.int32)
        self.memo: ByteArray = np.zeros((memory, compiled.memo_bytes), np.uint8)
        self.instructions: IntArray | None = None
        self.registers: IntArray | None = None
        self.columns: IntArray | None = None
        self.valid: BoolArray | None = None
        self.stack: IntArray | None = None
        if compiled.linked is not None:
            linked = compiled.linked
            self.instructions = linked.instructions
            self.registers = np.empty((memory + 1, len(linked.initial)), np.int64)
            self.registers[0] = linked.initial
            self.columns, self.valid = columns_of(partitions)
            self.stack = np.zeros((2, linked.depth), np.int64)

    def advance(self, found: IntArray, taken: ChoiceArray) -> int:
        return int(
            kernel.search(
                self.tables.first,
                self.program,
                self.starts,
                self.searched,
                self.satisfied,
                self.window_end,
                self.skip_to,
                self.path,
                self.memo,
                found,
                taken,
                self.progress,
                self.instructions,
                self.registers,
                self.columns,
                self.valid,
                self.stack,
            )
        )

    def grow(self, status: int) -> None:
        """At least double what is full; the search of the starting row begins again.

        A larger ring begins empty: what must be found out again is no more than what fitted.
        """
        if status == layout.MEMO_FULL:
            self.memo = larger(self.memo, int(self.progress[layout.NEEDED]))
            self.progress[layout.MEMO_TO] = self.progress[layout.START]
            return
        assert status == layout.PATH_FULL
        self.path = np.empty(2 * len(self.path), np.int32)
        if self.registers is not None:
            initial = self.registers[0]
            self.registers = np.empty((len(self.path) + 1, len(initial)), np.int64)
            self.registers[0] = initial
