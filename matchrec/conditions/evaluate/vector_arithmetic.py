"""Comparison, logic and arithmetic of many values at once, with NumPy.

`kernels.arithmetic` computes the same for two values. A `NullableVector` has the values of many
rows, which can be NULL; the functions of integers and floats compute with the values as if none
were NULL.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, isnan
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from matchrec.conditions.run_condition import ArithmeticOperator, Comparison
from matchrec.jit.array_types import BoolArray

# int64[n], float64[n] or bool[n]: a value for each row. Or an array without dimensions: one value
# for all rows.
Vector = npt.NDArray[Any]

MIN_INTEGER = np.int64(-(2**63))
# A product fits an int64 if its absolute value, computed in floats, is less than this.
SAFE_PRODUCT = 2.0**62


class ValueLimits(NamedTuple):
    """Numbers that no value is less or greater than. Both are NaN if there is a NaN."""

    minimum: int | float
    maximum: int | float

    def fit(self, bits: int) -> bool:
        """Return whether integers within these limits fit into this number of bits."""
        return -(1 << bits - 1) <= self.minimum and self.maximum < 1 << bits - 1


class NullableVector(NamedTuple):
    """Values of rows, or one value for all rows."""

    # Any value where it is NULL.
    values: Vector
    # Where the values are not NULL; one truth value for all rows if it is the same for all.
    valid: BoolArray
    # Limits of the values; None if they are not known.
    limits: ValueLimits | None = None

    @property
    def can_be_nan(self) -> bool:
        """Return whether a float can be NaN. The values are looked at if that is not known."""
        if self.limits is None:  # the minimum of values with NaN is NaN
            return bool(np.isnan(self.values.min(initial=np.inf)))
        return isnan(self.limits.minimum)


def find_limits(values: Vector) -> ValueLimits:
    """Return the least and the greatest value, both 0 if there are no values."""
    if not values.size:
        return ValueLimits(0, 0)
    return ValueLimits(values.min().item(), values.max().item())


# Truth values.


def intersect_masks(left: BoolArray, right: BoolArray) -> BoolArray:
    """Return where both sides are true. Each side has a value for each row, or one for all rows."""
    return _connect_truth_values(np.logical_and, left, right)


def unite_masks(left: BoolArray, right: BoolArray) -> BoolArray:
    """Return where a side is true. Each side has a value for each row, or one for all rows."""
    return _connect_truth_values(np.logical_or, left, right)


def _connect_truth_values(connect: np.ufunc, left: BoolArray, right: BoolArray) -> BoolArray:
    """Connect truth values by AND or OR.

    A side with one value for all rows that changes nothing is left out, because NumPy takes 18
    times as long with it.
    """
    for operand, other in ((left, right), (right, left)):
        if operand.ndim == 0 and operand == connect.identity:
            return other
    return np.asarray(connect(left, right), np.bool_)


# Comparisons. NULL_SAFE_EQUAL differs from EQUAL only for NULL.
COMPARISONS: Mapping[Comparison, np.ufunc] = {
    Comparison.EQUAL: np.equal,
    Comparison.NOT_EQUAL: np.not_equal,
    Comparison.LESS: np.less,
    Comparison.LESS_OR_EQUAL: np.less_equal,
    Comparison.GREATER: np.greater,
    Comparison.GREATER_OR_EQUAL: np.greater_equal,
    Comparison.NULL_SAFE_EQUAL: np.equal,
}


def compare_vectors(
    comparison: Comparison, left: NullableVector, right: NullableVector
) -> BoolArray:
    """Compare values as if none were NULL.

    NaN equals NaN and is greater than any other number, as in Spark.
    """
    compare = COMPARISONS[comparison]
    result = compare(left.values, right.values)
    if left.values.dtype == np.float64 and (left.can_be_nan or right.can_be_nan):
        # If one of two values is NaN, they compare as the answers to "is it NaN?" do: False is
        # less than True.
        left_is_nan = np.isnan(left.values)
        right_is_nan = np.isnan(right.values)
        nan_result = compare(left_is_nan, right_is_nan)
        result = np.where(left_is_nan | right_is_nan, nan_result, result)
    return np.asarray(result, np.bool_)


# Arithmetic.

# Operations of floats. Division by zero can give any result.
FLOAT_OPERATIONS: Mapping[ArithmeticOperator, np.ufunc] = {
    ArithmeticOperator.ADD: np.add,
    ArithmeticOperator.SUBTRACT: np.subtract,
    ArithmeticOperator.MULTIPLY: np.multiply,
    ArithmeticOperator.DIVIDE: np.divide,
    ArithmeticOperator.REMAINDER: np.fmod,
}


def find_result_limits(
    operator: ArithmeticOperator, left: ValueLimits | None, right: ValueLimits | None
) -> ValueLimits | None:
    """Return limits of the results of an operation, before they are wrapped to some bits.

    They are None if an operand can be infinite or NaN, if its limits are not known, and for other
    operators than addition and subtraction. Floats are rounded as the results are: rounding never
    makes a greater number smaller than another one.
    """
    if left is None or right is None or not all(map(isfinite, (*left, *right))):
        return None
    match operator:
        case ArithmeticOperator.ADD:
            return ValueLimits(left.minimum + right.minimum, left.maximum + right.maximum)
        case ArithmeticOperator.SUBTRACT:
            return ValueLimits(left.minimum - right.maximum, left.maximum - right.minimum)
        case _:
            return None


def compute_integers(
    operator: ArithmeticOperator, left: Vector, right: Vector, bits: int
) -> tuple[Vector, BoolArray]:
    """Compute an operation of integers.

    Returns:
        The results, wrapped to `bits` bits, and where they do not fit: one truth value for each
        row, or one for all rows. Division by zero can give any result.
    """
    match operator:
        case ArithmeticOperator.ADD:
            values = np.add(left, right)
            # Both operands have another sign than the sum.
            overflows = ((left ^ values) & (right ^ values)) < 0
        case ArithmeticOperator.SUBTRACT:
            values = np.subtract(left, right)
            # The left operand has another sign than the right one, and than the difference.
            overflows = ((left ^ right) & (left ^ values)) < 0
        case ArithmeticOperator.MULTIPLY:
            values = np.multiply(left, right)
            overflows = product_overflows(left, right, values)
        case ArithmeticOperator.DIVIDE:
            values = divide_rounded(left, right)
            overflows = (left == MIN_INTEGER) & (right == -1)
        case ArithmeticOperator.REMAINDER:
            values = find_remainder(left, right)
            overflows = np.asarray(False)
    if bits < 64:
        wide = values
        unused = 64 - bits
        values = (wide << unused) >> unused
        overflows = unite_masks(overflows, values != wide)
    return values, overflows


def product_overflows(left: Vector, right: Vector, product: Vector) -> BoolArray:
    """Return where a product, computed in 64 bits, is not left times right."""
    doubtful = np.abs(np.multiply(left, right, dtype=np.float64)) >= SAFE_PRODUCT
    if not doubtful.any():
        return np.asarray(doubtful)
    exact = np.multiply(left, right, dtype=np.object_)
    return np.asarray(doubtful & (exact != product), np.bool_)


def find_remainder(left: Vector, right: Vector) -> Vector:
    """Return the remainder of division towards zero, which has the sign of the left side."""
    return np.asarray(np.fmod(left, _replace_traps(right)))


def divide_rounded(left: Vector, right: Vector) -> Vector:
    """Return the quotient of integers, rounded half away from zero, and wrapped to 64 bits."""
    divisor = _replace_traps(right)
    remainder = np.fmod(left, divisor)
    quotient = (left - remainder) // divisor
    away_from_zero = np.where((left < 0) == (divisor < 0), 1, -1)
    # Sizes are negated, because the least integer has no positive counterpart. Round away from
    # zero if twice the remainder is at least the divisor.
    remainder_size = -np.abs(remainder)
    divisor_size = np.where(divisor < 0, divisor, -divisor)
    quotient = quotient + away_from_zero * (remainder_size <= divisor_size - remainder_size)
    return np.where(right == -1, np.subtract(0, left), quotient)


def _replace_traps(divisor: Vector) -> Vector:
    """Return a divisor with 1 instead of 0 and -1.

    The processor would stop at a division by 0, and if it divided the least integer by -1.
    """
    return np.where((divisor == 0) | (divisor == -1), 1, divisor)
