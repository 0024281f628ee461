"""Find matches, and count how far the search came from starting rows that begin no match.

The search for coverage does not depend on the algorithm that would run the query. It has two
depth-first kernels, which count as `kernels.nearest_runs` explains:

    ContiguousCoverage   kernels.coverage            for preferred matches of consecutive rows
    SelectionCoverage    kernels.selection_coverage  if rows can be skipped or all matches are
                                                     output. AFTER MATCH does not apply: each row is
                                                     a starting row. Of each, one match is sought

1. A caller makes `Counts` for an `AnnotatedTask`.
2. `find_matches` searches some partitions, and adds to the counts. It can be called several times.

`find_nearest_runs` does both steps, and returns the nearest run of each starting row instead of the
sums.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from matchrec.automaton.facts import UNREACHABLE
from matchrec.automaton.occurrences import Occurrences
from matchrec.search.compiled_task import find_bit
from matchrec.search.kernel_input import SearchInput, build_negation_arrays, prepare_input
from matchrec.search.kernel_search import KernelSearch, Shapes
from matchrec.search.kernels import coverage, layout, nearest_runs, selection_coverage
from matchrec.search.kernels.coverage import CoverageWork
from matchrec.search.kernels.nearest_runs import END_SIZE, REMEMBERED_TRAIL, RunCounts
from matchrec.search.kernels.selection_coverage import SelectionCoverageWork
from matchrec.search.matches import Matches
from matchrec.search.partitions import IntArray, Partitions
from matchrec.search.path_search import PathSearch
from matchrec.search.task import Capacity, Condition, StageOptions, Task

# The number of bits in a word of a trail, and in a byte of the memo.
WORD_BITS = 64
BITS_PER_BYTE = 8
# Used instead of the position of a starting row before any row has been counted: in
# `Counts.nearest_of_all`, and in the column PART_START of the parts of conditions.
NO_START = -1

# The bit of a part of a condition that is a row condition; None for the part that depends on the
# run.
PartBit = int | None


@dataclass(frozen=True, slots=True)
class AnnotatedTask:
    """A task, and the parts of the query from which its choices and conditions come."""

    task: Task
    # The occurrences of variables in PATTERN, and the occurrence to which each choice belongs.
    occurrences: Occurrences
    # For each variable, by its id, the parts of its condition that are counted separately.
    parts: tuple[tuple[PartBit, ...], ...]


class Counts(NamedTuple):
    """Counts over the starting rows of all searches so far: see `RunCounts` for each array.

    Several searches can add to the same counts. Only `notes` belong to one search.
    """

    reached_counts: IntArray
    end_counts: IntArray
    false_parts: IntArray
    nearest_of_all: IntArray
    notes: IntArray

    @classmethod
    def create(cls, annotated_task: AnnotatedTask) -> Counts:
        """Return counts of zero, without notes."""
        occurrences = annotated_task.occurrences
        occurrence_count = len(occurrences.variables)
        choice_count = len(occurrences.occurrence_by_choice)
        part_count = sum(map(len, annotated_task.parts))
        return cls(
            reached_counts=np.zeros(occurrence_count, np.int64),
            end_counts=np.zeros((choice_count + 1, nearest_runs.REASON_COUNT), np.int64),
            false_parts=np.zeros((occurrence_count + 1, part_count), np.int64),
            nearest_of_all=np.array([UNREACHABLE, NO_START], np.int64),
            notes=np.zeros((0, nearest_runs.NOTE_SIZE), np.int64),
        )


def find_matches(
    annotated_task: AnnotatedTask,
    counts: Counts,
    partitions: Partitions,
    capacity: Capacity | None = None,
) -> Iterator[Matches]:
    """Yield matches in chunks, and count the starting rows on the way.

    Args:
        annotated_task: the task, and the parts that are counted.
        counts: the counts to which the search adds.
        partitions: the rows to search.
        capacity: how much a chunk can hold.

    Raises:
        RunFailure: the search has failed because of the rows.
    """
    # Drop the options that output runs or leave out matches: a run that times out is no match.
    task = annotated_task.task
    stages = None if task.stages is None else StageOptions()
    task = replace(task, partial=None, stages=stages)
    annotated_task = replace(annotated_task, task=task)
    arrays = prepare_input(task, partitions, for_event_selection=task.needs_event_selection)
    search_class = SelectionCoverage if task.needs_event_selection else ContiguousCoverage
    return search_class(annotated_task, counts, arrays, capacity or Capacity()).find_matches()


def find_nearest_runs(annotated_task: AnnotatedTask, partitions: Partitions) -> IntArray:
    """Return the nearest run of each starting row without a match: `notes` of `RunCounts`.

    Raises:
        RunFailure: the search has failed because of the rows.
    """
    notes = np.zeros((partitions.row_count, nearest_runs.NOTE_SIZE), np.int64)
    notes[:, nearest_runs.NOTE_REMAINING] = nearest_runs.NOTHING_NOTED
    counts = Counts.create(annotated_task)._replace(notes=notes)
    for _ in find_matches(annotated_task, counts, partitions):
        pass  # the notes are written on the way
    return notes


class ContiguousCoverage(PathSearch[CoverageWork]):
    """A search of one run at a time that counts, for preferred matches of consecutive rows.

    For each row of the path, it keeps the nearest run from that row on.
    """

    kernel = coverage.search
    progress: coverage.CoverageProgress
    progress_class = coverage.CoverageProgress

    def __init__(
        self, annotated_task: AnnotatedTask, counts: Counts, arrays: SearchInput, capacity: Capacity
    ) -> None:
        self.trail_words = count_trail_words(annotated_task)
        self.counts = build_run_counts(annotated_task, counts, arrays)
        super().__init__(annotated_task.task, arrays, capacity)
        if self.keeps_states:
            # A state may have failed in a search that left out runs equal to others. So the nearest
            # run that would be remembered with the failure need not be the nearest of all runs.
            self.remember_nothing()

    @property
    def keeps_states(self) -> bool:
        """Return whether the computation states that a starting row has reached are kept.

        They are kept if the number of ways through the pattern can grow exponentially and not all
        failures can be remembered.
        """
        multiplies = self.task.pattern.is_exponentially_ambiguous
        return multiplies and not self.arrays.compiled_task.remembers_all

    @property
    def shapes(self) -> Shapes:
        """Return the arrays of `PathSearch`, the table of states and the nearest runs."""
        # A nearest run for each bit of the memo.
        (rows, memo_bytes), _ = self.shape_memo()["memo"]
        remembered_shape = (rows, BITS_PER_BYTE * memo_bytes, REMEMBERED_TRAIL + self.trail_words)
        remembered: Shapes = {"remembered": (remembered_shape, np.int64)}
        table = self.shape_table(self.sizes[layout.RUNS_FULL] if self.keeps_states else 0)
        nearest = shape_nearest_runs(self.sizes[layout.PATH_FULL], self.trail_words)
        return super().shapes | table | nearest | remembered

    def make_work(self) -> CoverageWork:
        """Return what the kernel works in."""
        return CoverageWork(
            progress=self.progress,
            output=self.output,
            path=self.working_arrays["path"],
            memo=self.working_arrays["memo"],
            table=self.working_arrays["table"],
            counts=self.counts._replace(
                trails=self.working_arrays["trails"],
                ends=self.working_arrays["ends"],
                remembered_runs=self.working_arrays["remembered"],
            ),
        )

    def build_arguments(self) -> tuple[object, ...]:
        """Return the arguments of the kernel."""
        conditions = (
            None if self.arrays.compiled_task.linked_conditions is None else self.conditions
        )
        return self.rules, self.arrays.rows, self.work, conditions


class SelectionCoverage(KernelSearch[SelectionCoverageWork]):
    """A search of one run at a time that counts, if rows can be skipped or all matches are output.

    It keeps the nearest run from each row of the path on, and remembers no failures.
    """

    kernel = selection_coverage.search
    progress: selection_coverage.SelectionCoverageProgress
    progress_class = selection_coverage.SelectionCoverageProgress

    def __init__(
        self, annotated_task: AnnotatedTask, counts: Counts, arrays: SearchInput, capacity: Capacity
    ) -> None:
        self.trail_words = count_trail_words(annotated_task)
        self.counts = build_run_counts(annotated_task, counts, arrays)
        self.middle_absences_on_data = find_absences_on_data(annotated_task, arrays)
        super().__init__(annotated_task.task, arrays, capacity)

    @property
    def keeps_states(self) -> bool:
        """Return whether the computation states that a starting row has reached are kept.

        They are not kept if a negation between two rows of the match depends on the run, because
        runs with equal computation states then differ in the rows between which it applies.
        """
        middle_absences = [absence for absence in self.task.absences if absence.is_between_rows]
        return len(middle_absences) == len(self.middle_absences_on_data.absences)

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
            path=self.working_arrays["path"],
            table=self.working_arrays["table"],
            counts=self.counts._replace(
                trails=self.working_arrays["trails"], ends=self.working_arrays["ends"]
            ),
            middle_absences=self.middle_absences_on_data,
        )

    def build_arguments(self) -> tuple[object, ...]:
        """Return the arguments of the kernel."""
        rules = self.rules
        selection_rules = self.selection_rules
        rows = self.arrays.rows
        return rules, selection_rules, rows, self.work, self.conditions, self.arrays.negation


def count_trail_words(annotated_task: AnnotatedTask) -> int:
    """Return how many words the trail of a run has: a bit for each occurrence in PATTERN."""
    occurrence_count = max(1, len(annotated_task.occurrences.variables))
    return math.ceil(occurrence_count / WORD_BITS)


def shape_nearest_runs(path_size: int, trail_words: int) -> Shapes:
    """Return the shapes of the arrays with the nearest run from each row of the path on.

    They have one row more than the path, for the nearest run after its last row.
    """
    return {
        "trails": ((path_size + 1, trail_words), np.int64),
        "ends": ((path_size + 1, END_SIZE), np.int64),
    }


def build_run_counts(
    annotated_task: AnnotatedTask, counts: Counts, arrays: SearchInput
) -> RunCounts:
    """Return the arrays that the kernels read and write to count runs.

    The arrays of nearest runs are empty: each search replaces them by its working arrays.

    Args:
        annotated_task: the task, and the parts that are counted.
        counts: the counts to which the search adds.
        arrays: the task and its partitions, as kernels read them.
    """
    occurrences = annotated_task.occurrences
    program = arrays.rules.program
    parts_first, parts = build_parts(annotated_task)
    no_runs = np.empty((0, 0), np.int64)
    return RunCounts(
        remaining_rows=np.array(occurrences.remaining_rows, np.int64),
        first_nearer=np.cumsum([0, *map(len, occurrences.nearer_choices)]).astype(np.int64),
        nearer_choices=np.array(list(chain.from_iterable(occurrences.nearer_choices)), np.int64),
        occurrences=np.array(occurrences.occurrence_by_choice, np.int64),
        target_states=program[:, layout.TARGET].copy(),
        tested_variables=program[:, layout.TEST].copy(),
        parts_first=parts_first,
        parts=parts,
        reached_counts=counts.reached_counts,
        end_counts=counts.end_counts,
        false_parts=counts.false_parts,
        nearest_of_all=counts.nearest_of_all,
        notes=counts.notes,
        trails=no_runs,
        ends=no_runs,
        remembered_runs=np.empty((0, 0, 0), np.int64),
    )


def find_absences_on_data(
    annotated_task: AnnotatedTask, arrays: SearchInput
) -> layout.NegationArrays:
    """Return the negations between rows of a match whose conditions depend on the data only.

    Such a negation can be decided as soon as the row after it is mapped.
    """
    negation = build_negation_arrays(
        annotated_task.task, arrays.compiled_task, arrays.rows.condition_bits
    )
    absences = negation.absences
    is_between = absences[:, layout.ABSENCE_KIND] == layout.IN_THE_MIDDLE
    has_no_code = absences[:, layout.ABSENCE_CODE] == absences[:, layout.ABSENCE_CODE_END]
    is_on_data = is_between & has_no_code
    return negation._replace(
        absences=absences[is_on_data],
        members=negation.members[is_on_data],
        next_satisfying_rows=negation.next_satisfying_rows[is_on_data],
    )


def build_parts(annotated_task: AnnotatedTask) -> tuple[IntArray, IntArray]:
    """Return `parts_first` and `parts` of `RunCounts`: the parts of the conditions, by variable."""
    rows = []
    for variable_parts in annotated_task.parts:
        for row_condition in variable_parts:
            word, mask = find_bit(Condition(row_condition))
            rows.append((word, mask, NO_START))
    parts_first = np.cumsum([0, *map(len, annotated_task.parts)]).astype(np.int64)
    return parts_first, np.array(rows, np.int64).reshape(-1, nearest_runs.PART_SIZE)
