"""Sums, averages and counts; aggregates that give a value, or all of them: min, mode, collect_list.

What does not fit a sum is an error under ANSI, and for intervals always; else integers wrap and
decimals are NULL.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from typing import Any

from matchrec.conditions.accumulators.aggregate import (
    EXACT,
    Accumulator,
    AggregateFunction,
    Key,
    Result,
    decimal_of,
    digits_of,
    order_key,
    sort_key,
)
from matchrec.conditions.functions.comparisons import normalized
from matchrec.conditions.functions.function import AggregateUse, Value
from matchrec.conditions.functions.numerals import divided, fits, wrap
from matchrec.conditions.types import (
    BIGINT,
    BOOLEAN,
    NUMBERS,
    SPANS,
    Family,
    ValueType,
    array,
    average_type,
    sum_type,
)


class Best:
    """The best value so far, by a key: the least or the largest one."""

    def __init__(self, use: AggregateUse, *, largest: bool) -> None:
        self.key = sort_key(use.types[-1])
        self.is_better = operator.gt if largest else operator.lt
        self.best: Key = None
        self.value: Value = None

    def result(self) -> Value:
        return self.value


class Extreme(Best):
    """The least or the largest value; of equal ones the first."""

    def add(self, *values: Value) -> None:
        (value,) = values
        if value is None:
            return
        key = self.key(value)
        if self.value is None or self.is_better(key, self.best):
            self.best, self.value = key, value


class ValueBeside(Best):
    """The value on the row that has the least or the largest ordering; of equal ones the last."""

    def add(self, *values: Value) -> None:
        value, ordering = values
        if ordering is None:
            return
        key = self.key(ordering)
        if self.best is None or not self.is_better(self.best, key):
            self.best, self.value = key, value


def only_type(use: AggregateUse) -> ValueType | None:
    """The type of the one argument."""
    return use.types[0] if len(use.types) == 1 else None


def type_beside(use: AggregateUse) -> ValueType | None:
    """The type of the first of two arguments; a third would ask for several rows."""
    return use.types[0] if len(use.types) == 2 else None


EXTREMES: Mapping[str, AggregateFunction] = {
    "min": AggregateFunction(only_type, partial(Extreme, largest=False), ignores_repeats=True),
    "max": AggregateFunction(only_type, partial(Extreme, largest=True), ignores_repeats=True),
    "min_by": AggregateFunction(type_beside, partial(ValueBeside, largest=False)),
    "max_by": AggregateFunction(type_beside, partial(ValueBeside, largest=True)),
}


class FirstValue:
    """The value of the first row, or of the first without NULL."""

    def __init__(self, use: AggregateUse) -> None:
        self.ignore_nulls = use.ignore_nulls
        self.found = False
        self.value: Value = None

    def add(self, *values: Value) -> None:
        value, *treatment = values
        ignored = value is None and (self.ignore_nulls or True in treatment)
        if not self.found and not ignored:
            self.found, self.value = True, value

    def result(self) -> Value:
        return self.value


class LastValue(FirstValue):
    """The value of the last row, or of the last without NULL."""

    def add(self, *values: Value) -> None:
        self.found = False
        super().add(*values)


class Mode:
    """The most frequent value.

    Of several the least or the largest one, as it is asked for; else the least, though Spark may
    give another one of them there.
    """

    def __init__(self, use: AggregateUse) -> None:
        type_, words = use.ordering[0] if use.ordering else (use.types[0], "")
        self.key = sort_key(type_)
        self.prefers_largest = words.startswith("DESC")
        self.counts: dict[Value, int] = {}
        self.most = 0
        self.best: Key = None
        self.value: Value = None

    def add(self, *values: Value) -> None:
        value = normalized(values[0])
        if value is None:
            return
        count = self.counts[value] = self.counts.get(value, 0) + 1
        key = self.key(value)
        if count > self.most or (count == self.most and self.is_preferred(key)):
            self.most, self.best, self.value = count, key, value

    def is_preferred(self, key: Key) -> bool:
        """Whether a value as frequent as the best so far takes its place."""
        return bool(key > self.best if self.prefers_largest else key < self.best)

    def result(self) -> Value:
        return self.value


def type_of_chosen(use: AggregateUse) -> ValueType | None:
    """The type of the first argument; a second one says whether to ignore NULL."""
    families = [one.family for one in use.types[1:]]
    return use.types[0] if use.types and families in ([], [Family.BOOLEAN]) else None


def type_of_mode(use: AggregateUse) -> ValueType | None:
    """The type of the argument, or of what WITHIN GROUP orders by."""
    if use.ordering:
        return use.ordering[0][0] if len(use.ordering) == 1 and not use.types else None
    return type_of_chosen(use)


FIRST = AggregateFunction(type_of_chosen, FirstValue, constant=1)
LAST = AggregateFunction(type_of_chosen, LastValue, constant=1)

CHOSEN: Mapping[str, AggregateFunction] = {
    "any_value": FIRST,
    "first_value": FIRST,
    "last_value": LAST,
    "mode": AggregateFunction(type_of_mode, Mode, constant=1),
}


class CollectList:
    """The values without NULL, in the order of the rows."""

    def __init__(self, _: AggregateUse) -> None:
        self.values: list[Value] = []

    def add(self, *values: Value) -> None:
        (value,) = values
        if value is not None:
            self.values.append(value)

    def result(self) -> tuple[Value, ...]:
        return tuple(self.values)


class CollectSet:
    """The different values without NULL, in the order in which they first come."""

    def __init__(self, _: AggregateUse) -> None:
        self.values: dict[Value, None] = {}

    def add(self, *values: Value) -> None:
        value = normalized(values[0])
        if value is not None:
            self.values[value] = None

    def result(self) -> tuple[Value, ...]:
        return tuple(self.values)


class ListAgg:
    """Texts one after the other, with a delimiter, in the order of the rows or of WITHIN GROUP."""

    def __init__(self, use: AggregateUse) -> None:
        self.key = order_key(use.ordering)
        self.arguments = len(use.types)
        self.ordered = bool(use.ordering)
        self.delimiter: Value = None
        self.texts: list[tuple[Key, Value]] = []
        self.sorted = True

    def add(self, *values: Value) -> None:
        arguments, ordering = values[: self.arguments], values[self.arguments :]
        if self.arguments > 1:
            self.delimiter = arguments[1]
        if arguments[0] is not None:
            self.texts.append((self.key(ordering), arguments[0]))
            self.sorted = False

    def result(self) -> Value:
        if not self.texts:
            return None
        if self.ordered and not self.sorted:
            self.texts.sort(key=lambda text: text[0])
            self.sorted = True
        texts = [text for _, text in self.texts]
        return (texts[0][:0] if self.delimiter is None else self.delimiter).join(texts)


def array_of_argument(use: AggregateUse) -> ValueType | None:
    return array(use.types[0]) if len(use.types) == 1 else None


def type_of_text(use: AggregateUse) -> ValueType | None:
    """The type of the texts, which the delimiter has too."""
    family = use.types[0].family if use.types else None
    alike = all(one.family is family or one.name == "void" for one in use.types)
    if len(use.types) > 2 or not alike or family not in (Family.STRING, Family.BINARY):
        return None
    return use.types[0]


LIST = AggregateFunction(array_of_argument, CollectList)
TEXT = AggregateFunction(type_of_text, ListAgg, constant=1)

LISTS: Mapping[str, AggregateFunction] = {
    "collect_list": LIST,
    "array_agg": LIST,
    "collect_set": AggregateFunction(array_of_argument, CollectSet, ignores_repeats=True),
    "listagg": TEXT,
    "string_agg": TEXT,
}


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
