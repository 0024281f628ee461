"""Backtracking: one run at a time, in preferment order, with remembered failures."""

from __future__ import annotations

import numpy as np

from matchrec.engine.contiguous.kernels import backtracking as kernel
from matchrec.engine.contiguous.plain import PlainSearch
from matchrec.engine.contiguous.search import larger
from matchrec.engine.interface import Task
from matchrec.engine.kernels import layout
from matchrec.engine.partitions import Partitions


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
