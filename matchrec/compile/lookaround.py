"""Find how far a query looks around a run, so that a partition can be searched in pieces.

A search can decide about a starting row as soon as it has all rows that it looks at. So a worker
can search a large partition in pieces, which overlap by the rows that conditions and measures read
before and after a match: see `worker.pieces`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from matchrec.automaton.program import ANCHOR_END, ANCHOR_START
from matchrec.output.reads import Read, ReadNavigation
from matchrec.search.task import Task


@dataclass(frozen=True, slots=True)
class Lookaround:
    """The numbers of rows around a run that are read."""

    # The number of rows before the first row of the run.
    rows_before: int
    # The number of rows after the last row of the run.
    rows_after: int


def find_lookaround(
    task: Task, integer_count: int, reads: Iterable[Read], offsets: Iterable[int] = ()
) -> Lookaround | None:
    """Return how far conditions and measures look around a run; None if there is no bound.

    Args:
        task: the task of the search.
        integer_count: the number of integer columns that conditions on the run read.
        reads: the reads of each output row.
        offsets: the distances from the current row to the rows that the worker's conditions read;
            negative for rows before it.
    """
    if task.needs_event_selection or task.partial is not None:
        return None
    # This is imported here, because it loads everything that conditions on the run need.
    from matchrec.search.compiled_task import compile_task

    guards = task.pattern.guards
    all_offsets = [0, *offsets]
    if guards & ANCHOR_START:
        all_offsets.append(-1)  # `^` holds if there is no row before.
    if guards & ANCHOR_END:
        all_offsets.append(1)  # `$` holds if there is no row after.
    all_offsets += [
        read.navigation.physical_offset for read in reads if isinstance(read, ReadNavigation)
    ]
    all_offsets += compile_task(task, integer_count).offsets
    return Lookaround(rows_before=-min(all_offsets), rows_after=max(all_offsets))
