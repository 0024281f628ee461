"""Aggregates over all matches: runs carry what is added up, and no match is built.

*What it does.* The runs are those of `all_matches`. Each run carries, for all ways that lead to it,
how many they are and what each aggregate is over them.

1. Mapping a row changes what a run carries.
2. Where runs merge, what they carry is added.
3. Where a run accepts, what it carries is added to its group: a partition, or a row.

    SEQ(A+ a[]) with skip till any match, count(*), rows A A A

    row           0    1    2
    ways          1    2    4     each row ends the ways before it, with it, and its own
    matches       1    3    7     in all

*When it is chosen.* If aggregates over all matches are asked for, and no matches.

*Cost.* That of the runs, however many matches they stand for.

*Sources.* Poppe, Lei, Rundensteiner, Maier, "GRETA: Graph-based Real-time Event Trend Aggregation",
PVLDB 11(1), 2017; "Event Trend Aggregation under Rich Event Matching Semantics" (COGRA), 2019.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matchrec.search.interface import BREADTH_FIRST, Task
from matchrec.search.strategy import Strategy

if TYPE_CHECKING:
    from matchrec.search.matches import Matches
    from matchrec.search.partitions import IntArray, Partitions


@dataclass(frozen=True)
class TotalsOfAllRuns(Strategy):
    """Aggregates over all matches: runs carry what is added up, and no match is built."""

    algorithm = BREADTH_FIRST
    matching = "aggregates over all matches"
    chosen_for = "aggregates over all matches, and no matches"
    fastest_because = (
        "runs carry the aggregates instead of their rows, and runs with equal computation states "
        "merge"
    )

    def find_obstacle(self, task: Task) -> str | None:
        """Return why the strategy cannot run the task, or None if it can."""
        return None if task.totals is not None else "the query asks for matches"

    def find_matches(
        self, task: Task, partitions: Partitions, counters: IntArray | None
    ) -> Iterator[Matches]:
        """Yield the groups that have a match, each as a match of one row."""
        from matchrec.search.kernels.totals import TotalsSearch
        from matchrec.search.records import prepare_input

        arrays = prepare_input(task, partitions)
        return TotalsSearch(task, arrays, self.room, counters).find_matches()
