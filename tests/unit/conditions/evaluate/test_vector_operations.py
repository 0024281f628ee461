"""Arithmetic of many integers at once against Python's, which has no width."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matchrec.conditions.evaluate.vectors import RowFailure, VectorEvaluator, compute_integers
from matchrec.conditions.run_condition import (
    Arithmetic,
    ArithmeticOperator,
    Comparison,
    Constant,
    ReadValue,
    build_operation,
)
from matchrec.conditions.types import Kind
from tests.references.matcher import divide_rounded, wrap_around

LEAST, MOST = -(2**63), 2**63 - 1
EDGES = st.sampled_from([LEAST, LEAST + 1, -1, 0, 1, 2, 2**31, 2**31 + 1, 2**32, 2**62, MOST])
INTEGERS = st.one_of(EDGES, st.integers(LEAST, MOST), st.integers(-200, 200))
PAIRS = st.lists(st.tuples(INTEGERS, INTEGERS), min_size=1, max_size=8)


def compute_pairs(
    operator: ArithmeticOperator, pairs: list[tuple[int, int]], bits: int
) -> list[tuple[int, bool]]:
    """Values, and whether they do not fit."""
    left, right = np.array(pairs, np.int64).T
    with np.errstate(all="ignore"):
        values, overflows = compute_integers(operator, left, right, bits)
    of_each = np.broadcast_to(overflows, values.shape)
    return list(zip(values.tolist(), of_each.tolist(), strict=True))


@settings(deadline=None)
@given(PAIRS, st.sampled_from([8, 16, 32, 64]))
def test_results_wrap_at_their_width(pairs: list[tuple[int, int]], bits: int) -> None:
    pairs = [(wrap_around(left, bits), wrap_around(right, bits)) for left, right in pairs]
    exact = {
        ArithmeticOperator.ADD: [left + right for left, right in pairs],
        ArithmeticOperator.SUBTRACT: [left - right for left, right in pairs],
        ArithmeticOperator.MULTIPLY: [left * right for left, right in pairs],
    }
    for operator, values in exact.items():
        expected = [
            (wrap_around(value, bits), wrap_around(value, bits) != value) for value in values
        ]
        assert compute_pairs(operator, pairs, bits) == expected


@settings(deadline=None)
@given(PAIRS)
def test_remainder_has_the_sign_of_the_left_side(pairs: list[tuple[int, int]]) -> None:
    pairs = [(left, right or 1) for left, right in pairs]
    expected = [abs(a) % abs(b) * (1 if a >= 0 else -1) for a, b in pairs]
    found = compute_pairs(ArithmeticOperator.REMAINDER, pairs, 64)
    assert found == [(value, False) for value in expected]


@settings(deadline=None)
@given(PAIRS)
def test_quotients_are_rounded_half_away_from_zero(pairs: list[tuple[int, int]]) -> None:
    pairs = [(left, right or 1) for left, right in pairs]
    expected = [divide_rounded(left, right) for left, right in pairs]
    found = compute_pairs(ArithmeticOperator.DIVIDE, pairs, 64)
    assert found == [
        (wrap_around(value, 64), wrap_around(value, 64) != value) for value in expected
    ]


def test_a_comparison_of_two_conditions_fails_in_the_one_that_asks() -> None:
    """It has no result on the second row, but the first condition does not demand that row."""
    column = ReadValue(0, Kind.INTEGER, None)
    more = Arithmetic(ArithmeticOperator.ADD, (column, Constant(1, Kind.INTEGER)), Kind.INTEGER)
    is_more = build_operation(Comparison.GREATER, more, Constant(0, Kind.INTEGER))
    values, valid = np.array([[5, MOST]]), np.ones((1, 2), np.bool_)
    vectors = VectorEvaluator({Kind.INTEGER: (values, valid)}, np.array([0, 2]), 0, 2)
    for _ in range(2):
        assert vectors.find_true_rows(is_more, np.array([True, False])).tolist() == [True, False]
    with pytest.raises(RowFailure) as caught:
        vectors.find_true_rows(is_more, np.array([True, True]))
    assert caught.value.args[1] == 1
