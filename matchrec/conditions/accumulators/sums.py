"""sum and avg of numbers and intervals, count, count_if and the aggregates of truth values.

What does not fit a sum is an error under ANSI, and for intervals always; else integers wrap and
decimals are NULL.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from typing import Any

from matchrec.conditions.accumulators.aggregate import (
    EXACT,
    Accumulator,
    AggregateFunction,
    AggregateUse,
    Result,
    decimal_of,
    digits_of,
)
from matchrec.conditions.accumulators.choices import Extreme
from matchrec.conditions.functions.function import Value
from matchrec.conditions.functions.numerals import divided, fits, wrap
from matchrec.conditions.types import (
    BIGINT,
    BOOLEAN,
    NUMBERS,
    SPANS,
    Family,
    ValueType,
    average_type,
    sum_type,
)

DIGITS_OF_A_DOUBLE = 15  # up to which Spark divides the sum of decimals as a double
PLACES_OF_A_QUOTIENT = 39  # that Spark computes before it rounds to those of the result


class TooLargeError(OverflowError):
    """A sum that its type cannot hold."""


class Sum(ABC):
    """What values that are not NULL make together; NULL without such. rows: how many there are."""

    total: Any = 0
    rows = 0

    def add(self, *values: Value) -> None:
        (value,) = values
        if value is not None:
            self.rows += 1
            self.take(value)

    def result(self) -> Value:
        return self.value() if self.rows else None

    @abstractmethod
    def take(self, value: Value) -> None:
        """Add a value to the total."""

    def value(self) -> Value:
        """The result of one row or more."""
        return self.total


class WholeSum(Sum):
    """A sum of integers or intervals, of so many bits. wraps: whether it loses what is over."""

    def __init__(self, bits: int, *, wraps: bool = False) -> None:
        self.bits = bits
        self.wraps = wraps

    def take(self, value: int) -> None:
        total = self.total + value
        if not fits(total, self.bits):
            if not self.wraps:
                raise TooLargeError
            total = wrap(total, self.bits)
        self.total = total


class FloatSum(Sum):
    """A sum of numbers as doubles; it begins with 0, to which -0 adds nothing."""

    total = 0.0

    def take(self, value: Value) -> None:
        self.total += float(value)


class DecimalSum(Sum):
    """A sum of decimals of a type; `total` counts its last places."""

    def __init__(self, type_: ValueType, *, ansi: bool) -> None:
        self.scale = type_.scale
        self.limit = 10 ** sum_type(type_).precision
        self.ansi = ansi

    def take(self, value: Decimal) -> None:
        total = self.total + digits_of(value, self.scale)
        # what has once been too large is NULL in Spark's buffer, and stays so
        self.total = total if abs(self.total) < self.limit else self.limit

    def has_room(self) -> bool:
        """Whether the total has no more digits than its type. Raises TooLargeError under ANSI."""
        if abs(self.total) >= self.limit and self.ansi:
            raise TooLargeError
        return bool(abs(self.total) < self.limit)

    def value(self) -> Decimal | None:
        return decimal_of(self.total, self.scale) if self.has_room() else None


class FloatAverage(FloatSum):
    """The average of numbers as doubles."""

    def value(self) -> float:
        return self.total / self.rows


class WholeAverage(WholeSum):
    """The average of intervals, rounded to whole ones."""

    def value(self) -> int:
        return divided(self.total, self.rows)


class DecimalAverage(DecimalSum):
    """The average of decimals of a type, with up to four more places."""

    def __init__(self, type_: ValueType, *, ansi: bool) -> None:
        super().__init__(type_, ansi=ansi)
        self.result_type = average_type(type_)
        self.as_double = type_.precision + 4 <= DIGITS_OF_A_DOUBLE

    def value(self) -> Decimal | None:
        if not self.has_room():
            return None
        places = self.result_type.scale
        if self.as_double:
            quotient = Decimal(repr(self.total / self.rows / 10.0**self.scale))
            return quotient.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, EXACT)
        more = PLACES_OF_A_QUOTIENT - self.scale
        quotient_digits = divided(self.total * 10**more, self.rows)
        found = divided(quotient_digits, 10 ** (PLACES_OF_A_QUOTIENT - places))
        if abs(found) < 10**self.result_type.precision:
            return decimal_of(found, places)
        if self.ansi:
            raise TooLargeError
        return None


def type_of_sum(use: AggregateUse) -> ValueType | None:
    return _type(use, sum_type)


def type_of_average(use: AggregateUse) -> ValueType | None:
    return _type(use, average_type)


def _type(use: AggregateUse, of_number: Callable[[ValueType], ValueType]) -> ValueType | None:
    if len(use.types) != 1:
        return None
    (type_,) = use.types
    return of_number(type_) if type_.family in NUMBERS else SPANS.get(type_.family)


def begin_sum(use: AggregateUse) -> Accumulator:
    (type_,) = use.types
    match type_.family:
        case Family.FLOATING:
            return FloatSum()
        case Family.DECIMAL:
            return DecimalSum(type_, ansi=use.ansi)
        case Family.INTEGER:
            return WholeSum(64, wraps=not use.ansi)
        case Family.MONTHS:
            return WholeSum(32)
        case _:
            return WholeSum(64)


def begin_average(use: AggregateUse) -> Accumulator:
    (type_,) = use.types
    match type_.family:
        case Family.DECIMAL:
            return DecimalAverage(type_, ansi=use.ansi)
        case Family.MONTHS:
            return WholeAverage(32)
        case Family.INTERVAL:
            return WholeAverage(64)
        case _:
            return FloatAverage()


AVERAGE = AggregateFunction(type_of_average, begin_average)

SUMS: Mapping[str, AggregateFunction] = {
    "sum": AggregateFunction(type_of_sum, begin_sum),
    "avg": AVERAGE,
    "mean": AVERAGE,
}


class Count:
    """Rows without NULL."""

    def __init__(self, _: AggregateUse) -> None:
        self.rows = 0

    def add(self, *values: Value) -> None:
        if None not in values:
            self.rows += 1

    def result(self) -> int:
        return self.rows


class CountIf(Count):
    """Rows on which a condition is true."""

    def add(self, *values: Value) -> None:
        self.rows += values[0] is True


def count_type(_: AggregateUse) -> ValueType:
    return BIGINT


def of_truth_values(type_: ValueType) -> Result:
    """A result of a type, of one truth value for each row."""

    def result(use: AggregateUse) -> ValueType | None:
        return type_ if [one.family for one in use.types] == [Family.BOOLEAN] else None

    return result


ALL = AggregateFunction(of_truth_values(BOOLEAN), partial(Extreme, largest=False))
ANY = AggregateFunction(of_truth_values(BOOLEAN), partial(Extreme, largest=True))

COUNTS: Mapping[str, AggregateFunction] = {
    "count": AggregateFunction(count_type, Count),
    "count_if": AggregateFunction(of_truth_values(BIGINT), CountIf),
    "bool_and": ALL,
    "every": ALL,
    "bool_or": ANY,
    "some": ANY,
    "any": ANY,
}
