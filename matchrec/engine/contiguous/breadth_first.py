"""Breadth-first search: all runs at once, in preferment order, over a shared buffer."""

from __future__ import annotations

import numpy as np

from matchrec.engine.contiguous.kernels import breadth_first as kernel
from matchrec.engine.contiguous.plain import PlainSearch
from matchrec.engine.contiguous.search import larger
from matchrec.engine.interface import Task
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.buffer import compact
from matchrec.engine.partitions import Partitions

_NODES_OF_A_RUN = 16
_LEAST_NODES_OF_A_RUN = 4


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
