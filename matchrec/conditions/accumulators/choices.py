"""Aggregates that give a value, or all of them: min, max, min_by, any_value, mode, collect_list."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from functools import partial

from matchrec.conditions.accumulators.aggregate import (
    AggregateFunction,
    AggregateUse,
    Key,
    order_key,
    sort_key,
)
from matchrec.conditions.functions.comparisons import normalized
from matchrec.conditions.functions.function import Value
from matchrec.conditions.types import Family, ValueType, array


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
