"""NOT in contiguous patterns: each algorithm finds what the reference matcher finds.

For NOT the reference looks at the row after a word.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from matchrec.conditions.run_condition import RunExpression
from matchrec.errors import MatchRecognizeUnsupportedError
from matchrec.plan.clauses import AfterMatchSkip, MatchOutput
from matchrec.plan.pattern import Negation, RowPattern, Variable, list_negations, make_concatenation
from matchrec.search.strategies import SearchAlgorithm
from tests.generators.selection import after_match_skips
from tests.properties.test_algorithms import (
    LONG_PARTITION,
    PARTITIONS,
    VARIABLES,
    add_run_conditions,
    add_windows,
    assert_agreement,
    assert_agreement_in_pieces,
    assert_longest,
    trees,
)
from tests.quick.scale import examples
from tests.references.matcher import WordSearch
from tests.tasks.contiguous import (
    Query,
    Rows,
    build_can_map,
    build_satisfies,
    make_query,
    read_rows,
    run_algorithm,
)

random_examples = settings(
    max_examples=examples(48),
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def patterns() -> st.SearchStrategy[RowPattern]:
    """Draw patterns with NOTs. They begin with a variable, because NOT must follow a row."""
    names = st.lists(st.sampled_from(VARIABLES), min_size=1, max_size=2, unique=True)
    atoms = st.one_of(
        st.sampled_from([Variable(name) for name in VARIABLES]),
        st.sampled_from([Variable(name) for name in VARIABLES]),
        names.map(lambda chosen: Negation(tuple(chosen))),
    )
    first = st.sampled_from([Variable("A"), Variable("B")])
    return st.builds(lambda *parts: make_concatenation(parts), first, trees(atoms))


@st.composite
def queries(draw: st.DrawFn) -> Query:
    """Draw a query with NOTs that is supported."""
    query = Query(draw(patterns()))
    try:
        query.task()
    except MatchRecognizeUnsupportedError:  # it may end with one NOT or with another
        assume(False)
    subsets = {"U": draw(st.frozensets(st.sampled_from(query.variables), min_size=1))}
    return Query(query.pattern, draw(after_match_skips((*query.variables, "U"))), subsets)


def drop_conditions(
    conditions: dict[str, RunExpression], names: set[str]
) -> dict[str, RunExpression]:
    """Return the conditions without the negated variables, which these tasks cannot have."""
    return {name: condition for name, condition in conditions.items() if name not in names}


@random_examples
@given(st.data(), st.integers(0, 4))
def test_random_patterns_with_negations(data: st.DataObject, step: int) -> None:
    query = data.draw(queries())
    rows = Rows(data.draw(PARTITIONS))
    if data.draw(st.booleans()):
        query, rows = data.draw(add_run_conditions(query))
        negated = {name for negation in list_negations(query.pattern) for name in negation.names}
        query = replace(query, run_conditions=drop_conditions(query.run_conditions, negated))
    if data.draw(st.booleans()):
        rows = data.draw(add_windows(rows))
    if step:
        assert_agreement_in_pieces(query, rows, step)
    else:
        assert_agreement(query, rows)


@random_examples
@given(st.data(), st.integers(0, 4))
def test_random_longest_matches_with_negations(data: st.DataObject, step: int) -> None:
    rows = Rows(data.draw(st.lists(LONG_PARTITION, min_size=1, max_size=2).map(tuple)))
    query = replace(data.draw(queries()), output=MatchOutput.LONGEST)
    assert_longest(query, rows, step)


@pytest.mark.parametrize(
    "text",
    ["A NOT B C", "A+ NOT B", "A+? NOT B", "(A NOT B)+ C?", "A (B | NOT C) A*", "A B* NOT (A | C)"],
)
def test_negations_on_all_small_inputs(text: str) -> None:
    rows = itertools.product(("A", "B", "AB", "C", "AC"), repeat=3)
    assert_agreement(make_query(text), read_rows("/".join(" ".join(row) for row in rows)))


@random_examples
@given(st.data())
def test_random_patterns_give_all_matches(data: st.DataObject) -> None:
    """ALL MATCHES gives every word of every starting row once."""
    query = replace(data.draw(queries()), output=MatchOutput.ALL, after_match=AfterMatchSkip())
    rows = Rows(data.draw(PARTITIONS))
    for algorithm in (SearchAlgorithm("backtracking"), SearchAlgorithm("breadth_first")):
        outcome = run_algorithm(algorithm, query, rows)
        assert isinstance(outcome, list)
        matches = [
            (partition, start, remove_brackets(word)) for partition, _, start, word in outcome
        ]
        assert sorted(matches) == sorted(list_all_matches(query, rows)), algorithm


def list_all_matches(query: Query, rows: Rows) -> set[tuple[int, int, str]]:
    """Return all matches that are not empty: partition, first row, variables."""
    matches = set()
    for number, partition in enumerate(rows.words):
        can_map = build_can_map(query, rows, number)
        satisfies = build_satisfies(query, rows, number)
        for start in range(len(partition)):
            search = WordSearch(len(partition), start, can_map, satisfies=satisfies)
            for word in search.list_words(query.pattern):
                names = " ".join(name for name, _ in word)
                matches.add((number, rows.offsets[number] + start, names))
    return matches


def remove_brackets(word: str) -> str:
    """Return a word without the brackets of exclusions."""
    return word.replace("[", "").replace("]", "")
