"""How far starting rows come, against the reference: random patterns, rows, windows, conditions."""

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
from tests.properties.test_engines import LONGER, queries, random_examples, run_dependent, windowed
from tests.references.coverage import NEVER, Ending, cover, number_occurrences
from tests.references.matcher import Failure
from tests.tasks.contiguous import Query, Rows, list_matches, may_of, name_failure, words
from tests.tasks.contiguous import query as query_of
from tests.tasks.copies import cover_both_sizes

pytestmark = pytest.mark.larger  # its examples are

REASONS = ("FALSE", "NO_ROW", "OUT_OF_WINDOW", "ANCHORED")
CAPACITIES = (Capacity(), Capacity(mapped_rows=3, matches=2, initial_rows=1))
PARTS = ("A", "B", "A+", "A*", "B+?", "A? B", "^ A | B", "(A B)?", "A | B | ()", "A{1,2}", "A $")
SHORT = st.lists(st.sets(st.sampled_from("ABC")).map(frozenset), min_size=1, max_size=6).map(tuple)


@dataclass
class Outcome:
    """came: by occurrence. ended: by the last occurrence, if any, and why. false: by that, with the
    variable and whether it is what depends on the run that was not true.
    """

    came: Counter[int] = field(default_factory=Counter)
    ended: Counter[tuple[int | None, str]] = field(default_factory=Counter)
    false: Counter[tuple[int | None, str, bool]] = field(default_factory=Counter)
    best: tuple[int, int] = (NEVER, -1)
    matches: list[int] = field(default_factory=list)


def coverable(query: Query, *, windowed: bool = False) -> AnnotatedTask:
    """Conditions of two parts: the word of the row, and what depends on the run."""
    task = query.task()
    found = compile_occurrences(task.pattern, query.pattern)
    parts = [
        (index, None) if name in query.run_conditions else (index,)
        for index, name in enumerate(query.variables)
    ]
    task = replace(task, pattern=found.pattern, has_window=windowed)
    return AnnotatedTask(task, found, tuple(parts))


def run_search(query: Query, rows: Rows, capacity: Capacity) -> Outcome | str:
    asked = coverable(query, windowed=rows.window_end is not None)
    try:
        counts, chunks = cover_both_sizes(asked, rows.partitions(query.variables), capacity)
    except RunFailure as failure:
        return name_failure(failure)
    last = [None, *range(len(asked.occurrences.variables))]
    parts = [
        (query.variables[variable], part is None)
        for variable, parts in enumerate(asked.parts)
        for part in parts
    ]
    found = Outcome(came=Counter(dict(enumerate(counts.reached.tolist()))))
    for choice, reason in np.argwhere(counts.end_counts).tolist():
        place = None if choice == 0 else asked.occurrences.occurrence_by_choice[choice - 1]
        found.ended[place, REASONS[reason]] += int(counts.end_counts[choice, reason])
    for place, part in np.argwhere(counts.false_parts).tolist():
        found.false[(last[place], *parts[part])] = int(counts.false_parts[place, part])
    remaining, start = counts.nearest_of_all.tolist()
    found.best = NEVER if remaining == UNREACHABLE else remaining, start
    found.matches = [m[2] for chunk in chunks for m in list_matches(chunk, query.variables)]
    return found


def run_reference(query: Query, rows: Rows) -> Outcome | str:
    whole, names = Outcome(), number_occurrences(query.pattern)[1]
    for number, (row_words, offset) in enumerate(zip(rows.words, rows.offsets, strict=False)):
        ends = rows.window_end[number] if rows.window_end else [len(row_words)] * len(row_words)
        may = may_of(query, rows, number)
        try:
            found = cover(query.pattern, may, query.after_match, query.members, ends)
        except Failure as failure:
            return failure.kind
        whole.came.update(one for taken in found.furthest for one in set(taken))
        whole.matches += [offset + start for start in found.matches]
        for ending in found.endings:
            whole.ended[ending.last, ending.reason(len(row_words))] += 1
            if ending.taken and ending.needed < whole.best[0]:
                whole.best = ending.needed, offset + ending.start
            if ending.row < ending.bound:
                whole.false.update(list_false_parts(query, ending, names, row_words[ending.row]))
    return whole


def list_false_parts(
    query: Query, one: Ending, names: tuple[str, ...], word: frozenset[str]
) -> set[tuple[int | None, str, bool]]:
    """Return what was not true of variables that would have brought a run nearer to a match."""
    return {(one.last, names[other], names[other] in word) for other in one.nearer}


def assert_agreement(query: Query, rows: Rows) -> None:
    expected = run_reference(query, rows)
    for capacity in CAPACITIES:
        found = run_search(query, rows, capacity)
        if isinstance(expected, str) or isinstance(found, str):
            assert found == expected
            continue
        found.came = +found.came
        assert found == expected, show_pattern(query.pattern)


@random_examples
@given(queries(), st.lists(LONGER, min_size=1, max_size=2).map(tuple))
def test_random_patterns(query: Query, rows: tuple[tuple[frozenset[str], ...], ...]) -> None:
    assert_agreement(query, Rows(rows))


@random_examples
@given(st.data())
def test_random_patterns_in_windows(data: st.DataObject) -> None:
    rows = Rows(data.draw(st.lists(LONGER, min_size=1, max_size=2).map(tuple)))
    assert_agreement(data.draw(queries()), data.draw(windowed(rows)))


@pytest.mark.night  # compiles a search of its own
@random_examples
@given(run_dependent())
def test_random_conditions_that_depend_on_the_run(case: tuple[Query, Rows]) -> None:
    assert_agreement(*case)


def permutations() -> st.SearchStrategy[RowPattern]:
    """PERMUTE of parts with several words, on its own, once more, and beside another part."""
    part = st.sampled_from(PARTS).map(lambda text: query_of(text).pattern)
    permuted = st.lists(part, min_size=2, max_size=4).map(make_permutation)
    return st.one_of(
        permuted,
        permuted.map(lambda one: Quantified(one, 1, None)),
        st.tuples(part, permuted).map(make_concatenation),
        st.tuples(permuted, part).map(make_concatenation),
    )


@random_examples
@given(permutations(), st.lists(SHORT, min_size=1, max_size=2).map(tuple))
def test_random_permutations(
    pattern: RowPattern, rows: tuple[tuple[frozenset[str], ...], ...]
) -> None:
    assert_agreement(Query(pattern), Rows(rows))


@pytest.mark.night  # compiles a search of its own
def test_whatever_brings_the_nearest_run_nearer_has_ended_it() -> None:
    """PERMUTE(A, A | B, B) names A, A, B, B: occurrences 0 to 3. No A is true in a run.

    From `ABC` on: it may be 2 or 3, after which two rows more are needed. The orders of parts that
    begin with the second part are preferred to those that begin with the third: the nearest run is
    2. Its orders go on with 0 3 or with 3 0, so that A and B each would have brought it nearer.
    Both were not true of the next row, which is in no word. From that row on, none of A and B was.
    """
    null = Constant(None, Kind.INTEGER)
    never = build_operation(Comparison.EQUAL, null, null)
    query = query_of("PERMUTE(A, A | B, B)")
    expected = Outcome(
        came=Counter({2: 1}),
        ended=Counter({(2, "FALSE"): 1, (None, "FALSE"): 1}),
        false=Counter((last, name, False) for last in (2, None) for name in "AB"),
        best=(2, 0),
    )
    for rows, conditions in (("ABC -", {"A": never}), ("B -", {})):
        asked = replace(query, run_conditions=conditions)
        assert run_reference(asked, words(rows)) == expected
        assert_agreement(asked, words(rows))


def test_a_row_that_leads_back_to_the_start_is_past_its_anchor() -> None:
    """After A of `A* ^ A B`, no row more makes a match: the run without rows is the nearest."""
    query, rows = query_of("A* ^ A B"), words("- A")
    assert run_reference(query, rows) == Outcome(
        ended=Counter({(None, "FALSE"): 1, (None, "ANCHORED"): 1}),
        false=Counter({(None, "A", False): 1}),
    )
    assert_agreement(query, rows)


def test_nearest_runs_are_still_known_when_the_path_has_grown() -> None:
    """B fails on rows 1 to 3. The second way is longer than the path; the search begins again.

    Then it must still know how far the first way came: C would have made A B B a match.
    """
    query, rows = query_of("A B* C | A D* E F"), words("A BD BD " + "D " * 9 + "-")
    expected = run_reference(query, rows)
    assert isinstance(expected, Outcome)
    assert expected.best == (1, 0)
    assert expected.came == {0: 1, 1: 1}
    found = run_search(query, rows, Capacity(initial_rows=2))
    assert isinstance(found, Outcome)
    found.came = +found.came
    assert found == expected


def test_more_occurrences_than_a_word_has_bits() -> None:
    """Each A of 34 pairs begins a run to the last row; no B begins one."""
    query = query_of("A B " * 35)
    found = run_search(query, words("A B " * 34), Capacity())
    assert isinstance(found, Outcome)
    assert [found.came[place] for place in range(70)] == [34 - place // 2 for place in range(70)]
    assert found.ended[None, "FALSE"] == 34
    assert found.ended[67, "NO_ROW"] == found.ended[1, "NO_ROW"] == 1
    assert found.best == (2, 0)


@pytest.mark.night  # compiles a search of its own
def test_ways_that_multiply_meet_where_conditions_read_the_same() -> None:
    """Each row may be A or B: 2^40 ways from the first row on, 40 counts of A at each row."""
    count = RunAggregate(Reduction.COUNT, "A", None, Kind.INTEGER)
    never = build_operation(Comparison.GREATER, count, Constant(1000, Kind.INTEGER))
    query = replace(query_of("(A | B)* C"), run_conditions={"C": never})
    found = run_search(query, words("ABC " * 40), Capacity(initial_rows=1))
    assert isinstance(found, Outcome)
    assert +found.came == {0: 40}
    assert +found.ended == {(0, "NO_ROW"): 40}
