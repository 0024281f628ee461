"""What an aggregate over a list takes, what it gives, and how it is computed.

Values are equal, and are sorted, as Spark has it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, Protocol

from matchrec.conditions.functions.comparisons import normalized, rank
from matchrec.conditions.functions.function import AggregateUse, Compute, Value
from matchrec.conditions.types import NESTED, Family, ValueType
from matchrec.dataclass import dataclass

EXACT = Context(prec=200, rounding=ROUND_HALF_UP)
"""Arithmetic of decimals that loses no digit."""

Key = Any  # what compares with other keys
SortKey = Callable[[Value], Key]


def sort_key(type_: ValueType) -> SortKey:
    """By what values of a type are sorted, NULL left out: NaN is the greatest number."""
    if type_.family is Family.FLOATING or type_.family in NESTED:
        return rank
    return lambda value: value


def digits_of(value: Decimal, scale: int) -> int:
    """A decimal as a number of its last places."""
    return int(value.scaleb(scale, EXACT))


def decimal_of(digits: int, scale: int) -> Decimal:
    """The decimal of so many last places."""
    return Decimal(digits).scaleb(-scale, EXACT)


@dataclass(frozen=True, slots=True)
class Reversed:
    """A key that sorts the other way round."""

    key: Key

    def __lt__(self, other: Reversed) -> bool:
        return bool(other.key < self.key)


def item_key(type_: ValueType, words: str) -> SortKey:
    """By what one item of ORDER BY sorts. words: after it, such as DESC NULLS LAST."""
    descends = words.startswith("DESC")
    nulls_last = words.endswith("LAST") if "NULLS" in words else descends
    of_null = (2 if nulls_last else 0, None)
    plain = sort_key(type_)
    if descends:
        return lambda value: of_null if value is None else (1, Reversed(plain(value)))
    return lambda value: of_null if value is None else (1, plain(value))


def order_key(items: Sequence[tuple[ValueType, str]]) -> Callable[[Sequence[Value]], Key]:
    """By what ORDER BY sorts rows, of the values of its items."""
    keys = [item_key(type_, words) for type_, words in items]
    return lambda values: tuple(key(value) for key, value in zip(keys, values, strict=True))


MOST_KEPT = 64  # accumulators, of lists that may get one row more; results as long as a list
MOST_RESULTS = 1 << 16  # numbers and the like


class Accumulator(Protocol):
    """The rows of a list so far."""

    def add(self, *values: Value) -> None:
        """One more row: the arguments, then what the rows are ordered by."""

    def result(self) -> Value:
        """The aggregate of the rows."""


Result = Callable[[AggregateUse], ValueType | None]


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    """An aggregate of Spark.

    result: its type, or None where the arguments do not fit. begin: an accumulator without rows.
    constant: the argument that must be the same on all rows, by its place. ignores_repeats: whether
    DISTINCT changes nothing, so that Spark leaves it out.
    """

    result: Result
    begin: Callable[[AggregateUse], Accumulator]
    constant: int | None = None
    ignores_repeats: bool = False

    def begin_rows(self, use: AggregateUse) -> Accumulator:
        """An accumulator without rows, which counts equal rows once where that is asked for."""
        rows = self.begin(use)
        return Distinct(rows) if use.distinct and not self.ignores_repeats else rows


class Distinct:
    """The first of equal rows only. A floating zero loses its sign, as where Spark groups by it."""

    def __init__(self, rows: Accumulator) -> None:
        self.rows = rows
        self.seen: set[tuple[Value, ...]] = set()

    def add(self, *values: Value) -> None:
        key = tuple(map(normalized, values))
        if key not in self.seen:
            self.seen.add(key)
            self.rows.add(*key)

    def result(self) -> Value:
        return self.rows.result()


class Taking:
    """An aggregate of what is taken from the values of each row; None leaves the row out."""

    def __init__(
        self, rows: Accumulator, take: Callable[[tuple[Value, ...]], tuple[Value, ...] | None]
    ) -> None:
        self.rows = rows
        self.take = take

    def add(self, *values: Value) -> None:
        taken = self.take(values)
        if taken is not None:
            self.rows.add(*taken)

    def result(self) -> Value:
        return self.rows.result()


class ListOfRows(Protocol):
    """A list that shares its rows with the list before its last row was appended."""

    @property
    def number(self) -> int:
        """It has this number alone."""

    @property
    def before(self) -> int:
        """The number of the list without the last row."""

    @property
    def last(self) -> tuple[Value, ...]:
        """The values of the last row."""

    def __iter__(self) -> Iterator[tuple[Value, ...]]:
        """The values of all rows."""


def fold(begin: Callable[[], Accumulator]) -> Compute:
    """An aggregate of lists; where a list is a recent one and one row, that row is added to it.

    Results are kept beside accumulators, which go on to the next list: other runs that have the
    same list ask for the same result.
    """
    accumulators: OrderedDict[int, Accumulator] = OrderedDict()
    results: OrderedDict[int, Value] = OrderedDict()
    without_rows = begin().result()

    def compute(found: ListOfRows) -> Value:
        number = found.number
        if not number:
            return without_rows
        if number in results:
            results.move_to_end(number)
            return results[number]
        rows = accumulators.pop(found.before, None)
        if rows is None:
            rows = begin()
            for values in found:
                rows.add(*values)
        else:
            rows.add(*found.last)
        value = results[number] = rows.result()
        accumulators[number] = rows
        if len(accumulators) > MOST_KEPT:
            accumulators.popitem(last=False)
        most = MOST_KEPT if isinstance(value, str | bytes | tuple) else MOST_RESULTS
        while len(results) > most:
            results.popitem(last=False)
        return value

    return compute
