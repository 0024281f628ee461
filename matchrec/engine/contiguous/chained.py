"""Overlapping matches as chains of rows that they share, where conditions look only at the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from matchrec.engine.contiguous.kernels import chained as kernel
from matchrec.engine.contiguous.plain import RingSearch
from matchrec.engine.contiguous.search import matches_of, run
from matchrec.engine.interface import Room, Task
from matchrec.engine.kernels import layout
from matchrec.engine.matches import Chains, Matches
from matchrec.engine.partitions import Partitions


def find_chains(task: Task, partitions: Partitions, room: Room) -> Iterator[Matches]:
    """All matches, as chains where the task asks for them. Raises RunFailure."""
    found = run(ChainedSearch(task, partitions, room.memory), task, partitions, room)
    return found if task.chained else unchained(found, room.rows)


class ChainedSearch(RingSearch):
    """What is known of states and rows, and the path of the one run."""

    kernel = staticmethod(kernel.search)
    work: layout.ChainWork

    def __init__(self, task: Task, partitions: Partitions, memory: int) -> None:
        super().__init__(task, partitions)
        self.states = int(self.rules.program[:, layout.MEMO].max(initial=-1)) + 1
        self.work = self.new_work(max(memory, 2))

    def new_work(self, rows: int) -> layout.ChainWork:
        """Empty memory for so many rows, a power of two."""
        known = np.empty((rows, self.states), np.int32)
        return layout.ChainWork(self.progress, known, np.empty(rows, np.int32))

    def output(self, matches: int, rows: int) -> layout.Found:
        found = np.empty((kernel.FOUND_SIZE, matches + 1), np.int64)
        return layout.Found(found, np.empty((kernel.CHAIN_SIZE, rows), np.int32))

    def matches(self, output: layout.Found) -> Matches:
        count = int(self.progress[layout.MATCHES])
        nodes = output.taken[:, : self.progress[layout.MAPPED]]
        return replace(
            matches_of(output.found, count, nodes[kernel.CHAIN_CHOICE], self.tables),
            rows=nodes[kernel.CHAIN_ROW].astype(np.int64),
            chains=Chains(output.found[kernel.FOUND_FIRST, :count], nodes[kernel.CHAIN_NEXT]),
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
    kernel.unchain(matches.chains.first[first:end], matches.chains.following, offsets, nodes)
    return Matches(
        partition=matches.partition[first:end],
        number=matches.number[first:end],
        start=matches.start[first:end],
        offsets=offsets,
        classifiers=matches.classifiers[nodes],
        excluded=matches.excluded[nodes],
    )
