"""Which matches of stages an after-match skip strategy keeps, of all matches of a partition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from matchrec.engine.interface import Task
from matchrec.engine.kernels.next_start import NO_ROW
from matchrec.engine.matches import FailureKind, Matches, RunFailure
from matchrec.engine.partitions import BoolArray, IntArray
from matchrec.engine.selection.kernels.skipping import Ranked, mark_kept
from matchrec.engine.selection.ordering import sort_matches, take_matches
from matchrec.engine.skipping import next_starts
from matchrec.nfa.outcomes import A_MATCH
from matchrec.plan.stages import Skip


def keep_by_partition(
    task: Task, found: Iterator[Matches], starts: IntArray, last_live: IntArray
) -> Iterator[Matches]:
    """The matches that are kept, partition by partition, in the order of their first rows.

    starts: of the partitions. last_live: see `kernels.skipping`. Matches of a partition are held
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
