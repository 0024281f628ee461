"""After-match skip strategies: which of the matches of stages come out, and in which order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from matchrec.engine.interface import Task
from matchrec.engine.kernels.next_start import NO_ROW
from matchrec.engine.matches import FailureKind, Matches, RunFailure
from matchrec.engine.partitions import IntArray
from matchrec.engine.selection.kernels.skipping import Ranked, come_out
from matchrec.engine.selection.ordering import in_order, picked
from matchrec.engine.skipping import next_starts
from matchrec.nfa.places import A_MATCH
from matchrec.plan.stages import Skip


def coming_out(
    task: Task, found: Iterator[Matches], starts: IntArray, alive: IntArray
) -> Iterator[Matches]:
    """The matches that come out, partition by partition, in the order of their first rows.

    starts: of the partitions. alive: see `kernels.selection.skipping`. Matches of a partition are
    held until all of them are found, which a search by starting rows needs. Raises RunFailure.
    """
    assert task.stages is not None
    skip = task.stages.skip
    assert skip is not None
    held: list[Matches] = []
    for matches in found:
        held.append(matches)
        newest = matches.partition[-1] if matches.count else -1
        if held[0].count and held[0].partition[0] < newest:
            together = joined(held)
            is_newest = together.partition == newest
            yield selected(task, skip, some(together, ~is_newest), (starts, alive))
            held = [some(together, is_newest)]
    if held:
        yield selected(task, skip, joined(held), (starts, alive))


def selected(task: Task, skip: Skip, matches: Matches, times: tuple[IntArray, IntArray]) -> Matches:
    """What comes out of all matches of some partitions. times: partition starts, and `alive`."""
    assert matches.kind is not None
    starts, alive = times
    ranked = in_order(some(matches, matches.kind == A_MATCH), by_start=True)
    assert ranked.completed is not None
    first = np.flatnonzero(np.diff(ranked.partition, prepend=-1))
    groups = np.append(first, ranked.count).astype(np.int64)
    kept = np.zeros(ranked.count, np.bool_)
    bars, when = np.empty(ranked.count, np.int64), np.empty(ranked.count, np.int64)
    target = next_starts(skip, task.members, ranked)
    in_groups = Ranked(
        groups,
        starts[ranked.partition[first]],
        np.ascontiguousarray(ranked.start),
        np.ascontiguousarray(ranked.completed),
        target,
    )
    missed = come_out(in_groups, skip.throws, kept, bars, when, alive)
    if missed >= 0:
        raise missing(skip, ranked, missed, int(target[missed]))
    partial = in_order(some(matches, matches.kind != A_MATCH))
    assert partial.completed is not None
    before = np.searchsorted(when, partial.completed, side="left") - 1
    bar = np.where(before >= 0, bars[before], -1) if len(bars) else np.full(partial.count, -1)
    return joined([some(ranked, kept), some(partial, partial.start >= bar)])


def missing(skip: Skip, matches: Matches, match: int, target: int) -> RunFailure:
    """The failure of a match that skips to no row, or to its own first one."""
    kind = FailureKind.STAGE_MISSED if target == NO_ROW else FailureKind.STAGE_IS_FIRST
    row = int(matches.start[match])
    return RunFailure(kind, int(matches.partition[match]), row, skip.variable or "")


def some(matches: Matches, kept: np.typing.NDArray[np.bool_]) -> Matches:
    """The matches that are marked."""
    return picked(matches, np.flatnonzero(kept))


def joined(parts: Sequence[Matches]) -> Matches:
    """Matches one after the other."""
    first, *others = parts
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
