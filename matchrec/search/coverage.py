"""Finds matches, and counts how far each starting row came that begins none.

One search, whichever algorithm would run the query: the depth-first ones of both algorithms, which
count on the way. Where matches are contiguous these are the preferred ones. Where rows may be
skipped or all matches are asked for, every row is a starting row, whatever AFTER MATCH says, and
one match of it is enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from matchrec.automaton.closure import UNREACHABLE
from matchrec.automaton.occurrences import Occurrences
from matchrec.search.interface import Condition, Room, Staged, Task
from matchrec.search.kernels import counting as own
from matchrec.search.kernels import depth_first, layout
from matchrec.search.kernels.counting import END_SIZE, KNOWN_TRAIL, RunCounts
from matchrec.search.kernels.skipping import search_matches
from matchrec.search.matches import Matches
from matchrec.search.partitions import IntArray, Partitions
from matchrec.search.records import SearchInput, negation_of, prepare_input, word_and_mask
from matchrec.search.search import PathSearch

WORD = 64
NO_START = -1


@dataclass(frozen=True, slots=True)
class Coverable:
    """A task, and what its choices and conditions are to the one who wrote the query.

    occurrences: those that its choices take. parts: of each variable's condition, the row
    conditions that it is made of by their index, None for all that depends on the run.
    """

    task: Task
    occurrences: Occurrences
    parts: tuple[tuple[int | None, ...], ...]


class Counts(NamedTuple):
    """What is counted, see `RunCounts`. Searches of several pieces add to it; notes are of one."""

    came: IntArray
    ended: IntArray
    parts_false: IntArray
    best: IntArray
    notes: IntArray

    @classmethod
    def of(cls, coverable: Coverable) -> Counts:
        occurrences, parts = coverable.occurrences, sum(map(len, coverable.parts))
        count = len(occurrences.variables)
        return cls(
            np.zeros(count, np.int64),
            np.zeros((len(occurrences.taken) + 1, own.REASONS), np.int64),
            np.zeros((count + 1, parts), np.int64),
            np.array([UNREACHABLE, -1], np.int64),
            np.zeros((0, own.NOTE_SIZE), np.int64),
        )


def find_matches(
    coverable: Coverable, counts: Counts, partitions: Partitions, room: Room | None = None
) -> Iterator[Matches]:
    """Matches in chunks; starting rows are counted on the way. Raises RunFailure."""
    return CoverageSearch(coverable, counts, partitions, room or Room()).find_matches()


def note_starts(coverable: Coverable, partitions: Partitions) -> IntArray:
    """The nearest run of each starting row without a match, see `RunCounts`. Raises RunFailure."""
    notes = np.zeros((partitions.rows, own.NOTE_SIZE), np.int64)
    notes[:, own.NOTE_REMAINING] = own.NOTHING_NOTED
    for _ in find_matches(coverable, Counts.of(coverable)._replace(notes=notes), partitions):
        pass
    return notes


class CoverageSearch(PathSearch):
    """The path of the one run, and what is counted and kept for that.

    That is beside each row of the path the nearest run from there on; with event selection the
    trail of the run, and the nearest run of the starting row.
    """

    def __init__(self, coverable: Coverable, counts: Counts, rows: Partitions, room: Room) -> None:
        task = coverable.task
        # what times out is no match
        task = replace(task, partial=None, stages=task.stages and Staged())
        self.kernel = search_matches if task.selects else depth_first.search
        arrays = prepare_input(task, rows, selects=task.selects)
        self.words = -(-max(1, len(coverable.occurrences.variables)) // WORD)
        self.counting = new_counting(coverable, counts, arrays)
        super().__init__(task, arrays, room)
        if self.keeps_states or task.selects:
            # a failure found where equal runs were left out would not tell the nearest run
            self.remember_nothing()

    def make_room(self) -> None:
        super().make_room()
        rows, states = self.sizes[layout.PATH_FULL], 8 * self.work.memo.shape[1]
        known = self.sizes[layout.MEMO_FULL], states, KNOWN_TRAIL + self.words
        trails = np.zeros((rows + 1, self.words), np.int64)
        ends, found = np.empty((rows + 1, END_SIZE), np.int64), np.empty(known, np.int64)
        self.counting = self.counting._replace(trails=trails, ends=ends, known=found)

    @property
    def hooks(self) -> tuple[Any, Any]:
        return super().hooks[0], self.counting

    @property
    def keeps_states(self) -> bool:
        """Where the ways multiply, and not all failures can be remembered; with event selection
        not where an absence depends on the run: then runs differ by where their rows are.
        """
        task = self.task
        if not task.selects:
            multiplies = task.pattern.is_exponentially_ambiguous
            return multiplies and not self.arrays.compiled.remembers_all
        between = [one for one in task.absent if None not in (one.after, one.before)]
        return len(between) == len(self.counting.between.absent)


def new_counting(coverable: Coverable, counts: Counts, arrays: SearchInput) -> RunCounts:
    found, program, between = coverable.occurrences, arrays.rules.program, None
    if coverable.task.selects:  # the absences whose conditions depend on the data only
        negation = negation_of(coverable.task, arrays.compiled, arrays.rows.satisfied)
        absent = negation.absent
        at_once = absent[:, layout.ABSENT_KIND] == layout.IN_THE_MIDDLE
        at_once &= absent[:, layout.ABSENT_CODE] == absent[:, layout.ABSENT_CODE_END]
        members, following = negation.members[at_once], negation.following[at_once]
        between = negation._replace(absent=absent[at_once], members=members, following=following)
    nearer = [choice for each in found.nearer for choice in each]
    first = np.cumsum([0, *map(len, found.nearer)])
    remaining, nearer_first, ways, taken = (
        np.array(values, np.int64) for values in (found.remaining, first, nearer, found.taken)
    )
    parts_first, parts = parts_of(coverable)
    nothing = np.empty((0, 0), np.int64)
    targets, asked = program[:, layout.TARGET].copy(), program[:, layout.TEST].copy()
    choices = taken, targets, asked, parts_first, parts
    kept = nothing, nothing, np.empty((0, 0, 0), np.int64)
    return RunCounts(remaining, nearer_first, ways, *choices, *counts, *kept, between)


def parts_of(coverable: Coverable) -> tuple[IntArray, IntArray]:
    parts = [part for parts in coverable.parts for part in parts]
    rows = [(*word_and_mask(Condition(part)), NO_START) for part in parts]
    first = np.cumsum([0, *map(len, coverable.parts)])
    return first.astype(np.int64), np.array(rows, np.int64).reshape(-1, own.PART_SIZE)
