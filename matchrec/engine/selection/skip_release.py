"""After-match skip strategies while a search goes on: matches come out as soon as it is decided.

That is when no live run began earlier and may still become a match. `engine.selection.skip` decides
for all matches of a partition at once; here it is decided for those that are ready, and what was
decided before counts as bars with the rows at which they were put.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matchrec.engine.interface import Task
from matchrec.engine.matches import Matches
from matchrec.engine.partitions import IntArray
from matchrec.engine.selection.kernels.skipping import Ranked, come_out
from matchrec.engine.selection.ordering import in_order
from matchrec.engine.selection.skip import joined, missing, some
from matchrec.engine.skipping import next_starts
from matchrec.nfa.places import A_MATCH
from matchrec.plan.stages import Skip


@dataclass(frozen=True, slots=True)
class Moment:
    """Where a search has stopped. All rows are positions.

    stop: the row that comes next. first_rows: of the runs that are alive. alive: int64[n or 0], the
    last row at which a run was alive since the search went on. bars: int64[b, 2], when and where.
    lower: the first row of the partition.
    """

    stop: int
    first_rows: IntArray
    alive: IntArray
    bars: IntArray
    lower: int = 0


@dataclass(frozen=True, slots=True)
class Released:
    """What comes out, in order; what is still held; the bars that still matter.

    settled: runs that began before this row can no longer come out.
    """

    matches: Matches
    held: Matches
    bars: IntArray
    settled: int


def released(task: Task, skip: Skip, found: Matches, moment: Moment) -> Released:
    """What comes out of the matches that were held or have been found. Raises RunFailure."""
    assert found.kind is not None
    waiting = in_order(some(found, found.kind == A_MATCH), by_start=True)
    out, bars = [some(waiting, np.zeros(waiting.count, np.bool_))], moment.bars
    while True:
        bar = last_bar(bars)
        waiting = some(waiting, waiting.start >= bar)
        before = moment.first_rows[moment.first_rows >= bar]
        ready = waiting.start <= (before.min() if len(before) else moment.stop)
        if not ready.any():
            break
        kept, put = next_matches(task, skip, some(waiting, ready), bars, moment)
        out.append(kept)
        bars = np.concatenate([bars, put])
        waiting = some(waiting, ~ready)
    partial = in_order(some(found, found.kind != A_MATCH))
    out.append(some(partial, partial.start >= bars_before(bars, partial.completed)))
    settled = int(bars_before(bars, np.array([moment.stop]))[0])
    return Released(joined(out), waiting, still_mattering(bars, moment.stop), settled)


def next_matches(
    task: Task, skip: Skip, ready: Matches, bars: IntArray, moment: Moment
) -> tuple[Matches, IntArray]:
    """Those of the ready matches that come out, and the bars that they put."""
    assert ready.completed is not None
    target = next_starts(skip, task.members, ready)
    kept = np.zeros(ready.count, np.bool_)
    where, when = np.empty(ready.count, np.int64), np.empty(ready.count, np.int64)
    together = Ranked(
        np.array([0, ready.count]),
        np.array([max(moment.lower, last_bar(bars))]),
        np.ascontiguousarray(ready.start),
        np.ascontiguousarray(ready.completed),
        target,
    )
    missed = come_out(together, skip.throws, kept, where, when, moment.alive)
    if missed >= 0:
        raise missing(skip, ready, missed, int(target[missed]))
    latest = bars[-1, 0] if len(bars) else when.min()
    put = np.stack([np.maximum(when, latest), np.maximum(where, last_bar(bars))], axis=1)
    return some(ready, kept), put[kept]


def last_bar(bars: IntArray) -> int:
    """The row before which no further match may begin."""
    return int(bars[-1, 1]) if len(bars) else -1


def bars_before(bars: IntArray, rows: IntArray | None) -> IntArray:
    """The bar that was there before each of the rows."""
    assert rows is not None
    if not len(bars):
        return np.full(len(rows), -1, np.int64)
    place = np.searchsorted(bars[:, 0], rows, side="left") - 1
    return np.where(place >= 0, bars[place, 1], -1)


def still_mattering(bars: IntArray, stop: int) -> IntArray:
    """The last bar from before a row, and those that were put at it."""
    return bars[max(0, int(np.searchsorted(bars[:, 0], stop, side="left")) - 1) :]
