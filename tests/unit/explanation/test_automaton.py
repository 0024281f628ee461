"""The program as a picture: its states, its edges, and where they stand."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from matchrec.explanation.drawing.automaton import draw_program
from matchrec.explanation.drawing.layout import lay_out
from matchrec.frontends.row_pattern.grammar import parse_row_pattern
from matchrec.nfa.compile import compile_program
from matchrec.plan.pattern import variable_names

SVG = "{http://www.w3.org/2000/svg}"


def drawn(text: str, formulas: dict[tuple[int, int], str] | None = None) -> str:
    pattern = parse_row_pattern(text)
    return draw_program(compile_program(pattern, variable_names(pattern)), formulas or {})


def texts(svg: str, tag: str = "text") -> list[str]:
    return [one.text or "" for one in ElementTree.fromstring(svg).iter(f"{SVG}{tag}")]


def test_states_and_edges() -> None:
    assert sorted(texts(drawn("A B+"))) == sorted(
        ["0", "1", "2", "3", "begin A", "begin B", "1: take B", "2: proceed"]
    )


def test_a_formula_is_shown_under_the_pointer() -> None:
    assert texts(drawn("A", {(0, 0): "x < 1"}), "title") == ["begin A if x < 1"]


def test_a_counted_loop_is_drawn_once() -> None:
    found = texts(drawn("A{1,50} B"))
    assert [one for one in found if one.isdecimal()] == ["0", "1", "98", "99", "100"]
    assert found.count("49 times") == 2


def test_what_is_too_large_is_said() -> None:
    assert drawn("PERMUTE(A, B, C, D, E, F, G)") == "<p>128 states are too many to draw</p>"


def test_the_preferred_way_is_the_top_line() -> None:
    ways = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 5), (3, 0)]
    layout = lay_out(range(6), ways)
    assert layout.places == {0: (0, 0), 1: (1, 0), 2: (1, 1), 3: (2, 0), 4: (3, 0), 5: (4, 0)}
    assert layout.lanes == {(3, 5): 1, (3, 0): 2}


@pytest.mark.parametrize("text", ["(A | B C)+ D?", "PERMUTE(A, B, C)", "((A B?)+ C | D){2,30}"])
def test_no_two_states_stand_in_one_place(text: str) -> None:
    places = re.findall(r'<circle cx="(\d+)" cy="(\d+)" r="15"', drawn(text))
    assert len(places) == len(set(places)) > 3
