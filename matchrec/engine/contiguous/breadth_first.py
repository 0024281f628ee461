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
from matchrec.engine.kernels.buffer import compact
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
_NODES_OF_A_RUN = 16
_LEAST_NODES_OF_A_RUN = 4


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
        nodes = _NODES_OF_A_RUN * memory
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
        """Make room where there is none; unless for nodes, the search goes back in the rows."""
        if status == layout.RUNS_FULL:
            runs = 2 * self.work.runs.shape[1]
            self.enlarge_nodes(_LEAST_NODES_OF_A_RUN * runs)
            self.work = self.work._replace(
                runs=np.empty((2, runs, layout.RUN_SIZE), np.int64),
                registers=self.new_registers(2 * runs + 1, -1),
                table=self.new_table(runs),
            )
        elif status == layout.NODES_FULL:
            self.make_room_for_nodes()
        else:
            assert status == layout.MEMO_FULL
            memo = larger(self.work.memo, int(self.progress[layout.NEEDED]))
            self.work = self.work._replace(memo=memo)

    def make_room_for_nodes(self) -> None:
        """Drop the nodes to which no run leads; where that leaves many, double the room as well."""
        work, progress = self.work, self.progress
        bank, count = progress[[layout.BANK, layout.COUNT]].tolist()
        compact(bank, count, work.nodes, work.moved, work.runs, progress)
        if _LEAST_NODES_OF_A_RUN * progress[layout.NODES] > len(work.nodes):
            self.enlarge_nodes(2 * len(work.nodes))

    def enlarge_nodes(self, size: int) -> None:
        """Make room for so many nodes, beside those there are."""
        before = self.work.nodes
        if size > len(before):
            nodes = np.empty((size, layout.NODE_SIZE), np.int32)
            nodes[: len(before)] = before
            self.work = self.work._replace(nodes=nodes, moved=np.empty(size, np.int32))


class PlainBreadthFirstSearch(BreadthFirstSearch):
    """The same without merging."""

    merge_runs = False
