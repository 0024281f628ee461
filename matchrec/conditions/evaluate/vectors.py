"""Evaluate expressions over rows at fixed distances with NumPy, for many rows at once.

The expressions are those of `conditions.run_condition`, which kernels evaluate run by run. Here an
operation is evaluated for all rows, even for rows on which AND, OR or CASE would not evaluate it.
Only on the other rows, the *demanded* ones, can it fail. `kernels.arithmetic` computes the same for
two values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from matchrec.conditions.evaluate.instructions import COMPARISONS, EQUAL, GREATER, LESS
from matchrec.conditions.evaluate.kernels.machine import BoolArray, IntArray
from matchrec.conditions.run_condition import (
    Arithmetic,
    ArithmeticOperator,
    BasicOperator,
    Comparison,
    Constant,
    ReadValue,
    RunExpression,
    RunOperation,
)
from matchrec.conditions.types import Kind
from matchrec.errors.kinds import MakeRunError
from matchrec.errors.run import failures

Vector = npt.NDArray[Any]

LEAST_INTEGER = np.int64(-(2**63))
# A product fits an int64 if its absolute value, computed in floats, is less than this.
SAFE_PRODUCT = 2.0**62

# Comparisons by the bits of the orders that they hold for, which begin with 1, see `instructions`.
BY_ORDERS = np.less, np.equal, np.less_equal, np.greater, np.not_equal, np.greater_equal


class ValueLimits(NamedTuple):
    """Numbers that no value is less or greater than. Both are NaN if there is a NaN."""

    least: int | float
    greatest: int | float

    def fit(self, bits: int) -> bool:
        """Return whether integers within these limits fit into this number of bits."""
        return -(1 << bits - 1) <= self.least and self.greatest < 1 << bits - 1


def find_limits(values: Vector) -> ValueLimits:
    """Return the least and the greatest value, both 0 if there are no values."""
    if not values.size:
        return ValueLimits(0, 0)
    return ValueLimits(values.min().item(), values.max().item())


def compare_vectors(
    comparison: Comparison, left: NullableVector, right: NullableVector
) -> BoolArray:
    """Compare values as if none were NULL, so that NULL_SAFE_EQUAL is EQUAL.

    NaN equals NaN and is greater than any other number, as in Spark.
    """
    orders = COMPARISONS[comparison] & (LESS + EQUAL + GREATER)
    result = BY_ORDERS[orders - 1](left.values, right.values)
    if left.values.dtype == np.float64 and (left.may_be_nan or right.may_be_nan):
        left_is_nan = np.isnan(left.values)
        right_is_nan = np.isnan(right.values)
        order = left_is_nan.astype(np.int8) - right_is_nan
        result = np.where(left_is_nan | right_is_nan, orders >> (order + 1) & 1, result)
    return np.asarray(result, np.bool_)


# Operations of floats. Division by zero may give any result.
FLOAT_OPERATIONS: Mapping[ArithmeticOperator, np.ufunc] = {
    ArithmeticOperator.ADD: np.add,
    ArithmeticOperator.SUBTRACT: np.subtract,
    ArithmeticOperator.MULTIPLY: np.multiply,
    ArithmeticOperator.DIVIDE: np.divide,
    ArithmeticOperator.REMAINDER: np.fmod,
}


def connect_truth_values(connect: np.ufunc, left: BoolArray, right: BoolArray) -> BoolArray:
    """Connect truth values by AND or OR. Each side has one value for each row, or one for all rows.

    A side with one value for all rows that changes nothing is left out, because NumPy takes 18
    times as long with it.
    """
    for operand, other in ((left, right), (right, left)):
        if operand.ndim == 0 and operand == connect.identity:
            return other
    return np.asarray(connect(left, right), np.bool_)


both = partial(connect_truth_values, np.logical_and)
either = partial(connect_truth_values, np.logical_or)


def find_result_limits(
    operator: ArithmeticOperator, left: ValueLimits | None, right: ValueLimits | None
) -> ValueLimits | None:
    """Return limits of the results of an operation, before they are wrapped to some bits.

    They are None if an operand may be infinite or NaN, if its limits are not known, and for other
    operators than addition and subtraction. Floats are rounded as the results are: rounding never
    makes a greater number smaller than another one.
    """
    if left is None or right is None or not all(map(isfinite, (*left, *right))):
        return None
    match operator:
        case ArithmeticOperator.ADD:
            return ValueLimits(left.least + right.least, left.greatest + right.greatest)
        case ArithmeticOperator.SUBTRACT:
            return ValueLimits(left.least - right.greatest, left.greatest - right.least)
        case _:
            return None


def compute_integers(
    operator: ArithmeticOperator, left: Vector, right: Vector, bits: int
) -> tuple[Vector, BoolArray]:
    """Compute an operation of integers.

    Returns:
        The results, wrapped to `bits` bits, and where they do not fit: one truth value for each
        row, or one for all rows. Division by zero may give any result.
    """
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
            divides = operator is ArithmeticOperator.DIVIDE
            overflows = (left == LEAST_INTEGER) & (right == -1) & divides
    if bits < 64:
        wide = values
        unused = 64 - bits
        values = (wide << unused) >> unused
        overflows = either(overflows, values != wide)
    return values, overflows


def product_overflows(left: Vector, right: Vector, product: Vector) -> BoolArray:
    """Return where a product, computed in 64 bits, is not left times right."""
    doubtful = np.abs(np.multiply(left, right, dtype=np.float64)) >= SAFE_PRODUCT
    if not doubtful.any():
        return np.asarray(doubtful)
    exact = np.multiply(left, right, dtype=np.object_)
    return np.asarray(doubtful & (exact != product), np.bool_)


def divide(operator: ArithmeticOperator, left: Vector, right: Vector) -> Vector:
    """Divide integers.

    Returns:
        The remainder of division towards zero, or the quotient, rounded half away from zero.
    """
    # Dividing by 0 would trap, and so would dividing the least integer by -1.
    divisor = np.where((right == 0) | (right == -1), 1, right)
    remainder = np.fmod(left, divisor)
    if operator is ArithmeticOperator.REMAINDER:
        return np.asarray(remainder)
    quotient = (left - remainder) // divisor
    away = np.where((left < 0) == (divisor < 0), 1, -1)
    # Sizes are negated, because the least integer has no positive counterpart. Round away from
    # zero if twice the remainder is at least the divisor.
    remainder_size = -np.abs(remainder)
    divisor_size = np.where(divisor < 0, divisor, -divisor)
    quotient = quotient + away * (remainder_size <= divisor_size - remainder_size)
    return np.where(right == -1, np.subtract(0, left), quotient)


# Fewer rows fit better into the processor's cache, but then Python takes longer than NumPy.
ROWS_PER_BLOCK = 1 << 17

OperandExpressions = tuple[RunExpression, ...]


class RowFailure(Exception):  # noqa: N818 -- not a user's error yet
    """An operation has failed on a row.

    Its arguments are the function that makes the user's error, and the position of the row.
    """


class NullableVector(NamedTuple):
    """Values of rows, or one value for all rows."""

    # Any value where it is NULL.
    values: Vector
    # Where the values are not NULL; one truth value for all rows if it is the same for all.
    valid: BoolArray
    # ValueLimits of the values, if these are known.
    limits: ValueLimits | None = None

    @property
    def may_be_nan(self) -> bool:
        """Return whether a float may be NaN. The values are looked at if that is not known."""
        if self.limits is None:  # the minimum of values with NaN is NaN
            return bool(np.isnan(self.values.min(initial=np.inf)))
        return self.limits.least != self.limits.least


class ColumnFacts(NamedTuple):
    """Facts about all values of a column, which need not be found again for each block of rows."""

    has_nulls: bool
    limits: ValueLimits


@dataclass(frozen=True, slots=True)
class VectorEvaluator:
    """An evaluator of expressions for the rows `begin` .. `end` of some partitions.

    Methods that evaluate have a parameter `demanded`: bool[end - begin], the rows whose value is
    needed, or one truth value for all rows. They raise RowFailure if an operation has no result on
    one of these.
    """

    # For each kind, values and validity of all its columns: [c, n].
    columns: Mapping[Kind, tuple[Vector, BoolArray]]
    # The first row of each partition, and last the number of rows.
    starts: IntArray
    # The first row to evaluate.
    begin: int
    # The row after the last one to evaluate.
    end: int
    # By distance, for all n rows: whether the row at this distance is in the same partition.
    inside: dict[int, BoolArray] = field(default_factory=dict)
    # By kind and index of a column that was read: what is true of all its n values.
    facts: dict[tuple[Kind, int], ColumnFacts] = field(default_factory=dict)

    def find_true_rows(self, expression: RunExpression, demanded: BoolArray) -> BoolArray:
        """Return on which demanded rows a condition is true: bool[end - begin], or one for all.

        Raises:
            RowFailure: an operation has no result on a demanded row.
        """
        with np.errstate(all="ignore"):
            truth = self.evaluate_truth(expression, demanded)
        return both(both(truth.values, truth.valid), demanded)

    def split_into_blocks(self) -> Iterator[VectorEvaluator]:
        """Split the rows into blocks that are small enough for the processor's cache."""
        for begin in range(self.begin, self.end, ROWS_PER_BLOCK):
            yield replace(self, begin=begin, end=min(begin + ROWS_PER_BLOCK, self.end))

    def evaluate_truth(self, expression: RunExpression, demanded: BoolArray) -> NullableVector:
        """Return the truth values of a condition."""
        result = self.evaluate(expression, demanded)
        if result.values.dtype == np.bool_:
            return result
        return NullableVector(np.not_equal(result.values, 0), result.valid)

    def evaluate(self, expression: RunExpression, demanded: BoolArray) -> NullableVector:
        """Return the values of an expression."""
        match expression:
            case Constant(value, kind):
                type_ = np.int64 if kind is Kind.INTEGER else np.float64
                constant = np.asarray(value or 0, type_)
                return NullableVector(
                    constant, np.asarray(value is not None), find_limits(constant)
                )
            case ReadValue(column, kind, navigation):
                return self.read(column, kind, navigation.physical_offset if navigation else 0)
            case RunOperation(Comparison() as comparison, operands):
                return self.compare(comparison, operands, demanded)
            case Arithmetic():
                return self.compute(expression, demanded)
            case RunOperation(BasicOperator.WIDEN | BasicOperator.NARROW as operator, (operand,)):
                values, valid, limits = self.evaluate(operand, demanded)
                if operator is BasicOperator.NARROW:
                    values = values.astype(np.float32)
                    limits = None
                if limits is not None:
                    limits = ValueLimits(*map(float, limits))
                return NullableVector(values.astype(np.float64), valid, limits)
            case RunOperation(BasicOperator.AND | BasicOperator.OR as operator, operands):
                return self.connect(
                    operands, demanded, decisive=np.bool_(operator is BasicOperator.OR)
                )
            case RunOperation(BasicOperator.NOT, (operand,)):
                truth = self.evaluate_truth(operand, demanded)
                return NullableVector(np.logical_not(truth.values), truth.valid)
            case RunOperation(BasicOperator.IS_NULL, (operand,)):
                return NullableVector(
                    np.logical_not(self.evaluate(operand, demanded).valid), np.asarray(True)
                )
            case RunOperation(BasicOperator.CHOOSE, operands):
                return self.choose(operands, demanded)
            case _:
                raise AssertionError(expression)

    def read(self, column: int, kind: Kind, distance: int) -> NullableVector:
        """Return a column on the row at a distance from each row.

        It is NULL beyond the border of the partition.
        """
        all_values, all_valid = (array[column] for array in self.columns[kind])
        if (kind, column) not in self.facts:
            self.facts[kind, column] = ColumnFacts(
                has_nulls=not all_valid.all(), limits=find_limits(all_values)
            )
        has_nulls, limits = self.facts[kind, column]
        valid = self.shift(all_valid, distance) if has_nulls else np.asarray(True)
        if distance:
            if distance not in self.inside:
                self.inside[distance] = self.find_inside(distance)
            valid = both(valid, self.inside[distance][self.begin : self.end])
        return NullableVector(self.shift(all_values, distance), valid, limits)

    def find_inside(self, distance: int) -> BoolArray:
        """Return for all rows whether the row at a distance is in the same partition: bool[n]."""
        # How many rows of each partition have no such row, and the first of these.
        counts = np.minimum(abs(distance), np.diff(self.starts))
        first = self.starts[:-1] if distance < 0 else self.starts[1:] - counts
        shifts = np.repeat(first - np.cumsum(counts) + counts, counts)
        inside = np.ones(int(self.starts[-1]), np.bool_)
        inside[shifts + np.arange(len(shifts))] = False
        return inside

    def shift(self, values: Vector, distance: int) -> Vector:
        """Return the value at a distance from each row; any value if there is no such row."""
        first = max(self.begin + distance, 0)
        last = min(self.end + distance, len(values))
        if last - first == self.end - self.begin:
            return values[first:last]
        shifted = np.zeros(self.end - self.begin, values.dtype)
        target = first - distance - self.begin
        if first < last:
            shifted[target : target + last - first] = values[first:last]
        return shifted

    def compare(
        self, comparison: Comparison, operands: OperandExpressions, demanded: BoolArray
    ) -> NullableVector:
        """Return the truth values of a comparison."""
        left, right = (self.evaluate(operand, demanded) for operand in operands)
        valid = both(left.valid, right.valid)
        result = compare_vectors(comparison, left, right)
        if comparison is not Comparison.NULL_SAFE_EQUAL:
            return NullableVector(result, valid)
        return NullableVector(np.where(valid, result, left.valid == right.valid), np.asarray(True))

    def compute(self, expression: Arithmetic, demanded: BoolArray) -> NullableVector:
        """Return the results of an arithmetic operation."""
        left, right = (self.evaluate(operand, demanded) for operand in expression.operands)
        valid = both(left.valid, right.valid)
        operator = expression.operator
        limits = find_result_limits(operator, left.limits, right.limits)
        if operator in (ArithmeticOperator.DIVIDE, ArithmeticOperator.REMAINDER):
            is_zero = np.equal(right.values, 0)
            if expression.ansi and not expression.is_null_on_error:
                self.check_rows(failures.division_by_zero, is_zero & valid, demanded)
            valid = both(valid, np.logical_not(is_zero))
        if expression.kind is Kind.FLOATING:
            values = FLOAT_OPERATIONS[operator](left.values, right.values)
            return NullableVector(values, valid, limits)
        if limits is not None and limits.fit(expression.bits):
            compute = np.add if operator is ArithmeticOperator.ADD else np.subtract
            return NullableVector(compute(left.values, right.values), valid, limits)
        values, overflows = compute_integers(operator, left.values, right.values, expression.bits)
        if expression.is_null_on_error:
            valid = both(valid, np.logical_not(overflows))
        elif expression.ansi and overflows.any():
            self.check_rows(failures.overflow_in_condition, overflows & valid, demanded)
        return NullableVector(values, valid)

    def check_rows(self, make_error: MakeRunError, rows: BoolArray, demanded: BoolArray) -> None:
        """Check that an operation fails on no demanded row.

        Args:
            make_error: makes the user's error.
            rows: the rows on which the operation fails.
            demanded: the demanded rows.

        Raises:
            RowFailure: the operation fails on a demanded row.
        """
        failing = rows & demanded
        if failing.any():
            raise RowFailure(make_error, self.begin + int(np.argmax(failing)))

    def connect(
        self, operands: OperandExpressions, demanded: BoolArray, *, decisive: np.bool_
    ) -> NullableVector:
        """Return the truth values of AND or OR.

        If an operand decides the result on a row, the row is not demanded of later operands.

        Args:
            operands: the operands.
            demanded: the demanded rows.
            decisive: the truth value that decides: false for AND, true for OR.
        """
        decided = np.asarray(False)
        all_valid = np.asarray(True)
        for operand in operands:
            truth = self.evaluate_truth(operand, demanded)
            decides = both(truth.values == decisive, truth.valid)
            decided = either(decided, decides)
            all_valid = both(all_valid, truth.valid)
            demanded = both(demanded, np.logical_not(decides))
        return NullableVector(decided == decisive, either(decided, all_valid))

    def choose(self, operands: OperandExpressions, demanded: BoolArray) -> NullableVector:
        """Return the values of a conditional expression: condition, then, otherwise."""
        truth = self.evaluate_truth(operands[0], demanded)
        chosen = both(truth.values, truth.valid)
        then = self.evaluate(operands[1], both(demanded, chosen))
        otherwise = self.evaluate(operands[2], both(demanded, np.logical_not(chosen)))
        return NullableVector(
            np.where(chosen, then.values, otherwise.values),
            np.where(chosen, then.valid, otherwise.valid),
        )
