"""Backtracking with conditions on the run: one run at a time.

*What it does.* The search goes forward and back as in `memoised`. A condition can read the rows
that the run has mapped, such as `SUM(A.x)`. The values that conditions read are in *registers*,
with one slot of registers for each row of the path. Mapping a row copies the slot before and
updates the copy. So when the search goes back, the slot before still has its values.

    PATTERN (A+ B)   DEFINE B AS x > SUM(A.x)   rows with x = 1, 2, 2, 9

    path       row 0    1    2    3
               A        A    A    A         no row is left for B: back to row 3
    SUM(A.x)   1        3    5    14
                                  B         9 > 5: the match is A A A B

If no register decides how a run goes on from a state, a failure of this state at a row holds for
every way to it, and is remembered. Otherwise, the state is tried again for each way to it.

*When it is chosen.* For the preferred match of consecutive rows, if conditions depend on the run so
that `memoised` cannot be used, and no two ways of equal length lead from a state back to the same
state. With two such ways, the number of ways can grow exponentially with the rows, and `merging` is
chosen. A bounded pattern such as `(A | B){20}` can still have exponentially many ways: 2^20.

*Cost.* The time is proportional to rows x ways: from each starting row, every way through the
pattern can be tried, as far as the rows satisfy it. `A+ B` has one way for each length of A+, so it
takes time proportional to rows x the rows of a match. `max_steps` ends a search that evaluates
conditions too often.

Memory: the path and the memo as in `memoised`, and 8 bytes for each register at each depth of the
path.

*Kernel.* `kernels.plain`.

*Source.* SASE+, "Backtracking algorithm".
"""

from __future__ import annotations

from dataclasses import dataclass

from matchrec.search.strategy import ContiguousStrategy, TaskSearchClass, explain_not_preferred
from matchrec.search.task import BACKTRACKING, Task


@dataclass(frozen=True)
class PlainStrategy(ContiguousStrategy):
    """A strategy of one run at a time, with conditions on the run."""

    algorithm = BACKTRACKING
    label = "plain"
    chosen_for = "preferred matches; conditions depend on the run"
    fastest_because = (
        "conditions depend on the run, but no loop of the pattern can be passed in two ways, so "
        "one run at a time is fastest"
    )

    @classmethod
    def find_obstacle(cls, task: Task) -> str | None:
        """Return why the strategy cannot run the task, or None if it can."""
        return explain_not_preferred(task)

    def load(self, task: Task) -> TaskSearchClass:  # noqa: ARG002 -- other strategies need it
        """Import and return the search."""
        from matchrec.search.kernels.plain import PlainSearch

        return PlainSearch
