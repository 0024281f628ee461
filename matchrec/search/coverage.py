"""Find matches, and count how far the search came from starting rows that begin no match.

This is a search of its own, whichever algorithm would run the query. Its depth-first kernels count
on the way: `kernels.coverage` and, for event selection, `kernels.selection_coverage`. Without event
selection it returns the preferred matches. If rows may be skipped or all matches are asked for,
every row is a starting row, whatever AFTER MATCH says, and one match of it is enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from matchrec.automaton.facts import UNREACHABLE
from matchrec.automaton.occurrences import Occurrences
from matchrec.search.interface import Condition, Room, Staged, Task
from matchrec.search.kernels import counting, coverage, layout, selection_coverage
from matchrec.search.kernels.counting import END_SIZE, KNOWN_TRAIL, RunCounts
from matchrec.search.kernels.coverage import CoverageWork
from matchrec.search.kernels.selection_coverage import SelectionCoverageWork
from matchrec.search.matches import Matches
from matchrec.search.partitions import IntArray, Partitions
from matchrec.search.records import SearchInput, build_negation_arrays, find_bit, prepare_input
from matchrec.search.search import Kernel, KernelSearch, PathSearch, Shapes

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
    # A run that times out is not a match.
    task = replace(coverable.task, partial=None, stages=coverable.task.stages and Staged())
    coverable = replace(coverable, task=task)
    arrays = prepare_input(task, partitions, selects=task.selects)
    search = SelectionCoverage if task.selects else ContiguousCoverage
    return search(coverable, counts, arrays, room or Room()).find_matches()


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


class ContiguousCoverage(PathSearch[CoverageWork]):
    """One run at a time, for preferred matches of consecutive rows, with what is counted.

    Beside each row of the path, it keeps the nearest run from that row on.
    """

    kernel = Kernel(coverage.search, coverage.search_start, coverage.begin_partition)
    progress: coverage.CoverageProgress
    progress_kind = coverage.CoverageProgress

    def __init__(
        self, coverable: Coverable, counts: Counts, arrays: SearchInput, room: Room
    ) -> None:
        self.trail_words = count_trail_words(coverable)
        self.counts = build_run_counts(coverable, counts, arrays)
        super().__init__(coverable.task, arrays, room)
        if self.keeps_states:
            # A remembered failure may come from runs that left out equal ones. It would not tell
            # the nearest run.
            self.remember_nothing()

    @property
    def keeps_states(self) -> bool:
        """Return whether the computation states that a starting row has reached are kept.

        They are if the ways through the pattern multiply and not all failures can be remembered.
        """
        multiplies = self.task.pattern.is_exponentially_ambiguous
        return multiplies and not self.arrays.compiled.remembers_all

    @property
    def shapes(self) -> Shapes:
        """Return the arrays of `PathSearch`, the table of states and the nearest runs."""
        (rows, memo_bytes), _ = self.shape_memo()["memo"]
        known_size = rows, 8 * memo_bytes, KNOWN_TRAIL + self.trail_words
        known: Shapes = {"known": (known_size, np.int64)}
        table = self.shape_table(self.sizes[layout.RUNS_FULL] if self.keeps_states else 0)
        nearest = shape_nearest_runs(self.sizes[layout.PATH_FULL], self.trail_words)
        return super().shapes | table | nearest | known

    def make_work(self) -> CoverageWork:
        """Return what the kernel works in."""
        return CoverageWork(
            progress=self.progress,
            output=self.output,
            path=self.memory["path"],
            memo=self.memory["memo"],
            table=self.memory["table"],
            counts=self.counts._replace(
                trails=self.memory["trails"], ends=self.memory["ends"], known=self.memory["known"]
            ),
        )

    def arguments(self) -> tuple[object, ...]:
        """Return the arguments of the kernel."""
        conditions = None if self.arrays.compiled.linked is None else self.conditions
        return self.rules, self.arrays.rows, self.work, conditions


class SelectionCoverage(KernelSearch[SelectionCoverageWork]):
    """One run at a time, if rows may be skipped or all matches are asked for.

    It keeps the nearest run from each row of the path on, and remembers no failures.
    """

    kernel = Kernel(
        selection_coverage.search,
        selection_coverage.search_start,
        selection_coverage.begin_partition,
    )
    progress: selection_coverage.SelectionCoverageProgress
    progress_kind = selection_coverage.SelectionCoverageProgress

    def __init__(
        self, coverable: Coverable, counts: Counts, arrays: SearchInput, room: Room
    ) -> None:
        self.trail_words = count_trail_words(coverable)
        self.counts = build_run_counts(coverable, counts, arrays)
        self.between = find_absences_on_data(coverable, arrays)
        super().__init__(coverable.task, arrays, room)

    @property
    def keeps_states(self) -> bool:
        """Return whether the computation states that a starting row has reached are kept.

        They are, unless a negation between two rows of the match depends on the run: then runs also
        differ in where their rows are.
        """
        absences_between = [
            absence
            for absence in self.task.absent
            if absence.after is not None and absence.before is not None
        ]
        return len(absences_between) == len(self.between.absent)

    @property
    def shapes(self) -> Shapes:
        """Return the path, the registers, the table of states and the nearest runs."""
        size = self.sizes[layout.PATH_FULL]
        path: Shapes = {"path": ((layout.PATH_SIZE, size), np.int64)}
        table = self.shape_table(self.sizes[layout.RUNS_FULL] if self.keeps_states else 0)
        nearest = shape_nearest_runs(size, self.trail_words)
        return path | table | nearest | self.shape_registers(size)

    def make_work(self) -> SelectionCoverageWork:
        """Return what the kernel works in."""
        return SelectionCoverageWork(
            progress=self.progress,
            output=self.output,
            path=self.memory["path"],
            table=self.memory["table"],
            counts=self.counts._replace(trails=self.memory["trails"], ends=self.memory["ends"]),
            between=self.between,
        )

    def arguments(self) -> tuple[object, ...]:
        """Return the arguments of the kernel."""
        rules, selecting, rows = self.rules, self.selecting, self.arrays.rows
        return rules, selecting, rows, self.work, self.conditions, self.arrays.negation


def count_trail_words(coverable: Coverable) -> int:
    """Return how many words the trail of a run has."""
    return -(-max(1, len(coverable.occurrences.variables)) // WORD)


def shape_nearest_runs(depths: int, trail_words: int) -> Shapes:
    """Return the nearest runs from each row of the path on, and from the row after it."""
    return {
        "trails": ((depths + 1, trail_words), np.int64),
        "ends": ((depths + 1, END_SIZE), np.int64),
    }


def build_run_counts(coverable: Coverable, counts: Counts, arrays: SearchInput) -> RunCounts:
    """Return what the kernels read and write to count runs, without the nearest runs.

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
