"""The conditions of a task, asked one at a time of what the engines evaluate."""

from __future__ import annotations

from dataclasses import replace

from matchrec.engine.interface import Room, Task
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.matches import ask, ask_whole
from matchrec.engine.partitions import Partitions
from matchrec.engine.records import prepare_input
from matchrec.engine.search import PathSearch
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.plan.clauses import MatchOutput


class Questions(PathSearch):
    """A task over partitions, with the path of the one run that asks.

    Truth is the engines' own: the bits that Spark computed, and their conditions on the run.
    """

    def __init__(self, task: Task, partitions: Partitions) -> None:
        output = MatchOutput.PREFERRED if task.output is MatchOutput.LONGEST else task.output
        asked = replace(task, output=output)
        arrays = prepare_input(asked, partitions)
        super().__init__(asked, arrays, Room(memory=partitions.rows + 2))
        self.program: list[list[int]] = arrays.rules.program.tolist()
        self.is_data_only = len(self.rules.instructions) == 0

    def begin(self, partition: int, number: int) -> None:
        """What follows is asked in this partition, after so many matches."""
        self.progress.partition, self.progress.number = partition, number
        borders = self.arrays.rows.starts[partition : partition + 2]
        self.progress.lower, self.progress.upper = borders

    def holds(self, choice: int, depth: int, row: int) -> bool:
        """Whether the condition of a choice holds of a row, after `depth` rows. Raises RunFailure.

        Anchors are not looked at.
        """
        word, mask = self.program[choice][layout.WORD], self.program[choice][layout.MASK]
        if int(self.arrays.rows.satisfied[row, word]) & mask != mask:
            return False
        if self.is_data_only:
            return True
        answer = ask(choice, depth, row, self.rules, self.arrays.rows, self.work)
        return self.truth(int(answer), choice, row)

    def holds_as_a_whole(self, depth: int, row: int, choice: int) -> bool:
        """Whether nothing forbids the path as a match. Raises RunFailure."""
        if not (self.task.absent or self.task.closing is not None):
            return True
        rows, negation = self.arrays.rows, self.arrays.negation
        answer = ask_whole(depth, row, self.rules, rows, self.work, negation)
        return self.truth(int(answer), choice, row)

    def take(self, choice: int, depth: int, row: int) -> None:
        """Note in the path that a row is mapped."""
        self.work.path[layout.PATH_ROWS, depth] = row
        self.work.path[layout.PATH_CHOICES, depth] = choice

    def truth(self, answer: int, choice: int, row: int) -> bool:
        """An answer as a truth value. Raises RunFailure for an error."""
        if answer in (HOLDS, HOLDS_NOT):
            return answer == HOLDS
        self.progress.row, self.progress.choice = row, choice
        self.raise_failure(layout.CONDITION_FAILED + answer)
        raise AssertionError(answer)
