"""The search inside windows where conditions look only at the data."""

from __future__ import annotations

import numpy as np

from matchrec.engine.contiguous.kernels import windowed as kernel
from matchrec.engine.contiguous.plain import PlainSearch
from matchrec.engine.contiguous.search import doubled
from matchrec.engine.interface import Task
from matchrec.engine.kernels import layout
from matchrec.engine.partitions import Partitions


class WindowedSearch(PlainSearch):
    """How far acceptance is from each state and row, and the path of the one run."""

    def __init__(self, task: Task, partitions: Partitions, memory: int) -> None:
        super().__init__(task, partitions)
        self.work = self.new_work(memory)

    def new_work(self, rows: int) -> layout.WindowWork:
        """Empty memory for so many rows, a power of two."""
        nearest = np.empty((rows, len(self.tables.first) - 1), np.int32)
        path, least = np.empty(rows, np.int32), np.empty(rows, np.int32)
        return layout.WindowWork(self.progress, nearest, path, least)

    def advance(self, output: layout.Found) -> int:
        return int(kernel.search(self.rules, self.rows, self.work, output))

    def grow(self, status: int) -> None:
        """At least double the memory; the search of the starting row begins again."""
        assert status == layout.MEMO_FULL
        rows = doubled(len(self.work.path), int(self.progress[layout.NEEDED]))
        self.work = self.new_work(rows)
        self.progress[layout.MEMO_TO] = self.progress[layout.START]
