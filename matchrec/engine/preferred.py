"""Breadth-first search for the preferred match of each starting row, or for its longest one."""

from __future__ import annotations

from typing import Any

import numpy as np

from matchrec.engine.interface import Room, Task
from matchrec.engine.kernels import layout, preferred
from matchrec.engine.partitions import IntArray
from matchrec.engine.records import SearchInput
from matchrec.engine.search import KernelSearch

_NODES_OF_A_RUN = 16
_LEAST_NODES_OF_A_RUN = 4


class BreadthFirstSearch(KernelSearch):
    """The runs, the buffer of their rows, the failures remembered; equal runs merge."""

    kernel = staticmethod(preferred.search)

    def __init__(
        self, task: Task, arrays: SearchInput, room: Room, counters: IntArray | None = None
    ) -> None:
        super().__init__(task, arrays, room, counters)
        come = np.zeros((len(self.tables.first) - 1, layout.COME_SIZE), np.int64)
        self.work = self.work._replace(
            come=come,
            nodes=np.empty((0, 3 if arrays.selects else 2), np.int32),
            memo=self.new_memo(room.memory),
        )
        self.enlarge_runs(room.memory)
        self.enlarge_nodes(_NODES_OF_A_RUN * room.memory)

    @property
    def extras(self) -> tuple[Any, ...]:
        """The registers, and where rows may be skipped."""
        return self.work.registers, self.rules.waits

    def enlarge_runs(self, runs: int) -> None:
        """Room for so many runs, none of which is there."""
        registers = self.new_registers(2 * runs + 1, -1)
        self.work = self.work._replace(
            runs=np.empty((2, runs, layout.RUN_SIZE), np.int64),
            registers=registers,
            table=None if registers is None else np.zeros((2 * runs, 2), np.int64),
        )

    def grow(self, status: int) -> None:
        """Make room where there is none; unless for nodes, the search goes back in the rows."""
        if status == layout.RUNS_FULL:
            runs = 2 * self.work.runs.shape[1]
            self.enlarge_nodes(_LEAST_NODES_OF_A_RUN * runs)
            self.enlarge_runs(runs)
        elif status == layout.NODES_FULL:
            self.make_room_for_nodes()
        else:
            assert status == layout.MEMO_FULL
            self.enlarge_memo()

    def make_room_for_nodes(self) -> None:
        """Drop the nodes to which no run leads; where that leaves many, double the room as well."""
        work, progress = self.work, self.progress
        bank, count = progress[[layout.BANK, layout.COUNT]].tolist()
        preferred.compact(bank, count, work.nodes, work.moved, work.runs, progress)
        if _LEAST_NODES_OF_A_RUN * progress[layout.NODES] > len(work.nodes):
            self.enlarge_nodes(2 * len(work.nodes))

    def enlarge_nodes(self, size: int) -> None:
        """Make room for so many nodes, beside those there are."""
        before = self.work.nodes
        if size > len(before):
            nodes = np.empty((size, before.shape[1]), np.int32)
            nodes[: len(before)] = before
            self.work = self.work._replace(nodes=nodes, moved=np.empty(size, np.int32))
