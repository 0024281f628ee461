"""How far starting rows come where rows may be skipped, against the reference and by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

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
from tests.references.patterns import Search, TooMuchError
from tests.references.selection_coverage import Run, cover
from tests.tasks.copies import cover_both_sizes
from tests.tasks.patterns import make_search, split_pattern
from tests.tasks.selection import ANY, NEXT, STRICT, WindowedRows, make_rows, query, task

pytestmark = pytest.mark.night  # compiles searches of its own

REASONS = ("FALSE", "NO_ROW", "OUT_OF_WINDOW", "ANCHORED", "FORBIDDEN")
ALL, PREFERRED = MatchOutput.ALL, MatchOutput.PREFERRED
Outcome = tuple[Counter[int], Counter[tuple[int | None, str]], list[int]]


def run_search(asked: SelectionQuery, rows: WindowedRows, capacity: Capacity) -> Outcome:
    one = task(asked)
    found = compile_occurrences(one.pattern, asked.pattern, every_way=asked.output is ALL)
    parts = tuple((number,) for number in range(len(one.conditions)))
    coverable = AnnotatedTask(replace(one, pattern=found.pattern), found, parts)
    partitions = rows.partitions(asked.variables)
    counts, chunks = cover_both_sizes(coverable, partitions, capacity)
    ended: Counter[tuple[int | None, str]] = Counter()
    for choice, reason in np.argwhere(counts.end_counts).tolist():
        place = None if choice == 0 else found.occurrence_by_choice[choice - 1]
        ended[place, REASONS[reason]] += int(counts.end_counts[choice, reason])
    came = Counter({i: n for i, n in enumerate(counts.reached.tolist()) if n})
    return came, ended, [start for chunk in chunks for start in chunk.start.tolist()]


def run_reference(asked: SelectionQuery, rows: WindowedRows) -> Outcome:
    """Return what is expected of the starting rows without a match.

    Which of its matches another starting row finds is a choice of the search.
    """
    came: Counter[int] = Counter()
    ended: Counter[tuple[int | None, str]] = Counter()
    begun = []
    for number, partition in enumerate(rows.seen_by(asked)):
        for start, one in enumerate(cover(partition)):
            if one.begins:
                begun.append(rows.offsets[number] + start)
                continue
            came.update(set(one.nearest.taken))
            last = one.nearest.taken[-1] if one.nearest.taken else None
            ended[last, reason(one.nearest, partition.window_end[start], len(partition.words))] += 1
    return came, ended, begun


def reason(run: Run, end: int, rows: int) -> str:
    if run.until <= end:
        return "FALSE"
    return "NO_ROW" if end == rows else "OUT_OF_WINDOW"


def assert_agreement(asked: SelectionQuery, rows: WindowedRows) -> None:
    expected = run_reference(asked, rows)
    for capacity in (Capacity(), Capacity(mapped_rows=3, matches=2, initial_rows=1)):
        came, ended, begun = run_search(asked, rows, capacity)
        assert begun == expected[2], show_pattern(asked.pattern)
        assert ended == expected[1], show_pattern(asked.pattern)
        if not begun:
            assert came == expected[0], show_pattern(asked.pattern)


@pytest.mark.parametrize("selection", [ANY, NEXT, STRICT])
@random_examples
@given(st.data())
def test_random_sequences(selection: EventSelection, data: st.DataObject) -> None:
    drawn = cases(
        shapes=sequences(), selection=selection, output=ALL, depends_on_run=False, most_rows=6
    )
    asked, rows = data.draw(drawn.filter(lambda case: not case[0].absences))
    assert_agreement(asked, rows)


@pytest.mark.parametrize("selection", [ANY, STRICT])
@random_examples
@given(st.data())
def test_random_patterns(selection: EventSelection, data: st.DataObject) -> None:
    drawn = cases(
        shapes=general(), selection=selection, output=ALL, depends_on_run=False, most_rows=5
    )
    assert_agreement(*data.draw(drawn.filter(lambda case: not case[0].absences)))


@pytest.mark.parametrize(
    ("selection", "output"),
    [(ANY, ALL), (NEXT, ALL), (STRICT, ALL), (ANY, PREFERRED), (NEXT, PREFERRED)],
)
@random_examples
@given(st.data())
def test_random_conditions_on_the_run(
    selection: EventSelection, output: MatchOutput, data: st.DataObject
) -> None:
    """Where a match begins, whatever must not be there and the match must be as a whole.

    Preferred matches of rows that follow each other, which skip, are those of test_coverage.py.
    """
    drawn = cases(
        shapes=sequences(), selection=selection, output=output, depends_on_run=True, most_rows=6
    )
    asked, rows = data.draw(drawn)
    assume(not reads_match_number(asked))
    begun = [
        rows.offsets[number] + start
        for number, partition in enumerate(rows.seen_by(asked))
        for start in range(len(partition.words))
        if any(one or output is PREFERRED for one in partition.find_matches_from(start))
    ]
    for capacity in (Capacity(), Capacity(mapped_rows=3, matches=2, initial_rows=1)):
        assert run_search(asked, rows, capacity)[2] == begun, show_pattern(asked.pattern)


def reads_match_number(asked: SelectionQuery) -> bool:
    conditions = [*asked.run_conditions.values(), *([asked.closing] if asked.closing else [])]
    return any(
        isinstance(part, TriedMatchNumber)
        for condition in conditions
        for part in walk_expression(condition)
    )


@random_examples
@given(questions())
def test_random_patterns_of_stages(question: Question) -> None:
    """How many rows begin a match, by the definitions of stages.

    Rows that no stage can take are not in the partitions, so their positions are others.
    """
    (stream,) = question.streams.values()
    try:
        matches = Search(build_pattern(question.calls, Pattern), stream).found
    except TooMuchError:
        assume(False)
    begun = len({match.first for match in matches})
    one, partitions = make_search(question)
    stages = len(list_variable_names(split_pattern(question).plan.pattern))
    found = find_stage_occurrences(one.pattern, stages)
    none: tuple[tuple[int | None, ...], ...] = tuple(() for _ in one.conditions)
    coverable = AnnotatedTask(one, found, none)
    counts, chunks = cover_both_sizes(coverable, partitions, Capacity())
    assert sum(chunk.count for chunk in chunks) == begun
    assert counts.end_counts.sum() + begun == partitions.rows


def by_hand(asked: SelectionQuery, rows: WindowedRows) -> Outcome:
    return run_search(asked, rows, Capacity())


def test_a_run_ends_with_its_partition_or_its_window() -> None:
    came, ended, _ = by_hand(query("A B C", ANY), make_rows("A B - A"))
    assert came == {0: 2, 1: 1}
    assert ended == {(1, "NO_ROW"): 1, (0, "NO_ROW"): 1, (None, "FALSE"): 2}
    _, ended, _ = by_hand(query("A B C", ANY), make_rows("A B C", 2, 3, 3))
    assert ended == {(1, "OUT_OF_WINDOW"): 1, (None, "FALSE"): 2}


def test_a_row_that_may_not_be_skipped_ends_a_run() -> None:
    """After A B, `(A B)+ C` must take the next A under skip till next match."""
    _, ended, _ = by_hand(query("(A B)+ C", NEXT), make_rows("A B A C"))
    assert ended == {(1, "FALSE"): 1, (0, "NO_ROW"): 1, (None, "FALSE"): 2}
    _, ended, _ = by_hand(query("(A B)+ C", NEXT), make_rows("A B A"))
    assert ended == {(1, "FALSE"): 1, (0, "NO_ROW"): 1, (None, "FALSE"): 1}


def test_what_must_not_be_there_ends_a_run() -> None:
    asked = replace(query("A B", ANY), absences=(Absence("M", ("A",), ("B",)),))
    came, ended, begun = by_hand(asked, make_rows("A M B A B"))
    assert came == {0: 2, 1: 1}
    assert ended == {(0, "FORBIDDEN"): 1, (None, "FALSE"): 3}
    assert begun == [3]


def test_ways_that_multiply_meet_where_conditions_read_the_same() -> None:
    """Each B may be taken or skipped: 2^40 ways, 40 counts of B at each row."""
    count = RunAggregate(Reduction.COUNT, "B", None, Kind.INTEGER)
    never = build_operation(Comparison.GREATER, count, Constant(1000, Kind.INTEGER))
    asked = replace(query("A B+ C", ANY), run_conditions={"C": never})
    came, ended, begun = by_hand(asked, make_rows("A " + "BC " * 40))
    assert (came, begun) == ({0: 1, 1: 1}, [])
    assert ended == {(1, "NO_ROW"): 1, (None, "FALSE"): 40}
