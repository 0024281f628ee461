"""Coverage of contiguous searches: the same as in the reference, for random patterns and rows.

Coverage says how far the runs of each starting row get, and why the nearest of them ended.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchrec.automaton.facts import UNREACHABLE
from matchrec.automaton.occurrences import compile_occurrences
from matchrec.conditions.run_condition import (
    Comparison,
    Constant,
    Reduction,
    RunAggregate,
    build_operation,
)
from matchrec.conditions.types import Kind
from matchrec.plan.pattern import (
    Quantified,
    RowPattern,
    make_concatenation,
    make_permutation,
    show_pattern,
)
from matchrec.search.coverage import AnnotatedTask
from matchrec.search.matches import RunFailure
from matchrec.search.task import Capacity
from tests.properties.test_algorithms import (
    LONG_PARTITION,
    add_windows,
    cases_with_run_conditions,
    queries,
    random_examples,
)
from tests.references.coverage import NEVER, Ending, cover, number_occurrences
from tests.references.matcher import Failure
from tests.tasks.contiguous import (
    Query,
    Rows,
    build_can_map,
    list_matches,
    make_query,
    name_failure,
    read_rows,
)
from tests.tasks.copies import cover_both_sizes

pytestmark = pytest.mark.larger  # its examples are

REASONS = ("FALSE", "NO_ROW", "OUT_OF_WINDOW", "ANCHORED")
CAPACITIES = (Capacity(), Capacity(mapped_rows=3, matches=2, initial_rows=1))
PARTS = ("A", "B", "A+", "A*", "B+?", "A? B", "^ A | B", "(A B)?", "A | B | ()", "A{1,2}", "A $")
SHORT = st.lists(st.sets(st.sampled_from("ABC")).map(frozenset), min_size=1, max_size=6).map(tuple)


@dataclass
class Outcome:
    """The coverage of a query over some rows."""

    # By occurrence: the number of starting rows whose nearest run or match has reached it.
    reached: Counter[int] = field(default_factory=Counter)
    # The number of nearest runs by their last occurrence (None without rows) and the reason of
    # their end.
    ended: Counter[tuple[int | None, str]] = field(default_factory=Counter)
    # The number of nearest runs by their last occurrence, a variable that would have brought them
    # nearer, and whether its condition on the run (not its row condition) was false.
    false_parts: Counter[tuple[int | None, str, bool]] = field(default_factory=Counter)
    # The number of rows that the nearest run of all still needs, and its starting row.
    nearest: tuple[int, int] = (NEVER, -1)
    # The starting rows of matches.
    matches: list[int] = field(default_factory=list)


def build_annotated_task(query: Query, *, windowed: bool = False) -> AnnotatedTask:
    """Build the task of a coverage search.

    A condition has one or two parts: the row condition, and the condition on the run.
    """
    task = query.task()
    occurrences = compile_occurrences(task.pattern, query.pattern)
    parts = [
        (index, None) if name in query.run_conditions else (index,)
        for index, name in enumerate(query.variables)
    ]
    task = replace(task, pattern=occurrences.pattern, has_window=windowed)
    return AnnotatedTask(task, occurrences, tuple(parts))


def run_search(query: Query, rows: Rows, capacity: Capacity) -> Outcome | str:
    """Return the coverage that the search computes, or the kind of its failure."""
    task = build_annotated_task(query, windowed=rows.window_end is not None)
    try:
        counts, chunks = cover_both_sizes(task, rows.partitions(query.variables), capacity)
    except RunFailure as failure:
        return name_failure(failure)
    # Index 0 of `false_parts` is a run without rows; the others are the occurrences.
    last_occurrences = [None, *range(len(task.occurrences.variables))]
    # For each part of a condition: its variable, and whether it is the condition on the run.
    parts = [
        (query.variables[variable], part is None)
        for variable, parts_of_variable in enumerate(task.parts)
        for part in parts_of_variable
    ]
    outcome = Outcome(reached=+Counter(dict(enumerate(counts.reached_counts.tolist()))))
    for way, reason in np.argwhere(counts.end_counts).tolist():
        # Way 0 is a run without rows; the others are the choices, from the first one on.
        occurrence = None if way == 0 else task.occurrences.occurrence_by_choice[way - 1]
        outcome.ended[occurrence, REASONS[reason]] += int(counts.end_counts[way, reason])
    for occurrence, part in np.argwhere(counts.false_parts).tolist():
        key = (last_occurrences[occurrence], *parts[part])
        outcome.false_parts[key] = int(counts.false_parts[occurrence, part])
    needed, start = counts.nearest_of_all.tolist()
    outcome.nearest = NEVER if needed == UNREACHABLE else needed, start
    matches = (match for chunk in chunks for match in list_matches(chunk, query.variables))
    outcome.matches = [match.start for match in matches]
    return outcome


def run_reference(query: Query, rows: Rows) -> Outcome | str:
    """Return the coverage that the reference computes, or the kind of its failure."""
    outcome = Outcome()
    _, names = number_occurrences(query.pattern)
    for number, (row_words, offset) in enumerate(zip(rows.words, rows.offsets, strict=False)):
        ends = rows.window_end[number] if rows.window_end else [len(row_words)] * len(row_words)
        can_map = build_can_map(query, rows, number)
        try:
            covered = cover(
                query.pattern, can_map, query.after_match, query.primary_variables, ends
            )
        except Failure as failure:
            return failure.kind
        outcome.reached.update(
            occurrence for occurrences in covered.furthest for occurrence in set(occurrences)
        )
        outcome.matches += [offset + start for start in covered.matches]
        for ending in covered.endings:
            outcome.ended[ending.last, ending.reason(len(row_words))] += 1
            if ending.occurrences and ending.needed < outcome.nearest[0]:
                outcome.nearest = ending.needed, offset + ending.start
            if ending.row < ending.window_end:
                outcome.false_parts.update(
                    list_false_parts(query, ending, names, row_words[ending.row])
                )
    return outcome


def list_false_parts(
    query: Query, ending: Ending, names: tuple[str, ...], word: frozenset[str]
) -> set[tuple[int | None, str, bool]]:
    """Return the false parts of the conditions that would have brought a run nearer to a match."""
    return {
        (ending.last, names[occurrence], names[occurrence] in word) for occurrence in ending.nearer
    }


def assert_agreement(query: Query, rows: Rows) -> None:
    """Assert that the search has the coverage of the reference."""
    expected = run_reference(query, rows)
    for capacity in CAPACITIES:
        outcome = run_search(query, rows, capacity)
        assert outcome == expected, show_pattern(query.pattern)


@random_examples
@given(queries(), st.lists(LONG_PARTITION, min_size=1, max_size=2).map(tuple))
def test_coverage_of_random_patterns_is_that_of_the_reference(
    query: Query, rows: tuple[tuple[frozenset[str], ...], ...]
) -> None:
    assert_agreement(query, Rows(rows))


@random_examples
@given(st.data())
def test_random_patterns_in_windows(data: st.DataObject) -> None:
    rows = Rows(data.draw(st.lists(LONG_PARTITION, min_size=1, max_size=2).map(tuple)))
    assert_agreement(data.draw(queries()), data.draw(add_windows(rows)))


@pytest.mark.night  # compiles a search of its own
@random_examples
@given(cases_with_run_conditions())
def test_random_conditions_that_depend_on_the_run(case: tuple[Query, Rows]) -> None:
    assert_agreement(*case)


def permutations() -> st.SearchStrategy[RowPattern]:
    """Draw PERMUTE of parts with several words: alone, in a loop, or before or after a part."""
    part = st.sampled_from(PARTS).map(lambda text: make_query(text).pattern)
    permutation_patterns = st.lists(part, min_size=2, max_size=4).map(make_permutation)
    return st.one_of(
        permutation_patterns,
        permutation_patterns.map(lambda permutation: Quantified(permutation, 1, None)),
        st.tuples(part, permutation_patterns).map(make_concatenation),
        st.tuples(permutation_patterns, part).map(make_concatenation),
    )


@random_examples
@given(permutations(), st.lists(SHORT, min_size=1, max_size=2).map(tuple))
def test_coverage_of_random_permutations_is_that_of_the_reference(
    pattern: RowPattern, rows: tuple[tuple[frozenset[str], ...], ...]
) -> None:
    assert_agreement(Query(pattern), Rows(rows))


@pytest.mark.night  # compiles a search of its own
def test_all_variables_that_would_bring_the_nearest_run_nearer_are_counted() -> None:
    """PERMUTE(A, A | B, B) names A, A, B, B: occurrences 0 to 3. No A is true in a run.

    Row `ABC` can be occurrence 2 or 3, and two more rows are needed after it. An order of parts
    that begins with the second part is preferred to one that begins with the third, so the nearest
    run is 2. It goes on with 0 3 or with 3 0, so A and B would each have brought it nearer. Both
    are false for the next row, `-`. As a starting row, that row satisfies neither A nor B.
    """
    null = Constant(None, Kind.INTEGER)
    never = build_operation(Comparison.EQUAL, null, null)
    query = make_query("PERMUTE(A, A | B, B)")
    expected = Outcome(
        reached=Counter({2: 1}),
        ended=Counter({(2, "FALSE"): 1, (None, "FALSE"): 1}),
        false_parts=Counter((last, name, False) for last in (2, None) for name in "AB"),
        nearest=(2, 0),
    )
    for rows, conditions in (("ABC -", {"A": never}), ("B -", {})):
        conditioned = replace(query, run_conditions=conditions)
        assert run_reference(conditioned, read_rows(rows)) == expected
        assert_agreement(conditioned, read_rows(rows))


def test_a_row_that_leads_back_to_the_start_is_past_its_anchor() -> None:
    """After the A of `A* ^ A B`, no more rows make a match: the run without rows is nearest."""
    query, rows = make_query("A* ^ A B"), read_rows("- A")
    assert run_reference(query, rows) == Outcome(
        ended=Counter({(None, "FALSE"): 1, (None, "ANCHORED"): 1}),
        false_parts=Counter({(None, "A", False): 1}),
    )
    assert_agreement(query, rows)


def test_nearest_runs_are_still_known_when_the_path_has_grown() -> None:
    """The second way is longer than the memory for the path, so the search begins again.

    It must still know how far the first way got: C would have made A B B a match.
    """
    query, rows = make_query("A B* C | A D* E F"), read_rows("A BD BD " + "D " * 9 + "-")
    expected = run_reference(query, rows)
    assert isinstance(expected, Outcome)
    assert expected.nearest == (1, 0)
    assert expected.reached == {0: 1, 1: 1}
    assert run_search(query, rows, Capacity(initial_rows=2)) == expected


def test_more_occurrences_than_a_word_has_bits() -> None:
    """Each A of 34 pairs begins a run that goes up to the last row. No B begins a run."""
    query = make_query("A B " * 35)
    outcome = run_search(query, read_rows("A B " * 34), Capacity())
    assert isinstance(outcome, Outcome)
    assert [outcome.reached[occurrence] for occurrence in range(70)] == [
        34 - occurrence // 2 for occurrence in range(70)
    ]
    assert outcome.ended[None, "FALSE"] == 34
    assert outcome.ended[67, "NO_ROW"] == outcome.ended[1, "NO_ROW"] == 1
    assert outcome.nearest == (2, 0)


@pytest.mark.night  # compiles a search of its own
def test_ways_are_merged_if_conditions_read_the_same_from_them() -> None:
    """Each row may be A or B: there are 2^40 ways, but only 40 different counts of A at a row."""
    count = RunAggregate(Reduction.COUNT, "A", None, Kind.INTEGER)
    never = build_operation(Comparison.GREATER, count, Constant(1000, Kind.INTEGER))
    query = replace(make_query("(A | B)* C"), run_conditions={"C": never})
    outcome = run_search(query, read_rows("ABC " * 40), Capacity(initial_rows=1))
    assert isinstance(outcome, Outcome)
    assert outcome.reached == {0: 40}
    assert +outcome.ended == {(0, "NO_ROW"): 40}
