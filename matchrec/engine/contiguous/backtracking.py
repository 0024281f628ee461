"""The backtracking engine: one run at a time, in preferment order, with remembered failures."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from matchrec.engine.compiled import compile_task
from matchrec.engine.contiguous.chained import Chained
from matchrec.engine.contiguous.distances import LongestSearch, WindowedSearch
from matchrec.engine.contiguous.kernels import backtracking as kernel
from matchrec.engine.contiguous.plain import PlainSearch, refuse_negation
from matchrec.engine.contiguous.search import ContiguousAlgorithm, Room, larger
from matchrec.engine.interface import Algorithm, Task
from matchrec.engine.kernels import layout
from matchrec.engine.partial.search import WithPartial
from matchrec.engine.partitions import Partitions
from matchrec.engine.selection.algorithms import (
    SelectionAlgorithm,
    try_and_skip,
    try_every_run,
    try_one_run,
)
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
        if task.output is MatchOutput.LONGEST and not task.looks_only_at_data:
            return "the longest match under conditions on the run is found by all runs at once"
        return refuse_negation(task)

    def choose(self, task: Task) -> Algorithm:
        """The fastest algorithm for a task that it supports."""
        if task.searches_twice:
            return WithPartial(self.choose(replace(task, partial=None)), self.room)
        if task.selects:
            begin = try_one_run if task.output is MatchOutput.PREFERRED else try_every_run
            if task.stages is not None and task.stages.skip is not None:
                begin = try_and_skip
            return SelectionAlgorithm(self.name, "event selection", begin, self.room)
        if task.output is MatchOutput.LONGEST:
            return ContiguousAlgorithm(self.name, "longest", LongestSearch, self.room)
        if task.looks_only_at_data and task.windowed:
            return ContiguousAlgorithm(self.name, "windowed", WindowedSearch, self.room)
        if task.shares_rows:
            return Chained(self.room)
        memoised = task.looks_only_at_data or compile_task(task, 0).remembers_all
        name = "memoised" if memoised else "plain"
        return ContiguousAlgorithm(self.name, name, BacktrackingSearch, self.room)


class BacktrackingSearch(PlainSearch):
    """The path of the one run, its computation state at each row, the failures remembered."""

    kernel = staticmethod(kernel.search)
    work: layout.PathWork

    def __init__(self, task: Task, partitions: Partitions, memory: int) -> None:
        super().__init__(task, partitions)
        self.work = layout.PathWork(
            self.progress,
            np.empty(memory, np.int32),
            np.zeros((memory, self.memo_bytes), np.uint8),
            self.new_registers(memory + 1, 0),
            self.new_stack(),
        )

    def grow(self, status: int) -> None:
        """At least double what is full; the search of the starting row begins again.

        A larger ring begins empty: what must be found out again is no more than what fitted.
        """
        if status == layout.MEMO_FULL:
            memo = larger(self.work.memo, int(self.progress[layout.NEEDED]))
            self.work = self.work._replace(memo=memo)
            self.progress[layout.MEMO_TO] = self.progress[layout.START]
            return
        assert status == layout.PATH_FULL
        rows = 2 * len(self.work.path)
        path, registers = np.empty(rows, np.int32), self.new_registers(rows + 1, 0)
        self.work = self.work._replace(path=path, registers=registers)
