"""The record of a traced search: attempts, and the trials that each of them has made.

An attempt is the search from one starting row. If the pattern is A B+ C and a partition has three
rows, which satisfy A, B and B, the trials of the attempt from the first row are:

    index  row  variable  outcome      previous  depth
    0      0    A         taken        -1        0
    1      1    B         taken        0         1
    2      2    B         taken        1         2
    3      3    B         no row left  2         3
    4      3    C         no row left  2         3
    5      2    C         failed       1         2
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import NamedTuple


class MappedRow(NamedTuple):
    """A row of a match or of a path."""

    row: int  # the position of the row, from 0
    variable: int  # the id of the variable to which it is mapped


# The rows of a match or of a path, in order.
PathRows = tuple[MappedRow, ...]


class Outcome(Enum):
    """The outcome of a trial. The member's value is what a user reads."""

    TAKEN = "taken"
    # The row was taken, but not in the best path of the attempt. Only lines of a story have this
    # outcome, because the best path is not known while trials are recorded.
    GIVEN_BACK = "given back"
    FAILED = "failed"
    # The condition holds, but what follows has been tried before without success.
    TRIED_BEFORE = "tried before"
    # Event selection leaves the row out.
    SKIPPED = "skipped"
    # The partition or the window has ended.
    NO_ROW = "no row left"
    # An anchor: the row is not the partition's first, or not its last.
    ANCHOR_FAILED = "anchor failed"
    # The row satisfies the condition of a forbidden event, or the condition that ends a loop.
    ENDED = "ends the run"
    # The row satisfies a condition that forbids the run to skip the row.
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
    """A step of the search: a row is tried for a variable, skipped, or rejected.

    The last trial of a match or of a rejected path has no variable. Its row is the row after the
    path.
    """

    # The position of the row, from 0; the number of rows for the position after the last row.
    row: int
    # The id of the variable; -1 if the trial is about no variable, such as a skipped row.
    variable: int
    # The id of the variable whose condition is evaluated; -1 if no condition is. In a pattern of
    # stages, a condition has an id that differs from the id of the stage in `variable`.
    condition_variable: int
    outcome: Outcome
    # The index, in the attempt, of the trial that took the previous row of the path; -1 if the path
    # has no rows yet.
    previous: int
    # The number of rows that the path had mapped before this trial.
    depth: int


class TrialKey(NamedTuple):
    """The key of a trial in a trace."""

    attempt_index: int  # the index of the attempt in the trace
    trial_index: int  # the index of the trial in the attempt


@dataclass(frozen=True)
class Attempt:
    """The record of the search from one starting row."""

    # The position of the starting row.
    start: int
    # The number of matches found in the partition before this attempt.
    matches_before: int
    # The trials, in the order of the search.
    trials: tuple[Trial, ...]
    # The matches, in the order in which the search finds them.
    matches: tuple[PathRows, ...]
    # Whether there were more trials than are kept, so that the search was not finished.
    is_truncated: bool = False

    @cached_property
    def longest_path_length(self) -> int:
        """The number of rows of the longest path."""
        lengths = (trial.depth + 1 for trial in self.trials if trial.outcome is Outcome.TAKEN)
        return max(lengths, default=0)

    @cached_property
    def best_path(self) -> tuple[int, ...]:
        """The indices of the trials that took the rows of the best path.

        The best path is the longest match; in an attempt without a match, the longest path. Of
        equally long paths, the first one is the best, because it is preferred.
        """
        match_ends = [trial for trial in self.trials if trial.outcome is Outcome.MATCHED]
        if match_ends:
            longest = max(match_ends, key=lambda trial: trial.depth)
            return self.find_path_to(longest.previous)
        for index, trial in enumerate(self.trials):
            if trial.outcome is Outcome.TAKEN and trial.depth + 1 == self.longest_path_length:
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
