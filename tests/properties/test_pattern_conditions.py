"""Test the reference for conditions of the Pattern API, by values worked out by hand."""

from __future__ import annotations

import pytest

from tests.references.pattern_conditions import Value, build_condition

EVENT = {"x": 2, "missing": None}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        # NULL equals no value, not even NULL.
        ("CASE missing WHEN NULL THEN 1 ELSE 2 END", 2.0),
        ("CASE missing WHEN missing THEN 1 ELSE 2 END", 2.0),
        ("CASE x WHEN NULL THEN 1 WHEN 2 THEN 3 END", 3.0),
        ("CASE x WHEN 9 THEN 1 END", None),
        # A condition that is NULL chooses no branch.
        ("CASE WHEN missing > 1 THEN 1 WHEN x > 1 THEN 3 END", 3.0),
        ("if(missing > 1, 1, 2)", 2.0),
        # `least` skips NULL.
        ("least(missing, 7, x)", 2),
        ("least(missing, NULL)", None),
        ("missing > 1 AND x > 9", False),
        ("missing > 1 AND x = 2", None),
        ("missing > 1 OR x = 2", True),
        ("missing > 1 OR x > 9", None),
        ("NOT missing > 1", None),
        ("-missing", None),
    ],
)
def test_null_has_the_meaning_of_sql(condition: str, expected: Value) -> None:
    value = build_condition(condition)(EVENT, {})
    assert value == expected
    assert type(value) is type(expected)
