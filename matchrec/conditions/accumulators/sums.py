"""Counts, sums and averages: COUNT, COUNT_IF, SUM and AVG.

A sum that does not fit its type is an error in ANSI mode, and for intervals in every mode.
Otherwise integers wrap around, and decimals become NULL.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from typing import NamedTuple

from matchrec.conditions.accumulators.accumulator import Accumulator
from matchrec.conditions.functions.function import AggregateUse, Value
from matchrec.conditions.functions.number_conversions import divide_rounded, fits, wrap
from matchrec.conditions.functions.numerals import EXACT_CONTEXT
from matchrec.conditions.types import (
    ADDED_BY_AVERAGE,
    Family,
    ValueType,
    find_average_type,
    find_sum_type,
)

DIGITS_OF_A_DOUBLE = 15  # the precision up to which Spark divides sums of decimals as doubles
PLACES_OF_A_QUOTIENT = 39  # digits after the point that Spark computes before it rounds a quotient


def begin_count(_: AggregateUse) -> Accumulator:
    """Begin COUNT: the number of rows on which no argument is NULL."""
    return Accumulator(0, lambda count, *values: count + (None not in values), int)


def begin_count_if(_: AggregateUse) -> Accumulator:
    """Begin COUNT_IF: the number of rows on which a condition is true."""
    return Accumulator(0, lambda count, condition: count + (condition is True), int)


def build_decimal(digits: int, scale: int) -> Decimal:
    """Return the decimal with these digits, `scale` of them after the point.

    >>> build_decimal(1234, 2)
    Decimal('12.34')
    """
    return Decimal(digits).scaleb(-scale, EXACT_CONTEXT)


class TooLargeError(OverflowError):
    """A sum that its type cannot hold."""


class RunningTotal(NamedTuple):
    """The state of a sum or an average."""

    total: Value
    # The number of values in the total.
    number: int


def begin_total(
    start: Value, add: Callable[[Value, Value], Value], finish: Callable[[Value, int], Value]
) -> Accumulator:
    """Begin a total of values. NULLs are left out; without values, the total is NULL.

    Args:
        start: the total before the first value.
        add: returns the total after one more value.
        finish: returns the aggregate from the total and the number of values.
    """

    def step(state: RunningTotal, value: Value) -> RunningTotal:
        """Add a value unless it is NULL, and count it."""
        if value is None:
            return state
        return RunningTotal(add(state.total, value), state.number + 1)

    def finish_total(state: RunningTotal) -> Value:
        """Return the total; NULL if no value was added."""
        return finish(state.total, state.number) if state.number else None

    return Accumulator(RunningTotal(start, 0), step, finish_total)


def keep_total(total: Value, _: int) -> Value:
    """Return the total itself as the aggregate."""
    return total


def begin_sum(use: AggregateUse, *, is_average: bool = False) -> Accumulator:
    """Begin SUM or AVG of numbers or intervals. AVG of integers adds up doubles."""
    family = use.types[0].family
    if family is Family.DECIMAL:
        return begin_decimal_sum(use, is_average=is_average)
    if family is Family.FLOATING or (is_average and family is Family.INTEGER):
        finish = operator.truediv if is_average else keep_total
        return begin_total(0.0, lambda total, value: total + float(value), finish)
    bits = 32 if family is Family.MONTHS else 64

    def add(total: int, value: int) -> int:
        """Add an integer: on overflow, raise TooLargeError or wrap around, as Spark does."""
        new_total = total + value
        if fits(new_total, bits):
            return new_total
        if use.ansi or family is not Family.INTEGER:
            raise TooLargeError
        return wrap(new_total, bits)

    return begin_total(0, add, divide_rounded if is_average else keep_total)


def begin_decimal_sum(use: AggregateUse, *, is_average: bool) -> Accumulator:
    """Begin SUM or AVG of decimals. The total is an integer: the digits of the sum."""
    (type_,) = use.types
    scale = type_.scale
    result_scale = find_average_type(type_).scale if is_average else scale
    limit: int = 10 ** find_sum_type(type_).precision

    def add(total: int, value: Decimal) -> int:
        """Add the digits of a decimal; return `limit` if the sum has been too large before.

        Spark's buffer is NULL from there on, even if later values would make the sum smaller.
        """
        if abs(total) >= limit:
            return limit
        return total + int(value.scaleb(scale, EXACT_CONTEXT))

    def finish(total: int, count: int) -> Decimal | None:
        """Return the sum or average; if it is too large, raise in ANSI mode or return NULL."""
        digits = None
        if abs(total) < limit:
            digits = count_average_digits(total, count, type_) if is_average else total
        if digits is not None:
            return build_decimal(digits, result_scale)
        if use.ansi:
            raise TooLargeError
        return None

    return begin_total(0, add, finish)


def count_average_digits(total: int, count: int, type_: ValueType) -> int | None:
    """Return the digits of an average of decimals, or None if there are too many.

    Args:
        total: the digits of the sum.
        count: the number of decimals.
        type_: the type of the decimals.
    """
    result_type = find_average_type(type_)
    if type_.precision + ADDED_BY_AVERAGE <= DIGITS_OF_A_DOUBLE:
        quotient = Decimal(repr(total / count / 10.0**type_.scale))
        digits_and_rest = quotient.scaleb(result_type.scale, EXACT_CONTEXT)
        return int(digits_and_rest.to_integral_value(ROUND_HALF_UP))
    quotient_digits = divide_rounded(total * 10 ** (PLACES_OF_A_QUOTIENT - type_.scale), count)
    digits = divide_rounded(quotient_digits, 10 ** (PLACES_OF_A_QUOTIENT - result_type.scale))
    return digits if abs(digits) < 10**result_type.precision else None


begin_average = partial(begin_sum, is_average=True)
