"""Arithmetic of kernels, compiled and in Python, gives what exact integers give."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matchrec.conditions.evaluate.instructions import (
    ANSI,
    ARITHMETIC,
    COMPARISON_MASKS,
    DIVIDE,
    DIVISION_BY_ZERO,
    MINUS,
    NO_RESULT,
    NULL,
    NULL_ON_ERROR,
    OVERFLOW,
    PLUS,
    REMAINDER,
    TIMES,
    VALUE,
    WHY,
    WIDTH_UNIT,
)
from matchrec.conditions.evaluate.kernels.arithmetic import (
    compare_floats,
    compare_integers,
    comparison_holds,
)
from matchrec.conditions.evaluate.kernels.functions import (
    ARITHMETIC_POINTER,
    compute_arithmetic,
    compute_arithmetic_in_python,
)
from matchrec.conditions.run_condition import Comparison
from matchrec.jit.callbacks import make_pointer
from matchrec.jit.decorators import kernel
from matchrec.jit.first_steps import let_integers_wrap
from tests.references.matcher import divide_rounded

# The result of a function, 0 if it has none, and the answer of the kernel: `VALUE`, or why there is
# no result.
ResultAndAnswer = tuple[int, int]
LEAST, MOST = -(2**63), 2**63 - 1
NAN, INFINITY = math.nan, math.inf
EDGES = st.sampled_from([LEAST, LEAST + 1, -1, 0, 1, 2, 2**31, 2**62, MOST])
INTEGERS = st.one_of(EDGES, st.just(NO_RESULT), st.integers(LEAST, MOST), st.integers(-200, 200))


def compute_operation(
    operator: int, left: int, right: int, bits: int, ansi: int
) -> ResultAndAnswer:
    """Return the result of an operation on integers, 0 if it has none, and the answer."""
    function = ARITHMETIC + operator + ANSI * ansi + WIDTH_UNIT * bits
    return compute_integers(function, left, right)


def compute_floats(operator: int, left: float, right: float, ansi: int) -> tuple[float, int]:
    """Return the result of an operation on floats, and the answer of the kernel."""
    function = ARITHMETIC + operator + ANSI * ansi
    bits = (int(np.float64(operand).view(np.int64)) for operand in (left, right))
    value, answer = compute_integers(function, *bits)
    return float(np.int64(value).view(np.float64)), answer


def compute_integers(function: int, left: int, right: int) -> ResultAndAnswer:
    """Return the result of a function, 0 if it has none, and the answer of the kernel."""
    compiled = make_pointer(compute_arithmetic)
    answer = compiled(function + WHY, left, right)
    value = compiled(function, left, right)
    assert answer == VALUE or value == NO_RESULT
    with let_integers_wrap():
        for by_python in (ARITHMETIC_POINTER, compute_arithmetic_in_python):
            assert by_python(function + WHY, left, right) == answer
            assert by_python(function, left, right) == value
    return (value if answer == VALUE else 0), answer


@kernel
def holds_for_integers(comparison, left, right):
    """Return whether a comparison of integers holds."""
    return comparison_holds(comparison, compare_integers(left, right))


@kernel
def holds_for_floats(comparison, left, right):
    """Return whether a comparison of floats holds."""
    return comparison_holds(comparison, compare_floats(left, right))


@settings(deadline=None)
@given(INTEGERS, INTEGERS, st.sampled_from([8, 16, 32, 64]), st.booleans())
def test_integers_overflow_or_wrap_at_their_width(left, right, bits, ansi) -> None:
    half = 1 << (bits - 1)
    left, right = ((v + half) % (2 * half) - half for v in (left, right))
    exact = {PLUS: left + right, MINUS: left - right, TIMES: left * right}
    for operator, value in exact.items():
        wrapped = (value + half) % (2 * half) - half
        expected = (0, OVERFLOW) if ansi and wrapped != value else (wrapped, VALUE)
        assert compute_operation(operator, left, right, bits, int(ansi)) == expected


@settings(deadline=None)
@given(INTEGERS, INTEGERS.filter(bool))
def test_remainder_has_the_sign_of_the_left_side(left, right) -> None:
    expected = abs(left) % abs(right) * (1 if left >= 0 else -1)
    assert compute_operation(REMAINDER, left, right, 64, 1) == (expected, VALUE)


@settings(deadline=None)
@given(INTEGERS, INTEGERS.filter(bool), st.booleans())
def test_quotients_are_rounded_half_away_from_zero(left, right, ansi) -> None:
    value = divide_rounded(left, right)
    expected = (value, VALUE)
    if value > MOST:  # the least number by -1
        expected = (0, OVERFLOW) if ansi else (LEAST, VALUE)
    assert compute_operation(DIVIDE, left, right, 64, int(ansi)) == expected


def test_try_operations_return_null_for_errors() -> None:
    assert (
        compute_integers(ARITHMETIC + NULL_ON_ERROR + DIVIDE + WIDTH_UNIT * 64, LEAST, -1)[1]
        == NULL
    )
    tried = ARITHMETIC + NULL_ON_ERROR
    assert compute_integers(tried + PLUS + WIDTH_UNIT * 32, 2**31 - 1, 1)[1] == NULL
    assert compute_integers(tried + DIVIDE + WIDTH_UNIT * 64, 1, 0)[1] == NULL
    assert compute_integers(tried + TIMES + WIDTH_UNIT * 8, 11, 11) == (121, VALUE)


@pytest.mark.parametrize("operator", [DIVIDE, REMAINDER])
def test_division_by_zero_is_an_error_under_ansi_and_null_otherwise(operator: int) -> None:
    assert compute_operation(REMAINDER, 1, 0, 64, 1)[1] == DIVISION_BY_ZERO
    assert compute_operation(REMAINDER, 1, 0, 64, 0)[1] == NULL
    assert compute_floats(operator, 1.0, 0.0, 1)[1] == DIVISION_BY_ZERO
    assert compute_floats(operator, 1.0, -0.0, 0)[1] == NULL


def test_floats_follow_ieee_elsewhere() -> None:
    assert compute_floats(DIVIDE, 1.0, 4.0, 1) == (0.25, VALUE)
    assert compute_floats(REMAINDER, -5.5, 2.0, 1) == (-1.5, VALUE)
    assert compute_floats(TIMES, 1e300, 1e300, 1) == (INFINITY, VALUE)
    assert math.isnan(compute_floats(MINUS, INFINITY, INFINITY, 1)[0])
    assert math.isnan(compute_floats(REMAINDER, INFINITY, 2.0, 1)[0])


def list_true_comparisons(compared, left, right) -> set[Comparison]:
    """Return the comparisons that hold for two values."""
    return {
        comparison
        for comparison in Comparison
        if compared(COMPARISON_MASKS[comparison], left, right)
    }


SAME = {
    Comparison.EQUAL,
    Comparison.NULL_SAFE_EQUAL,
    Comparison.LESS_OR_EQUAL,
    Comparison.GREATER_OR_EQUAL,
}
BEFORE = {Comparison.NOT_EQUAL, Comparison.LESS, Comparison.LESS_OR_EQUAL}
AFTER = {Comparison.NOT_EQUAL, Comparison.GREATER, Comparison.GREATER_OR_EQUAL}


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (1.0, 2.0, BEFORE),
        (2.0, 1.0, AFTER),
        (0.0, -0.0, SAME),
        (NAN, NAN, SAME),
        (INFINITY, NAN, BEFORE),
        (NAN, INFINITY, AFTER),
    ],
)
def test_nan_equals_nan_and_is_the_greatest(
    left: float, right: float, expected: set[Comparison]
) -> None:
    assert list_true_comparisons(holds_for_floats, left, right) == expected


def test_integers_compare_over_their_whole_range() -> None:
    assert list_true_comparisons(holds_for_integers, np.int64(LEAST), np.int64(MOST)) == BEFORE
    assert list_true_comparisons(holds_for_integers, np.int64(MOST), np.int64(MOST)) == SAME
