"""When values are equal for an aggregate, and how they are sorted: as Spark has it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from matchrec.conditions.functions.comparisons import rank
from matchrec.conditions.functions.function import Value
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
