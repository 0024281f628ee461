"""The search for longest matches where conditions look only at the data."""

from __future__ import annotations

import numpy as np

from matchrec.engine.contiguous.kernels import longest as kernel
from matchrec.engine.contiguous.plain import RingSearch
from matchrec.engine.interface import Task
from matchrec.engine.kernels import layout
from matchrec.engine.partitions import Partitions


class LongestSearch(RingSearch):
    """How far the farthest acceptance is from each state and row, and the path of the one run."""

    kernel = staticmethod(kernel.search)
    work: layout.ReachWork

    def __init__(self, task: Task, partitions: Partitions, memory: int) -> None:
        super().__init__(task, partitions)
        self.work = self.new_work(max(memory, 2))

    def new_work(self, rows: int) -> layout.ReachWork:
        """Empty memory for so many rows, a power of two."""
        farthest = np.empty((rows, len(self.tables.first) - 1), np.int32)
        path, most = np.empty(rows, np.int32), np.empty(rows, np.int32)
        return layout.ReachWork(self.progress, farthest, path, most)
