"""limits.txt has a row for each part of a clause that a translation looks up in it.

A part without a row would be a KeyError in `transpile`.
"""

from __future__ import annotations

import ast
import inspect

import pytest

from matchrec.dialects import limits
from matchrec.dialects.limits import find_features, read_limits
from matchrec.dialects.products import PRODUCTS
from matchrec.plan import pattern
from matchrec.plan.clauses import RowsPerMatch, SkipTo
from matchrec.syntax.grammar import parse_clause


def list_literal_names() -> set[str]:
    """Return the names that `limits.py` writes as `Feature("NAME", ...)` or looks up by name."""
    calls = [
        node
        for node in ast.walk(ast.parse(inspect.getsource(limits)))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    constants = [
        constant.value
        for call in calls
        if call.func.id == "Feature"  # type: ignore[attr-defined]
        for constant in ast.walk(call.args[0])
        if isinstance(constant, ast.Constant)
    ]
    return {name for name in constants if name != "SKIP_TO_"}


def test_every_part_that_is_looked_up_has_a_row() -> None:
    assert {"SUBSET", "GAPS", "WITHIN", "NO_DEFINE"} <= list_literal_names()  # the list is read
    assert list_literal_names() <= read_limits().keys()


@pytest.mark.parametrize("skip", [skip for skip in SkipTo if skip is not SkipTo.PAST_LAST_ROW])
def test_every_skip_strategy_has_a_row(skip: SkipTo) -> None:
    words = "TO NEXT ROW" if skip is SkipTo.NEXT_ROW else f"TO {skip.name} A"
    clause = parse_clause(f"AFTER MATCH SKIP {words} PATTERN (A) DEFINE A AS x > 1")
    names = [feature.name for feature in find_features(clause, PRODUCTS["spark"])]
    assert len(names) == 1, names
    assert set(names) <= read_limits().keys()


@pytest.mark.parametrize("rows_per_match", RowsPerMatch)
def test_every_choice_of_output_rows_has_rows(rows_per_match: RowsPerMatch) -> None:
    names = limits._FEATURES_OF_ROWS_PER_MATCH.get(rows_per_match, ())
    assert set(names) <= read_limits().keys()


def test_every_row_is_about_a_part_of_the_clause() -> None:
    names_of_nodes = {name.upper() for name in vars(pattern) if name[0].isupper()}
    names_of_skips = {"SKIP_TO_NEXT_ROW", "SKIP_TO_VARIABLE"}
    names_of_calls = {"FIRST", "CLASSIFIER", "OVER"}  # the key of the call
    names_of_outputs = {
        name for names in limits._FEATURES_OF_ROWS_PER_MATCH.values() for name in names
    }
    known_names = names_of_nodes | names_of_skips | names_of_calls | names_of_outputs
    assert read_limits().keys() <= known_names | list_literal_names()
