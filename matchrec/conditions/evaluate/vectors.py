"""Evaluate expressions over rows at fixed distances with NumPy, for many rows at once.

The expressions are those of `conditions.run_condition`, which kernels evaluate run by run. Here an
operation is evaluated for all rows, even for rows on which AND, OR or CASE would not evaluate it.
An operation without a result is an error only on the rows on which they would evaluate it, the
*demanded* rows:

    x <> 0 AND 10 / x > PREV(x)    of the division, the rows on which x is not 0 are demanded
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from matchrec.conditions.evaluate.vector_arithmetic import (
    FLOAT_OPERATIONS,
    NullableVector,
    ValueLimits,
    Vector,
    compare_vectors,
    compute_integers,
    find_limits,
    find_result_limits,
    intersect_masks,
    unite_masks,
)
from matchrec.conditions.run_condition import (
    Arithmetic,
    ArithmeticOperator,
    BasicOperator,
    Comparison,
    Constant,
    OnFailure,
    ReadValue,
    RunExpression,
    RunOperation,
)
from matchrec.conditions.types import Kind
from matchrec.errors.kinds import MakeRunError
from matchrec.errors.run import failures
from matchrec.errors.run.origins import OperationOrigin
from matchrec.jit.array_types import BoolArray, IntArray

# Fewer rows fit better into the processor's cache, but then Python takes longer than NumPy.
ROWS_PER_BLOCK = 1 << 17

OperandExpressions = tuple[RunExpression, ...]


class RowFailure(Exception):  # noqa: N818 -- not a user's error yet
    """An operation has failed on a row.

    Attributes:
        make_error: makes the user's error.
        row: the position of the row.
        origin: where the user wrote the operation; None if that is not known.
    """

    def __init__(
        self, make_error: MakeRunError, row: int, origin: OperationOrigin | None = None
    ) -> None:
        super().__init__(make_error, row, origin)
        self.make_error = make_error
        self.row = row
        self.origin = origin


class ColumnFacts(NamedTuple):
    """Facts about all values of a column, which need not be found again for each block of rows."""

    # Whether a value is NULL.
    has_nulls: bool
    # Limits of the values; those that are NULL count as well.
    limits: ValueLimits


@dataclass(frozen=True, slots=True)
class VectorEvaluator:
    """An evaluator of expressions for the rows `begin` .. `end` of some partitions.

    Methods that evaluate have a parameter `demanded_rows`: bool[end - begin], the rows whose value
    is needed, or one truth value for all rows. They raise RowFailure if an operation has no result
    on one of these rows.
    """

    # For each kind, values and validity of all its columns: [c, n].
    columns: Mapping[Kind, tuple[Vector, BoolArray]]
    # The first row of each partition, and last the number of rows.
    starts: IntArray
    # The first row to evaluate.
    begin: int
    # The row after the last one to evaluate.
    end: int
    # By distance, bool[n]: whether the row at this distance is in the same partition. This dict and
    # the next one are filled when an entry is first needed. All blocks share both.
    is_inside_by_distance: dict[int, BoolArray] = field(default_factory=dict)
    # By kind and index of a column that was read: what is true of all its n values.
    column_facts: dict[tuple[Kind, int], ColumnFacts] = field(default_factory=dict)

    def find_true_rows(self, expression: RunExpression, demanded_rows: BoolArray) -> BoolArray:
        """Return on which demanded rows a condition is true: bool[end - begin], or one for all.

        Raises:
            RowFailure: an operation has no result on a demanded row.
        """
        with np.errstate(all="ignore"):
            truth = self.evaluate_truth(expression, demanded_rows)
        return intersect_masks(intersect_masks(truth.values, truth.valid), demanded_rows)

    def split_into_blocks(self) -> Iterator[VectorEvaluator]:
        """Split the rows into blocks that are small enough for the processor's cache."""
        for begin in range(self.begin, self.end, ROWS_PER_BLOCK):
            yield replace(self, begin=begin, end=min(begin + ROWS_PER_BLOCK, self.end))

    def evaluate_truth(self, expression: RunExpression, demanded_rows: BoolArray) -> NullableVector:
        """Return the truth values of a condition."""
        result = self.evaluate(expression, demanded_rows)
        if result.values.dtype == np.bool_:
            return result
        return NullableVector(np.not_equal(result.values, 0), result.valid)

    def evaluate(self, expression: RunExpression, demanded_rows: BoolArray) -> NullableVector:
        """Return the values of an expression."""
        match expression:
            case Constant():
                return make_constant(expression)
            case ReadValue(column, kind, navigation):
                return self.read_column(
                    column, kind, navigation.physical_offset if navigation else 0
                )
            case Arithmetic():
                return self.evaluate_arithmetic(expression, demanded_rows)
            case RunOperation(Comparison() as comparison, operands):
                return self.evaluate_comparison(comparison, operands, demanded_rows)
            case RunOperation(BasicOperator.WIDEN, (operand,)):
                return widen(self.evaluate(operand, demanded_rows))
            case RunOperation(BasicOperator.NARROW, (operand,)):
                return narrow(self.evaluate(operand, demanded_rows))
            case RunOperation(BasicOperator.AND, operands):
                return self.evaluate_connective(operands, demanded_rows, decisive=np.bool_(False))
            case RunOperation(BasicOperator.OR, operands):
                return self.evaluate_connective(operands, demanded_rows, decisive=np.bool_(True))
            case RunOperation(BasicOperator.NOT, (operand,)):
                truth = self.evaluate_truth(operand, demanded_rows)
                return NullableVector(np.logical_not(truth.values), truth.valid)
            case RunOperation(BasicOperator.IS_NULL, (operand,)):
                value = self.evaluate(operand, demanded_rows)
                return NullableVector(np.logical_not(value.valid), np.asarray(True))
            case RunOperation(BasicOperator.CHOOSE, (condition, then, otherwise)):
                return self.evaluate_choice(condition, then, otherwise, demanded_rows)
            case _:
                raise AssertionError(expression)

    def read_column(self, column: int, kind: Kind, distance: int) -> NullableVector:
        """Return a column on the row at a distance from each row.

        The value is NULL if the row at the distance is outside of the partition.
        """
        values_of_kind, valid_of_kind = self.columns[kind]
        all_values = values_of_kind[column]
        all_valid = valid_of_kind[column]
        if (kind, column) not in self.column_facts:
            self.column_facts[kind, column] = ColumnFacts(
                has_nulls=not all_valid.all(), limits=find_limits(all_values)
            )
        has_nulls, limits = self.column_facts[kind, column]
        valid = self.shift_values(all_valid, distance) if has_nulls else np.asarray(True)
        if distance:
            if distance not in self.is_inside_by_distance:
                self.is_inside_by_distance[distance] = self.mark_rows_inside(distance)
            valid = intersect_masks(
                valid, self.is_inside_by_distance[distance][self.begin : self.end]
            )
        return NullableVector(self.shift_values(all_values, distance), valid, limits)

    def mark_rows_inside(self, distance: int) -> BoolArray:
        """Return for all rows whether the row at a distance is in the same partition: bool[n]."""
        # How many rows of each partition have no such row, and the first of these. They are at the
        # beginning of the partition if the distance is negative, and else at its end.
        counts = np.minimum(abs(distance), np.diff(self.starts))
        first = self.starts[:-1] if distance < 0 else self.starts[1:] - counts
        # The positions of all these rows, without a loop over partitions: `counts` rows from each
        # `first` on. `rank` numbers them through; `rank_of_first` is repeated for each row.
        rank = np.arange(int(counts.sum()))
        rank_of_first = np.cumsum(counts) - counts
        outside = np.repeat(first - rank_of_first, counts) + rank
        inside = np.ones(int(self.starts[-1]), np.bool_)
        inside[outside] = False
        return inside

    def shift_values(self, values: Vector, distance: int) -> Vector:
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

    def evaluate_comparison(
        self, comparison: Comparison, operands: OperandExpressions, demanded_rows: BoolArray
    ) -> NullableVector:
        """Return the truth values of a comparison."""
        left, right = (self.evaluate(operand, demanded_rows) for operand in operands)
        valid = intersect_masks(left.valid, right.valid)
        result = compare_vectors(comparison, left, right)
        if comparison is not Comparison.NULL_SAFE_EQUAL:
            return NullableVector(result, valid)
        return NullableVector(np.where(valid, result, left.valid == right.valid), np.asarray(True))

    def evaluate_arithmetic(
        self, expression: Arithmetic, demanded_rows: BoolArray
    ) -> NullableVector:
        """Return the results of an arithmetic operation."""
        left, right = (self.evaluate(operand, demanded_rows) for operand in expression.operands)
        valid = intersect_masks(left.valid, right.valid)
        operator = expression.operator
        origin = expression.origin
        if operator in (ArithmeticOperator.DIVIDE, ArithmeticOperator.REMAINDER):
            is_zero = np.equal(right.values, 0)
            if expression.on_error is OnFailure.RAISE:
                self.check_rows(failures.division_by_zero, is_zero & valid, demanded_rows, origin)
            valid = intersect_masks(valid, np.logical_not(is_zero))
        limits = find_result_limits(operator, left.limits, right.limits)
        if expression.kind is Kind.FLOATING:
            values = FLOAT_OPERATIONS[operator](left.values, right.values)
            return NullableVector(values, valid, limits)
        if limits is not None and limits.fit(expression.bits):
            # No result can overflow. Limits are known only of sums and differences.
            compute = np.add if operator is ArithmeticOperator.ADD else np.subtract
            return NullableVector(compute(left.values, right.values), valid, limits)
        values, overflows = compute_integers(operator, left.values, right.values, expression.bits)
        if expression.on_error is OnFailure.NULL:
            valid = intersect_masks(valid, np.logical_not(overflows))
        elif expression.on_error is OnFailure.RAISE and overflows.any():
            self.check_rows(
                failures.overflow_in_condition, overflows & valid, demanded_rows, origin
            )
        return NullableVector(values, valid)

    def check_rows(
        self,
        make_error: MakeRunError,
        rows: BoolArray,
        demanded_rows: BoolArray,
        origin: OperationOrigin | None,
    ) -> None:
        """Check that an operation fails on no demanded row.

        Args:
            make_error: makes the user's error.
            rows: the rows on which the operation fails.
            demanded_rows: the demanded rows.
            origin: where the user wrote the operation; None if that is not known.

        Raises:
            RowFailure: the operation fails on a demanded row.
        """
        failing_rows = rows & demanded_rows
        if failing_rows.any():
            raise RowFailure(make_error, self.begin + int(np.argmax(failing_rows)), origin)

    def evaluate_connective(
        self, operands: OperandExpressions, demanded_rows: BoolArray, *, decisive: np.bool_
    ) -> NullableVector:
        """Return the truth values of AND or OR.

        If an operand decides the result on a row, the row is not demanded of later operands.

        Args:
            operands: the operands, in the order in which they are evaluated.
            demanded_rows: the rows whose result is needed.
            decisive: the truth value that decides: false for AND, true for OR.
        """
        is_decided = np.asarray(False)
        all_valid = np.asarray(True)
        for operand in operands:
            truth = self.evaluate_truth(operand, demanded_rows)
            is_decisive = intersect_masks(truth.values == decisive, truth.valid)
            is_decided = unite_masks(is_decided, is_decisive)
            all_valid = intersect_masks(all_valid, truth.valid)
            demanded_rows = intersect_masks(demanded_rows, np.logical_not(is_decisive))
        return NullableVector(is_decided == decisive, unite_masks(is_decided, all_valid))

    def evaluate_choice(
        self,
        condition: RunExpression,
        then: RunExpression,
        otherwise: RunExpression,
        demanded_rows: BoolArray,
    ) -> NullableVector:
        """Return the values of `then` on rows on which a condition is true, else of `otherwise`."""
        truth = self.evaluate_truth(condition, demanded_rows)
        is_true = intersect_masks(truth.values, truth.valid)
        then_vector = self.evaluate(then, intersect_masks(demanded_rows, is_true))
        other_vector = self.evaluate(
            otherwise, intersect_masks(demanded_rows, np.logical_not(is_true))
        )
        return NullableVector(
            np.where(is_true, then_vector.values, other_vector.values),
            np.where(is_true, then_vector.valid, other_vector.valid),
        )


def make_constant(constant: Constant) -> NullableVector:
    """Return a constant as one value for all rows."""
    dtype = np.int64 if constant.kind is Kind.INTEGER else np.float64
    value = np.asarray(constant.value or 0, dtype)
    return NullableVector(value, np.asarray(constant.value is not None), find_limits(value))


def widen(integers: NullableVector) -> NullableVector:
    """Return integers as floats."""
    limits = integers.limits
    if limits is not None:
        limits = ValueLimits(float(limits.minimum), float(limits.maximum))
    return NullableVector(integers.values.astype(np.float64), integers.valid, limits)


def narrow(numbers: NullableVector) -> NullableVector:
    """Return numbers as floats that are rounded to 32 bits."""
    rounded = numbers.values.astype(np.float32)
    return NullableVector(rounded.astype(np.float64), numbers.valid)
