"""count, count_if and the aggregates of truth values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from matchrec.conditions.accumulators.aggregate import AggregateFunction, AggregateUse, Result
from matchrec.conditions.accumulators.extremes import Extreme
from matchrec.conditions.functions.function import Value
from matchrec.conditions.types import BIGINT, BOOLEAN, Family, ValueType


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
