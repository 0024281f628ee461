"""Overlapping matches as chains of rows that they share, where conditions look only at the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from matchrec.engine.compiled import compile_task, plain, satisfied_of, searched_of
from matchrec.engine.interface import Task
from matchrec.engine.kernels import chained as kernel
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import ChoiceArray
from matchrec.engine.match import Chains, Matches
from matchrec.engine.partitions import IntArray, Partitions
from matchrec.engine.search import doubled, matches_of, new_progress


class ChainedSearch:
    """What is known of states and rows, and the path of the one run."""

    def __init__(self, task: Task, partitions: Partitions, memory: int) -> None:
        compiled = compile_task(task, len(partitions.integers))
        self.tables = compiled.tables
        self.program = compiled.program
        self.skip_to = compiled.skip_to
        self.starts = plain(partitions.starts, np.int64)
        self.searched = searched_of(partitions)
        self.satisfied = satisfied_of(partitions)
        self.progress = new_progress(task, partitions)
        self.states = int(self.program[:, layout.MEMO].max(initial=-1)) + 1
        self.give(max(memory, 2))

    def give(self, rows: int) -> None:
        """Empty memory for so many rows, a power of two."""
        self.known = np.empty((rows, self.states), np.int32)
        self.path = np.empty(rows, np.int32)

    def output(self, matches: int, rows: int) -> tuple[IntArray, ChoiceArray]:
        found = np.empty((kernel.FOUND_SIZE, matches + 1), np.int64)
        return found, np.empty((kernel.CHAIN_SIZE, rows), np.int32)

    def advance(self, found: IntArray, taken: ChoiceArray) -> int:
        return int(
            kernel.search(
                self.tables.first,
                self.program,
                self.starts,
                self.searched,
                self.satisfied,
                self.skip_to,
                self.known,
                self.path,
                found,
                taken,
                self.progress,
            )
        )

    def grow(self, status: int) -> None:
        """At least double the memory; the search of the starting row begins again."""
        assert status == layout.MEMO_FULL
        self.give(doubled(len(self.path), int(self.progress[layout.NEEDED])))

    def matches(self, found: IntArray, taken: ChoiceArray) -> Matches:
        count = int(self.progress[layout.MATCHES])
        nodes = taken[:, : self.progress[layout.MAPPED]]
        return replace(
            matches_of(found, count, nodes[kernel.CHAIN_CHOICE], self.tables),
            rows=nodes[kernel.CHAIN_ROW].astype(np.int64),
            chains=Chains(found[kernel.FOUND_FIRST, :count], nodes[kernel.CHAIN_NEXT]),
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
