"""A search that writes down what it asks: depth first, in preferment order, one run at a time.

It goes the ways of `engine.kernels.skipping`, of which a search that skips no row is
a special case, and asks its conditions of the engines. Where what comes depends on the data only, a
state and row that led to no match are not tried again.

Cost: as that of backtracking, in Python; an attempt ends after `most` trials.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from matchrec.engine.interface import Task
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.skipping import BLOCKED, STOPPED
from matchrec.engine.partitions import Partitions
from matchrec.nfa.closure import GUARD_END, GUARD_START, Effect
from matchrec.nfa.program import A_MATCH
from matchrec.plan.clauses import ONE_OF_A_ROW, MatchOutput
from matchrec.tracing.attempt import Attempt, Mapped, Outcome, Trial
from matchrec.tracing.questions import Questions

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
