"""What a trace records: the trials of an attempt, which is the search from one starting row."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

Mapped = tuple[tuple[int, int], ...]


class Outcome(Enum):
    """What came of a trial."""

    TAKEN = "taken"
    FAILED = "failed"
    KNOWN = "tried before"  # the condition holds, and what follows had been tried in vain
    SKIPPED = "skipped"  # event selection leaves the row out
    NO_ROW = "no row left"  # the partition has ended, or the window
    NOT_THERE = "not there"  # an anchor: the row is not the partition's first, or not its last
    ENDED = "ends the run"  # a row that must not be there, or that ends a loop
    BLOCKED = "stops the run"
    REJECTED = "no match as a whole"
    TIMED_OUT = "timed out"
    MATCHED = "match"


CONDITION = (Outcome.TAKEN, Outcome.FAILED, Outcome.KNOWN, Outcome.ENDED, Outcome.BLOCKED)
"""The outcomes of trials that ask a condition."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One question of the search: may `row` be mapped to `variable`?

    row: row position. variable: an id, -1 where none is asked for. asked: the id of the variable
    whose condition it is, which of stages is another one. before: the index of the trial that took
    the row before, -1 at the starting row. depth: how many rows were mapped before.
    """

    row: int
    variable: int
    asked: int
    outcome: Outcome
    before: int
    depth: int


@dataclass(frozen=True)
class Attempt:
    """The search from one starting row.

    start: row position. number: how many matches were found before. trials: in the order of the
    search. matches: rows with the ids of their variables, in the order in which they were found.
    is_cut: whether there were more trials than are kept, so that the search was not finished.
    """

    start: int
    number: int
    trials: tuple[Trial, ...]
    matches: tuple[Mapped, ...]
    is_cut: bool = False

    @cached_property
    def reach(self) -> int:
        """How many rows the longest way mapped."""
        taken = (trial.depth + 1 for trial in self.trials if trial.outcome is Outcome.TAKEN)
        return max(taken, default=0)

    @cached_property
    def best(self) -> tuple[int, ...]:
        """The trials that took the rows of the match, or else of the way that came furthest.

        Of several that came as far the first one, which is preferred.
        """
        ends = [i for i, trial in enumerate(self.trials) if trial.outcome is Outcome.MATCHED]
        if ends:
            longest = max((self.trials[i].depth for i in ends), default=0)
            end = next(i for i in ends if self.trials[i].depth == longest)
            return self.way_to(self.trials[end].before)
        taken = (i for i, trial in enumerate(self.trials) if trial.outcome is Outcome.TAKEN)
        last = next((i for i in taken if self.trials[i].depth + 1 == self.reach), -1)
        return self.way_to(last)

    @cached_property
    def stopped(self) -> tuple[int, ...]:
        """What was asked where the best way ended and was in vain."""
        last = self.best[-1] if self.best else -1
        return tuple(
            i
            for i, trial in enumerate(self.trials)
            if trial.before == last and trial.outcome not in (Outcome.TAKEN, Outcome.MATCHED)
        )

    def way_to(self, index: int) -> tuple[int, ...]:
        """The trials that took rows up to this one, first row first; none for -1."""
        found = []
        while index >= 0:
            found.append(index)
            index = self.trials[index].before
        return tuple(reversed(found))

    def mapped_by(self, index: int) -> Mapped:
        """The rows mapped when a trial was asked, with the ids of their variables."""
        way = (self.trials[i] for i in self.way_to(self.trials[index].before))
        return tuple((trial.row, trial.variable) for trial in way)
