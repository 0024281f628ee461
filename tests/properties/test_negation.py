"""NOT in patterns that skip no rows: engines against the reference matcher, which looks at the next
row of each word.
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
from tests.properties.test_engines import (
    LONGER,
    ROWS,
    VARIABLES,
    assert_agreement,
    assert_agreement_in_pieces,
    assert_longest,
    run_dependent_on,
    trees,
    windowed,
)
from tests.quick.scale import examples
from tests.references.matcher import Words
from tests.tasks.contiguous import Query, Rows, may_of, query, run_algorithm, satisfies_of, words

random_examples = settings(
    max_examples=examples(48),
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def patterns() -> st.SearchStrategy[RowPattern]:
    """Patterns with NOTs, after a row as they must be."""
    names = st.lists(st.sampled_from(VARIABLES), min_size=1, max_size=2, unique=True)
    atoms = st.one_of(
        st.sampled_from([Variable(name) for name in VARIABLES]),
        st.sampled_from([Variable(name) for name in VARIABLES]),
        names.map(lambda found: Negation(tuple(found))),
    )
    first = st.sampled_from([Variable("A"), Variable("B")])
    return st.builds(lambda *parts: make_concatenation(parts), first, trees(atoms))


@st.composite
def queries(draw: st.DrawFn) -> Query:
    found = Query(draw(patterns()))
    try:
        found.task()
    except MatchRecognizeUnsupportedError:  # it may end with one NOT or with another
        assume(False)
    subsets = {"U": draw(st.frozensets(st.sampled_from(found.variables), min_size=1))}
    return Query(found.pattern, draw(after_match_skips((*found.variables, "U"))), subsets)


def drop_conditions(
    conditions: dict[str, RunExpression], names: set[str]
) -> dict[str, RunExpression]:
    """Return the conditions of other variables: tests of these tasks know words only."""
    return {name: one for name, one in conditions.items() if name not in names}


@random_examples
@given(st.data(), st.integers(0, 4))
def test_random_patterns_with_negations(data: st.DataObject, step: int) -> None:
    asked, rows = data.draw(queries()), Rows(data.draw(ROWS))
    if data.draw(st.booleans()):
        asked, rows = data.draw(run_dependent_on(asked))
        negated = {name for negation in list_negations(asked.pattern) for name in negation.names}
        asked = replace(asked, run_conditions=drop_conditions(asked.run_conditions, negated))
    if data.draw(st.booleans()):
        rows = data.draw(windowed(rows))
    if step:
        assert_agreement_in_pieces(asked, rows, step)
    else:
        assert_agreement(asked, rows)


@random_examples
@given(st.data(), st.integers(0, 4))
def test_random_longest_matches_with_negations(data: st.DataObject, step: int) -> None:
    rows = Rows(data.draw(st.lists(LONGER, min_size=1, max_size=2).map(tuple)))
    asked = replace(data.draw(queries()), output=MatchOutput.LONGEST)
    assert_longest(asked, rows, step)


@pytest.mark.parametrize(
    "text",
    ["A NOT B C", "A+ NOT B", "A+? NOT B", "(A NOT B)+ C?", "A (B | NOT C) A*", "A B* NOT (A | C)"],
)
def test_negations_on_all_small_inputs(text: str) -> None:
    rows = itertools.product(("A", "B", "AB", "C", "AC"), repeat=3)
    assert_agreement(query(text), words("/".join(" ".join(row) for row in rows)))


@random_examples
@given(st.data())
def test_random_patterns_give_all_matches(data: st.DataObject) -> None:
    """Every word of every starting row, each once."""
    asked, rows = replace(data.draw(queries()), output=MatchOutput.ALL), Rows(data.draw(ROWS))
    asked = replace(asked, after_match=AfterMatchSkip())
    for algorithm in (SearchAlgorithm("backtracking"), SearchAlgorithm("breadth_first")):
        found = run_algorithm(algorithm, asked, rows)
        assert isinstance(found, list)
        places = [(partition, start, remove_brackets(word)) for partition, _, start, word in found]
        assert sorted(places) == sorted(list_all_matches(asked, rows)), algorithm


def list_all_matches(asked: Query, rows: Rows) -> set[tuple[int, int, str]]:
    """Return all matches with rows: partition, first row, variables."""
    found = set()
    for number, partition in enumerate(rows.words):
        can_map, satisfies = may_of(asked, rows, number), satisfies_of(asked, rows, number)
        for start in range(len(partition)):
            words = Words(len(partition), start, can_map, 1, satisfies)
            for word in words.extend(asked.pattern, ()):
                names = " ".join(name for name, _ in word)
                found.add((number, rows.offsets[number] + start, names))
    return found


def remove_brackets(word: str) -> str:
    """Return a word without the brackets of exclusions."""
    return word.replace("[", "").replace("]", "")
