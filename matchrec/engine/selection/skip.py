"""Matches of event selection: in order, each once, numbered, and those that a skip strategy leaves.

`release_matches` decides while a search goes on, as soon as possible: that is when no live run
began before a match and may still become one. What was decided before counts as start bounds with
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
from matchrec.engine.selection.kernels.order import (
    HELD,
    KEPT,
    Live,
    Ranked,
    mark_equal,
    mark_kept,
    settle_ties,
)
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

    stop: the row that comes next. first_rows: of the live runs, unsorted; a search of one starting
    row after the other has none. last_live: int64[n or 0], the last row at which a run was live
    since the search went on. start_bounds: int64[b, 2], at which rows bounds were set, and the
    bounds; those of a partition mean nothing to the next. starts: of the partitions.
    """

    stop: int
    first_rows: IntArray
    last_live: IntArray
    start_bounds: IntArray
    starts: IntArray


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
    """Decide on the matches that were held or have been found: of each partition those that are
    kept, then the runs that timed out.

    Raises RunFailure.
    """
    assert found.kind is not None
    ranked = sort_matches(filter_matches(found, found.kind == A_MATCH), by_start=True)
    outcome, bounds = decide(task, skip, ranked, position)
    bounds = np.concatenate([position.start_bounds, bounds[outcome == KEPT]])
    partial = sort_matches(filter_matches(found, found.kind != A_MATCH))
    in_time = partial.start >= bounds_before(bounds, partial.completed)
    whole = filter_matches(ranked, outcome == KEPT)
    released = concatenate([whole, filter_matches(partial, in_time)])
    released = take_matches(released, np.argsort(released.partition, kind="stable"))
    settled = int(bounds_before(bounds, np.array([position.stop]))[0])
    held = filter_matches(ranked, outcome == HELD)
    return Release(released, held, drop_old(bounds, position.stop), settled)


def decide(
    task: Task, skip: Skip, ranked: Matches, position: SearchPosition
) -> tuple[IntArray, IntArray]:
    """int64[m], which matches are kept or held, and int64[m, 2], the start bound after each one.

    ranked: in the order of their first rows. Raises RunFailure.
    """
    assert ranked.completed is not None
    outcome, bounds = np.zeros(ranked.count, np.int64), np.full((ranked.count + 1, 2), -1)
    if not ranked.count:
        return outcome, bounds[1:]
    bounds[: len(position.start_bounds[-1:])] = position.start_bounds[-1:]
    target = next_starts(skip, task.members, ranked)
    start, completed = map(np.ascontiguousarray, (ranked.start, ranked.completed))
    matches = Ranked(int(position.starts[ranked.partition[0]]), start, completed, target)
    live = Live(np.sort(position.first_rows), position.stop, position.last_live)
    missed = mark_kept(matches, live, skip.fails_on_miss, outcome, bounds)
    if missed >= 0:
        raise target_failure(skip, ranked, missed, int(target[missed]))
    return outcome, bounds[1:]


def drop_old(bounds: IntArray, stop: int) -> IntArray:
    """The last bound that was set before a row, and those that were set at it."""
    return bounds[max(0, int(np.searchsorted(bounds[:, 0], stop, side="left")) - 1) :]
