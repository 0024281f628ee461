"""Event selection, all runs at once: all matches over a shared buffer of their rows.

*What it does.*

1. Each row goes to every live run and to a new run. For each choice whose conditions the row
   satisfies, the run goes on with the row. If the row can be skipped, the run also waits.
2. One buffer has the rows of all runs, each with a pointer to the row that its run mapped before. A
   run that accepts is unwound to its matches.
3. Runs with equal computation states merge. A merged run leads to the rows of both.

    SEQ(A a, B+ b[]) with skip till any match, rows A B B

    row 0 A     A0
    row 1 B     A0 <- B1                    match A0 B1
    row 2 B     A0 <- B1 <- B2              matches A0 B1 B2
                A0 <------- B2                      and A0 B2

*When it is chosen.* With event selection, if the query outputs more than the preferred match of
each starting row: all matches, the matches that do not overlap, the matches that a skip strategy
keeps, or the graph of all matches. Streams with event selection always use this search, because its
live runs can be kept. If a user chooses `breadth_first` for preferred matches that skip rows, the
kernel of `merging` searches.

*Cost.* The time is proportional to rows x runs, plus the rows of all matches. Runs multiply with
the ways through the pattern, and with skip till any match also with the choice to map a row or to
skip it. Equal runs merge.

Memory: 40 bytes for each node of the buffer, and 56 for each row of the longest match. A run takes
48 bytes and 16 for each register; in the hash table, it takes 64 bytes and again 16 for each
register. Nodes that no live run reaches are dropped when the buffer is full.

*Kernel.* `kernels.all_matches`; for preferred matches, `kernels.merging`.

*Source.* SASE+, "Basic algorithm", "The shared versioned match buffer", "Merging equivalent runs".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matchrec.search.strategy import SelectionStrategy
from matchrec.search.task import BREADTH_FIRST, Task

if TYPE_CHECKING:
    from matchrec.search.matches import Matches
    from matchrec.search.partitions import IntArray, Partitions


@dataclass(frozen=True)
class SelectionByAllRuns(SelectionStrategy):
    """A strategy of all runs at once over a shared buffer of their rows; equal runs merge."""

    algorithm = BREADTH_FIRST
    label = "event selection, all runs at once"
    chosen_for = "all matches, or a selection from them; the graph of all matches"
    fastest_because = (
        "the query asks for all matches, so runs share their rows, and runs with equal computation "
        "states merge"
    )

    def find_matches(
        self, task: Task, partitions: Partitions, counters: IntArray | None
    ) -> Iterator[Matches]:
        """Yield the matches in order, numbered; or the graph of all matches."""
        from matchrec.search.kernel_input import prepare_input
        from matchrec.search.selection import find_matches_of_all_runs

        arrays = prepare_input(task, partitions)
        return find_matches_of_all_runs(task, arrays, self.capacity, counters)
