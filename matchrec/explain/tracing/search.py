"""A search in Python that records each of its trials.

The search goes depth first, in preferment order, one run at a time. Python runs the source of the
kernel `search.kernels.skipping` with a hook that records the outcome of each trial. The kernel is
for event selections that skip rows; a search without skipped rows is a special case. If the rest of
a match depends on the data only, a state and a row that led to no match are not tried again within
an attempt.

Cost: as backtracking, in Python. An attempt ends after `Tracer.max_trials` trials.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from matchrec.automaton.folding import Effect
from matchrec.automaton.run_endings import A_MATCH
from matchrec.conditions.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.explain.tracing.trials import Attempt, MappedRow, Outcome, PathRows, Trial
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

# The most trials of an attempt, unless a `Tracer` has another limit.
MAX_TRIALS = 20_000

# The arrays of `Rules` and of `SelectionRules` that the search reads at each step.
RULES_READ_OFTEN = ("first_choice", "program")
SELECTION_RULES_READ_OFTEN = ("can_continue", "states_after_skip", "ending_kinds")

# The effects of edges that end a run. Edges with other effects, except `Effect.COMPLETE_RUN`, only
# forbid to skip the row.
ENDING_EFFECTS = (Effect.END_RUN, Effect.TIME_OUT, Effect.IGNORE_LATER_CHOICES)


class Recorder:
    """The hook that records the trials and matches of one attempt.

    The kernel calls the `note_...` methods, with these arguments:

    - `choice`: the index, in the kernel's program, of the edge that is tried; -1 if no edge is;
    - `row`: the position of the row that is tried;
    - `depth`: how many rows the run has mapped;
    - `answer`: whether the condition holds, such as HOLDS or HOLDS_NOT.

    A recorder that `is_full` drops what the kernel reports.
    """

    def __init__(self, rules: layout.Rules, progress: layout.Progress, max_trials: int) -> None:
        """Begin an empty record.

        Args:
            rules: the rules of the search.
            progress: the progress of the search, which has the borders of the partition.
            max_trials: how many trials are recorded. Later trials are dropped.
        """
        self.program = rules.program
        self.progress = progress
        self.max_trials = max_trials
        self.trials: list[Trial] = []
        # The indices of the trials that took the rows of the current path. Rows beyond the depth
        # of the current trial belong to an earlier run.
        self.path: list[int] = []
        self.matches: list[PathRows] = []

    @property
    def is_full(self) -> bool:
        """Return whether no more trials are recorded, so that the search can end."""
        return len(self.trials) >= self.max_trials

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
            self.matches.append(tuple(MappedRow(trial.row, trial.variable) for trial in path))
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
        """Record the outcome of a condition, unless the row can be taken.

        If the row can be taken, the kernel also calls `note_taken` as soon as it knows whether to
        continue with the next row.
        """
        target = self.program[choice, layout.TARGET]
        if answer == HOLDS_NOT:
            is_anchored_here = self.is_anchored_before(choice, row)
            outcome = Outcome.FAILED if is_anchored_here else Outcome.ANCHOR_FAILED
            self.note(outcome, choice, row, depth)
        elif target < 0 and target != Effect.COMPLETE_RUN:
            outcome = Outcome.ENDED if target in ENDING_EFFECTS else Outcome.BLOCKED
            self.note(outcome, choice, row, depth)

    def note_taken(self, answer: int, choice: int, row: int, depth: int) -> None:
        """Record that a row is taken, or that its state and the next row have been tried before.

        Here `answer` says whether the run continues with the next row.
        """
        outcome = Outcome.TAKEN if answer == HOLDS else Outcome.TRIED_BEFORE
        self.note(outcome, choice, row, depth)

    def note_skipped(self, row: int, depth: int) -> None:
        """Record that event selection skips the row."""
        self.note(Outcome.SKIPPED, -1, row, depth)

    def note_no_row(self, choice: int, row: int, depth: int) -> None:
        """Record that the partition or the window has ended."""
        self.note(Outcome.NO_ROW, choice, row, depth)

    def note_acceptance(self, answer: int, choice: int, row: int, depth: int) -> None:
        """Record whether the path is a match. `row` is the row after the path."""
        if answer == HOLDS:
            self.note(Outcome.MATCHED, -1, row, depth)
        elif answer == REJECTED:
            self.note(Outcome.REJECTED, -1, row, depth)
        elif not self.is_anchored_before(choice, row):
            self.note(Outcome.ANCHOR_FAILED, choice, row, depth)

    def note_end(self, kind: int, row: int, depth: int) -> None:
        """Record that the path is a match, or that its window has ended.

        Args:
            kind: A_MATCH, or another number of `automaton.run_endings`.
            row: the row after the path.
            depth: the number of rows of the path.
        """
        outcome = Outcome.MATCHED if kind == A_MATCH else Outcome.TIMED_OUT
        self.note(outcome, -1, row, depth)

    def is_anchored_before(self, choice: int, row: int) -> bool:
        """Return whether the anchors of an edge hold before a row."""
        return is_anchored(self.program[choice, layout.GUARD], row, self.progress)


KernelRules = TypeVar("KernelRules", layout.Rules, layout.SelectionRules)


def view_arrays(rules: KernelRules, names: tuple[str, ...]) -> KernelRules:
    """Return rules with memory views instead of some arrays, since Python reads views faster.

    Args:
        rules: a record of arrays.
        names: the names of the fields with these arrays.
    """
    views: Any = {name: memoryview(getattr(rules, name)) for name in names}
    return rules._replace(**views)


class Tracer(MatchSearch):
    """A search of one task over some partitions that records its attempts.

    Python runs the function from which the kernels are compiled, so that nothing is compiled for a
    trace. The arrays that the function reads at each step are memory views, which Python reads
    twice as fast as NumPy arrays.
    """

    def __init__(self, task: Task, partitions: Partitions, max_trials: int = MAX_TRIALS) -> None:
        """Prepare the search.

        Args:
            task: the task. Its limit of steps does not apply, because a search that exceeds the
                limit is one to trace.
            partitions: the rows.
            max_trials: the most trials of an attempt.
        """
        task = replace(task, max_steps=None)
        # A path has at most all rows, so the kernel never stops to ask for more room.
        room = 1 << int(partitions.row_count + 1).bit_length()
        super().__init__(task, prepare_input(task, partitions), Capacity(initial_rows=room))
        self.max_trials = max_trials
        # The arguments of the kernel, in a form that Python reads fast.
        assert self.selection_rules is not None
        self.python_rules = view_arrays(self.rules, RULES_READ_OFTEN)
        self.python_selection_rules = view_arrays(self.selection_rules, SELECTION_RULES_READ_OFTEN)
        self.python_work = share_with_python(self.work)
        self.python_conditions = share_with_python(self.conditions)

    def record_attempt(self, start: int, matches_before: int = 0, partition: int = 0) -> Attempt:
        """Search from one starting row, and return the record of this attempt.

        Args:
            start: the position of the starting row.
            matches_before: how many matches of the partition come before the attempt.
            partition: the index of the row's partition.

        Raises:
            RunFailure: a condition cannot be computed.
        """
        rows = self.arrays.rows
        progress = self.python_work.progress
        partition_begin, partition_end = rows.starts[partition : partition + 2].tolist()
        progress.partition = partition
        progress.partition_begin = partition_begin
        progress.partition_end = partition_end
        progress.match_number = matches_before
        progress.start = start
        forget(start, progress)
        recorder = Recorder(self.python_rules, progress, self.max_trials)
        self.check_status(self.search_start(start, recorder))
        matches = tuple(recorder.matches)
        if matches and self.task.output is MatchOutput.LONGEST:
            matches = (max(matches, key=len),)
        return Attempt(
            start=start,
            matches_before=matches_before,
            trials=tuple(recorder.trials),
            matches=matches,
            is_truncated=recorder.is_full,
        )

    def search_start(self, start: int, recorder: Recorder) -> int:
        """Search from a starting row in each of the first states, and return the kernel's status.

        A status other than `layout.DONE` ends the search: `ACCEPTED` says that a match is found.
        """
        end = int(self.arrays.rows.window_end[start])
        status = layout.DONE
        with np.errstate(all="ignore"):  # sums wrap
            for first_state in range(self.python_selection_rules.start_count):
                if status == layout.DONE:
                    status = search_from(
                        first_state,
                        end,
                        self.python_rules,
                        self.python_selection_rules,
                        self.arrays.rows,
                        self.python_work,
                        self.python_conditions,
                        self.arrays.negation,
                        None,  # a trace shows all paths, even those with the same future
                        recorder,
                    )
        return status
