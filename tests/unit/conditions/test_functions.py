"""The catalogue of functions that Python computes, and the page that lists it."""

from __future__ import annotations

import re
from pathlib import Path

from matchrec.conditions.functions.catalogue import FUNCTIONS
from matchrec.conditions.functions.comparisons import COMPARISONS
from matchrec.conditions.functions.decimals import DECIMALS
from matchrec.conditions.residual import BASIC
from matchrec.conditions.typing.calls import NEVER_PYTHONS

PAGE = Path(__file__).parents[3] / "docs" / "supported.md"
WRITTEN = {"[]": "x[i]", ".": "x.field"}
SPECIAL = {"x::T", "date_part", "m[k]", "named_struct", "(x, y)"}
"""Other ways to write CAST, EXTRACT, x[i] and STRUCT."""
OVERLOADS = ("TIME ", "ARRAY ", "MAP ")


def test_the_basic_operations_that_python_computes_are_those_of_the_catalogue() -> None:
    assert BASIC & FUNCTIONS.keys() == BASIC - NEVER_PYTHONS


def test_the_page_lists_all_functions() -> None:
    text = PAGE.read_text(encoding="utf-8")
    table = text[text.index("| of | functions |") : text.index("`MATCH_NUMBER()` in DEFINE is")]
    names = re.findall(r"`([^`]+)`", table.replace("\\|", "|"))
    listed = {one.lower() for one in names} - {"+", "-", "*", "/"}
    known = {
        WRITTEN.get(name, name).lower()
        for name in FUNCTIONS
        if name not in {**COMPARISONS, **DECIMALS} and not name.startswith(OVERLOADS)
    }
    assert listed - {one.lower() for one in SPECIAL} == known
