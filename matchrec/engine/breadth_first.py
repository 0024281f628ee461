"""The breadth-first engine: all runs at once, in preferment order, over a shared buffer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from matchrec.engine import selection, selection_breadth_first
from matchrec.engine.compiled import (
    columns_of,
    compile_task,
    plain,
    satisfied_of,
    searched_of,
    window_end_of,
)
from matchrec.engine.interface import Task
from matchrec.engine.kernels import breadth_first as kernel
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import ByteArray, ChoiceArray, RunArray
from matchrec.engine.match import Matches
from matchrec.engine.partitions import IntArray, Partitions
from matchrec.engine.search import PlainOutput, Room, larger, new_progress, run
from matchrec.evaluate.link import LinkedConditions
from matchrec.plan.clauses import MatchOutput

_NODES_OF_A_ROW = 16


@dataclass(frozen=True, slots=True)
class BreadthFirst:
    """One pass over the rows. merge_runs: whether runs with the same future are searched once."""

    merge_runs: bool = True
    room: Room = Room()
    name: str = field(default="breadth_first", init=False)

    def supports(self, task: Task) -> str | None:
        """Why a task cannot be searched breadth-first, or None."""
        if task.output is MatchOutput.PREFERRED and (task.absent or task.closing is not None):
            return "negation is tested on all matches, not on the preferred ones"
        return None

    def search(
        self, task: Task, partitions: Partitions, counters: IntArray | None = None
    ) -> Iterator[Matches]:
        """All matches, in chunks, in order of partition and match number. Raises RunFailure."""
        if task.selects:
            merge_runs = self.merge_runs and task.output is not MatchOutput.GRAPH
            given = selection.given(task, partitions, merge_runs=merge_runs)
            return selection_breadth_first.search(task, given, self.room, counters)
        search = _BreadthFirstSearch(task, partitions, self.merge_runs, self.room.memory)
        return run(search, task, partitions, self.room)


class _BreadthFirstSearch(PlainOutput):
    """The runs, the buffer of their rows, the failures remembered."""

    def __init__(self, task: Task, partitions: Partitions, merge_runs: bool, memory: int) -> None:
        compiled = compile_task(task, len(partitions.integers))
        self.tables = compiled.tables
        self.program = compiled.program
        self.skip_to = compiled.skip_to
        self.merge_runs = merge_runs
        self.starts = plain(partitions.starts, np.int64)
        self.searched = searched_of(partitions)
        self.satisfied = satisfied_of(partitions)
        self.window_end = window_end_of(partitions)
        self.progress = new_progress(task, partitions)
        self.runs = np.empty((2, memory, layout.RUN_SIZE), np.int64)
        self.nodes = np.empty((_NODES_OF_A_ROW * memory, layout.NODE_SIZE), np.int32)
        self.seen = np.zeros((len(self.tables.first) - 1, layout.SEEN_SIZE), np.int64)
        self.memo: ByteArray = np.zeros((memory, compiled.memo_bytes), np.uint8)
        self.linked = compiled.linked
        self.columns: RunArray = None
        self.valid: RunArray = None
        self.registers: RunArray = None
        self.table: RunArray = None
        if self.linked is not None:
            self.columns, self.valid = columns_of(partitions)
            self.registers = _registers(self.linked, memory)
            self.table = np.zeros((2 * memory, 2), np.int64)

    def advance(self, found: IntArray, taken: ChoiceArray) -> int:
        linked = self.linked
        return int(
            kernel.search(
                self.tables.first,
                self.program,
                self.starts,
                self.searched,
                self.satisfied,
                self.window_end,
                self.skip_to,
                self.merge_runs,
                self.runs,
                self.nodes,
                np.empty(len(self.nodes), np.int32),
                self.seen,
                self.memo,
                found,
                taken,
                self.progress,
                linked.instructions if linked else None,
                self.registers,
                self.columns,
                self.valid,
                np.zeros((2, linked.depth), np.int64) if linked else None,
                linked.live_first if linked else None,
                linked.live_registers if linked else None,
                self.table,
            )
        )

    def grow(self, status: int) -> None:
        """At least double what is full; the search goes back to the first run that lived."""
        if status == layout.RUNS_FULL:
            runs = 2 * self.runs.shape[1]
            self.runs = np.empty((2, runs, layout.RUN_SIZE), np.int64)
            if self.linked is not None:
                self.registers = _registers(self.linked, runs)
                self.table = np.zeros((2 * runs, 2), np.int64)
        elif status == layout.NODES_FULL:
            self.nodes = np.empty((2 * len(self.nodes), layout.NODE_SIZE), np.int32)
        else:
            assert status == layout.MEMO_FULL
            self.memo = larger(self.memo, int(self.progress[layout.NEEDED]))


def _registers(linked: LinkedConditions, runs: int) -> RunArray:
    """Registers for two banks of runs, and behind them those of a run before its first row."""
    registers = np.empty((2 * runs + 1, len(linked.initial)), np.int64)
    registers[-1] = linked.initial
    return registers
