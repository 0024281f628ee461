"""Breadth-first search with merging: all runs at once, row by row, for one match of each start.

*What it does.*

1. Each row goes to all live runs, in preferment order, and to a new run, which is the least
   preferred one.
2. A run that accepts beats all runs after it. Its match is final when no run before it is live.
3. Runs in the same state whose registers are equal have the same future: the more preferred one
   stays.

    PATTERN (A B* C | A)   rows A B B X

    row 0 A     runs: the loop of B; and A alone, which accepts after row 0
    row 1 B     runs: the loop of B, which is preferred to the best match, row 0. So row 0 alone is
                not final yet
    row 2 B     runs: the loop of B
    row 3 X     no run: the match is row 0, and the search goes on at row 1

If the longest match is output, a run that accepts beats only the runs of later starting rows.

*When it is chosen.* If conditions depend on the run: `MergingStrategy` if the ways through the
pattern multiply, so that one run at a time could take exponential time; `LongestOfAllRuns` for
longest matches. If the user chooses `breadth_first`, these strategies are also used if conditions
read only the data. `all_matches` runs the kernel of this search for preferred matches that skip
rows.

*Cost.* The time is proportional to rows x runs, where runs of equal computation states merge. If
conditions read only the data, there is at most one run for each state, so the time is proportional
to rows x choices; in windows, to rows x choices x the rows of a window. If rows can be skipped,
runs merge only if their last rows are equal as well. So there can be a run for each earlier row:
`SEQ(A a, B b)` with skip till any match over rows that all satisfy A, but not B, takes time
proportional to rows x rows.

Memory: 48 bytes for each run, 8 for each node of the buffer (12 if rows can be skipped), and the
memo of failures as in `memoised`. If conditions depend on the run or rows can be skipped, a run
takes another 16 bytes for each register; in the hash table, it takes 64 bytes and again 16 for each
register.

*Kernel.* `kernels.merging`. It has a loop for conditions on the data, another loop for conditions
on the run, and a third loop for rows that can be skipped.

*Sources.* SASE+, "Basic algorithm" and "Merging equivalent runs". If conditions read only the data,
the algorithm is the machine of Pike and Thompson.
"""

from __future__ import annotations

from dataclasses import dataclass

from matchrec.search.strategy import (
    ContiguousStrategy,
    TaskSearchClass,
    explain_not_longest,
    explain_not_preferred,
)
from matchrec.search.task import BREADTH_FIRST, Task


@dataclass(frozen=True)
class AllRunsStrategy(ContiguousStrategy):
    """A strategy of all runs at once, in which runs with equal computation states merge."""

    algorithm = BREADTH_FIRST

    def load(self, task: Task) -> TaskSearchClass:  # noqa: ARG002 -- other strategies need it
        """Import and return the search."""
        from matchrec.search.kernels.merging import MergingSearch

        return MergingSearch


@dataclass(frozen=True)
class LongestOfAllRuns(AllRunsStrategy):
    """The strategy of all runs for the longest match: runs go on after one of them accepts."""

    label = "longest"
    chosen_for = "longest matches; conditions depend on the run"
    fastest_because = (
        "for LONGEST MATCH with conditions that depend on the run, all runs are searched at once, "
        "and runs with equal computation states merge"
    )

    @classmethod
    def find_obstacle(cls, task: Task) -> str | None:
        """Return why the strategy cannot run the task, or None if it can."""
        return explain_not_longest(task)


@dataclass(frozen=True)
class MergingStrategy(AllRunsStrategy):
    """The strategy of all runs for the preferred match."""

    label = "merging"
    chosen_for = "preferred matches; conditions depend on the run; exponentially many paths"
    fastest_because = (
        "conditions depend on the run, and the number of paths through the pattern can grow "
        "exponentially, so runs with equal computation states merge"
    )

    @classmethod
    def find_obstacle(cls, task: Task) -> str | None:
        """Return why the strategy cannot run the task, or None if it can."""
        return explain_not_preferred(task)
