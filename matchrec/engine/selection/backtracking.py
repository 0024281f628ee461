"""The backtracking engine where rows may be skipped or all matches are asked for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from matchrec.engine.contiguous.search import Room, larger, raise_failure
from matchrec.engine.interface import Task
from matchrec.engine.kernels import layout
from matchrec.engine.matches import Matches
from matchrec.engine.partitions import IntArray
from matchrec.engine.selection.kernels import backtracking as kernel
from matchrec.engine.selection.kernels import layout as own
from matchrec.engine.selection.records import (
    Given,
    add_counters,
    first_work,
    larger_output,
    matches_of,
    matters_when,
    new_output,
)


class Search:
    """The path of the one run, its computation state at each depth, the failures remembered."""

    def __init__(self, task: Task, given: Given, room: Room) -> None:
        self.task = task
        self.room = room
        self.given = given
        compiled = self.given.compiled
        self.rules = self.given.rules
        if task.absent or matters_when(task):  # a way that ends in no match is not in vain
            program = compiled.program.copy()
            program[:, layout.MEMO] = layout.NOT_REMEMBERED
            self.rules = self.rules._replace(program=program)
        memo = np.zeros((room.memory, compiled.memo_bytes), np.uint8)
        self.work = first_work(task, self.given, room.memory)._replace(memo=memo)
        self.give_path(room.memory)

    def found(self, counters: IntArray | None) -> Iterator[Matches]:
        """The one chunk that the kernel gives. Raises RunFailure."""
        output = new_output(self.room.matches, self.room.rows)
        progress, compiled = self.work.progress, self.given.compiled
        while True:
            status = int(kernel.search(self.rules, self.given.rows, self.work, output))
            if status == layout.DONE:
                break
            raise_failure(status, progress, compiled.tables, self.task)
            if status == layout.OUTPUT_FULL:
                output = larger_output(output, progress)
            elif status == layout.MEMO_FULL:
                memo = larger(self.work.memo, int(progress[layout.NEEDED]))
                self.work = self.work._replace(memo=memo)
                progress[layout.MEMO_TO] = progress[layout.START]
            else:
                assert status == layout.PATH_FULL, status
                self.give_path(2 * self.work.path.shape[1])
        add_counters(counters, self.work)
        yield matches_of(output, progress, self.given)

    def give_path(self, size: int) -> None:
        """Room for so many rows of a match, each with its registers."""
        path = np.empty((own.PATH_SIZE, size), np.int64)
        path[:, : self.work.path.shape[1]] = self.work.path
        registers = np.empty((size + 1, self.work.registers.shape[1]), np.int64)
        if self.given.compiled.linked is not None:
            registers[0] = self.given.compiled.linked.initial
        self.work = self.work._replace(path=path, registers=registers)
