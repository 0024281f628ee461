"""Finds the preferred matches, and counts how far each starting row came that begins none.

One algorithm, whichever would run the query: one run at a time, in preferment order, with
remembered failures.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from matchrec.dataclass import dataclass
from matchrec.engine.compiled import compile_task, word_and_mask
from matchrec.engine.contiguous.kernels import coverage as kernel
from matchrec.engine.contiguous.kernels import coverage_layout as own
from matchrec.engine.contiguous.kernels.coverage_layout import CoverageWork
from matchrec.engine.contiguous.plain import PlainSearch
from matchrec.engine.contiguous.search import larger, run
from matchrec.engine.interface import Condition, Room, Task
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.seen import SEEN_REGISTERS
from matchrec.engine.matches import Matches
from matchrec.engine.partitions import IntArray, Partitions
from matchrec.nfa.facts import UNREACHABLE

WORD = 64
NO_START = -1


@dataclass(frozen=True, slots=True)
class Coverable:
    """A task, and what its choices and conditions are to the one who wrote the query.

    taken, remaining, nearer: see `nfa.occurrences`. occurrences: how many there are. parts: of each
    variable's condition, the row conditions that it is made of by their index, None for all that
    depends on the run.
    """

    task: Task
    occurrences: int
    taken: tuple[int, ...]
    remaining: tuple[int, ...]
    nearer: tuple[tuple[int, ...], ...]
    parts: tuple[tuple[int | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Counts:
    """How many starting rows came to each occurrence, and where and why others ended.

    Arrays as in `CoverageWork`. Searches of several pieces add to the same counts.
    """

    came: IntArray
    ended: IntArray
    parts_false: IntArray
    best: IntArray

    @classmethod
    def of(cls, coverable: Coverable) -> Counts:
        """Counts of nothing."""
        parts = sum(map(len, coverable.parts))
        return cls(
            np.zeros(coverable.occurrences, np.int64),
            np.zeros((len(coverable.taken) + 1, own.REASONS), np.int64),
            np.zeros((coverable.occurrences + 1, parts), np.int64),
            np.array([UNREACHABLE, -1], np.int64),
        )


def ways_of(coverable: Coverable) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """`remaining`, `nearer_first`, `nearer` and `taken` of `CoverageWork`."""
    nearer = [choice for each in coverable.nearer for choice in each]
    first = np.cumsum([0, *map(len, coverable.nearer)])
    arrays = (coverable.remaining, first, nearer, coverable.taken)
    remaining, nearer_first, ways, taken = (np.array(one, np.int64) for one in arrays)
    return remaining, nearer_first, ways, taken


def parts_of(coverable: Coverable) -> tuple[IntArray, IntArray]:
    """`parts_first` and `parts` of `CoverageWork`."""
    parts = [part for parts in coverable.parts for part in parts]
    rows = [(*word_and_mask(Condition(part)), NO_START) for part in parts]
    first = np.cumsum([0, *map(len, coverable.parts)])
    return first.astype(np.int64), np.array(rows, np.int64).reshape(-1, own.PART_SIZE)


def find_matches(
    coverable: Coverable, counts: Counts, partitions: Partitions, room: Room | None = None
) -> Iterator[Matches]:
    """All matches in chunks, as an algorithm gives them; starting rows are counted on the way.

    Raises RunFailure.
    """
    room = room or Room()
    search = CoverageSearch(coverable, counts, partitions, room.memory)
    return run(search, coverable.task, partitions, room)


class CoverageSearch(PlainSearch):
    """The path of the one run, and beside each of its rows the nearest run from there on."""

    kernel = staticmethod(kernel.search)
    work: CoverageWork

    def __init__(
        self, coverable: Coverable, counts: Counts, partitions: Partitions, memory: int
    ) -> None:
        super().__init__(coverable.task, partitions)
        self.words = -(-max(1, coverable.occurrences) // WORD)
        self.work = CoverageWork(
            self.progress,
            np.empty(memory, np.int32),
            np.zeros((memory, self.memo_bytes), np.uint8),
            self.new_registers(memory + 1, 0),
            self.new_stack(),
            *self.new_ends(memory),
            self.new_nearest(memory),
            *ways_of(coverable),
            self.rules.program[:, layout.TARGET].copy(),
            *parts_of(coverable),
            counts.came,
            counts.ended,
            counts.parts_false,
            counts.best,
            self.new_seen(memory),
        )
        self.rules = self.merging(coverable.task, partitions) if self.linked else self.rules

    def merging(self, task: Task, partitions: Partitions) -> layout.Rules:
        """The rules with computation states kept where needed, and then no failures.

        A failure found where equal runs were left out would not tell the nearest run.
        """
        remembers_all = compile_task(task, len(partitions.integers)).remembers_all
        if remembers_all or not task.pattern.is_exponentially_ambiguous:
            return self.rules._replace(merge_runs=False)
        program = self.rules.program.copy()
        program[:, layout.MEMO] = layout.NOT_REMEMBERED
        return self.rules._replace(merge_runs=True, program=program)

    def new_seen(self, states: int) -> layout.RunArray:
        """An empty table of computation states, which is full with half as many."""
        if self.linked is None:
            return None
        registers = len(self.linked.initial)
        return np.zeros((states, SEEN_REGISTERS + registers), np.int64)

    def new_ends(self, rows: int) -> tuple[IntArray, IntArray]:
        """Room for the nearest run from each of so many rows on, and from the one after them."""
        ends: IntArray = np.empty((rows + 1, own.END_SIZE), np.int64)
        return ends, np.empty((rows + 1, self.words), np.int64)

    def new_nearest(self, rows: int) -> IntArray:
        """Room for the nearest runs beside the failures of so many rows."""
        return np.empty((rows, 8 * self.memo_bytes, own.NEAREST_TRAIL + self.words), np.int64)

    def grow(self, status: int) -> None:
        """At least double what is full; the search of the starting row begins again."""
        work = self.work
        if status == layout.MEMO_FULL:
            memo = larger(work.memo, int(self.progress[layout.NEEDED]))
            self.work = work._replace(memo=memo, nearest=self.new_nearest(len(memo)))
            self.progress[layout.MEMO_TO] = self.progress[layout.START]
            return
        if status == layout.RUNS_FULL:
            self.work = work._replace(seen=self.new_seen(2 * len(work.seen)))
            return
        assert status == layout.PATH_FULL
        rows = 2 * len(work.path)
        path, registers = np.empty(rows, np.int32), self.new_registers(rows + 1, 0)
        ends, trails = self.new_ends(rows)
        self.work = work._replace(path=path, registers=registers, ends=ends, trails=trails)
