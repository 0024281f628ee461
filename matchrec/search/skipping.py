"""Event selection, one run at a time: the search can skip rows, or returns all matches.

*What it does.* From each starting row, the search goes depth first. In a state at a row, it

1. tries the choices in preferment order; the first one by which the row can be mapped takes the run
   to the next row;
2. otherwise skips the row, if that is allowed;
3. otherwise goes back to the last row that was mapped, and tries the choices after the one that
   mapped it.

If the query outputs preferred matches, the search of a starting row ends with its first match.

    SEQ(A a, B b) with skip till any match, rows A B B

    row 0    1     2
    A        B                match A0 B1, which is the preferred one
    A        skip  B          match A0 B2, if the query outputs all matches
    A        skip  skip       no row is left

*When it is chosen.* With event selection, if the query outputs the preferred match of each starting
row, because a depth-first search finds the preferred match first. If the user chooses
`backtracking`, also for all other outputs except the graph of all matches.

*Cost.* The time is proportional to the number of runs that are followed from each starting row,
which is exponential at worst. Each run reads the rows that it comes past. If the rest of a search
depends on the data only, a state that has led to no match at a row is remembered. So for preferred
matches, a state is entered once at each row, and without windows the search takes at most rows x
rows x choices. For all matches, a state that has led to a match is entered again by each run that
comes to it.

Memory: 40 bytes for each row of the path, 8 for each register at each depth, and the memo of
failures as in `memoised`. If all matches are sought, they are kept until the end and sorted, unless
a skip strategy decides on them.

*Kernel.* `kernels.skipping`.

*Sources.* SASE+, "Backtracking algorithm", "Merging equivalent runs".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matchrec.search.strategy import SelectionStrategy
from matchrec.search.task import BACKTRACKING, Task

if TYPE_CHECKING:
    from matchrec.search.matches import Matches
    from matchrec.search.partitions import IntArray, Partitions


@dataclass(frozen=True)
class SelectionByOneRun(SelectionStrategy):
    """A strategy of one run at a time, which finds the preferred match first."""

    algorithm = BACKTRACKING
    label = "event selection, one run at a time"
    chosen_for = "preferred matches that skip rows"
    fastest_because = "rows may be skipped, and one run at a time finds the preferred match"

    def find_matches(
        self, task: Task, partitions: Partitions, counters: IntArray | None
    ) -> Iterator[Matches]:
        """Yield the matches in order, numbered."""
        from matchrec.search.kernel_input import prepare_input
        from matchrec.search.selection import find_matches_run_by_run

        arrays = prepare_input(task, partitions)
        return find_matches_run_by_run(task, arrays, self.capacity, counters)
