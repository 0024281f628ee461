"""The breadth-first engine: all runs at once, in preferment order, over a shared buffer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from matchrec.engine.contiguous.kernels import breadth_first as kernel
from matchrec.engine.contiguous.plain import PlainSearch, refuse_negation
from matchrec.engine.contiguous.search import Room, larger, run
from matchrec.engine.interface import Task
from matchrec.engine.kernels import layout
from matchrec.engine.matches import Matches
from matchrec.engine.partitions import IntArray, Partitions
from matchrec.engine.selection import breadth_first as selection_breadth_first
from matchrec.engine.selection import records as selection
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
        return refuse_negation(task)

    def search(
        self, task: Task, partitions: Partitions, counters: IntArray | None = None
    ) -> Iterator[Matches]:
        """All matches, in chunks, in order of partition and match number. Raises RunFailure."""
        if task.selects:
            merge_runs = self.merge_runs and task.output is not MatchOutput.GRAPH
            arrays = selection.prepare_input(task, partitions, merge_runs=merge_runs)
            return selection_breadth_first.search(task, arrays, self.room, counters)
        search = _BreadthFirstSearch(task, partitions, self.merge_runs, self.room.memory)
        return run(search, task, partitions, self.room)


class _BreadthFirstSearch(PlainSearch):
    """The runs, the buffer of their rows, the failures remembered."""

    kernel = staticmethod(kernel.search)
    work: layout.RunsWork

    def __init__(self, task: Task, partitions: Partitions, merge_runs: bool, memory: int) -> None:
        super().__init__(task, partitions)
        self.rules = self.rules._replace(merge_runs=merge_runs)
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
