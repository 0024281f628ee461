"""min, max, and the values beside them: min_by, max_by."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from functools import partial

from matchrec.conditions.accumulators.aggregate import AggregateFunction, AggregateUse
from matchrec.conditions.accumulators.values import Key, sort_key
from matchrec.conditions.functions.function import Value
from matchrec.conditions.types import ValueType


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
