"""Coverage with event selection: the same as in the reference, and as worked out by hand.

Coverage says how far the runs of each starting row get, and why the nearest of them ended.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from matchrec.automaton.occurrences import compile_occurrences, find_stage_occurrences
from matchrec.conditions.run_condition import (
    Comparison,
    Constant,
    Reduction,
    RunAggregate,
    TriedMatchNumber,
    build_operation,
    walk_expression,
)
from matchrec.conditions.types import Kind
from matchrec.plan.clauses import Absence, EventSelection, MatchOutput
from matchrec.plan.pattern import list_variable_names, show_pattern
from matchrec.search.coverage import AnnotatedTask
from matchrec.search.task import Capacity
from tests.cases.pattern_notation import Question, build_pattern
from tests.generators.pattern_trees import Pattern
from tests.generators.patterns import questions
from tests.generators.selection import cases, general, sequences
from tests.properties.test_selection import random_examples
from tests.references.event_selection import SelectionQuery
from tests.references.patterns import Search, TooManyWaysError
from tests.references.selection_coverage import Run, cover
from tests.tasks.copies import cover_both_sizes
from tests.tasks.patterns import make_search, split_pattern
from tests.tasks.selection import ANY, NEXT, STRICT, WindowedRows, build_task, make_query, make_rows

pytestmark = pytest.mark.night  # compiles searches of its own

REASONS = ("FALSE", "NO_ROW", "OUT_OF_WINDOW", "ANCHORED", "FORBIDDEN")
ALL, PREFERRED = MatchOutput.ALL, MatchOutput.PREFERRED


class Outcome(NamedTuple):
    """The coverage of a query over some rows."""

    # By occurrence: the number of starting rows whose nearest run has reached it.
    reached: Counter[int]
    # The number of nearest runs by their last occurrence (None without rows) and the reason of
    # their end.
    ended: Counter[tuple[int | None, str]]
    # The starting rows of matches.
    matches: list[int]


def run_search(query: SelectionQuery, rows: WindowedRows, capacity: Capacity) -> Outcome:
    """Return the coverage that the search computes."""
    task = build_task(query)
    occurrences = compile_occurrences(task.pattern, query.pattern, all_matches=query.output is ALL)
    parts = tuple((number,) for number in range(len(task.conditions)))
    annotated_task = AnnotatedTask(replace(task, pattern=occurrences.pattern), occurrences, parts)
    partitions = rows.partitions(query.variables)
    counts, chunks = cover_both_sizes(annotated_task, partitions, capacity)
    ended: Counter[tuple[int | None, str]] = Counter()
    for way, reason in np.argwhere(counts.end_counts).tolist():
        # Way 0 is a run without rows; the others are the choices, from the first one on.
        occurrence = None if way == 0 else occurrences.occurrence_by_choice[way - 1]
        ended[occurrence, REASONS[reason]] += int(counts.end_counts[way, reason])
    reached = +Counter(dict(enumerate(counts.reached_counts.tolist())))
    return Outcome(reached, ended, [start for chunk in chunks for start in chunk.start.tolist()])


def run_reference(query: SelectionQuery, rows: WindowedRows) -> Outcome:
    """Return the coverage that the reference computes, of the starting rows without a match.

    A starting row with several matches is left out: the search chooses which of them it counts.
    """
    reached: Counter[int] = Counter()
    ended: Counter[tuple[int | None, str]] = Counter()
    starts = []
    for number, partition in enumerate(rows.build_partitions(query)):
        for start, covered in enumerate(cover(partition)):
            if covered.begins_match:
                starts.append(rows.offsets[number] + start)
                continue
            reached.update(set(covered.nearest.occurrences))
            last = covered.nearest.occurrences[-1] if covered.nearest.occurrences else None
            window_end = partition.window_end[start]
            reason = find_end_reason(covered.nearest, window_end, len(partition.words))
            ended[last, reason] += 1
    return Outcome(reached, ended, starts)


def find_end_reason(run: Run, window_end: int, row_count: int) -> str:
    """Return why a run has ended, as one of REASONS.

    Args:
        run: the run.
        window_end: the first row after the window of its starting row.
        row_count: the number of rows of the partition.
    """
    if run.end <= window_end:
        return "FALSE"
    return "NO_ROW" if window_end == row_count else "OUT_OF_WINDOW"


def assert_agreement(query: SelectionQuery, rows: WindowedRows) -> None:
    """Assert that the search has the coverage of the reference."""
    expected = run_reference(query, rows)
    for capacity in (Capacity(), Capacity(mapped_rows=3, matches=2, initial_rows=1)):
        outcome = run_search(query, rows, capacity)
        assert outcome.matches == expected.matches, show_pattern(query.pattern)
        assert outcome.ended == expected.ended, show_pattern(query.pattern)
        if not outcome.matches:
            assert outcome.reached == expected.reached, show_pattern(query.pattern)


@pytest.mark.parametrize("selection", [ANY, NEXT, STRICT])
@random_examples
@given(st.data())
def test_coverage_of_random_sequences_is_that_of_the_reference(
    selection: EventSelection, data: st.DataObject
) -> None:
    random_cases = cases(
        shapes=sequences(), selection=selection, output=ALL, depends_on_run=False, most_rows=6
    )
    query, rows = data.draw(random_cases.filter(lambda case: not case[0].absences))
    assert_agreement(query, rows)


@pytest.mark.parametrize("selection", [ANY, STRICT])
@random_examples
@given(st.data())
def test_coverage_of_random_patterns_is_that_of_the_reference(
    selection: EventSelection, data: st.DataObject
) -> None:
    random_cases = cases(
        shapes=general(), selection=selection, output=ALL, depends_on_run=False, most_rows=5
    )
    assert_agreement(*data.draw(random_cases.filter(lambda case: not case[0].absences)))


@pytest.mark.parametrize(
    ("selection", "output"),
    [(ANY, ALL), (NEXT, ALL), (STRICT, ALL), (ANY, PREFERRED), (NEXT, PREFERRED)],
)
@random_examples
@given(st.data())
def test_random_conditions_on_the_run(
    selection: EventSelection, output: MatchOutput, data: st.DataObject
) -> None:
    """The starting rows of matches are right, also with absences and closing conditions.

    Preferred matches with strict contiguity are tested in `test_coverage.py`.
    """
    random_cases = cases(
        shapes=sequences(), selection=selection, output=output, depends_on_run=True, most_rows=6
    )
    query, rows = data.draw(random_cases)
    assume(not reads_match_number(query))
    starts = [
        rows.offsets[number] + start
        for number, partition in enumerate(rows.build_partitions(query))
        for start in range(len(partition.words))
        if any(match or output is PREFERRED for match in partition.find_matches_from(start))
    ]
    for capacity in (Capacity(), Capacity(mapped_rows=3, matches=2, initial_rows=1)):
        assert run_search(query, rows, capacity).matches == starts, show_pattern(query.pattern)


def reads_match_number(query: SelectionQuery) -> bool:
    """Return whether a condition of a query reads the number of the match."""
    conditions = [*query.run_conditions.values(), *([query.closing] if query.closing else [])]
    return any(
        isinstance(part, TriedMatchNumber)
        for condition in conditions
        for part in walk_expression(condition)
    )


@random_examples
@given(questions())
def test_random_patterns_of_stages(question: Question) -> None:
    """The number of rows that begin a match is the number of the definitions of stages.

    Only numbers are compared: rows that no stage can take are not in the partitions, so rows have
    other positions there.
    """
    (stream,) = question.streams.values()
    try:
        matches = Search(build_pattern(question.calls, Pattern), stream).matches
    except TooManyWaysError:
        assume(False)
    starts = len({match.first for match in matches})
    task, partitions = make_search(question)
    stages = len(list_variable_names(split_pattern(question).plan.pattern))
    occurrences = find_stage_occurrences(task.pattern, stages)
    no_parts: tuple[tuple[int | None, ...], ...] = tuple(() for _ in task.conditions)
    annotated_task = AnnotatedTask(task, occurrences, no_parts)
    counts, chunks = cover_both_sizes(annotated_task, partitions, Capacity())
    assert sum(chunk.count for chunk in chunks) == starts
    assert counts.end_counts.sum() + starts == partitions.row_count


def cover_rows(query: SelectionQuery, rows: WindowedRows) -> Outcome:
    """Return the coverage of a query, with the usual capacity."""
    return run_search(query, rows, Capacity())


def test_a_run_ends_with_its_partition_or_its_window() -> None:
    reached, ended, _ = cover_rows(make_query("A B C", ANY), make_rows("A B - A"))
    assert reached == {0: 2, 1: 1}
    assert ended == {(1, "NO_ROW"): 1, (0, "NO_ROW"): 1, (None, "FALSE"): 2}
    _, ended, _ = cover_rows(make_query("A B C", ANY), make_rows("A B C", 2, 3, 3))
    assert ended == {(1, "OUT_OF_WINDOW"): 1, (None, "FALSE"): 2}


def test_a_row_that_may_not_be_skipped_ends_a_run() -> None:
    """After A B, `(A B)+ C` must take the next A under skip till next match."""
    _, ended, _ = cover_rows(make_query("(A B)+ C", NEXT), make_rows("A B A C"))
    assert ended == {(1, "FALSE"): 1, (0, "NO_ROW"): 1, (None, "FALSE"): 2}
    _, ended, _ = cover_rows(make_query("(A B)+ C", NEXT), make_rows("A B A"))
    assert ended == {(1, "FALSE"): 1, (0, "NO_ROW"): 1, (None, "FALSE"): 1}


def test_a_forbidden_row_ends_a_run() -> None:
    query = replace(make_query("A B", ANY), absences=(Absence("M", ("A",), ("B",)),))
    reached, ended, starts = cover_rows(query, make_rows("A M B A B"))
    assert reached == {0: 2, 1: 1}
    assert ended == {(0, "FORBIDDEN"): 1, (None, "FALSE"): 3}
    assert starts == [3]


def test_ways_are_merged_if_conditions_read_the_same_from_them() -> None:
    """Each B may be taken or skipped: there are 2^40 ways, but only 40 counts of B at a row."""
    count = RunAggregate(Reduction.COUNT, "B", None, Kind.INTEGER)
    never = build_operation(Comparison.GREATER, count, Constant(1000, Kind.INTEGER))
    query = replace(make_query("A B+ C", ANY), run_conditions={"C": never})
    reached, ended, starts = cover_rows(query, make_rows("A " + "BC " * 40))
    assert (reached, starts) == ({0: 1, 1: 1}, [])
    assert ended == {(1, "NO_ROW"): 1, (None, "FALSE"): 40}
