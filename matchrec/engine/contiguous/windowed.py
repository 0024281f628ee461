"""The search inside windows where conditions look only at the data."""

from __future__ import annotations

import numpy as np

from matchrec.engine.contiguous.kernels import windowed as kernel
from matchrec.engine.contiguous.plain import RingSearch
from matchrec.engine.interface import Task
from matchrec.engine.kernels import layout
from matchrec.engine.partitions import Partitions


class WindowedSearch(RingSearch):
    """How far acceptance is from each state and row, and the path of the one run."""

    kernel = staticmethod(kernel.search)
    work: layout.WindowWork

    def __init__(self, task: Task, partitions: Partitions, memory: int) -> None:
        super().__init__(task, partitions)
        self.work = self.new_work(memory)

    def new_work(self, rows: int) -> layout.WindowWork:
        """Empty memory for so many rows, a power of two."""
        nearest = np.empty((rows, len(self.tables.first) - 1), np.int32)
        path, least = np.empty(rows, np.int32), np.empty(rows, np.int32)
        return layout.WindowWork(self.progress, nearest, path, least)
