"""Overlapping matches share their rows: a run ends where it meets a match that was found before.

*What it does.* One run is followed at a time. How a run goes on from a state at a row does not
depend on the way in which it got there. So the search ends as soon as it comes to a state and row
from which a match has been found. The rows of the run are chained to the rows of this match. No
pair of a state and a row is searched or written out twice.

    PATTERN (A+ B), SKIP TO NEXT ROW   rows A A A B

    start 0    A0 -> A1 -> A2 -> B3     four rows are written
    start 1    A1 --------> |           one row is written: A leads to the loop of A at row 2,
                                        from which the match goes on with A2 -> B3
    start 2    A2 --------------> |     one row is written: A leads to the loop of A at row 3,
                                        from which the match goes on with B3

*When it is chosen.* For preferred matches of consecutive rows that can share several rows, if
conditions read only the data and there are no windows. Matches of `A B C` are never in the same
state at a row, and matches of `A+ B` with SKIP TO LAST B share one row at most: `memoised` is
faster for both. Workers read counts, sums and extremes from the chains. If the values that a query
reads need the rows themselves, the task does not ask for chains, and the search of `memoised` runs
instead.

*Cost.* The time is proportional to rows x choices, however long the matches are.

Memory: 20 bytes for each node that is written, and 4 for each row that a search reaches and each
state that can be reached twice.

*Kernel.* `kernels.chained`; `kernels.memoised` if the task does not ask for chains.

*Source.* The chains are like the shared buffer of SASE+, but a pointer leads to the next row of a
match, not to the row before. Such pointers can be shared because each pair of a state and a row has
one preferred continuation.
"""

from __future__ import annotations

from dataclasses import dataclass

from matchrec.search.strategy import ContiguousStrategy, TaskSearchClass, explain_not_preferred
from matchrec.search.task import BACKTRACKING, Task
from matchrec.shortcuts import current_shortcuts


@dataclass(frozen=True)
class ChainedStrategy(ContiguousStrategy):
    """A strategy of one run at a time, in which overlapping matches share their rows."""

    algorithm = BACKTRACKING
    label = "chained"
    chosen_for = "preferred matches that share rows; conditions read only the data"
    fastest_because = "conditions depend on the data only, so failures are remembered"

    @classmethod
    def find_obstacle(cls, task: Task) -> str | None:
        """Return why the strategy cannot run the task, or None if it can."""
        obstacle = explain_not_preferred(task)
        if obstacle is not None:
            return obstacle
        if not current_shortcuts().shared_rows:
            return "matches may not share rows"
        if not task.can_share_rows:
            return "matches share no rows, or how a match continues depends on its starting row"
        return None

    def load(self, task: Task) -> TaskSearchClass:
        """Import and return the search, or the search of `memoised` if the task wants no chains.

        Without chains, the rows of each match are written out. For short matches, it is faster to
        find these rows again than to follow a chain.
        """
        if not task.wants_chains:
            from matchrec.search.kernels.memoised import MemoisedSearch

            return MemoisedSearch
        from matchrec.search.kernels.chained import ChainedSearch

        return ChainedSearch
