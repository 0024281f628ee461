"""The picture of a row pattern in docs is the one that is drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from matchrec.frontends.row_pattern import parse_row_pattern
from matchrec.pictures.diagrams import draw_row_pattern

IMAGE = Path(__file__).parents[3] / "docs" / "images" / "row_pattern.svg"


def test_image_is_what_is_drawn(pytestconfig: pytest.Config) -> None:
    drawn = draw_row_pattern(parse_row_pattern("CALM{1,50} (JUMP | SLUMP)+ AFTER?"), {})
    if pytestconfig.getoption("--update"):
        IMAGE.write_text(drawn, encoding="utf-8")
    assert IMAGE.read_text(encoding="utf-8") == drawn
