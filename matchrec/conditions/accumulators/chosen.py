"""Aggregates that give one of the values: first_value, last_value, any_value, mode."""

from __future__ import annotations

from collections.abc import Mapping

from matchrec.conditions.accumulators.aggregate import AggregateFunction, AggregateUse
from matchrec.conditions.accumulators.values import Key, sort_key
from matchrec.conditions.functions.comparisons import normalized
from matchrec.conditions.functions.function import Value
from matchrec.conditions.types import Family, ValueType


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
