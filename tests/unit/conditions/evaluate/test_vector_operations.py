"""Arithmetic of many integers at once gives what exact integers of Python give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matchrec.conditions.evaluate.vector_arithmetic import compute_integers
from matchrec.conditions.evaluate.vectors import RowFailure, VectorEvaluator
from matchrec.conditions.run_condition import (
    Arithmetic,
    ArithmeticOperator,
    Comparison,
    Constant,
    OnFailure,
    ReadValue,
    build_operation,
)
from matchrec.conditions.types import Kind
from matchrec.plan.expression import Navigation
from tests.references.matcher import divide_rounded, wrap_around

LEAST, MOST = -(2**63), 2**63 - 1
EDGES = st.sampled_from([LEAST, LEAST + 1, -1, 0, 1, 2, 2**31, 2**31 + 1, 2**32, 2**62, MOST])
INTEGERS = st.one_of(EDGES, st.integers(LEAST, MOST), st.integers(-200, 200))
PAIRS = st.lists(st.tuples(INTEGERS, INTEGERS), min_size=1, max_size=8)


def compute_pairs(
    operator: ArithmeticOperator, pairs: list[tuple[int, int]], bits: int
) -> list[tuple[int, bool]]:
    """Return for each pair of numbers the result, and whether it overflows."""
    left, right = np.array(pairs, np.int64).T
    with np.errstate(all="ignore"):
        values, overflows = compute_integers(operator, left, right, bits)
    overflows_by_pair = np.broadcast_to(overflows, values.shape)
    return list(zip(values.tolist(), overflows_by_pair.tolist(), strict=True))


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
    result = compute_pairs(ArithmeticOperator.REMAINDER, pairs, 64)
    assert result == [(value, False) for value in expected]


@settings(deadline=None)
@given(PAIRS)
def test_quotients_are_rounded_half_away_from_zero(pairs: list[tuple[int, int]]) -> None:
    pairs = [(left, right or 1) for left, right in pairs]
    expected = [divide_rounded(left, right) for left, right in pairs]
    result = compute_pairs(ArithmeticOperator.DIVIDE, pairs, 64)
    assert result == [
        (wrap_around(value, 64), wrap_around(value, 64) != value) for value in expected
    ]


def test_a_shared_comparison_fails_only_for_demanded_rows() -> None:
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
    assert caught.value.row == 1


@settings(deadline=None)
@given(PAIRS, st.sampled_from([8, 16, 32, 64]), st.booleans())
def test_sums_and_differences_wrap_whatever_the_limits_of_a_column_are(
    pairs: list[tuple[int, int]], bits: int, are_small: bool
) -> None:
    """If the columns have small numbers, no result can be too large, and none is looked at."""
    divisor = 4 if are_small else 1
    pairs = [
        (wrap_around(left, bits) // divisor, wrap_around(right, bits) // divisor)
        for left, right in pairs
    ]
    values = np.array(pairs, np.int64).T
    valid = np.ones(values.shape, np.bool_)
    vectors = VectorEvaluator(
        {Kind.INTEGER: (values, valid)}, np.array([0, len(pairs)]), 0, len(pairs)
    )
    left, right = (ReadValue(column, Kind.INTEGER, None) for column in range(2))
    exact = {
        ArithmeticOperator.ADD: [a + b for a, b in pairs],
        ArithmeticOperator.SUBTRACT: [a - b for a, b in pairs],
    }
    for operator, results in exact.items():
        total = Arithmetic(operator, (left, right), Kind.INTEGER, bits, OnFailure.NULL)
        with np.errstate(all="ignore"):
            result = vectors.evaluate(total, np.ones(len(pairs), np.bool_))
        is_valid = np.broadcast_to(result.valid, len(pairs)).tolist()
        assert is_valid == [wrap_around(result, bits) == result for result in results]
        fitting = [result for result in results if wrap_around(result, bits) == result]
        assert result.values[np.array(is_valid)].tolist() == fitting


def test_nan_of_infinite_numbers_is_the_greatest() -> None:
    """No value is NaN, but `x - PREV(x)` is in the last row."""
    infinity = float("inf")
    values = np.array([[1.0, 2.0, infinity, infinity]])
    valid = np.ones(values.shape, np.bool_)
    vectors = VectorEvaluator({Kind.FLOATING: (values, valid)}, np.array([0, 4]), 0, 4)
    before = Navigation(physical_offset=-1)
    column = ReadValue(0, Kind.FLOATING, None)
    parts = column, ReadValue(0, Kind.FLOATING, before)
    difference = Arithmetic(ArithmeticOperator.SUBTRACT, parts, Kind.FLOATING)
    bound = Constant(infinity, Kind.FLOATING)
    is_greater = build_operation(Comparison.GREATER, difference, bound)
    is_equal = build_operation(Comparison.EQUAL, difference, bound)
    demanded = np.ones(4, np.bool_)
    assert vectors.find_true_rows(is_greater, demanded).tolist() == [False, False, False, True]
    assert vectors.find_true_rows(is_equal, demanded).tolist() == [False, False, True, False]


@pytest.mark.parametrize(
    ("distance", "expected"),
    [
        (-1, [0, 1, 1, 0, 1, 0]),
        (-2, [0, 0, 1, 0, 0, 0]),
        (-9, [0, 0, 0, 0, 0, 0]),
        (1, [1, 1, 0, 1, 0, 0]),
        (2, [1, 0, 0, 0, 0, 0]),
    ],
)
def test_rows_of_other_partitions_are_not_read(distance: int, expected: list[int]) -> None:
    """Partitions of three rows, two rows and one row."""
    vectors = VectorEvaluator({}, np.array([0, 3, 5, 6]), 0, 6)
    assert vectors.mark_rows_inside(distance).tolist() == [bool(inside) for inside in expected]
