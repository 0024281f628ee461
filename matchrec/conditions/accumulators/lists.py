"""Aggregates that give all values: collect_list, collect_set, listagg."""

from __future__ import annotations

from collections.abc import Mapping

from matchrec.conditions.accumulators.aggregate import AggregateFunction, AggregateUse
from matchrec.conditions.accumulators.values import Key, order_key
from matchrec.conditions.functions.comparisons import normalized
from matchrec.conditions.functions.function import Value
from matchrec.conditions.types import Family, ValueType, array


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
