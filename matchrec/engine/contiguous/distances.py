"""Searches that find out how far acceptance is, where conditions look only at the data."""

from __future__ import annotations

import numpy as np

from matchrec.engine.contiguous.kernels import longest, windowed
from matchrec.engine.contiguous.plain import RingSearch
from matchrec.engine.interface import Task
from matchrec.engine.kernels import layout
from matchrec.engine.partitions import Partitions


class DistanceSearch(RingSearch):
    """How far acceptance is from each state and row, and the path of the one run."""

    work: layout.DistanceWork

    def __init__(self, task: Task, partitions: Partitions, memory: int) -> None:
        super().__init__(task, partitions)
        self.work = self.new_work(max(memory, 2))

    def new_work(self, rows: int) -> layout.DistanceWork:
        """Empty memory for so many rows, a power of two."""
        distances = np.empty((rows, len(self.tables.first) - 1), np.int32)
        path, best_before = np.empty(rows, np.int32), np.empty(rows, np.int32)
        return layout.DistanceWork(self.progress, distances, path, best_before)


class WindowedSearch(DistanceSearch):
    """Preferred matches inside windows."""

    kernel = staticmethod(windowed.search)


class LongestSearch(DistanceSearch):
    """The longest match of each starting row."""

    kernel = staticmethod(longest.search)
