"""The backtracking engine where rows may be skipped or all matches are asked for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from matchrec.engine.contiguous.search import larger, raise_failure
from matchrec.engine.interface import Room, Task
from matchrec.engine.kernels import layout
from matchrec.engine.matches import Matches
from matchrec.engine.partitions import IntArray
from matchrec.engine.selection.kernels import backtracking as kernel
from matchrec.engine.selection.kernels import layout as own
from matchrec.engine.selection.records import (
    SearchInput,
    add_counters,
    initial_work,
    larger_output,
    matches_of,
    needs_release_times,
    new_output,
)


class Search:
    """The path of the one run, its computation state at each depth, the failures remembered."""

    def __init__(self, task: Task, arrays: SearchInput, room: Room) -> None:
        self.task = task
        self.room = room
        self.arrays = arrays
        arrays.show_to_python(lambda: self.work)
        compiled = self.arrays.compiled
        self.rules = self.arrays.rules
        if task.absent or needs_release_times(task):
            # a way that leads to no match may still matter
            program = compiled.program.copy()
            program[:, layout.MEMO] = layout.NOT_REMEMBERED
            self.rules = self.rules._replace(program=program)
        memo = np.zeros((room.memory, compiled.memo_bytes), np.uint8)
        self.work = initial_work(task, self.arrays, room.memory)._replace(memo=memo)
        self.enlarge_path(room.memory)

    def find_matches(self, counters: IntArray | None) -> Iterator[Matches]:
        """All matches, in one chunk. Raises RunFailure."""
        output = new_output(self.room.matches, self.room.rows)
        progress, compiled = self.work.progress, self.arrays.compiled
        while True:
            status = int(
                kernel.search(self.rules, self.arrays.rows, self.work, output, self.arrays.negation)
            )
            if status == layout.DONE:
                break
            raise_failure(status, progress, compiled.tables, self.task, self.arrays.python)
            if status == layout.OUTPUT_FULL:
                output = larger_output(output, progress)
            elif status == layout.MEMO_FULL:
                memo = larger(self.work.memo, int(progress[layout.NEEDED]))
                self.work = self.work._replace(memo=memo)
                progress[layout.MEMO_TO] = progress[layout.START]
            else:
                assert status == layout.PATH_FULL, status
                self.enlarge_path(2 * self.work.path.shape[1])
        add_counters(counters, self.work)
        yield matches_of(output, progress, self.arrays)

    def enlarge_path(self, size: int) -> None:
        """Make room for so many rows of a match, each with its registers."""
        path = np.empty((own.PATH_SIZE, size), np.int64)
        path[:, : self.work.path.shape[1]] = self.work.path
        registers = np.empty((size + 1, self.work.registers.shape[1]), np.int64)
        if self.arrays.compiled.linked is not None:
            registers[0] = self.arrays.compiled.linked.initial
        self.work = self.work._replace(path=path, registers=registers)
