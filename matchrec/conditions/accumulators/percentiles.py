"""median, percentile, percentile_cont and percentile_disc."""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Mapping
from functools import partial
from itertools import accumulate

from matchrec.conditions.accumulators.aggregate import AggregateFunction, AggregateUse, Taking
from matchrec.conditions.accumulators.values import sort_key
from matchrec.conditions.functions.function import FunctionError, Value
from matchrec.conditions.types import DOUBLE, NUMBERS, SPANS, Family, ValueType


class SortedValues:
    """Values in ascending order; NaN, which no comparison would place, is counted at the end."""

    def __init__(self) -> None:
        self.values: list[Value] = []
        self.not_numbers = 0

    def add(self, value: Value) -> None:
        if value != value:
            self.not_numbers += 1
        else:
            insort(self.values, value)

    def __len__(self) -> int:
        return len(self.values) + self.not_numbers

    def __getitem__(self, place: int) -> Value:
        return self.values[place] if place < len(self.values) else math.nan


class CountedValues:
    """Values that each count several times."""

    def __init__(self, type_: ValueType) -> None:
        self.key = sort_key(type_)
        self.counts: dict[Value, int] = {}
        self.total = 0

    def add(self, value: Value, count: int) -> None:
        self.counts[value] = self.counts.get(value, 0) + count
        self.total += count

    def __len__(self) -> int:
        return self.total

    def __getitem__(self, place: int) -> Value:
        values = sorted(self.counts, key=self.key)
        before = accumulate(self.counts[value] for value in values)
        return next(value for value, count in zip(values, before, strict=True) if count > place)


class Percentile:
    """The value below which a part of the values lies.

    type_: of the values. discrete: whether it is one of them. descends: counted from the largest.
    """

    def __init__(self, type_: ValueType, *, discrete: bool = False, descends: bool = False) -> None:
        self.type = type_
        self.discrete = discrete
        self.descends = descends
        self.percentage: float | None = None
        self.values: SortedValues | CountedValues = SortedValues()

    def add(self, *values: Value) -> None:
        """A value, the part, and how many times the value counts."""
        value, percentage, *frequency = values
        self.percentage = None if percentage is None else checked(float(percentage))
        if frequency and isinstance(self.values, SortedValues):
            self.values = CountedValues(self.type)
        if value is None:
            return
        if isinstance(self.values, SortedValues):
            self.values.add(value)
        elif frequency[0] is not None:
            self.values.add(value, positive(frequency[0]))

    def result(self) -> Value:
        if not len(self.values) or self.percentage is None:
            return None
        find = self.at_least if self.discrete else self.between
        found = find(self.percentage)
        return found if self.type.family in NUMBERS else int(found)

    def at_least(self, percentage: float) -> float:
        """The first value up to which at least that part of the values lies."""
        return self.at(max(math.ceil(percentage * len(self.values)) - 1, 0))

    def between(self, percentage: float) -> float:
        """The value at that part of the way, or between the two values beside it."""
        position = (len(self.values) - 1) * percentage
        lower, higher = math.floor(position), math.ceil(position)
        low = self.at(lower)
        high = low if lower == higher else self.at(higher)
        return low if low == high else low + (position - lower) * (high - low)

    def at(self, place: int) -> float:
        return float(self.values[len(self.values) - 1 - place if self.descends else place])


def checked(percentage: float) -> float:
    if not 0.0 <= percentage <= 1.0:
        raise FunctionError(f"The percentage must be between [0.0, 1.0], it is {percentage}")
    return percentage


def positive(frequency: int) -> int:
    if frequency < 0:
        raise FunctionError(f"Negative values found in {frequency}")
    return frequency


def within_group(use: AggregateUse, *, discrete: bool) -> Taking:
    """A percentile of what WITHIN GROUP orders by, which comes after the part."""
    type_, words = use.ordering[0]
    rows = Percentile(type_, discrete=discrete, descends=words.startswith("DESC"))
    return Taking(rows, lambda values: values[::-1])


def median(use: AggregateUse) -> Taking:
    """The percentile at one half."""
    return Taking(Percentile(use.types[0]), lambda values: (*values, 0.5))


def type_of_value(type_: ValueType) -> ValueType | None:
    """The type of a percentile of values of a type."""
    if type_.family in NUMBERS:
        return DOUBLE
    return type_ if type_.family is Family.TIME else SPANS.get(type_.family)


def type_of_median(use: AggregateUse) -> ValueType | None:
    return type_of_value(use.types[0]) if len(use.types) == 1 else None


def type_of_percentile(use: AggregateUse) -> ValueType | None:
    value, *others = use.types or (DOUBLE,)
    if not others or others[0].family not in NUMBERS:
        return None
    counted = [one.family for one in others[1:]]
    return type_of_value(value) if counted in ([], [Family.INTEGER]) else None


def type_within_group(use: AggregateUse) -> ValueType | None:
    percentage = [one.family in NUMBERS for one in use.types]
    if percentage != [True] or len(use.ordering) != 1:
        return None
    return type_of_value(use.ordering[0][0])


PERCENTILES: Mapping[str, AggregateFunction] = {
    "median": AggregateFunction(type_of_median, median),
    "percentile": AggregateFunction(
        type_of_percentile, lambda use: Percentile(use.types[0]), constant=1
    ),
    "percentile_cont": AggregateFunction(
        type_within_group, partial(within_group, discrete=False), 0
    ),
    "percentile_disc": AggregateFunction(
        type_within_group, partial(within_group, discrete=True), 0
    ),
}
