"""Aggregates over all matches: runs carry totals, and no match is built.

*What it does.* The runs are those of `all_matches`. A run stands for all paths that lead to it. Its
*totals* are the number of these paths, and the value of each aggregate over them.

1. When a run maps a row, its totals are updated for the row.
2. When two runs merge, their totals are added up.
3. When a run accepts, its totals are added to the totals of its group: a partition or a row.

    SEQ(A+ a[]) with skip till any match, count(*), rows A A A

    row           0    1    2
    paths         1    2    4     that end at the row: it extends each earlier path, or starts one
    matches       1    3    7     up to the row

*When it is chosen.* If the query needs aggregates over all matches, but not the matches.

*Cost.* The time is proportional to rows x runs, however many matches there are.

Memory: for t aggregates, 8 + 9t words of 8 bytes for each node of the buffer, 3 + 9t words for each
group, and for each run as much as in `all_matches`. Only the nodes of live runs are kept.

*Kernel.* `kernels.totals`, which gives rows to runs by the functions of `kernels.all_matches`.

*Sources.* Poppe, Lei, Rundensteiner, Maier, "GRETA: Graph-based Real-time Event Trend Aggregation",
PVLDB 11(1), 2017; "Event Trend Aggregation under Rich Event Matching Semantics" (COGRA), 2019.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matchrec.search.strategy import Strategy
from matchrec.search.task import BREADTH_FIRST, Task

if TYPE_CHECKING:
    from matchrec.search.matches import Matches
    from matchrec.search.partitions import IntArray, Partitions


@dataclass(frozen=True)
class TotalsOfAllRuns(Strategy):
    """A strategy for aggregates over all matches: runs carry the totals, and no match is built."""

    algorithm = BREADTH_FIRST
    label = "aggregates over all matches"
    chosen_for = "aggregates over all matches, and no matches"
    fastest_because = (
        "runs carry the aggregates instead of their rows, and runs with equal computation states "
        "merge"
    )

    @classmethod
    def find_obstacle(cls, task: Task) -> str | None:
        """Return why the strategy cannot run the task, or None if it can."""
        return None if task.totals is not None else "the query asks for matches"

    def find_matches(
        self, task: Task, partitions: Partitions, counters: IntArray | None
    ) -> Iterator[Matches]:
        """Yield the groups that have a match, each as a match of one row."""
        from matchrec.search.kernel_input import prepare_input
        from matchrec.search.kernels.totals import TotalsSearch

        arrays = prepare_input(task, partitions)
        return TotalsSearch(task, arrays, self.capacity, counters).find_matches()
