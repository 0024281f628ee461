"""Counts, sums and averages: COUNT, COUNT_IF, SUM and AVG.

A sum or an average keeps a `RunningTotal`. What the total is depends on the type of the values:

    values                      the total                                 `begin_...`
    floats, AVG of integers     a float                                   begin_sum
    integers and intervals      an integer                                begin_sum
    decimals                    an integer, the digits of the sum:        begin_decimal_sum
                                12.5 with scale 2 is 1250

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
    BIGINT,
    INT,
    Family,
    ValueType,
    find_average_type,
    find_sum_type,
)

# Spark divides a sum of decimals as a double if the average has at most this many digits.
DIGITS_OF_A_DOUBLE = 15
# How many digits after the point a quotient of decimals has in Spark before it is rounded.
PLACES_OF_A_QUOTIENT = 39


def begin_count(_: AggregateUse) -> Accumulator:
    """Return an accumulator for COUNT: the number of rows on which no argument is NULL."""
    return Accumulator(0, lambda count, *values: count + (None not in values), int)


def begin_count_if(_: AggregateUse) -> Accumulator:
    """Return an accumulator for COUNT_IF: the number of rows on which a condition is true."""
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
    # How many values have been added to the total.
    value_count: int


# Returns the total after one more value, from the total before it and the value.
AddValue = Callable[[Value, Value], Value]
# Returns the aggregate from the total and the number of values, which is at least 1.
FinishTotal = Callable[[Value, int], Value]


def begin_total(zero: Value, add_value: AddValue, finish_total: FinishTotal) -> Accumulator:
    """Return an accumulator of a total. NULLs are left out. Without values, the aggregate is NULL.

    Args:
        zero: the total before the first value, a zero of the total's type.
        add_value: returns the total after one more value.
        finish_total: returns the aggregate from the total and the number of values.
    """

    def step(state: RunningTotal, value: Value) -> RunningTotal:
        """Add a value unless it is NULL, and count it."""
        if value is None:
            return state
        return RunningTotal(add_value(state.total, value), state.value_count + 1)

    def finish(state: RunningTotal) -> Value:
        """Return the aggregate; NULL if no value was added."""
        if not state.value_count:
            return None
        return finish_total(state.total, state.value_count)

    return Accumulator(RunningTotal(zero, value_count=0), step, finish)


def return_total(total: Value, _: int) -> Value:
    """Return the total, which is the aggregate for a sum."""
    return total


def begin_sum(use: AggregateUse, *, is_average: bool = False) -> Accumulator:
    """Return an accumulator for SUM or AVG of numbers or intervals.

    The accumulator raises TooLargeError if the sum of integers, decimals or intervals does not fit
    its type and that is an error: see the docstring of the module.
    """
    family = use.types[0].family
    if family is Family.DECIMAL:
        return begin_decimal_sum(use, is_average=is_average)
    if family is Family.FLOATING or (is_average and family is Family.INTEGER):
        finish_floats = operator.truediv if is_average else return_total
        return begin_total(0.0, lambda total, value: total + float(value), finish_floats)
    # A year-month interval is an int of Java. Sums of integers are bigints.
    bits = INT.bits if family is Family.MONTHS else BIGINT.bits

    def add_integer(total: int, value: int) -> int:
        """Add an integer: on overflow, raise TooLargeError or wrap around, as Spark does."""
        new_total = total + value
        if fits(new_total, bits):
            return new_total
        if use.ansi or family is not Family.INTEGER:
            raise TooLargeError
        return wrap(new_total, bits)

    return begin_total(0, add_integer, divide_rounded if is_average else return_total)


def begin_decimal_sum(use: AggregateUse, *, is_average: bool) -> Accumulator:
    """Return an accumulator for SUM or AVG of decimals.

    The total is an integer: the digits of the sum. Once the sum has too many digits for its type,
    the total stays at `limit`, as Spark's buffer stays NULL, even if later values would make the
    sum smaller.

    The accumulator raises TooLargeError if the result does not fit its type in ANSI mode.
    """
    (type_,) = use.types
    scale = type_.scale
    result_scale = find_average_type(type_).scale if is_average else scale
    # The least total with too many digits for the type of the sum.
    limit: int = 10 ** find_sum_type(type_).precision

    def add_decimal(total: int, value: Decimal) -> int:
        """Add the digits of a decimal to the total, unless it is too large already."""
        if abs(total) >= limit:
            return limit
        return total + int(value.scaleb(scale, EXACT_CONTEXT))

    def finish_decimals(total: int, value_count: int) -> Decimal | None:
        """Return the sum or average; if it is too large, raise in ANSI mode or return NULL."""
        digits: int | None = total
        if abs(total) >= limit:
            digits = None
        elif is_average:
            digits = compute_average_digits(total, value_count, type_)
        if digits is None:
            if use.ansi:
                raise TooLargeError
            return None
        return build_decimal(digits, result_scale)

    return begin_total(0, add_decimal, finish_decimals)


def compute_average_digits(total: int, value_count: int, type_: ValueType) -> int | None:
    """Return the digits of an average of decimals, or None if there are too many for its type.

    The average of 1.00 and 2.01, a total of 301 for a scale of 2, is 1.505000. As it has four more
    digits after the point, the result is 1505000.

    Args:
        total: the digits of the sum.
        value_count: the number of decimals.
        type_: the type of the decimals.
    """
    result_type = find_average_type(type_)
    if type_.precision + ADDED_BY_AVERAGE <= DIGITS_OF_A_DOUBLE:
        # `repr` gives the decimal that Spark makes of the double, by its shortest text.
        average = Decimal(repr(total / value_count / 10.0**type_.scale))
        unrounded_digits = average.scaleb(result_type.scale, EXACT_CONTEXT)
        return int(unrounded_digits.to_integral_value(ROUND_HALF_UP))
    # Spark rounds twice: first to the places of any quotient, then to the places of the type.
    shifted_total = total * 10 ** (PLACES_OF_A_QUOTIENT - type_.scale)
    quotient_digits = divide_rounded(shifted_total, value_count)
    digits = divide_rounded(quotient_digits, 10 ** (PLACES_OF_A_QUOTIENT - result_type.scale))
    return digits if abs(digits) < 10**result_type.precision else None


# Returns an accumulator for AVG.
begin_average = partial(begin_sum, is_average=True)
