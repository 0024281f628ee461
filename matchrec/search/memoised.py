"""Backtracking with a memory of failures: one run at a time, in preferment order.

*What it does.* The first run that accepts is the match.

1. Try the choices of the state in preferment order. The first one by which the row can be mapped
   takes the run to the next row.
2. If a choice accepts, the rows of the path are the match.
3. If no choice is left, the state has *failed* at the row. Go back one row, and try the choices
   after the one in the path.

A failure is remembered if a choice of the state had mapped the row before it failed, and if the
state can be reached at this row in another way. Then the state is never tried at the row again, for
any starting row. So every pattern takes linear time, `(A | A B)* C` as well as `A B C`.

    PATTERN (A B+ C)   rows A B B X

    row 0    1    2    3
        A    B    B    -      the loop of B fails at row 3: neither B nor C holds
        A    B    -           the loop of B fails at row 2: C does not hold. This is remembered
        A    -                no other choice at row 1
        -                     no other choice at row 0: no match begins there

*When it is chosen.* For the preferred match of consecutive rows, if a failure holds for every
starting row: conditions read only the data, or no condition reads the run after two paths meet. In
windows, `distances` is preferred if conditions read only the data.

*Cost.* The time is proportional to rows x choices. In windows, failures hold only for starting rows
whose windows end together, so the time is proportional to rows x choices x the rows of a window. If
conditions read MATCH_NUMBER(), failures hold only until the next match, so each match can take
rows x choices. `search.beginnings` rules out starting rows without a match before the search, so
the many choices of `A{5,50} B` are rarely tried.

Memory: 4 bytes for each row of the path, and a bit for each row that a search reaches and each
state that can be reached twice. If conditions depend on the run, registers as in `plain`.

*Kernel.* `kernels.memoised`. If conditions depend on the run, `kernels.plain`, which has the same
loop with these conditions.

*Sources.* SASE+, "Backtracking algorithm"; failures are remembered as in RE2's BitState.
"""

from __future__ import annotations

from dataclasses import dataclass

from matchrec.search.strategy import (
    ContiguousStrategy,
    TaskSearchClass,
    compile_arrays,
    explain_not_preferred,
)
from matchrec.search.task import BACKTRACKING, Task


@dataclass(frozen=True)
class MemoisedStrategy(ContiguousStrategy):
    """A strategy of one run at a time, which remembers the states that fail at a row."""

    algorithm = BACKTRACKING
    label = "memoised"
    chosen_for = "preferred matches; failures hold from any starting row"

    @classmethod
    def find_obstacle(cls, task: Task) -> str | None:
        """Return why the strategy cannot run the task, or None if it can."""
        obstacle = explain_not_preferred(task)
        if obstacle is not None:
            return obstacle
        if task.reads_only_data or compile_arrays(task).remembers_all:
            return None
        return "a later condition may read the run"

    def explain_choice(self, task: Task) -> str:
        """Return why failures can be remembered."""
        if task.reads_only_data:
            return "conditions depend on the data only, so failures are remembered"
        reason = "no condition reads the run after two paths meet, so failures are remembered"
        if compile_arrays(task).reads_match_number:
            return f"{reason} until the next match"
        return reason

    def load(self, task: Task) -> TaskSearchClass:
        """Import and return the search; if conditions depend on the run, the search of `plain`."""
        if task.reads_only_data:
            from matchrec.search.kernels.memoised import MemoisedSearch

            return MemoisedSearch
        from matchrec.search.kernels.plain import PlainSearch

        return PlainSearch
