"""The searches which skip no row and find one match of each starting row.

Backtracking: one run at a time, in preferment order, with remembered failures; breadth-first
search: all runs at once, over a shared buffer; and searches by distances, where conditions look
only at the data, and overlapping matches as chains of rows that they share.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from matchrec.engine.contiguous.kernels import backtracking, chained, distances
from matchrec.engine.interface import Room, Task
from matchrec.engine.kernels import layout
from matchrec.engine.matches import Chains, Matches
from matchrec.engine.partitions import IntArray
from matchrec.engine.preferred import BreadthFirstSearch
from matchrec.engine.records import SearchInput
from matchrec.engine.search import KernelSearch, PathSearch


class BacktrackingSearch(PathSearch):
    """One run at a time, of which nothing is counted."""

    kernel = staticmethod(backtracking.search)

    @property
    def extras(self) -> tuple[Any, ...]:
        """The registers, and what is counted."""
        return self.work.registers, None


class RingSearch(KernelSearch):
    """A search whose memory is one ring of rows, which it loses when that grows."""

    def __init__(
        self, task: Task, arrays: SearchInput, room: Room, counters: IntArray | None = None
    ) -> None:
        super().__init__(task, arrays, room, counters)
        self.enlarge_ring(max(room.memory, 2))

    @abstractmethod
    def enlarge_ring(self, rows: int) -> None:
        """Empty memory for so many rows, a power of two."""

    def grow(self, status: int) -> None:
        """At least double the memory; the search of the starting row begins again."""
        assert status == layout.MEMO_FULL
        self.enlarge_ring(self.doubled(len(self.work.path)))
        self.progress[layout.MEMO_TO] = self.progress[layout.START]


class DistanceSearch(RingSearch):
    """How far acceptance is from each state and row, and the path of the one run."""

    kernel = staticmethod(distances.search)

    def enlarge_ring(self, rows: int) -> None:
        """Empty memory for so many rows, a power of two."""
        self.work = self.work._replace(
            known=np.empty((rows, len(self.tables.first) - 1), np.int32),
            path=np.empty(rows, np.int32),
            best_before=np.empty(rows, np.int32),
        )


class ChainedSearch(RingSearch):
    """What is known of states and rows, and the path of the one run."""

    kernel = staticmethod(chained.search)

    def enlarge_ring(self, rows: int) -> None:
        """Empty memory for so many rows, a power of two."""
        states = int(self.rules.program[:, layout.MEMO].max(initial=-1)) + 1
        known, path = np.empty((rows, states), np.int32), np.empty(rows, np.int32)
        self.work = self.work._replace(known=known, path=path)

    def output(self, matches: int, rows: int) -> layout.FoundArrays:
        found = np.empty((chained.FOUND_SIZE, matches + 1), np.int64)
        return layout.FoundArrays(found, np.empty((chained.CHAIN_SIZE, rows), np.int32))

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


def find_matches(
    kind: type[KernelSearch], task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """All matches in chunks. Raises RunFailure."""
    return kind(task, arrays, room, counters).find_matches()


def find_chains(
    task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
) -> Iterator[Matches]:
    """All matches, as chains where the task asks for them. Raises RunFailure."""
    found = find_matches(ChainedSearch, task, arrays, room, counters)
    return found if task.chained else unchained(found, room.rows)


Begin = Callable[[Task, SearchInput, Room, "IntArray | None"], Iterator[Matches]]
SEARCHES: Mapping[tuple[str, str], Begin] = {
    ("backtracking", "memoised"): partial(find_matches, BacktrackingSearch),
    ("backtracking", "plain"): partial(find_matches, BacktrackingSearch),
    ("backtracking", "windowed"): partial(find_matches, DistanceSearch),
    ("backtracking", "longest"): partial(find_matches, DistanceSearch),
    ("backtracking", "chained"): find_chains,
    ("breadth_first", "merging"): partial(find_matches, BreadthFirstSearch),
    ("breadth_first", "longest"): partial(find_matches, BreadthFirstSearch),
}
"""What begins the search of an algorithm, by its engine and its name."""
