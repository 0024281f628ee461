"""Matches of event selection: in order, each once, numbered, and those that a skip strategy leaves.

`keep_matches` decides for all matches of a partition at once. `release_matches` does while a search
goes on, as soon as possible: that is when no live run began before a match and may still become
one. It decides for those that are ready, and what was decided before counts as start bounds with
the rows at which they were set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from matchrec.dataclass import dataclass
from matchrec.engine.interface import Task
from matchrec.engine.kernels.starts import NO_ROW
from matchrec.engine.matches import FailureKind, Matches, Numbering, RunFailure, next_starts
from matchrec.engine.partitions import BoolArray, IntArray
from matchrec.engine.selection.kernels.order import Ranked, mark_equal, mark_kept, settle_ties
from matchrec.nfa.program import A_MATCH
from matchrec.plan.stages import Skip


def sort_matches(matches: Matches, *, by_start: bool = False) -> Matches:
    """Sort matches by partition, kind, completing row, first row, positions, variables; once each.

    by_start: first row before completing row.
    """
    assert matches.rows is not None
    assert matches.completed is not None
    if matches.count < 2:
        return matches
    assert matches.kind is not None
    times = [matches.completed, matches.start]
    keys = np.stack([matches.partition, matches.kind, *(times[::-1] if by_start else times)])
    order = np.lexsort(keys[::-1]).astype(np.int64)
    keys = keys[:, order]
    new = np.flatnonzero((keys[:, 1:] != keys[:, :-1]).any(axis=0)) + 1
    groups = np.concatenate([[0], new, [matches.count]]).astype(np.int64)
    if len(groups) <= matches.count:
        again = np.zeros(matches.count, np.bool_)
        found = matches.offsets, matches.rows, matches.classifiers
        if not mark_equal(groups, order, again, *found):
            settle_ties(groups, order, np.empty_like(order), *found)
            mark_equal(groups, order, again, *found)
        order = order[~again]
    return take_matches(matches, order)


def take_matches(matches: Matches, order: IntArray) -> Matches:
    """The matches at some places, in their order; chains keep the rows of all."""
    if len(order) == matches.count and bool(np.all(order[1:] > order[:-1])):
        return matches
    lengths = np.diff(matches.offsets)[order]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    if matches.chains is not None:
        return replace(
            matches,
            partition=matches.partition[order],
            number=matches.number[order],
            start=matches.start[order],
            offsets=offsets,
            chains=replace(matches.chains, first=matches.chains.first[order]),
        )
    places = np.arange(offsets[-1]) + np.repeat(matches.offsets[:-1][order] - offsets[:-1], lengths)
    return Matches(
        matches.partition[order],
        matches.number[order],
        matches.start[order],
        offsets,
        matches.classifiers[places],
        matches.excluded[places],
        None if matches.rows is None else matches.rows[places],
        completed=None if matches.completed is None else matches.completed[order],
        kind=None if matches.kind is None else matches.kind[order],
    )


def number_chunks(ordered: Iterator[Matches]) -> Iterator[Matches]:
    """Number the matches of sorted chunks."""
    numbering = Numbering()
    for matches in ordered:
        yield numbering.number_matches(matches)


def keep_by_partition(
    task: Task, found: Iterator[Matches], starts: IntArray, last_live: IntArray
) -> Iterator[Matches]:
    """The matches that are kept, partition by partition, in the order of their first rows.

    starts: of the partitions. last_live: see `kernels.order`. Matches of a partition are held
    until all of them are found, which a search by starting rows needs. Raises RunFailure.
    """
    assert task.stages is not None
    skip = task.stages.skip
    assert skip is not None
    held: list[Matches] = []
    for matches in found:
        held.append(matches)
        newest = matches.partition[-1] if matches.count else -1
        if held[0].count and held[0].partition[0] < newest:
            together = concatenate(held)
            is_newest = together.partition == newest
            done = filter_matches(together, ~is_newest)
            yield keep_matches(task, skip, done, (starts, last_live))
            held = [filter_matches(together, is_newest)]
    if held:
        yield keep_matches(task, skip, concatenate(held), (starts, last_live))


def keep_matches(
    task: Task, skip: Skip, matches: Matches, times: tuple[IntArray, IntArray]
) -> Matches:
    """Of each of some partitions the matches that are kept, then the runs that timed out.

    times: partition starts, and `last_live`. Raises RunFailure.
    """
    assert matches.kind is not None
    starts, last_live = times
    ranked = sort_matches(filter_matches(matches, matches.kind == A_MATCH), by_start=True)
    first = np.flatnonzero(np.diff(ranked.partition, prepend=-1))
    groups = np.append(first, ranked.count).astype(np.int64)
    lowers = starts[ranked.partition[first]]
    kept, bounds = mark_matches(task, skip, ranked, (groups, lowers), last_live)
    partial = sort_matches(filter_matches(matches, matches.kind != A_MATCH))
    whole = filter_matches(ranked, kept)
    if not partial.count:
        return whole
    in_time = partial.start >= bounds_before(bounds, partial.completed)
    released = concatenate([whole, filter_matches(partial, in_time)])
    return take_matches(released, np.argsort(released.partition, kind="stable"))


def mark_matches(
    task: Task, skip: Skip, ranked: Matches, groups: tuple[IntArray, IntArray], last_live: IntArray
) -> tuple[BoolArray, IntArray]:
    """bool[m], which matches are kept, and int64[m, 2], the start bound after each one.

    ranked: in the order of their first rows. groups: where the matches of each partition begin, and
    its first row. A bound is the row at which it is set, then the row before which no match may
    begin. Raises RunFailure.
    """
    assert ranked.completed is not None
    target = next_starts(skip, task.members, ranked)
    kept, bounds = np.zeros(ranked.count, np.bool_), np.empty((ranked.count, 2), np.int64)
    start, completed = map(np.ascontiguousarray, (ranked.start, ranked.completed))
    in_groups = Ranked(*groups, start, completed, target)
    missed = mark_kept(in_groups, skip.fails_on_miss, kept, bounds, last_live)
    if missed >= 0:
        raise target_failure(skip, ranked, missed, int(target[missed]))
    return kept, bounds


def bounds_before(bounds: IntArray, rows: IntArray | None) -> IntArray:
    """The start bound that was set before each of the rows, -1 where there was none."""
    assert rows is not None
    if not len(bounds):
        return np.full(len(rows), -1, np.int64)
    place = np.searchsorted(bounds[:, 0], rows, side="left") - 1
    return np.where(place >= 0, bounds[place, 1], -1)


def target_failure(skip: Skip, matches: Matches, match: int, target: int) -> RunFailure:
    """The failure of a match that skips to no row, or to its own first one."""
    kind = FailureKind.STAGE_MISSED if target == NO_ROW else FailureKind.STAGE_IS_FIRST
    row = int(matches.start[match])
    return RunFailure(kind, int(matches.partition[match]), row, skip.variable or "")


def filter_matches(matches: Matches, kept: BoolArray) -> Matches:
    """The matches that are marked."""
    return take_matches(matches, np.flatnonzero(kept))


def concatenate(parts: Sequence[Matches]) -> Matches:
    """Matches one after the other."""
    first, *others = parts = [part for part in parts if part.count] or parts[:1]
    if not others:
        return first
    sizes = [part.offsets[-1] for part in parts]
    before = np.cumsum([0, *sizes[:-1]])
    offsets = [part.offsets[:-1] + add for part, add in zip(parts, before, strict=True)]
    names = ("partition", "number", "start", "classifiers", "excluded", "rows", "completed", "kind")
    merged: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in names
    }
    ends = np.concatenate([*offsets, [sum(sizes)]]).astype(np.int64)
    return replace(first, offsets=ends, **merged)


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
