"""Comparison and arithmetic of many values at once.

Of two values, `kernels.comparison` and `mathematics.arithmetic` are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from matchrec.conditions.operations import BITWISE, ArithmeticOperator, Comparison

Array = npt.NDArray[Any]
BoolArray = npt.NDArray[np.bool_]

SAFE = 2.0**62  # a product that is less by this, as a float, fits an int64


def compare(comparison: Comparison, left: Array, right: Array) -> BoolArray:
    """Truth values; NULL_SAFE_EQUAL is EQUAL. NaN is one number, the greatest."""
    match comparison:
        case Comparison.LESS:
            return less(left, right)
        case Comparison.GREATER:
            return less(right, left)
        case Comparison.LESS_OR_EQUAL:
            return np.logical_not(less(right, left))
        case Comparison.GREATER_OR_EQUAL:
            return np.logical_not(less(left, right))
        case Comparison.NOT_EQUAL:
            return np.logical_not(equal(left, right))
        case Comparison.EQUAL | Comparison.NULL_SAFE_EQUAL:
            return equal(left, right)


def less(left: Array, right: Array) -> BoolArray:
    found = np.less(left, right)
    if right.dtype == np.float64:
        is_nan = np.isnan(right)
        if is_nan.any():
            found = found | (is_nan & ~np.isnan(left))
    return np.asarray(found)


def equal(left: Array, right: Array) -> BoolArray:
    found = np.equal(left, right)
    if left.dtype == np.float64:
        is_nan = np.isnan(left)
        if is_nan.any():
            found = found | (is_nan & np.isnan(right))
    return np.asarray(found)


def compute_floats(operator: ArithmeticOperator, left: Array, right: Array) -> Array:
    """The results, any of a division by zero."""
    match operator:
        case ArithmeticOperator.ADD:
            return np.add(left, right)
        case ArithmeticOperator.SUBTRACT:
            return np.subtract(left, right)
        case ArithmeticOperator.MULTIPLY:
            return np.multiply(left, right)
        case ArithmeticOperator.DIVIDE:
            return np.divide(left, right)
        case ArithmeticOperator.REMAINDER:
            return np.fmod(left, right)
        case _:
            raise AssertionError(operator)


def compute_integers(
    operator: ArithmeticOperator, left: Array, right: Array, bits: int
) -> tuple[Array, BoolArray]:
    """The results, wrapped to so many bits, and where they do not fit; anything for `/ 0`."""
    if operator in BITWISE:
        values = compute_bits(operator, left, right, bits)
        return values, np.zeros(np.shape(values), np.bool_)
    match operator:
        case ArithmeticOperator.ADD:
            values = np.add(left, right)
            overflows = ((left ^ values) & (right ^ values)) < 0
        case ArithmeticOperator.SUBTRACT:
            values = np.subtract(left, right)
            overflows = ((left ^ right) & (left ^ values)) < 0
        case ArithmeticOperator.MULTIPLY:
            values = np.multiply(left, right)
            overflows = product_overflows(left, right, values)
        case ArithmeticOperator.DIVIDE | ArithmeticOperator.REMAINDER:
            values = divide(operator, left, right)
            overflows = np.zeros(np.shape(values), np.bool_)
    if bits < 64:
        wide, unused = values, 64 - bits
        values = (wide << unused) >> unused
        overflows = overflows | (values != wide)
    return values, np.asarray(overflows)


def compute_bits(operator: ArithmeticOperator, left: Array, right: Array, bits: int) -> Array:
    """The results of an operation on bits; a shift is by the lowest bits of the right side."""
    places, unused = right & (bits - 1), 64 - bits
    match operator:
        case ArithmeticOperator.BIT_AND:
            return np.asarray(left & right)
        case ArithmeticOperator.BIT_OR:
            return np.asarray(left | right)
        case ArithmeticOperator.BIT_XOR:
            return np.asarray(left ^ right)
        case ArithmeticOperator.SHIFT_LEFT:
            return np.asarray((left << (places + unused)) >> unused)
        case ArithmeticOperator.SHIFT_RIGHT:
            return np.asarray(left >> places)
        case _:
            kept = (np.int64(1) << (bits - places)) - 1
            return np.where(places == 0, left, (left >> places) & kept)


def product_overflows(left: Array, right: Array, product: Array) -> BoolArray:
    """Whether products, computed in 64 bits, are not left times right."""
    doubtful = np.abs(np.multiply(left, right, dtype=np.float64)) >= SAFE
    if not doubtful.any():
        return np.asarray(doubtful)
    exact = np.multiply(left, right, dtype=np.object_)
    return np.asarray(doubtful & (exact != product), np.bool_)


def divide(operator: ArithmeticOperator, left: Array, right: Array) -> Array:
    """The remainder of division towards zero, or the quotient, rounded half away from zero."""
    divisor = np.where((right == 0) | (right == -1), 1, right)  # both would trap
    remainder = np.fmod(left, divisor)
    if operator is ArithmeticOperator.REMAINDER:
        return np.asarray(remainder)
    quotient = (left - remainder) // divisor
    away = np.where((left < 0) == (divisor < 0), 1, -1)
    quotient = quotient + away * (2 * np.abs(remainder) >= np.abs(divisor))
    return np.where(right == -1, np.subtract(0, left), quotient)
