"""Each search strategy has a file that explains it, and a row in the table of a page."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from matchrec.search.strategies import STRATEGIES, format_strategies
from matchrec.search.strategy import Strategy

ROOT = Path(__file__).parents[3]
SECTIONS = ("*What it does.*", "*When it is chosen.*", "*Cost.*", "*Kernel.*")


def test_the_page_has_the_table() -> None:
    page = ROOT / "docs" / "contributing" / "decisions" / "search.md"
    assert format_strategies() in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_file_explains_its_strategy(strategy: type[Strategy]) -> None:
    """It says what it does, with a picture, when it is chosen, the cost, and which kernel runs."""
    file = ROOT.joinpath(*strategy.__module__.split(".")).with_suffix(".py")
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    assert [section for section in SECTIONS if section not in docstring] == []
    picture = [line for line in docstring.splitlines() if line.startswith("    ")]
    assert len(picture) >= 3


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_strategy_has_a_file_of_kernels_with_its_name(strategy: type[Strategy]) -> None:
    name = strategy.__module__.rpartition(".")[2]
    assert (ROOT / "matchrec" / "search" / "kernels" / f"{name}.py").is_file()
