"""A search that writes down what it asks: depth first, in preferment order, one run at a time.

It is the search of `search.kernels.skipping`, of which one that skips no row is a special case. It
says to a hook what comes of each question. Where what comes depends on the data only, a state and
row that led to no match are not tried again in an attempt.

Cost: as that of backtracking, in Python; an attempt ends after `most` trials.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np

from matchrec.automaton.closure import Effect
from matchrec.automaton.program import A_MATCH
from matchrec.conditions.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.plan.clauses import MatchOutput
from matchrec.search.interface import Room, Task
from matchrec.search.kernels import layout
from matchrec.search.kernels.mapping import forget, is_anchored
from matchrec.search.kernels.matches import FORBIDDEN
from matchrec.search.kernels.skipping import search_from
from matchrec.search.partitions import Partitions
from matchrec.search.records import prepare_input
from matchrec.search.search import PathSearch

# What a trace records: the trials of an attempt, which is the search from one starting row.

Mapped = tuple[tuple[int, int], ...]


class Outcome(Enum):
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


# The outcomes of trials that ask a condition.
CONDITION = (Outcome.TAKEN, Outcome.FAILED, Outcome.KNOWN, Outcome.ENDED, Outcome.BLOCKED)


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
        """The trials that took the rows of the match, or of the first way that came furthest."""
        ends = [trial for trial in self.trials if trial.outcome is Outcome.MATCHED]
        if ends:
            return self.way_to(max(ends, key=lambda trial: trial.depth).before)
        taken = (i for i, trial in enumerate(self.trials) if trial.outcome is Outcome.TAKEN)
        last = next((i for i in taken if self.trials[i].depth + 1 == self.reach), -1)
        return self.way_to(last)

    @cached_property
    def stopped(self) -> tuple[int, ...]:
        """What was asked where the best way ended and was in vain."""
        last = self.best[-1] if self.best else -1
        asked = ((i, trial) for i, trial in enumerate(self.trials) if trial.before == last)
        leads_on = (Outcome.TAKEN, Outcome.MATCHED)
        return tuple(i for i, trial in asked if trial.outcome not in leads_on)

    def way_to(self, index: int) -> tuple[int, ...]:
        """The trials that took rows up to this one, first row first; none for -1."""
        found = []
        while index >= 0:
            found.append(index)
            index = self.trials[index].before
        return tuple(reversed(found))


MOST_TRIALS = 20_000
ASKED_OFTEN = ("first", "program", "goes_on", "waits", "ends")
LEAVING = (Effect.ENDS, Effect.TIMES_OUT, Effect.CUTS)


class Recorder:
    """What a search tells of its questions. most: trials. way: those that took the path's rows."""

    # which the search notes by itself; KNOWN, where nothing new can follow
    TAKEN, KNOWN, SKIPPED, NO_ROW = Outcome.TAKEN, Outcome.KNOWN, Outcome.SKIPPED, Outcome.NO_ROW

    def __init__(self, rules: layout.Rules, progress: layout.Progress, most: int) -> None:
        self.program, self.progress, self.most = rules.program, progress, most
        self.trials: list[Trial] = []
        self.way: list[int] = []
        self.matches: list[Mapped] = []

    @property
    def is_full(self) -> bool:
        return len(self.trials) >= self.most

    def note(self, outcome: Outcome, choice: int, row: int, depth: int) -> None:
        if self.is_full:
            return
        variable = asked = -1
        if choice >= 0:
            variable = self.program[choice, layout.VARIABLE]
            asked = self.program[choice, layout.TEST]
        before = self.way[depth - 1] if depth else -1
        if outcome is Outcome.TAKEN:
            self.way[depth:] = [len(self.trials)]
        elif outcome is Outcome.MATCHED:
            way = (self.trials[i] for i in self.way[:depth])
            self.matches.append(tuple((one.row, one.variable) for one in way))
        self.trials.append(Trial(int(row), variable, asked, outcome, before, int(depth)))

    def note_answer(self, answer: int, choice: int, row: int, depth: int) -> None:
        """What may be said of a row as soon as its condition is asked."""
        target = self.program[choice, layout.TARGET]
        if answer == HOLDS_NOT:
            there = self.is_there(choice, row)
            self.note(Outcome.FAILED if there else Outcome.NOT_THERE, choice, row, depth)
        elif target < 0 and target != Effect.COMPLETES:
            ended = Outcome.ENDED if target in LEAVING else Outcome.BLOCKED
            self.note(ended, choice, row, depth)

    def note_acceptance(self, answer: int, choice: int, row: int, depth: int) -> None:
        if answer == HOLDS:
            self.note(Outcome.MATCHED, -1, row, depth)
        elif answer == FORBIDDEN:
            self.note(Outcome.REJECTED, -1, row, depth)
        elif not self.is_there(choice, row):
            self.note(Outcome.NOT_THERE, choice, row, depth)

    def note_end(self, kind: int, row: int, depth: int) -> None:
        """That the path is a match, or a run whose window has ended."""
        outcome = Outcome.MATCHED if kind == A_MATCH else Outcome.TIMED_OUT
        self.note(outcome, -1, row, depth)

    def is_there(self, choice: int, row: int) -> bool:
        """Whether the anchors of a choice hold before a row."""
        return is_anchored(self.program[choice, layout.GUARD], row, self.progress)


class Tracer(PathSearch):
    """Attempts of one task over some partitions. most: trials in one attempt.

    Python runs the function of which kernels are made, so nothing is compiled for a trace. What it
    reads at each step is where Python reads it twice as fast as in arrays.
    """

    keeps_states = False  # all ways are shown, those too that have the same future

    def __init__(self, task: Task, partitions: Partitions, most: int = MOST_TRIALS) -> None:
        task = replace(task, max_steps=None)
        size = 1 << int(partitions.rows + 1).bit_length()
        super().__init__(task, prepare_input(task, partitions), Room(memory=size))
        self.most = most
        self.work = self.work._replace(progress=layout.fields_of(self.progress))
        self.arrays.show_to_python(lambda: self.work)
        views: Any = {name: memoryview(getattr(self.rules, name)) for name in ASKED_OFTEN}
        self.rules = self.rules._replace(**views)

    def attempt(self, start: int, number: int = 0, partition: int = 0) -> Attempt:
        """The search from a starting row, after `number` matches. Raises RunFailure."""
        arrays, rules, progress = self.arrays, self.rules, self.progress
        progress.partition, progress.number, progress.start = partition, number, start
        progress.lower, progress.upper = arrays.rows.starts[partition : partition + 2].tolist()
        forget(start, progress)
        recorder = Recorder(rules, progress, self.most)
        end, status = int(arrays.rows.window_end[start]), layout.DONE
        hooks = arrays.negation, None, recorder
        with np.errstate(all="ignore"):  # sums wrap
            for first in range(rules.starts):
                if status == layout.DONE:
                    status = search_from(first, end, rules, arrays.rows, self.work, *hooks)
        self.raise_failure(status)
        found = tuple(recorder.matches)
        if self.task.output is MatchOutput.LONGEST:
            found = found and (max(found, key=len),)
        return Attempt(start, number, tuple(recorder.trials), found, recorder.is_full)
