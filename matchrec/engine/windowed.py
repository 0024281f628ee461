"""The search inside windows where conditions look only at the data."""

from __future__ import annotations

import numpy as np

from matchrec.engine.compiled import compile_task, plain, satisfied_of, searched_of, window_end_of
from matchrec.engine.interface import Task
from matchrec.engine.kernels import layout
from matchrec.engine.kernels import windowed as kernel
from matchrec.engine.kernels.layout import ChoiceArray
from matchrec.engine.partitions import IntArray, Partitions
from matchrec.engine.search import PlainOutput, doubled, new_progress


class WindowedSearch(PlainOutput):
    """How far acceptance is from each state and row, and the path of the one run."""

    def __init__(self, task: Task, partitions: Partitions, memory: int) -> None:
        compiled = compile_task(task, len(partitions.integers))
        self.tables = compiled.tables
        self.program = compiled.program
        self.skip_to = compiled.skip_to
        self.starts = plain(partitions.starts, np.int64)
        self.searched = searched_of(partitions)
        self.satisfied = satisfied_of(partitions)
        self.window_end = window_end_of(partitions)
        self.progress = new_progress(task, partitions)
        self.give(memory)

    def give(self, rows: int) -> None:
        """Empty memory for so many rows, a power of two."""
        states = len(self.tables.first) - 1
        self.nearest = np.empty((rows, states), np.int32)
        self.path, self.least = np.empty(rows, np.int32), np.empty(rows, np.int32)

    def advance(self, found: IntArray, taken: ChoiceArray) -> int:
        return int(
            kernel.search(
                self.tables.first,
                self.program,
                self.starts,
                self.searched,
                self.satisfied,
                self.window_end,
                self.skip_to,
                self.nearest,
                self.path,
                self.least,
                found,
                taken,
                self.progress,
            )
        )

    def grow(self, status: int) -> None:
        """At least double the memory; the search of the starting row begins again."""
        assert status == layout.MEMO_FULL
        self.give(doubled(len(self.path), int(self.progress[layout.NEEDED])))
        self.progress[layout.MEMO_TO] = self.progress[layout.START]
