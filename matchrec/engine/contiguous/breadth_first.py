"""The breadth-first engine: all runs at once, in preferment order, over a shared buffer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from matchrec.engine.contiguous.kernels import breadth_first as kernel
from matchrec.engine.contiguous.plain import PlainSearch, refuse_negation
from matchrec.engine.contiguous.search import ContiguousAlgorithm, Room, larger
from matchrec.engine.interface import Algorithm, Task
from matchrec.engine.kernels import layout
from matchrec.engine.partial.search import WithPartial
from matchrec.engine.partitions import Partitions
from matchrec.engine.selection.algorithms import (
    Begin,
    SelectionAlgorithm,
    advance_all_runs,
    advance_preferred_runs,
    build_graph,
    skip_runs,
)
from matchrec.plan.clauses import MatchOutput

ALGORITHMS: Mapping[MatchOutput, tuple[str, Begin]] = {
    MatchOutput.PREFERRED: ("preferred matches that skip rows", advance_preferred_runs),
    MatchOutput.ALL: ("all matches", advance_all_runs),
    MatchOutput.NON_OVERLAPPING: ("matches that do not overlap", advance_all_runs),
}
_NODES_OF_A_ROW = 16


@dataclass(frozen=True, slots=True)
class BreadthFirst:
    """One pass over the rows. merge_runs: whether runs with the same future are searched once."""

    merge_runs: bool = True
    room: Room = Room()
    name: str = field(default="breadth_first", init=False)

    def supports(self, task: Task) -> str | None:
        """Why a task cannot be searched breadth-first, or None."""
        return refuse_negation(task)

    def choose(self, task: Task) -> Algorithm:
        """The fastest algorithm for a task that it supports."""
        if task.searches_twice:
            return WithPartial(self.choose(replace(task, partial=None)), self.room)
        if task.output is MatchOutput.GRAPH:  # in which no run may merge with another
            return SelectionAlgorithm(self.name, "graph of all matches", build_graph, self.room)
        if task.stages is not None and task.stages.skip is not None:
            name = "matches that a skip strategy leaves"
            return SelectionAlgorithm(self.name, name, skip_runs, self.room, self.merge_runs)
        if task.selects:
            name, begin = ALGORITHMS[task.output]
            return SelectionAlgorithm(self.name, name, begin, self.room, self.merge_runs)
        if task.output is MatchOutput.LONGEST:
            kind = BreadthFirstSearch if self.merge_runs else PlainBreadthFirstSearch
            return ContiguousAlgorithm(self.name, "longest", kind, self.room)
        if self.merge_runs:
            return ContiguousAlgorithm(self.name, "merging", BreadthFirstSearch, self.room)
        return ContiguousAlgorithm(self.name, "plain", PlainBreadthFirstSearch, self.room)


class BreadthFirstSearch(PlainSearch):
    """The runs, the buffer of their rows, the failures remembered; equal runs merge."""

    kernel = staticmethod(kernel.search)
    work: layout.RunsWork
    merge_runs = True

    def __init__(self, task: Task, partitions: Partitions, memory: int) -> None:
        super().__init__(task, partitions)
        self.rules = self.rules._replace(merge_runs=self.merge_runs)
        nodes = _NODES_OF_A_ROW * memory
        self.work = layout.RunsWork(
            self.progress,
            np.empty((2, memory, layout.RUN_SIZE), np.int64),
            np.empty((nodes, layout.NODE_SIZE), np.int32),
            np.empty(nodes, np.int32),
            np.zeros((len(self.tables.first) - 1, layout.SEEN_SIZE), np.int64),
            np.zeros((memory, self.memo_bytes), np.uint8),
            self.new_registers(2 * memory + 1, -1),
            self.new_stack(),
            self.new_table(memory),
        )

    def new_table(self, runs: int) -> layout.RunArray:
        """An empty hash table of runs."""
        return np.zeros((2 * runs, 2), np.int64) if self.linked else None

    def grow(self, status: int) -> None:
        """At least double what is full; the search goes back to the first run that lived."""
        if status == layout.RUNS_FULL:
            runs = 2 * self.work.runs.shape[1]
            self.work = self.work._replace(
                runs=np.empty((2, runs, layout.RUN_SIZE), np.int64),
                registers=self.new_registers(2 * runs + 1, -1),
                table=self.new_table(runs),
            )
        elif status == layout.NODES_FULL:
            nodes = 2 * len(self.work.nodes)
            self.work = self.work._replace(
                nodes=np.empty((nodes, layout.NODE_SIZE), np.int32), moved=np.empty(nodes, np.int32)
            )
        else:
            assert status == layout.MEMO_FULL
            memo = larger(self.work.memo, int(self.progress[layout.NEEDED]))
            self.work = self.work._replace(memo=memo)


class PlainBreadthFirstSearch(BreadthFirstSearch):
    """The same without merging."""

    merge_runs = False
