"""Breadth-first search: all runs at once, in preferment order, over a shared buffer."""

from __future__ import annotations

import numpy as np

from matchrec.engine.contiguous.kernels import breadth_first as kernel
from matchrec.engine.contiguous.plain import PlainSearch
from matchrec.engine.contiguous.search import larger
from matchrec.engine.interface import Task
from matchrec.engine.kernels import layout
from matchrec.engine.partitions import Partitions

_NODES_OF_A_ROW = 16


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
