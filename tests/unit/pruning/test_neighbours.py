"""Rows that no match contains, by their neighbours: the matches lie in what is left."""

from __future__ import annotations

from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matchrec.compile.path import draft
from matchrec.conditions.row_column import Neighbours
from matchrec.frontends.row_pattern.grammar import parse_row_pattern
from matchrec.frontends.sql import parse
from matchrec.frontends.sql.lower import lower
from matchrec.nfa.facts import FollowSets
from matchrec.plan.clauses import AfterMatchSkip, SkipTo
from matchrec.plan.pattern import RowPattern, variable_names
from matchrec.plan.resolve import InputColumns
from matchrec.pruning import neighbours as module
from tests.quick.scale import examples
from tests.references.matcher import find_all
from tests.tasks.compiled import folded


def follow(text: str) -> FollowSets:
    return FollowSets.of(folded(parse_row_pattern(text)))


def test_what_may_stand_beside_what() -> None:
    found = follow("A B* (C | D)")
    a, b, c, d = range(4)
    assert (found.first, found.last) == ({a}, {c, d})
    assert found.pairs == {(a, b), (a, c), (a, d), (b, b), (b, c), (b, d)}


PARTS = st.recursive(
    st.sampled_from("ABC"),
    lambda parts: st.one_of(
        st.tuples(parts, parts).map(" ".join),
        st.tuples(parts, parts).map(lambda pair: f"({pair[0]} | {pair[1]})"),
        st.tuples(parts, st.sampled_from(["*", "+", "?", "{2}", "*?"])).map(
            lambda pair: f"({pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=4,
)
WORDS = st.sampled_from([("", "A", "B", "C", "AB", "BC", "ABC"), ("C", "AC", "BC", "ABC")])
ROWS = WORDS.flatmap(lambda words: st.lists(st.sampled_from(words), max_size=7))


def mapped(pattern: RowPattern, rows: list[tuple[int, str]], skip: AfterMatchSkip) -> list[object]:
    """Every match as (row, variable) pairs; rows are numbers with the variables they satisfy."""

    def may(_: int, start: int, variables: tuple[str, ...]) -> bool:
        return variables[-1] in rows[start + len(variables) - 1][1]

    return [
        [(rows[match.start + i][0], variable) for i, (variable, _) in enumerate(match.word)]
        for match in find_all(pattern, len(rows), may, skip, {})
    ]


@settings(max_examples=examples(300), deadline=None, database=None)
@given(PARTS, ROWS, st.booleans())
def test_every_match_lies_in_one_stretch_of_what_is_left(
    text: str, bits: list[str], past_last: bool
) -> None:
    pattern = parse_row_pattern(text)
    names = variable_names(pattern)
    found = follow(text)
    if found.matches_empty:
        return

    def may_stay(row: int) -> bool:
        around = [bits[i] if 0 <= i < len(bits) else "" for i in (row - 1, row, row + 1)]
        return any(
            name in around[1]
            and (number in found.first or any(names[v] in around[0] for v in found.before(number)))
            and (number in found.last or any(names[v] in around[2] for v in found.after(number)))
            for number, name in enumerate(names)
        )

    skip = AfterMatchSkip(SkipTo.PAST_LAST_ROW if past_last else SkipTo.NEXT_ROW)
    stretches: list[list[tuple[int, str]]] = [[]]
    for row, variables in enumerate(bits):
        if may_stay(row):
            stretches[-1].append((row, variables))
        else:
            stretches.append([])
    in_stretches = [match for rows in stretches for match in mapped(pattern, rows, skip)]
    assert in_stretches == mapped(pattern, list(enumerate(bits)), skip)


SCAN = "PATTERN (A B C) DEFINE A AS x > 9, B AS x = 3, C AS x < PREV(x)"
LEFT_OUT = (
    Neighbours(0, None, frozenset([1])),
    Neighbours(1, frozenset([0]), frozenset([2])),
    Neighbours(2, frozenset([1]), None),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"MEASURES A.t AS s {SCAN}", LEFT_OUT),
        (f"MEASURES A.t AS s ALL ROWS PER MATCH {SCAN}", LEFT_OUT),
        (f"MEASURES count(*) AS s AFTER MATCH SKIP TO LAST B {SCAN}", LEFT_OUT),
        (f"MEASURES A.t AS s {SCAN} AND x > A.x", LEFT_OUT),
        (f"MEASURES PREV(A.t) AS s {SCAN}", ()),
        (f"MEASURES A.t AS s ALL ROWS PER MATCH WITH UNMATCHED ROWS {SCAN}", ()),
        (f"MEASURES A.t AS s {SCAN} AND PREV(A.x) > 1", ()),
        (f"MEASURES A.t AS s {SCAN} AND MATCH_NUMBER() = 1", ()),
        (f"MEASURES A.t AS s {SCAN} AND MAX(A.x + MATCH_NUMBER()) < 9", ()),
        ("MEASURES A.t AS s PATTERN (A B) DEFINE A AS x > 9", ()),
        (
            "MEASURES A.t AS s PATTERN (A B C) DEFINE B AS x = 3, C AS x < PREV(x)",
            (
                Neighbours(None, None, frozenset([0])),
                Neighbours(0, None, frozenset([1])),
                Neighbours(1, frozenset([0]), None),
            ),
        ),
        (
            "MEASURES A.t AS s PATTERN (A B C) DEFINE A AS x = 3, B AS x > A.x, C AS x = 4",
            (
                Neighbours(0, None, None),
                Neighbours(None, frozenset([0]), frozenset([1])),
                Neighbours(1, None, None),
            ),
        ),
        ("MEASURES A.t AS s PATTERN (^ A B) DEFINE A AS x > 9, B AS x = 3", ()),
        ("MEASURES A.t AS s PATTERN (A* B*) DEFINE A AS x = 9, B AS x = 3", ()),
    ],
)
def test_what_is_left_out(text: str, expected: tuple[Neighbours, ...]) -> None:
    assert neighbours_of(text) == expected


def neighbours_of(text: str) -> tuple[Neighbours, ...]:
    query = f"SELECT * FROM events MATCH_RECOGNIZE (PARTITION BY k ORDER BY t {text})"
    return draft(lower(parse(query).sites[0].clause), InputColumns(()), str).neighbours


def test_only_where_few_rows_are_likely_to_be_left() -> None:
    often = "MEASURES A.t AS s PATTERN (A+ B+) DEFINE A AS x < PREV(x), B AS x > PREV(x)"
    assert neighbours_of(often) == ()
    with mock.patch.object(module, "PAYS_BELOW", 1.0):
        assert len(neighbours_of(often)) == 2
