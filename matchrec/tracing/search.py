"""A search that writes down what it asks: depth first, in preferment order, one run at a time.

It goes the ways of `engine.kernels.skipping`, of which a search that skips no row is
a special case, and asks its conditions of the engines. Where what comes depends on the data only, a
state and row that led to no match are not tried again.

Cost: as that of backtracking, in Python; an attempt ends after `most` trials.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

from matchrec.engine.interface import Room, Task
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.matches import ask, ask_whole
from matchrec.engine.kernels.skipping import BLOCKED, STOPPED
from matchrec.engine.partitions import Partitions
from matchrec.engine.records import prepare_input
from matchrec.engine.search import PathSearch
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.nfa.closure import GUARD_END, GUARD_START, Effect
from matchrec.nfa.program import A_MATCH
from matchrec.plan.clauses import ONE_OF_A_ROW, MatchOutput

# What a trace records: the trials of an attempt, which is the search from one starting row.

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


# The conditions of a task, asked one at a time of what the engines evaluate.


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


MOST_TRIALS = 20_000
LEAVING = (Effect.ENDS, Effect.TIMES_OUT, Effect.CUTS)


@dataclass(slots=True)
class Taken:
    """A mapped row of the path, and what to go back to. found: how many matches there were."""

    choice: int
    row: int
    blocked: int
    found: int
    trial: int


@dataclass(slots=True)
class WalkPosition:
    """Where the run is: about to try a choice of a state on a row."""

    row: int
    state: int
    choice: int
    blocked: int = 0


class Tracer:
    """Attempts of one task over some partitions. most: trials in one attempt."""

    def __init__(self, task: Task, partitions: Partitions, most: int = MOST_TRIALS) -> None:
        self.task = task
        self.most = most
        self.questions = Questions(task, partitions)

    def attempt(self, start: int, number: int = 0, partition: int = 0) -> Attempt:
        """The search from a starting row, after `number` matches. Raises RunFailure."""
        self.questions.begin(partition, number)
        starts = self.questions.arrays.rows.starts
        borders = int(starts[partition]), int(starts[partition + 1])
        walk = Walk(self.task, self.questions, start, borders, self.most)
        for first in range(self.questions.rules.starts):
            if not walk.is_over:
                walk.search_from(first)
        found = tuple(walk.matches)
        if self.task.output is MatchOutput.LONGEST:
            found = (max(found, key=len),) if found else ()
        return Attempt(start, number, tuple(walk.trials), found, walk.is_cut)


@dataclass
class Walk:
    """One attempt on its way. borders: of the partition, half open."""

    task: Task
    questions: Questions
    start: int
    borders: tuple[int, int]
    most: int
    trials: list[Trial] = field(default_factory=list)
    matches: list[Mapped] = field(default_factory=list)
    path: list[Taken] = field(default_factory=list)
    failed: set[tuple[int, int]] = field(default_factory=set)
    found: int = 0
    is_over: bool = False
    is_cut: bool = False

    def __post_init__(self) -> None:
        self.rules, self.program = self.questions.rules, self.questions.program
        self.end = int(self.questions.arrays.rows.window_end[self.start])
        self.remembers = not self.task.absent

    def search_from(self, first: int) -> None:
        """Search from a starting state on, until all is tried or the match is found."""
        at = WalkPosition(self.start, first, int(self.rules.first[first]))
        while not self.is_over:
            if self.try_choices(at) or self.is_over:
                continue
            if not self.path:
                return
            if at.row < self.end and at.blocked == 0 and self.rules.waits[at.state] >= 0:
                self.record(at, Outcome.SKIPPED)
                self.move(at, at.row + 1, int(self.rules.waits[at.state]), at.blocked)
                continue
            if at.row >= self.end and self.rules.ends[at.state]:
                self.complete(at, int(self.rules.ends[at.state]))
            self.go_back(at)

    def move(self, at: WalkPosition, row: int, state: int, blocked: int) -> None:
        """Stand before all choices of a state."""
        at.row, at.state, at.blocked = row, state, blocked
        at.choice = int(self.rules.first[state])

    def try_choices(self, at: WalkPosition) -> bool:
        """Try the choices that are left; whether one of them has mapped the row."""
        last = int(self.rules.first[at.state + 1])
        while at.choice < last and not self.is_over:
            target = self.program[at.choice][layout.TARGET]
            if target == layout.ACCEPT:
                self.accept(at)
            elif at.row >= self.end:
                self.record(at, Outcome.NO_ROW, at.choice)
            elif self.may_try(at, target) and self.try_row(at, target):
                return True
            at.choice += 1
        return False

    def may_try(self, at: WalkPosition, target: int) -> bool:
        """Whether a row that has stopped the run could still complete it."""
        return at.blocked != STOPPED or target < 0 or not self.rules.goes_on[target]

    def try_row(self, at: WalkPosition, target: int) -> bool:
        """Ask one choice; whether it has mapped the row."""
        if not self.is_anchored(self.program[at.choice][layout.GUARD], at.row):
            self.record(at, Outcome.NOT_THERE, at.choice)
            return False
        if not self.questions.holds(at.choice, len(self.path), at.row):
            self.record(at, Outcome.FAILED, at.choice)
            return False
        if target < 0:
            self.react(at, target)
            return False
        at.blocked = max(at.blocked, self.program[at.choice][layout.BLOCKS])
        if (self.program[at.choice][layout.MEMO], at.row + 1) in self.failed:
            self.record(at, Outcome.KNOWN, at.choice)
            return False
        self.take(at, target)
        return True

    def take(self, at: WalkPosition, target: int) -> None:
        """Map the row and stand before the next one."""
        self.questions.take(at.choice, len(self.path), at.row)
        self.record(at, Outcome.TAKEN, at.choice)
        trial = len(self.trials) - 1
        self.path.append(Taken(at.choice, at.row, at.blocked, self.found, trial))
        self.move(at, at.row + 1, target, 0 if self.rules.goes_on[target] else BLOCKED)

    def react(self, at: WalkPosition, target: int) -> None:
        """What a row that is not mapped does to the run."""
        if target == Effect.COMPLETES:
            self.complete(at, A_MATCH)
        else:
            outcome = Outcome.ENDED if target in LEAVING else Outcome.BLOCKED
            self.record(at, outcome, at.choice)
        if target == Effect.TIMES_OUT and self.rules.ends[at.state]:
            self.complete(at, int(self.rules.ends[at.state]))
        if target != Effect.CUTS:
            at.blocked = STOPPED if target == Effect.STOPS else max(at.blocked, BLOCKED)
        if target in LEAVING:
            at.choice = int(self.rules.first[at.state + 1])

    def complete(self, at: WalkPosition, kind: int) -> None:
        """The path is a match, or a run whose window has ended."""
        self.found += 1
        if kind != A_MATCH:
            self.record(at, Outcome.TIMED_OUT)
            return
        self.record(at, Outcome.MATCHED)
        variables = (self.program[one.choice][layout.VARIABLE] for one in self.path)
        rows = (one.row for one in self.path)
        self.matches.append(tuple(zip(rows, variables, strict=True)))

    def accept(self, at: WalkPosition) -> None:
        """The path as a match, if its last row is the one before."""
        if not self.is_anchored(self.program[at.choice][layout.GUARD], at.row):
            self.record(at, Outcome.NOT_THERE, at.choice)
            return
        if not self.path and self.task.output not in ONE_OF_A_ROW:
            return
        if self.path:
            last, window_end = self.path[-1], self.questions.arrays.rows.window_end
            if last.row != at.row - 1 or window_end[self.start] < at.row:
                return
            if not self.questions.holds_as_a_whole(len(self.path), last.row, last.choice):
                self.record(at, Outcome.REJECTED)
                return
        self.complete(at, A_MATCH)
        self.is_over = self.task.output is MatchOutput.PREFERRED

    def go_back(self, at: WalkPosition) -> None:
        """Give the last row back, and try what comes after its choice."""
        taken = self.path.pop()
        is_in_vain = taken.found == self.found or self.task.output is MatchOutput.LONGEST
        memo = self.program[taken.choice][layout.MEMO]
        if self.remembers and memo >= 0 and is_in_vain:
            self.failed.add((memo, taken.row + 1))
        self.move(at, taken.row, self.program[taken.choice][layout.SOURCE], taken.blocked)
        at.choice = taken.choice + 1

    def is_anchored(self, guard: int, row: int) -> bool:
        """Whether the anchors of a choice hold before a row."""
        lower, upper = self.borders
        if guard & GUARD_START and row != lower:
            return False
        return not guard & GUARD_END or row == upper

    def record(self, at: WalkPosition, outcome: Outcome, choice: int = -1) -> None:
        """Write a trial down, of a choice if one is asked for; too many of them end the attempt."""
        variable = asked = -1
        if choice >= 0:
            variable = self.program[choice][layout.VARIABLE]
            asked = self.program[choice][layout.TEST]
        before = self.path[-1].trial if self.path else -1
        self.trials.append(Trial(at.row, variable, asked, outcome, before, len(self.path)))
        if len(self.trials) >= self.most:
            self.is_over = self.is_cut = True
