"""The work of planning grows with the size of a query, and not with its square."""

from __future__ import annotations

import cProfile
import pstats

import pytest

from matchrec.automaton import explore_states
from matchrec.conditions.typing import steps
from matchrec.errors import MatchRecognizeError
from tests.benchmarks.planning import QueryFamily, list_families, plan_family
from tests.quick.scale import some_of

SIZE = 20
# The choices of these row patterns grow by the square. A program has at most 200,000 choices.
BY_THE_SQUARE = {
    "row patterns: A* A* A*",
    "row patterns: V0* V1* V2*",
    "row patterns: A? A? A?",
    "row patterns: (A or B*){n}",
    "row patterns: (A B)* (A B)*",
    "patterns: stages, optional",
}
# The operations of these queries grow by another power. At most 100 operations can be nested, and a
# query can have at most 200,000.
BY_ANOTHER_POWER = {
    "conditions: GREATEST of computed values",
    "conditions: sum of columns",
    "conditions: sum of terms on the run",
    "clauses: one long measure",
    "SASE+: predicate of a sum",
}
NESTED = {family.name for family in list_families() if family.name.startswith("nested: ")}
LINEAR = [
    family
    for family in list_families()
    if family.name not in BY_THE_SQUARE | BY_ANOTHER_POWER | NESTED
]


def count_calls(queries: QueryFamily, size: int) -> int:
    """Return how many calls of functions planning takes."""
    profile = cProfile.Profile()
    profile.enable()
    plan_family(queries, size)
    profile.disable()
    return pstats.Stats(profile).total_calls  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize("queries", some_of(LINEAR), ids=lambda queries: queries.name)
def test_twice_the_size_takes_twice_the_calls(queries: QueryFamily) -> None:
    count_calls(queries, SIZE)  # fills the caches, so that both counts find them filled
    calls = count_calls(queries, SIZE + 1)
    calls_of_double_size = count_calls(queries, 2 * SIZE + 2)
    # More than 2, because some of the calls, a tenth at this size, grow by the square.
    assert calls_of_double_size < 2.6 * calls


@pytest.mark.parametrize(
    ("name", "size", "limit"),
    some_of(
        [
            ("row patterns: A{n}", 20_000, "over 20,000 states"),
            ("row patterns: A* A* A*", 1000, "over 200,000 choices"),
            ("patterns: times", 5000, "over 5,000 states"),
            ("conditions: CASE on the run", 101, "over 100 nested operations"),
            ("conditions: COALESCE on the run", 102, "over 100 nested operations"),
            ("nested: groups", 101, "more than 100 groups deep"),
            ("nested: parentheses", 1000, "too deeply nested"),
            ("nested: CASE in CASE", 1000, "too deeply nested"),
            ("SASE+: predicate of NOT", 1000, "too deeply nested"),
        ]
    ),
)
def test_a_query_that_is_too_large_is_rejected_with_the_limit(
    name: str, size: int, limit: str
) -> None:
    (queries,) = (family for family in list_families() if family.name == name)
    with pytest.raises(MatchRecognizeError, match=limit):
        plan_family(queries, size)


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("patterns: stages, optional", "over 2,000 choices"),
        ("conditions: GREATEST of computed values", "over 2,000 operations"),
    ],
)
def test_quadratic_growth_is_rejected_with_the_limit(
    monkeypatch: pytest.MonkeyPatch, name: str, limit: str
) -> None:
    """The limits are a hundredth of the real ones, which take seconds to reach."""
    monkeypatch.setattr(explore_states, "MAX_CHOICES", 2_000)
    monkeypatch.setattr(steps, "MAX_OPERATIONS", 2_000)
    (queries,) = (family for family in list_families() if family.name == name)
    with pytest.raises(MatchRecognizeError, match=limit):
        plan_family(queries, 100)


@pytest.mark.parametrize(
    ("name", "size"),
    some_of(
        [
            ("conditions: sum of columns", 1000),
            ("conditions: sum of terms on the run", 1000),
            ("clauses: one long measure", 1000),
            ("conditions: CASE on the run", 90),
            ("conditions: GREATEST of computed values", 25),
            ("patterns: stages", 1000),
            ("patterns: where", 1000),
        ]
    ),
)
def test_long_queries_can_be_planned(name: str, size: int) -> None:
    (queries,) = (family for family in list_families() if family.name == name)
    plan_family(queries, size)
