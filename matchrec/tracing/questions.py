"""The conditions of a task, asked one at a time of what the engines evaluate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from matchrec.engine.contiguous.search import raise_failure
from matchrec.engine.interface import Task
from matchrec.engine.kernels import layout
from matchrec.engine.partitions import Partitions
from matchrec.engine.selection.kernels import layout as own
from matchrec.engine.selection.kernels.asking import ask, ask_whole
from matchrec.engine.selection.records import initial_work, prepare_input
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.plan.clauses import MatchOutput


class Questions:
    """A task over partitions, with the path of the one run that asks.

    Truth is the engines' own: the bits that Spark computed, and their conditions on the run.
    """

    def __init__(self, task: Task, partitions: Partitions) -> None:
        self.task = task
        output = MatchOutput.PREFERRED if task.output is MatchOutput.LONGEST else task.output
        self.arrays = prepare_input(replace(task, output=output), partitions)
        self.rules, self.rows = self.arrays.rules, self.arrays.rows
        self.tables = self.arrays.compiled.tables
        self.program: list[list[int]] = self.rules.program.tolist()
        self.is_data_only = len(self.rules.instructions) == 0
        memory = partitions.rows + 2
        work = initial_work(task, self.arrays, memory)
        registers = np.zeros((memory, work.registers.shape[1]), np.int64)
        if self.arrays.compiled.linked is not None:
            registers[0] = self.arrays.compiled.linked.initial
        self.work = work._replace(registers=registers)
        self.arrays.show_to_python(lambda: self.work)

    def begin(self, partition: int, number: int) -> None:
        """What follows is asked in this partition, after so many matches."""
        self.work.progress[layout.PARTITION] = partition
        self.work.progress[layout.NUMBER] = number

    def holds(self, choice: int, depth: int, row: int) -> bool:
        """Whether the condition of a choice holds of a row, after `depth` rows. Raises RunFailure.

        Anchors are not looked at.
        """
        word, mask = self.program[choice][layout.WORD], self.program[choice][layout.MASK]
        if int(self.rows.satisfied[row, word]) & mask != mask:
            return False
        if self.is_data_only:
            return True
        answer = ask(choice, depth, row, self.rules, self.rows, self.work)
        return self.truth(int(answer), choice, row)

    def holds_as_a_whole(self, depth: int, row: int, choice: int) -> bool:
        """Whether nothing forbids the path as a match. Raises RunFailure."""
        if not (self.task.absent or self.task.closing is not None):
            return True
        answer = ask_whole(depth, row, self.rules, self.rows, self.work, self.arrays.negation)
        return self.truth(int(answer), choice, row)

    def take(self, choice: int, depth: int, row: int) -> None:
        """Note in the path that a row is mapped."""
        self.work.path[own.ROWS, depth] = row
        self.work.path[own.CHOICES, depth] = choice

    def truth(self, answer: int, choice: int, row: int) -> bool:
        """An answer as a truth value. Raises RunFailure for an error."""
        if answer in (HOLDS, HOLDS_NOT):
            return answer == HOLDS
        progress = self.work.progress
        progress[layout.ROW], progress[layout.CHOICE] = row, choice
        status = layout.CONDITION_FAILED + answer
        raise_failure(status, progress, self.tables, self.task, self.arrays.python)
        raise AssertionError(answer)
