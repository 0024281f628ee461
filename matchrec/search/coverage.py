"""Find matches, and count how far the starting rows came that begin none.

This is a search of its own, whichever algorithm would run the query. Its depth-first kernels count
on the way: `kernels.coverage` and, for event selection, `kernels.selection_coverage`. Without event
selection it returns the preferred matches. If rows may be skipped or all matches are asked for,
every row is a starting row, whatever AFTER MATCH says, and one match of it is enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from matchrec.automaton.closure import UNREACHABLE
from matchrec.automaton.occurrences import Occurrences
from matchrec.search.interface import Condition, Room, Staged, Task
from matchrec.search.kernels import counting, coverage, layout, selection_coverage
from matchrec.search.kernels.counting import END_SIZE, KNOWN_TRAIL, RunCounts
from matchrec.search.matches import Matches
from matchrec.search.partitions import IntArray, Partitions
from matchrec.search.records import SearchInput, build_negation_arrays, find_bit, prepare_input
from matchrec.search.search import PathSearch

WORD = 64  # bits
NO_START = -1


@dataclass(frozen=True, slots=True)
class Coverable:
    """A task, and what its choices and conditions are in the query as the user wrote it."""

    task: Task
    # The variables in PATTERN, each time they occur, and the occurrence that each choice takes.
    occurrences: Occurrences
    # For each variable, the parts of its condition: an index of a row condition, or None for all
    # that depends on the run.
    parts: tuple[tuple[int | None, ...], ...]


class Counts(NamedTuple):
    """What is counted: see `RunCounts` for each array.

    The searches of several batches add to the same counts, but each search has its own notes.
    """

    came: IntArray
    ended: IntArray
    parts_false: IntArray
    best: IntArray
    notes: IntArray

    @classmethod
    def of(cls, coverable: Coverable) -> Counts:
        """Return counts of nothing, without notes."""
        occurrences = coverable.occurrences
        occurrence_count = len(occurrences.variables)
        choice_count = len(occurrences.occurrence_by_choice)
        part_count = sum(map(len, coverable.parts))
        return cls(
            came=np.zeros(occurrence_count, np.int64),
            ended=np.zeros((choice_count + 1, counting.REASONS), np.int64),
            parts_false=np.zeros((occurrence_count + 1, part_count), np.int64),
            best=np.array([UNREACHABLE, NO_START], np.int64),
            notes=np.zeros((0, counting.NOTE_SIZE), np.int64),
        )


def find_matches(
    coverable: Coverable, counts: Counts, partitions: Partitions, room: Room | None = None
) -> Iterator[Matches]:
    """Yield matches in chunks, and count the starting rows on the way.

    Args:
        coverable: the task.
        counts: to which the search adds.
        partitions: the rows to search.
        room: how much a chunk may hold.

    Raises:
        RunFailure: the search has failed because of the rows.
    """
    return CoverageSearch(coverable, counts, partitions, room or Room()).find_matches()


def find_nearest_runs(coverable: Coverable, partitions: Partitions) -> IntArray:
    """Return the nearest run of each starting row without a match: `notes` of `RunCounts`.

    Raises:
        RunFailure: the search has failed because of the rows.
    """
    notes = np.zeros((partitions.rows, counting.NOTE_SIZE), np.int64)
    notes[:, counting.NOTE_REMAINING] = counting.NOTHING_NOTED
    counts = Counts.of(coverable)._replace(notes=notes)
    for _ in find_matches(coverable, counts, partitions):
        pass  # the notes are written on the way
    return notes


class CoverageSearch(PathSearch):
    """One run at a time, with what is counted: see `kernels.counting`.

    Beside each row of the path, it keeps the nearest run from that row on. With event selection, it
    keeps the trail of the run, and the nearest run of the starting row.
    """

    def __init__(
        self, coverable: Coverable, counts: Counts, partitions: Partitions, room: Room
    ) -> None:
        task = coverable.task
        # A run that times out is not a match.
        task = replace(task, partial=None, stages=task.stages and Staged())
        self.kernel = selection_coverage.search if task.selects else coverage.search
        arrays = prepare_input(task, partitions, selects=task.selects)
        self.trail_words = -(-max(1, len(coverable.occurrences.variables)) // WORD)
        self.counting = build_run_counts(coverable, counts, arrays)
        super().__init__(task, arrays, room)
        if self.keeps_states or task.selects:
            # A remembered failure may come from runs that left out equal ones. It would not tell
            # the nearest run.
            self.remember_nothing()

    def make_room(self) -> None:
        """Make the arrays as large as `sizes` says, those for counting as well."""
        super().make_room()
        depths = self.sizes[layout.PATH_FULL] + 1
        memo_bits = 8 * self.work.memo.shape[1]
        known_shape = self.sizes[layout.MEMO_FULL], memo_bits, KNOWN_TRAIL + self.trail_words
        self.counting = self.counting._replace(
            trails=np.zeros((depths, self.trail_words), np.int64),
            ends=np.empty((depths, END_SIZE), np.int64),
            known=np.empty(known_shape, np.int64),
        )

    @property
    def hooks(self) -> tuple[Any, Any]:
        """Return the registers or the negation, and what is counted; see `KernelSearch.hooks`."""
        registers_or_negation, _ = super().hooks
        return registers_or_negation, self.counting

    @property
    def keeps_states(self) -> bool:
        """Return whether the computation states that a starting row has reached are kept.

        Without event selection they are if the ways through the pattern multiply and not all
        failures can be remembered. With event selection they are, unless a negation between two
        rows of the match depends on the run: then runs also differ in where their rows are.
        """
        task = self.task
        if not task.selects:
            multiplies = task.pattern.is_exponentially_ambiguous
            return multiplies and not self.arrays.compiled.remembers_all
        absences_between = [
            absence
            for absence in task.absent
            if absence.after is not None and absence.before is not None
        ]
        return len(absences_between) == len(self.counting.between.absent)


def build_run_counts(coverable: Coverable, counts: Counts, arrays: SearchInput) -> RunCounts:
    """Return what the kernels read and write to count runs. `make_room` sets the size of the rest.

    Args:
        coverable: the task.
        counts: to which the search adds.
        arrays: the task and its partitions, as kernels read them.
    """
    occurrences = coverable.occurrences
    program = arrays.rules.program
    parts_first, parts = build_parts(coverable)
    empty = np.empty((0, 0), np.int64)
    return RunCounts(
        remaining=np.array(occurrences.remaining, np.int64),
        nearer_first=np.cumsum([0, *map(len, occurrences.nearer_choices)]).astype(np.int64),
        nearer=np.array(list(chain.from_iterable(occurrences.nearer_choices)), np.int64),
        occurrences=np.array(occurrences.occurrence_by_choice, np.int64),
        targets=program[:, layout.TARGET].copy(),
        tested=program[:, layout.TEST].copy(),
        parts_first=parts_first,
        parts=parts,
        came=counts.came,
        ended=counts.ended,
        parts_false=counts.parts_false,
        best=counts.best,
        notes=counts.notes,
        trails=empty,
        ends=empty,
        known=np.empty((0, 0, 0), np.int64),
        between=find_absences_on_data(coverable, arrays) if coverable.task.selects else None,
    )


def find_absences_on_data(coverable: Coverable, arrays: SearchInput) -> layout.NegationArrays:
    """Return the negations between rows of a match whose conditions depend on the data only.

    These can be decided as soon as the row after them is mapped.
    """
    negation = build_negation_arrays(coverable.task, arrays.compiled, arrays.rows.satisfied)
    absent = negation.absent
    is_between = absent[:, layout.ABSENT_KIND] == layout.IN_THE_MIDDLE
    has_no_code = absent[:, layout.ABSENT_CODE] == absent[:, layout.ABSENT_CODE_END]
    is_on_data = is_between & has_no_code
    return negation._replace(
        absent=absent[is_on_data],
        members=negation.members[is_on_data],
        following=negation.following[is_on_data],
    )


def build_parts(coverable: Coverable) -> tuple[IntArray, IntArray]:
    """Return `parts_first` and `parts` of `RunCounts`."""
    rows = [(*find_bit(Condition(part)), NO_START) for parts in coverable.parts for part in parts]
    first = np.cumsum([0, *map(len, coverable.parts)])
    return first.astype(np.int64), np.array(rows, np.int64).reshape(-1, counting.PART_SIZE)
