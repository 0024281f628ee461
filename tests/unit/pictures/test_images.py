"""The pictures of row patterns in docs are those that are drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from matchrec.explanation.drawing.automaton import draw_program
from matchrec.frontends.row_pattern.grammar import parse_row_pattern
from matchrec.nfa.compile import compile_program
from matchrec.nfa.program import NO_FORMULAS
from matchrec.pictures.row_pattern import draw_row_pattern
from matchrec.plan.pattern import variable_names

IMAGES = Path(__file__).parents[3] / "docs" / "images"
PATTERN = parse_row_pattern("CALM{1,50} (JUMP | SLUMP)+ AFTER?")
DRAWN = {
    "row_pattern": draw_row_pattern(PATTERN, {}),
    "automaton": draw_program(compile_program(PATTERN, variable_names(PATTERN)), NO_FORMULAS),
}


@pytest.mark.parametrize("name", DRAWN)
def test_image_is_what_is_drawn(name: str, pytestconfig: pytest.Config) -> None:
    image = IMAGES / f"{name}.svg"
    if pytestconfig.getoption("--update"):
        image.write_text(DRAWN[name], encoding="utf-8")
    assert image.read_text(encoding="utf-8") == DRAWN[name]
