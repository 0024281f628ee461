"""The searches which skip no row and find one match of each starting row.

Backtracking: one run at a time, in preferment order, with remembered failures; breadth-first
search: all runs at once, over a shared buffer; and searches by distances, where conditions look
only at the data, and overlapping matches as chains of rows that they share.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from matchrec.engine.contiguous.kernels import backtracking, chained, distances
from matchrec.engine.interface import Room, Task
from matchrec.engine.kernels import layout
from matchrec.engine.matches import Chains, Matches
from matchrec.engine.partitions import IntArray
from matchrec.engine.records import SearchInput
from matchrec.engine.search import BreadthFirstSearch, KernelSearch, PathSearch, Shapes


class BacktrackingSearch(PathSearch):
    """One run at a time, of which nothing is counted."""

    kernel = staticmethod(backtracking.search)

    @property
    def extras(self) -> tuple[Any, ...]:
        """The registers, and what is counted."""
        return self.work.registers, None


class DistanceSearch(KernelSearch):
    """How far acceptance is from each state and row, and the path of the one run."""

    kernel = staticmethod(distances.search)

    @property
    def shapes(self) -> Shapes:
        """One ring of rows."""
        rows, states = self.sizes[layout.MEMO_FULL], len(self.rules.first) - 1
        paths: Shapes = dict.fromkeys(("path", "best_before"), ((rows,), np.int32))
        return paths | {"known": ((rows, states), np.int32)}


class ChainedSearch(KernelSearch):
    """What is known of states and rows, and the path of the one run."""

    kernel = staticmethod(chained.search)

    @property
    def shapes(self) -> Shapes:
        """One ring of rows."""
        rows = self.sizes[layout.MEMO_FULL]
        states = int(self.rules.program[:, layout.MEMO].max(initial=-1)) + 1
        return {"path": ((rows,), np.int32), "known": ((rows, states), np.int32)}

    def output(self, matches: int, rows: int) -> layout.FoundArrays:
        nodes = np.empty((chained.CHAIN_SIZE, rows), np.int32)
        return super().output(matches, 0)._replace(taken=nodes)

    def matches(self, output: layout.FoundArrays) -> Matches:
        nodes = output.taken[:, : self.progress[layout.MAPPED]]
        found = super().matches(output._replace(taken=nodes[chained.CHAIN_CHOICE]))
        return replace(
            found,
            rows=nodes[chained.CHAIN_ROW].astype(np.int64),
            chains=Chains(
                output.found[chained.FOUND_FIRST, : found.count], nodes[chained.CHAIN_NEXT]
            ),
        )


def unchained(found: Iterable[Matches], rows: int) -> Iterator[Matches]:
    """The same matches with rows of their own, at most so many at once if no match has more."""
    for matches in found:
        assert matches.chains is not None
        first = 0
        while first < matches.count:
            limit = int(matches.offsets[first]) + rows
            end = int(np.searchsorted(matches.offsets, limit, side="right")) - 1
            end = max(end, first + 1)
            yield with_own_rows(matches, first, end)
            first = end


def with_own_rows(matches: Matches, first: int, end: int) -> Matches:
    """Matches first .. end - 1 of those in chains, with rows of their own."""
    assert matches.chains is not None
    offsets = matches.offsets[first : end + 1] - matches.offsets[first]
    nodes = np.empty(offsets[-1], np.int32)
    chained.unchain(matches.chains.first[first:end], matches.chains.following, offsets, nodes)
    return Matches(
        partition=matches.partition[first:end],
        number=matches.number[first:end],
        start=matches.start[first:end],
        offsets=offsets,
        classifiers=matches.classifiers[nodes],
        excluded=matches.excluded[nodes],
    )


SEARCHES: Mapping[str, type[KernelSearch]] = {
    "memoised": BacktrackingSearch,
    "plain": BacktrackingSearch,
    "windowed": DistanceSearch,
    "chained": ChainedSearch,
    "merging": BreadthFirstSearch,
}
"""By the name of an algorithm what searches; of the longest match, two do."""


def find_matches(
    algorithm: tuple[str, str],
    task: Task,
    arrays: SearchInput,
    room: Room,
    counters: IntArray | None,
) -> Iterator[Matches]:
    """All matches in chunks, as chains where the task asks for them. Raises RunFailure.

    algorithm: its engine, and its name.
    """
    engine, matching = algorithm
    if matching == "longest":
        matching = "windowed" if engine == "backtracking" else "merging"
    found = SEARCHES[matching](task, arrays, room, counters).find_matches()
    return unchained(found, room.rows) if matching == "chained" and not task.chained else found
