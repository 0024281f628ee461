"""Search by distances: the number of rows from each state at each row to the end of a match.

*What it does.*

1. Compute the distance of a state at a row: how many rows a run in this state must still map before
   it accepts. For preferred matches it is the smallest possible number, for longest matches the
   greatest. A distance is computed when it is needed, depth first, and remembered.
2. At each row, take the first choice from which the match can still be completed: inside the
   window, or exactly at the end of the longest match. The search never goes back.

    PATTERN (A B* C)   rows A B B C

    state      row 0    1    2    3    4
    start          4
    loop of B           3    2    1
    accepts                            0

    Longest match: the start is 4 rows away, so the match ends before row 4. Each step leads to a
    state that is one row nearer: A, B, B, C.

    Preferred match in a window of 10 rows: the same match. A is taken, because the loop of B at row
    1 is 3 rows away, and 1 + 3 rows fit into the window. 4 rows do not fit into a window of 3 rows,
    so there would be no match.

*When it is chosen.* If conditions read only the data: `WindowedDistanceStrategy` for preferred
matches inside windows, `LongestDistanceStrategy` for the longest match of each starting row.

*Cost.* The time is proportional to rows x choices, plus the rows of all matches. For longest
matches in windows, it is proportional to rows x choices x the rows of a window, because the
distance to the farthest end depends on where the window ends.

Memory: each row that a search reaches takes 4 bytes for each state, and 8 bytes for the path.

*Kernel.* `kernels.distances`, for both strategies.

*Source.* The algorithm is dynamic programming over pairs of a state and a row, as in RE2's
BitState, with a distance instead of a bit for each pair.
"""

from __future__ import annotations

from dataclasses import dataclass

from matchrec.search.strategy import (
    ContiguousStrategy,
    TaskSearchClass,
    explain_no_window,
    explain_not_longest,
    explain_not_preferred,
    explain_run_conditions,
)
from matchrec.search.task import BACKTRACKING, Task


@dataclass(frozen=True)
class DistanceStrategy(ContiguousStrategy):
    """A strategy that computes once, for each state and row, how far the end of a match is."""

    algorithm = BACKTRACKING

    def load(self, task: Task) -> TaskSearchClass:  # noqa: ARG002 -- other strategies need it
        """Import and return the search."""
        from matchrec.search.kernels.distances import DistanceSearch

        return DistanceSearch


@dataclass(frozen=True)
class LongestDistanceStrategy(DistanceStrategy):
    """The strategy for longest matches, which uses distances to the farthest end."""

    label = "longest"
    chosen_for = "longest matches; conditions read only the data"
    fastest_because = (
        "for LONGEST MATCH with conditions that depend on the data only, the distance to the "
        "farthest end of a match is computed once for each state and row"
    )

    @classmethod
    def find_obstacle(cls, task: Task) -> str | None:
        """Return why the strategy cannot run the task, or None if it can."""
        return explain_not_longest(task) or explain_run_conditions(task)


@dataclass(frozen=True)
class WindowedDistanceStrategy(DistanceStrategy):
    """The strategy for preferred matches in windows, which uses distances to the nearest end."""

    label = "windowed"
    chosen_for = "preferred matches in windows; conditions read only the data"
    fastest_because = (
        "conditions depend on the data only, so the distance to the end of a match is computed "
        "once for each state and row, and no failing path is searched"
    )

    @classmethod
    def find_obstacle(cls, task: Task) -> str | None:
        """Return why the strategy cannot run the task, or None if it can."""
        return (
            explain_not_preferred(task) or explain_no_window(task) or explain_run_conditions(task)
        )
