"""Backtracking with a memory of failures: one run at a time, in preferment order.

*What it does.* The first run that accepts is the match.

1. Try the choices of the state in preferment order. Take the first choice that can map the row, and
   go on at the next row.
2. If a choice accepts, the rows of the path are the match.
3. If no choice is left, the state has *failed* at the row. Go back one row, and try the choices
   after the one in the path.

A failure is remembered if a choice of the state had mapped the row before the state failed (if not,
trying the choices again is as cheap as looking the failure up), and if the state can be reached at
this row in another way. Then the state is never tried at the row again, for any starting row. So
without windows and MATCH_NUMBER(), every pattern takes linear time, `(A | A B)* C` as well as
`A B C`.

    PATTERN (A B+ C)   rows A B B X   read from top to bottom

    path      what fails
    A B B     the loop of B fails at row 3: X is neither B nor C
    A B       the loop of B fails at row 2: C does not hold. This failure is remembered
    A         the state after A fails at row 1: no other choice
              the first state fails at row 0: no match begins there

*When it is chosen.* For the preferred match of consecutive rows, if a failure does not depend on
how the run reached the state. This is so in two cases:

- Conditions read only the data. (In windows, `distances` is preferred then.)
- Conditions also read what the run has mapped, but none that is evaluated after two paths have met
  in a state. In `A B? C+ D`, the paths A B C and A C meet in the loop of C. So the condition of B
  may read A's rows, and the condition of D must not.

*Cost.* The time is proportional to rows x choices. In windows, failures hold only for starting rows
whose windows end together, so the time is proportional to rows x choices x the rows of a window. If
conditions read MATCH_NUMBER(), failures hold only until the next match, so each match can take
rows x choices. `search.beginnings` rules out starting rows without a match before the search, so
the many choices of `A{5,50} B` are rarely tried.

Memory: 4 bytes for each row of the path, and, for each row that the search from one starting row
reaches, a bit for each state that can be reached twice. If conditions depend on the run, the
registers take as much as in `plain`.

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
    """A search of one run at a time that remembers the states that failed at a row."""

    algorithm = BACKTRACKING
    label = "memoised"
    chosen_for = "preferred matches; failures do not depend on the run"

    @classmethod
    def find_obstacle(cls, task: Task) -> str | None:
        """Return why the strategy cannot run the task, or None if it can."""
        obstacle = explain_not_preferred(task)
        if obstacle is not None:
            return obstacle
        # The arrays are cached, so they are compiled only once.
        if task.reads_only_data or compile_arrays(task).remembers_all:
            return None
        return "a condition after two paths meet may depend on the rows matched before"

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
