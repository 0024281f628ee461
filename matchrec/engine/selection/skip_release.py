"""An after-match skip strategy while a search goes on: release each match as soon as possible.

That is when no live run began before it and may still become a match. `selection.skip` decides for
all matches of a partition at once; here it is decided for those that are ready, and what was
decided before counts as start bounds with the rows at which they were set.
"""

from __future__ import annotations

import numpy as np

from matchrec.dataclass import dataclass
from matchrec.engine.interface import Task
from matchrec.engine.matches import Matches
from matchrec.engine.partitions import IntArray
from matchrec.engine.selection.ordering import sort_matches
from matchrec.engine.selection.skip import bounds_before, concatenate, filter_matches, mark_matches
from matchrec.nfa.outcomes import A_MATCH
from matchrec.plan.stages import Skip

NO_BOUNDS = np.zeros((0, 2), np.int64)


@dataclass(frozen=True, slots=True)
class SearchPosition:
    """Where a search has stopped. All rows are positions.

    stop: the row that comes next. first_rows: of the live runs. last_live: int64[n or 0], the last
    row at which a run was live since the search went on. start_bounds: int64[b, 2], at which rows
    bounds were set, and the bounds. lower: the first row of the partition.
    """

    stop: int
    first_rows: IntArray
    last_live: IntArray
    start_bounds: IntArray
    lower: int = 0


@dataclass(frozen=True, slots=True)
class Release:
    """The matches that are released, in order; those that are held; the bounds still needed.

    settled: runs that began before this row can no longer be released.
    """

    matches: Matches
    held: Matches
    start_bounds: IntArray
    settled: int


def release_matches(task: Task, skip: Skip, found: Matches, position: SearchPosition) -> Release:
    """Decide on the matches that were held or have been found. Raises RunFailure."""
    assert found.kind is not None
    waiting = sort_matches(filter_matches(found, found.kind == A_MATCH), by_start=True)
    released = [filter_matches(waiting, np.zeros(waiting.count, np.bool_))]
    bounds = position.start_bounds
    while True:
        bound = current_bound(bounds)
        waiting = filter_matches(waiting, waiting.start >= bound)
        earlier = position.first_rows[position.first_rows >= bound]
        ready = waiting.start <= (earlier.min() if len(earlier) else position.stop)
        if not ready.any():
            break
        kept, new = keep_ready(task, skip, filter_matches(waiting, ready), bounds, position)
        released.append(kept)
        bounds = np.concatenate([bounds, new])
        waiting = filter_matches(waiting, ~ready)
    partial = sort_matches(filter_matches(found, found.kind != A_MATCH))
    in_time = partial.start >= bounds_before(bounds, partial.completed)
    released.append(filter_matches(partial, in_time))
    settled = int(bounds_before(bounds, np.array([position.stop]))[0])
    return Release(concatenate(released), waiting, drop_old(bounds, position.stop), settled)


def keep_ready(
    task: Task, skip: Skip, ready: Matches, bounds: IntArray, position: SearchPosition
) -> tuple[Matches, IntArray]:
    """Those of the ready matches that are kept, and the start bounds that they set."""
    lower = max(position.lower, current_bound(bounds))
    one_group = np.array([0, ready.count]), np.array([lower])
    kept, new = mark_matches(task, skip, ready, one_group, position.last_live)
    least = bounds[-1] if len(bounds) else np.array([new[:, 0].min(), -1])
    return filter_matches(ready, kept), np.maximum(new, least)[kept]


def current_bound(bounds: IntArray) -> int:
    """The row before which no further match may begin."""
    return int(bounds[-1, 1]) if len(bounds) else -1


def drop_old(bounds: IntArray, stop: int) -> IntArray:
    """The last bound that was set before a row, and those that were set at it."""
    return bounds[max(0, int(np.searchsorted(bounds[:, 0], stop, side="left")) - 1) :]
