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
# The sum of two integers fits an int64 if their absolute values are at most this.
SAFE_SUMMAND = 2**62 - 1

# Comparisons by the bits of the orders that they hold for, which begin with 1, see `instructions`.
BY_ORDERS = np.less, np.equal, np.less_equal, np.greater, np.not_equal, np.greater_equal


def compare_vectors(comparison: Comparison, left: Vector, right: Vector) -> BoolArray:
    """Compare values that are not NULL, so that NULL_SAFE_EQUAL is EQUAL.

    NaN equals NaN and is greater than any other number, as in Spark.
    """
    orders = COMPARISONS[comparison] & (LESS + EQUAL + GREATER)
    result = BY_ORDERS[orders - 1](left, right)
    # The minimum of values with NaN is NaN.
    has_nan = (np.isnan(values.min(initial=np.inf)) for values in (left, right))
    if left.dtype == np.float64 and any(has_nan):
        left_is_nan = np.isnan(left)
        right_is_nan = np.isnan(right)
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


def are_small(*operands: Vector) -> bool:
    """Return whether sums and differences of any of these integers fit an int64."""
    return all(
        values.min(initial=0) >= -SAFE_SUMMAND and values.max(initial=0) <= SAFE_SUMMAND
        for values in operands
    )


def compute_integers(
    operator: ArithmeticOperator, left: Vector, right: Vector, bits: int
) -> tuple[Vector, BoolArray]:
    """Compute an operation of integers.

    Returns:
        The results, wrapped to `bits` bits, and where they do not fit. If no result can be too
        large, there is only one truth value for all rows. Division by zero may give any result.
    """
    overflows = np.asarray(False)
    match operator:
        case ArithmeticOperator.ADD:
            values = np.add(left, right)
            if not are_small(left, right):
                overflows = ((left ^ values) & (right ^ values)) < 0
        case ArithmeticOperator.SUBTRACT:
            values = np.subtract(left, right)
            if not are_small(left, right):
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


ROWS_A_BLOCK = 1 << 16

Operands = tuple[RunExpression, ...]


class RowFailure(Exception):  # noqa: N818 -- not a user's error yet
    """An operation has failed on a row.

    Its arguments are the function that makes the user's error, and the position of the row.
    """


class NullableVector(NamedTuple):
    """Values of rows, or one value for all rows."""

    # Any value where it is NULL.
    values: Vector
    # Where the values are not NULL.
    valid: BoolArray


@dataclass(frozen=True, slots=True)
class VectorEvaluator:
    """An evaluator of expressions for the rows `begin` .. `end` of some partitions.

    Methods that evaluate have a parameter `demanded`: bool[end - begin], the rows whose value is
    needed. They raise RowFailure if an operation fails on one of these rows.
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

    def find_true_rows(self, expression: RunExpression, demanded: BoolArray) -> BoolArray:
        """Return on which demanded rows a condition is true: bool[end - begin].

        Raises:
            RowFailure: an operation has no result on a demanded row.
        """
        with np.errstate(all="ignore"):
            truth = self.evaluate_truth(expression, demanded)
        return both(both(truth.values, truth.valid), demanded)

    def split_into_blocks(self) -> Iterator[VectorEvaluator]:
        """Split the rows into blocks that are small enough for the processor's cache."""
        for begin in range(self.begin, self.end, ROWS_A_BLOCK):
            yield replace(self, begin=begin, end=min(begin + ROWS_A_BLOCK, self.end))

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
                return NullableVector(np.asarray(value or 0, type_), np.asarray(value is not None))
            case ReadValue(column, kind, navigation):
                return self.read(column, kind, navigation.physical_offset if navigation else 0)
            case RunOperation(Comparison() as comparison, operands):
                return self.compare(comparison, operands, demanded)
            case Arithmetic():
                return self.compute(expression, demanded)
            case RunOperation(BasicOperator.WIDEN | BasicOperator.NARROW as operator, (operand,)):
                values, valid = self.evaluate(operand, demanded)
                if operator is BasicOperator.NARROW:
                    values = values.astype(np.float32)
                return NullableVector(values.astype(np.float64), valid)
            case RunOperation(BasicOperator.AND | BasicOperator.OR as operator, operands):
                return self.connect(
                    operands, demanded, decisive=np.bool_(operator is BasicOperator.OR)
                )
            case RunOperation(BasicOperator.NOT, (operand,)):
                values, valid = self.evaluate_truth(operand, demanded)
                return NullableVector(np.logical_not(values), valid)
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
        if not distance:
            return NullableVector(
                all_values[self.begin : self.end], all_valid[self.begin : self.end]
            )
        if distance not in self.inside:
            self.inside[distance] = self.find_inside(distance)
        inside = self.inside[distance][self.begin : self.end]
        valid = self.shift(all_valid, distance) & inside
        return NullableVector(self.shift(all_values, distance), valid)

    def find_inside(self, distance: int) -> BoolArray:
        """Return for all rows whether the row at a distance is in the same partition: bool[n]."""
        begins = self.starts[:-1]
        ends = self.starts[1:]
        # Where rows begin that have no such row, and where they end.
        change = np.zeros(int(self.starts[-1]) + 1, np.int8)
        if distance < 0:
            change[begins] += 1
            change[np.minimum(begins - distance, ends)] -= 1
        else:
            change[np.maximum(ends - distance, begins)] += 1
            change[ends] -= 1
        return np.equal(np.cumsum(change[:-1], dtype=np.int8), 0)

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
        self, comparison: Comparison, operands: Operands, demanded: BoolArray
    ) -> NullableVector:
        """Return the truth values of a comparison."""
        left, right = (self.evaluate(operand, demanded) for operand in operands)
        valid = both(left.valid, right.valid)
        result = compare_vectors(comparison, left.values, right.values)
        if comparison is not Comparison.NULL_SAFE_EQUAL:
            return NullableVector(result, valid)
        return NullableVector(np.where(valid, result, left.valid == right.valid), np.asarray(True))

    def compute(self, expression: Arithmetic, demanded: BoolArray) -> NullableVector:
        """Return the results of an arithmetic operation."""
        left, right = (self.evaluate(operand, demanded) for operand in expression.operands)
        valid = both(left.valid, right.valid)
        operator = expression.operator
        if operator in (ArithmeticOperator.DIVIDE, ArithmeticOperator.REMAINDER):
            is_zero = np.equal(right.values, 0)
            if expression.ansi and not expression.is_null_on_error:
                self.check_rows(failures.division_by_zero, is_zero & valid, demanded)
            valid = both(valid, np.logical_not(is_zero))
        if expression.kind is Kind.FLOATING:
            return NullableVector(FLOAT_OPERATIONS[operator](left.values, right.values), valid)
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
        self, operands: Operands, demanded: BoolArray, *, decisive: np.bool_
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
            values, valid = self.evaluate_truth(operand, demanded)
            decides = both(values == decisive, valid)
            decided = either(decided, decides)
            all_valid = both(all_valid, valid)
            demanded = both(demanded, np.logical_not(decides))
        return NullableVector(decided == decisive, either(decided, all_valid))

    def choose(self, operands: Operands, demanded: BoolArray) -> NullableVector:
        """Return the values of a conditional expression: condition, then, otherwise."""
        values, valid = self.evaluate_truth(operands[0], demanded)
        chosen = both(values, valid)
        then = self.evaluate(operands[1], both(demanded, chosen))
        otherwise = self.evaluate(operands[2], both(demanded, np.logical_not(chosen)))
        return NullableVector(
            np.where(chosen, then.values, otherwise.values),
            np.where(chosen, then.valid, otherwise.valid),
        )
