"""Expressions over rows at fixed distances, evaluated for many rows at once.

The values are those of `conditions.run_condition`, which kernels compute run by run. An operation
is evaluated for all rows, also for those on which AND, OR or CASE would not come to it; whether it
fails is asked of the others only. Of two values, `kernels.arithmetic` is the same.
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
    Basic,
    Comparison,
    Constant,
    Operate,
    ReadValue,
    RunExpression,
)
from matchrec.conditions.types import Kind
from matchrec.errors import MatchRecognizeRunError
from matchrec.errors.message import Message
from matchrec.errors.run import failures

Array = npt.NDArray[Any]

LEAST = np.int64(-(2**63))
SAFE = 2.0**62  # a product that is less by this, as a float, fits an int64
HALF = 2**62 - 1

# The comparisons by the orders that they hold for, from 1 on: see `instructions`.
BY_ORDERS = np.less, np.equal, np.less_equal, np.greater, np.not_equal, np.greater_equal


def compare(comparison: Comparison, left: Array, right: Array) -> BoolArray:
    """Truth values; NULL_SAFE_EQUAL is EQUAL. NaN is one number, the greatest."""
    orders = COMPARISONS[comparison] & (LESS + EQUAL + GREATER)
    found = BY_ORDERS[orders - 1](left, right)
    # to NumPy, NaN is the least of all numbers
    has_nan = (np.isnan(one.min(initial=np.inf)) for one in (left, right))
    if left.dtype == np.float64 and any(has_nan):
        is_nan, other = np.isnan(left), np.isnan(right)
        order = is_nan.astype(np.int8) - other
        found = np.where(is_nan | other, orders >> (order + 1) & 1, found)
    return np.asarray(found, np.bool_)


# The results, any of a division by zero.
OF_FLOATS: Mapping[ArithmeticOperator, np.ufunc] = dict(
    zip(ArithmeticOperator, (np.add, np.subtract, np.multiply, np.divide, np.fmod), strict=True)
)


def connected(connect: np.ufunc, left: BoolArray, right: BoolArray) -> BoolArray:
    """AND or OR of truth values, of rows or one of all, with which NumPy takes 18 times as long."""
    for one, other in ((left, right), (right, left)):
        if one.ndim == 0 and one == connect.identity:
            return other
    return np.asarray(connect(left, right), np.bool_)


both, either = partial(connected, np.logical_and), partial(connected, np.logical_or)


def are_small(*operands: Array) -> bool:
    """Whether the sum and the difference of these integers fit an int64, whichever they are."""
    return all(one.min(initial=0) >= -HALF and one.max(initial=0) <= HALF for one in operands)


def compute_integers(
    operator: ArithmeticOperator, left: Array, right: Array, bits: int
) -> tuple[Array, BoolArray]:
    """The results, wrapped to so many bits, and where they do not fit; anything for `/ 0`.

    Where no sum can be too large, that is one value for all.
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
            overflows = (left == LEAST) & (right == -1) & divides
    if bits < 64:
        wide, unused = values, 64 - bits
        values = (wide << unused) >> unused
        overflows = either(overflows, values != wide)
    return values, overflows


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
    rest, whole = -np.abs(remainder), np.where(divisor < 0, divisor, -divisor)
    quotient = quotient + away * (rest <= whole - rest)  # twice the rest is the whole at least
    return np.where(right == -1, np.subtract(0, left), quotient)


ROWS_A_BLOCK = 1 << 16

Parts = tuple[RunExpression, ...]


class RowFailure(Exception):  # noqa: N818 -- not a user's error yet
    """An operation has no result: the message of the user's error, and the row position."""


class Nullable(NamedTuple):
    """Values of rows, or one value for all of them, and where they are not NULL."""

    values: Array
    valid: BoolArray


@dataclass(frozen=True, slots=True)
class Vectors:
    """Evaluates expressions for the rows begin .. end of partitions.

    columns: by kind, values and validity, [c, n]. starts: of partitions, and the number of rows.
    inside: by distance, of all rows, whether the row so far from it is one of its partition.
    """

    columns: Mapping[Kind, tuple[Array, BoolArray]]
    starts: IntArray
    begin: int
    end: int
    inside: dict[int, BoolArray] = field(default_factory=dict)

    def holds(self, expression: RunExpression, asked: BoolArray) -> BoolArray:
        """bool[end - begin]: whether a condition is true, of the rows asked. Raises RowFailure."""
        with np.errstate(all="ignore"):
            found = self.truth(expression, asked)
        return both(both(found.values, found.valid), asked)

    def blocks(self) -> Iterator[Vectors]:
        """Vectors of a few rows each, whose values stay in the processor's cache."""
        for begin in range(self.begin, self.end, ROWS_A_BLOCK):
            yield replace(self, begin=begin, end=min(begin + ROWS_A_BLOCK, self.end))

    def truth(self, expression: RunExpression, asked: BoolArray) -> Nullable:
        found = self.evaluate(expression, asked)
        if found.values.dtype == np.bool_:
            return found
        return Nullable(np.not_equal(found.values, 0), found.valid)

    def evaluate(self, expression: RunExpression, asked: BoolArray) -> Nullable:
        """The values of an expression. asked: the rows on which it may fail."""
        match expression:
            case Constant(value, kind):
                type_ = np.int64 if kind is Kind.INTEGER else np.float64
                return Nullable(np.asarray(value or 0, type_), np.asarray(value is not None))
            case ReadValue(column, kind, navigation):
                return self.read(column, kind, navigation.physical_offset if navigation else 0)
            case Operate(Comparison() as comparison, parts):
                return self.compare(comparison, parts, asked)
            case Arithmetic():
                return self.compute(expression, asked)
            case Operate(Basic.WIDEN | Basic.NARROW as operator, (part,)):
                values, valid = self.evaluate(part, asked)
                if operator is Basic.NARROW:
                    values = values.astype(np.float32)
                return Nullable(values.astype(np.float64), valid)
            case Operate(Basic.AND | Basic.OR as operator, parts):
                return self.connect(parts, asked, decisive=np.bool_(operator is Basic.OR))
            case Operate(Basic.NOT, (part,)):
                values, valid = self.truth(part, asked)
                return Nullable(np.logical_not(values), valid)
            case Operate(Basic.IS_NULL, (part,)):
                return Nullable(np.logical_not(self.evaluate(part, asked).valid), np.asarray(True))
            case Operate(Basic.CHOOSE, parts):
                return self.choose(parts, asked)
            case _:
                raise AssertionError(expression)

    def read(self, column: int, kind: Kind, distance: int) -> Nullable:
        """A column, so far from each row; NULL beyond the border of its partition."""
        values, valid = (array[column] for array in self.columns[kind])
        if not distance:
            return Nullable(values[self.begin : self.end], valid[self.begin : self.end])
        if distance not in self.inside:
            begins, ends = self.starts[:-1], self.starts[1:]
            change = np.zeros(int(self.starts[-1]) + 1, np.int8)
            if distance < 0:
                change[begins] += 1
                change[np.minimum(begins - distance, ends)] -= 1
            else:
                change[np.maximum(ends - distance, begins)] += 1
                change[ends] -= 1
            self.inside[distance] = np.equal(np.cumsum(change[:-1], dtype=np.int8), 0)
        there = self.shifted(valid, distance) & self.inside[distance][self.begin : self.end]
        return Nullable(self.shifted(values, distance), there)

    def shifted(self, values: Array, distance: int) -> Array:
        """The values so far from each row; any where there is no such row."""
        first, last = max(self.begin + distance, 0), min(self.end + distance, len(values))
        if last - first == self.end - self.begin:
            return values[first:last]
        found = np.zeros(self.end - self.begin, values.dtype)
        to = first - distance - self.begin
        if first < last:
            found[to : to + last - first] = values[first:last]
        return found

    def compare(self, comparison: Comparison, parts: Parts, asked: BoolArray) -> Nullable:
        left, right = (self.evaluate(part, asked) for part in parts)
        valid = both(left.valid, right.valid)
        found = compare(comparison, left.values, right.values)
        if comparison is not Comparison.NULL_SAFE_EQUAL:
            return Nullable(found, valid)
        return Nullable(np.where(valid, found, left.valid == right.valid), np.asarray(True))

    def compute(self, expression: Arithmetic, asked: BoolArray) -> Nullable:
        left, right = (self.evaluate(part, asked) for part in expression.parts)
        valid, operator = both(left.valid, right.valid), expression.operator
        if operator in (ArithmeticOperator.DIVIDE, ArithmeticOperator.REMAINDER):
            is_zero = np.equal(right.values, 0)
            if expression.ansi and not expression.tries:
                self.fail(failures.division_by_zero, is_zero & valid, asked)
            valid = both(valid, np.logical_not(is_zero))
        if expression.kind is Kind.FLOATING:
            return Nullable(OF_FLOATS[operator](left.values, right.values), valid)
        values, overflows = compute_integers(operator, left.values, right.values, expression.bits)
        if expression.tries:
            valid = both(valid, np.logical_not(overflows))
        elif expression.ansi and overflows.any():
            self.fail(failures.overflow_in_condition, overflows & valid, asked)
        return Nullable(values, valid)

    def fail(
        self, message: Message[MatchRecognizeRunError], rows: BoolArray, asked: BoolArray
    ) -> None:
        """Raises RowFailure if an operation fails on a row that is asked."""
        failing = rows & asked
        if failing.any():
            raise RowFailure(message, self.begin + int(np.argmax(failing)))

    def connect(self, parts: Parts, asked: BoolArray, *, decisive: np.bool_) -> Nullable:
        """AND or OR: what one part decides is not asked of those after it."""
        decided, known = np.asarray(False), np.asarray(True)
        for part in parts:
            values, valid = self.truth(part, asked)
            decides = both(values == decisive, valid)
            decided, known = either(decided, decides), both(known, valid)
            asked = both(asked, np.logical_not(decides))
        return Nullable(decided == decisive, either(decided, known))

    def choose(self, parts: Parts, asked: BoolArray) -> Nullable:
        values, valid = self.truth(parts[0], asked)
        chosen = both(values, valid)
        then = self.evaluate(parts[1], both(asked, chosen))
        otherwise = self.evaluate(parts[2], both(asked, np.logical_not(chosen)))
        return Nullable(
            np.where(chosen, then.values, otherwise.values),
            np.where(chosen, then.valid, otherwise.valid),
        )
