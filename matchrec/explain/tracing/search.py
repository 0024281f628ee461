"""A search that records every question it asks.

It goes depth first, in preferment order, one run at a time. It is the search of
`search.kernels.skipping`, of which a search that skips no row is a special case, with a hook that
records the outcome of each question. If what follows depends on the data
only, a state and row that led to no match are not tried again within an attempt.

Cost: as backtracking, in Python. An attempt ends after `Tracer.most` trials.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from matchrec.automaton.folding import Effect
from matchrec.automaton.run_endings import A_MATCH
from matchrec.conditions.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.views import share_with_python
from matchrec.plan.clauses import MatchOutput
from matchrec.search.kernel_input import prepare_input
from matchrec.search.kernels import layout
from matchrec.search.kernels.finished_matches import REJECTED
from matchrec.search.kernels.mapping import is_anchored
from matchrec.search.kernels.memo import forget
from matchrec.search.kernels.skipping import MatchSearch, search_from
from matchrec.search.partitions import Partitions
from matchrec.search.task import Capacity, Task

# What a trace records: the trials of each attempt. An attempt is the search from one starting row.

# The rows of a match or of a path, in order: row position and variable id of each.
Mapped = tuple[tuple[int, int], ...]


class Outcome(Enum):
    """The outcome of a trial. The value is the word that a reader sees."""

    TAKEN = "taken"
    FAILED = "failed"
    # The condition holds, but what follows has been tried before without success.
    TRIED_BEFORE = "tried before"
    # Event selection leaves the row out.
    SKIPPED = "skipped"
    # The partition or the window has ended.
    NO_ROW = "no row left"
    # An anchor: the row is not the partition's first, or not its last.
    ANCHOR_FAILED = "anchor failed"
    # The condition of a row that is not allowed, or that ends a loop, holds.
    ENDED = "ends the run"
    # The condition of a row that the run may not skip holds.
    BLOCKED = "may not be skipped"
    # All rows are mapped, but a negation or the closing condition fails.
    REJECTED = "rejected as a whole"
    TIMED_OUT = "timed out"
    MATCHED = "match"


# The outcomes of trials that evaluate a condition.
CONDITION_OUTCOMES = (
    Outcome.TAKEN,
    Outcome.FAILED,
    Outcome.TRIED_BEFORE,
    Outcome.ENDED,
    Outcome.BLOCKED,
)


@dataclass(frozen=True, slots=True)
class Trial:
    """One question of the search: may `row` be mapped to `variable`?"""

    # The position of the row.
    row: int
    # The id of the variable; -1 if the trial is about no variable, such as a skipped row.
    variable: int
    # The id of the variable whose condition is evaluated. For stages it differs from `variable`.
    condition_variable: int
    # The answer.
    outcome: Outcome
    # The index of the trial that took the previous row; -1 at the starting row.
    previous: int
    # How many rows were mapped before.
    depth: int


@dataclass(frozen=True)
class Attempt:
    """The search from one starting row."""

    # The position of the starting row.
    start: int
    # How many matches of the partition come before this attempt.
    number: int
    # The trials, in the order of the search.
    trials: tuple[Trial, ...]
    # The matches, in the order in which the search finds them.
    matches: tuple[Mapped, ...]
    # Whether there were more trials than are kept, so that the search was not finished.
    is_cut: bool = False

    @cached_property
    def reach(self) -> int:
        """The number of rows that the longest path mapped."""
        lengths = (trial.depth + 1 for trial in self.trials if trial.outcome is Outcome.TAKEN)
        return max(lengths, default=0)

    @cached_property
    def best_path(self) -> tuple[int, ...]:
        """The indices of the trials that took the rows of the best path.

        It is the longest match, or without a match the longest path. If several are equally long,
        it is the first of them, which is preferred.
        """
        matched = [trial for trial in self.trials if trial.outcome is Outcome.MATCHED]
        if matched:
            longest = max(matched, key=lambda trial: trial.depth)
            return self.find_path_to(longest.previous)
        for index, trial in enumerate(self.trials):
            if trial.outcome is Outcome.TAKEN and trial.depth + 1 == self.reach:
                return self.find_path_to(index)
        return ()

    @cached_property
    def stopping_trials(self) -> tuple[int, ...]:
        """The indices of the trials at the end of the best path that did not lead on."""
        end = self.best_path[-1] if self.best_path else -1
        leads_on = (Outcome.TAKEN, Outcome.MATCHED)
        return tuple(
            index
            for index, trial in enumerate(self.trials)
            if trial.previous == end and trial.outcome not in leads_on
        )

    def find_path_to(self, index: int) -> tuple[int, ...]:
        """Return the indices of the trials that took rows up to this one, the first row first.

        Args:
            index: the index of a trial that took a row; -1 for the empty path.
        """
        indices = []
        while index >= 0:
            indices.append(index)
            index = self.trials[index].previous
        return tuple(reversed(indices))


MOST_TRIALS = 20_000

# The arrays of rules that the search reads at each step.
RULES_READ_OFTEN = ("first_choice", "program")
SELECTING_READ_OFTEN = ("may_continue", "waiting_states", "ending_kinds")

# The effects of edges after which the run cannot go on.
ENDING_EFFECTS = (Effect.END_RUN, Effect.TIME_OUT, Effect.IGNORE_LATER_CHOICES)


class Recorder:
    """The hook that records the trials and matches of one attempt.

    The kernel calls the `note…` methods. A `choice` is the index of an edge in the program, -1 if
    none is tried; `depth` is how many rows the run has mapped.
    """

    def __init__(self, rules: layout.Rules, progress: layout.Progress, most: int) -> None:
        """Record at most `most` trials."""
        self.program = rules.program
        self.progress = progress
        self.most = most
        self.trials: list[Trial] = []
        # The indices of the trials that took the rows of the current path.
        self.path: list[int] = []
        self.matches: list[Mapped] = []

    @property
    def is_full(self) -> bool:
        """Return whether no more trials are recorded, so that the search may end."""
        return len(self.trials) >= self.most

    def note(self, outcome: Outcome, choice: int, row: int, depth: int) -> None:
        """Record a trial, and update the path and the matches."""
        if self.is_full:
            return
        variable = -1
        condition_variable = -1
        if choice >= 0:
            variable = self.program[choice, layout.VARIABLE]
            condition_variable = self.program[choice, layout.TEST]
        previous = self.path[depth - 1] if depth else -1
        if outcome is Outcome.TAKEN:
            self.path[depth:] = [len(self.trials)]
        elif outcome is Outcome.MATCHED:
            path = (self.trials[index] for index in self.path[:depth])
            self.matches.append(tuple((trial.row, trial.variable) for trial in path))
        trial = Trial(
            row=int(row),
            variable=variable,
            condition_variable=condition_variable,
            outcome=outcome,
            previous=previous,
            depth=int(depth),
        )
        self.trials.append(trial)

    def note_answer(self, answer: int, choice: int, row: int, depth: int) -> None:
        """Record the outcome of a condition, unless the row may be taken.

        Whether the row is taken depends on what follows; the search then calls `note` itself.
        """
        target = self.program[choice, layout.TARGET]
        if answer == HOLDS_NOT:
            anchored = self.is_anchored_before(choice, row)
            self.note(Outcome.FAILED if anchored else Outcome.ANCHOR_FAILED, choice, row, depth)
        elif target < 0 and target != Effect.COMPLETE_RUN:
            outcome = Outcome.ENDED if target in ENDING_EFFECTS else Outcome.BLOCKED
            self.note(outcome, choice, row, depth)

    def note_taken(self, answer: int, choice: int, row: int, depth: int) -> None:
        """Record that a row is taken, or that what follows has been tried before."""
        self.note(Outcome.TAKEN if answer == HOLDS else Outcome.TRIED_BEFORE, choice, row, depth)

    def note_skipped(self, row: int, depth: int) -> None:
        """Record that event selection leaves the row out."""
        self.note(Outcome.SKIPPED, -1, row, depth)

    def note_no_row(self, choice: int, row: int, depth: int) -> None:
        """Record that the partition or the window has ended."""
        self.note(Outcome.NO_ROW, choice, row, depth)

    def note_acceptance(self, answer: int, choice: int, row: int, depth: int) -> None:
        """Record whether the path is a match. `row` is the row after it."""
        if answer == HOLDS:
            self.note(Outcome.MATCHED, -1, row, depth)
        elif answer == REJECTED:
            self.note(Outcome.REJECTED, -1, row, depth)
        elif not self.is_anchored_before(choice, row):
            self.note(Outcome.ANCHOR_FAILED, choice, row, depth)

    def note_end(self, kind: int, row: int, depth: int) -> None:
        """Record that the path is a match, or a run whose window has ended."""
        outcome = Outcome.MATCHED if kind == A_MATCH else Outcome.TIMED_OUT
        self.note(outcome, -1, row, depth)

    def is_anchored_before(self, choice: int, row: int) -> bool:
        """Return whether the anchors of an edge hold before a row."""
        return is_anchored(self.program[choice, layout.GUARD], row, self.progress)


T = TypeVar("T", layout.Rules, layout.SelectionRules)


def view_arrays(rules: T, names: tuple[str, ...]) -> T:
    """Return rules with memory views of these arrays, which Python reads fast."""
    views: Any = {name: memoryview(getattr(rules, name)) for name in names}
    return rules._replace(**views)


class Tracer(MatchSearch):
    """A search of one task over some partitions that records its attempts.

    Python runs the function from which the kernels are compiled, so that nothing is compiled for a
    trace. The arrays that it reads at each step are memory views, which Python reads twice as fast
    as NumPy arrays.
    """

    def __init__(self, task: Task, partitions: Partitions, most: int = MOST_TRIALS) -> None:
        """Prepare the search. `most` is the maximal number of trials in one attempt."""
        task = replace(task, max_steps=None)
        size = 1 << int(partitions.rows + 1).bit_length()
        super().__init__(task, prepare_input(task, partitions), Capacity(initial_rows=size))
        self.most = most
        # The arguments of the kernel, as Python reads them fast. A trace needs no more room.
        assert self.selecting is not None
        rules, selecting = self.rules, self.selecting
        self.read_rules = view_arrays(rules, RULES_READ_OFTEN)
        self.read_selecting = view_arrays(selecting, SELECTING_READ_OFTEN)
        self.read_work = share_with_python(self.work)
        self.read_conditions = share_with_python(self.conditions)

    def attempt(self, start: int, number: int = 0, partition: int = 0) -> Attempt:
        """Search from one starting row, and return all that was tried.

        Args:
            start: the position of the starting row.
            number: how many matches of the partition come before this attempt.
            partition: the index of the row's partition.

        Raises:
            RunFailure: a condition cannot be computed.
        """
        rows, rules, selecting = self.arrays.rows, self.read_rules, self.read_selecting
        work, progress = self.read_work, self.read_work.progress
        progress.partition = partition
        progress.match_number = number
        progress.start = start
        progress.partition_begin, progress.partition_end = rows.starts[
            partition : partition + 2
        ].tolist()
        forget(start, progress)
        recorder = Recorder(rules, progress, self.most)
        end = int(rows.window_end[start])
        status = layout.DONE
        with np.errstate(all="ignore"):  # sums wrap
            for first_state in range(selecting.start_count):
                if status == layout.DONE:
                    status = search_from(
                        first_state,
                        end,
                        rules,
                        selecting,
                        rows,
                        work,
                        self.read_conditions,
                        self.arrays.negation,
                        None,  # a trace shows all paths, even those with the same future
                        recorder,
                    )
        self.raise_failure(status)
        matches = tuple(recorder.matches)
        if matches and self.task.output is MatchOutput.LONGEST:
            matches = (max(matches, key=len),)
        return Attempt(start, number, tuple(recorder.trials), matches, recorder.is_full)
