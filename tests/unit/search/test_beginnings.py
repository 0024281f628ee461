"""A search skips starting rows with which no match can begin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from matchrec.conditions.run_condition import RunExpression
from matchrec.plan.clauses import AfterMatchSkip
from matchrec.search.beginnings import find_moves, find_possible_beginnings
from matchrec.search.compiled_task import compile_task
from matchrec.search.kernel_input import prepare_input
from matchrec.search.partitions import Frontier
from matchrec.search.strategies import SearchAlgorithm
from matchrec.shortcuts import ALL, use_shortcuts
from matchrec.syntax.row_pattern import parse_row_pattern
from tests.tasks.contiguous import Query, make_query, read_rows
from tests.unit.search.test_kernel_search import (
    ABOVE,
    NEXT_ROW,
    draw_bits,
    list_matches,
    make_partitions,
)


@pytest.mark.parametrize(
    ("text", "run_conditions", "expected"),
    [
        ("A B C", {}, "X . . . . . . X"),  # the rows after the last row are unknown
        ("A (B | C) C+", {}, "X . . . . . . X"),
        ("A B C", {"B": ABOVE}, "X . . . . X . X"),  # the condition of B fails first, if at all
        ("A B?", {}, "X . . . . X . X"),
        ("A $ B", {}, ". . . . . . . X"),
        ("A?", {}, ""),
    ],
)
def test_rows_with_which_no_match_can_begin(
    text: str, run_conditions: dict[str, RunExpression], expected: str
) -> None:
    task = Query(parse_row_pattern(text), run_conditions=run_conditions).task()
    a, b, c = 1, 2, 4
    rows = make_partitions(np.array([a, b, c, b, 0, a, b, a]), 4, np.arange(8))
    arrays = prepare_input(task, rows, for_event_selection=False)
    can_begin = find_possible_beginnings(task, arrays)
    assert " ".join("X" if is_possible else "." for is_possible in can_begin) == expected


def test_a_row_whose_search_takes_steps_is_passed_over_by_its_first_row_alone() -> None:
    """The search from each A takes a step, even if no B follows it."""
    plain = Query(parse_row_pattern("A B"), run_conditions={"B": ABOVE}).task()
    a, b = 1, 2
    rows = make_partitions(np.array([a, b, 0, a, 0, 0, 0, a]), 2, np.arange(8))
    limited = replace(plain, max_steps=9)
    for task, expected in ((plain, "X . . . . . . X"), (limited, "X . . X . . . X")):
        arrays = prepare_input(task, rows, for_event_selection=False)
        can_begin = find_possible_beginnings(task, arrays)
        assert " ".join("X" if is_possible else "." for is_possible in can_begin) == expected


@pytest.mark.parametrize("first", [0, 6, 14, 30, 61, 62])
def test_conditions_may_have_any_bits(first: int) -> None:
    """The conditions of A, B and C have consecutive bits from `first` on.

    No row satisfies a condition with an earlier bit.
    """
    others = " | ".join(f"V{i}" for i in range(first)) or "A"
    task = Query(parse_row_pattern(f"({others} | A) B C")).task()
    a, b, c = (1 << bit for bit in range(first, first + 3))
    words = np.array([a, b, c, b, 0, a, b, a], object)
    both = np.array([[word & (2**64 - 1), word >> 64] for word in words.tolist()], np.uint64)
    rows = replace(make_partitions(np.zeros(8), 4), condition_bits=both)
    arrays = prepare_input(task, rows, for_event_selection=False)
    can_begin = find_possible_beginnings(task, arrays)
    assert " ".join("X" if is_possible else "." for is_possible in can_begin) == "X . . . . . . X"


def show_beginnings(query: Query, rows: str, edge: int | None = None) -> str:
    """Return X for each row with which a match may begin, and . for each other row."""
    task = query.task()
    partitions = read_rows(rows).partitions(query.variables)
    if edge is not None:
        frontier = Frontier.create(partitions.starts, edge=edge)
        partitions = replace(partitions, frontier=frontier)
    can_begin = find_possible_beginnings(
        task, prepare_input(task, partitions, for_event_selection=False)
    )
    return "".join("X" if is_possible else "." for is_possible in can_begin)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("A A A B A", "XX..."),
        ("A A A A A A A A A A A B", "..XXXXXXXX.."),  # the B is 2 to 9 rows after the first A
        ("A A - A A AB B", "...XX.."),
        ("A A / B A A B", "...X.."),
        ("A A B / A A", "X...."),
    ],
)
def test_a_match_with_large_bounds_begins_only_where_it_can_end(rows: str, expected: str) -> None:
    assert show_beginnings(make_query("A{2,9} B"), rows) == expected


def test_more_states_than_a_word_has() -> None:
    """The B is 70 to 75 rows after the first A, so it begins 5 to 10 rows after the 80 A do."""
    rows = "A " * 80 + "B " + "/ " + "A " * 71 + "B"
    expected = "." * 5 + "X" * 6 + "." * 70 + "XX" + "." * 70
    assert show_beginnings(make_query("A{70,75} B"), rows) == expected
    # Two runs of 35 A, and a C at a distance that only the second bound of the loop allows.
    rows = "A " * 35 + "B " + "A " * 35 + "B C"
    assert show_beginnings(make_query("(A{30,40} B){2} C"), rows) == "X" * 6 + "." * 67


def test_rows_that_are_missing_may_end_a_match() -> None:
    assert show_beginnings(make_query("A{2,9} B"), "A A - A A", edge=5) == "...XX"
    assert show_beginnings(make_query("A{2,9} B"), "A A B A A", edge=2) == "XXXXX"
    assert show_beginnings(make_query("A{2,9} B"), "A A / A A B / A A", edge=7) == "..X..XX"


def test_anchors_may_hold_and_an_empty_match_begins_with_any_row() -> None:
    assert show_beginnings(make_query("A{2,9} B $"), "A A B A") == "X..."
    assert show_beginnings(make_query("A{0,9}"), "A A - A") == ""


def test_a_row_whose_search_may_evaluate_a_condition_is_not_passed_over() -> None:
    """The condition on B may fail, though no C follows; no other row reaches it."""
    plain = Query(parse_row_pattern("A{2,9} B C"), run_conditions={"B": ABOVE})
    rows = make_partitions(np.array([1, 1, 2, 1, 1, 0, 0, 0]), 8, np.arange(8))
    limited = replace(plain.task(), max_steps=9)
    for task, expected in ((plain.task(), "X......."), (limited, "")):
        can_begin = find_possible_beginnings(
            task, prepare_input(task, rows, for_event_selection=False)
        )
        assert "".join("X" if is_possible else "." for is_possible in can_begin) == expected


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("A{2,9} B", 3),  # A one state on, A two states on, B
        ("A{2,100} B", 3),
        ("(A | B){3,30} C", 5),
        ("(A B?){5,30} C", 6),
        ("A{40,45}", 1),
        ("A B C", None),  # as many moves as choices
        ("A{4} B", None),
        ("A{2,9} | ()", None),  # a match can be empty
        ("A{2,1500} B", None),  # 3 moves of 24 words
    ],
)
def test_moves_are_used_if_they_replace_many_choices(text: str, moves: int | None) -> None:
    found_moves = find_moves(compile_task(make_query(text).task(), 0))
    assert (None if found_moves is None else len(found_moves.table)) == moves


@pytest.mark.slow  # it waits for the compiler
@pytest.mark.parametrize("skip", [AfterMatchSkip(), NEXT_ROW], ids=["past last row", "next row"])
@pytest.mark.parametrize(
    "text", ["A{2,9} B", "A{5,80}? C", "(A | B){3,30} C", "(A B?){5,30} C", "(A{2,9} B){2,4} C+"]
)
def test_matches_are_the_same_if_no_row_is_passed_over(text: str, skip: AfterMatchSkip) -> None:
    rows = make_partitions(draw_bits(4_000, 0.9, 0.5, 0.05), 700)
    query = Query(parse_row_pattern(text), skip)
    assert find_moves(compile_task(query.task(), 0)) is not None
    compiled = replace(ALL, max_python_steps=0)
    with use_shortcuts(compiled):
        matches = list_matches(SearchAlgorithm("backtracking"), query, rows)
    with use_shortcuts(replace(compiled, starting_rows=False)):
        assert list_matches(SearchAlgorithm("backtracking"), query, rows) == matches
    assert len(matches) > 5
