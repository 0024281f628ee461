"""Statistics: stddev, variance, regr_slope, median and percentiles.

Source: Spark's CentralMomentAgg and Covariance, whose updates these are, operation by operation.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from matchrec.conditions.accumulators.aggregate import (
    AggregateFunction,
    Result,
    Taking,
)
from matchrec.conditions.functions.function import AggregateUse, FunctionError, Value
from matchrec.conditions.types import DOUBLE, NUMBERS, SPANS, Family, ValueType


class Moments:
    """The number of rows, their average, and the sum of the squares of their distances from it."""

    def __init__(self) -> None:
        self.n = self.average = self.m2 = 0.0

    def add(self, x: float) -> None:
        self.n += 1.0
        delta = x - self.average
        part = delta / self.n
        self.average += part
        self.m2 += delta * (delta - part)


class Points:
    """Rows as of regr_slope(y, x): the moments of x, and the products of distances of both."""

    def __init__(self) -> None:
        self.n = self.average_x = self.average_y = self.xy = 0.0
        self.of_x = Moments()

    def add(self, y: float, x: float) -> None:
        self.n += 1.0
        from_x = x - self.average_x
        self.average_x += from_x / self.n
        self.average_y += (y - self.average_y) / self.n
        self.xy += from_x * (y - self.average_y)
        self.of_x.add(x)


class Statistic:
    """A statistic of rows of numbers without NULL.

    rows: their number `n` and sums, to which each is added. evaluate: it of one row or more.
    """

    def __init__(self, use: AggregateUse, rows: Any, evaluate: Callable[..., Value]) -> None:
        self.use = use
        self.rows = rows
        self.evaluate = evaluate

    def add(self, *values: Value) -> None:
        if None not in values:
            self.rows.add(*map(float, values))

    def result(self) -> Value:
        return self.evaluate(self.rows, self.use) if self.rows.n else None


def without_value(use: AggregateUse) -> float | None:
    """What a statistic is that would divide by zero."""
    return math.nan if use.legacy_statistics else None


def root(value: float) -> float:
    """The square root, NaN of a negative number."""
    return math.nan if value < 0.0 else math.sqrt(value)


def var_pop(rows: Moments, _: AggregateUse) -> float:
    return rows.m2 / rows.n


def var_samp(rows: Moments, use: AggregateUse) -> float | None:
    return without_value(use) if rows.n == 1.0 else rows.m2 / (rows.n - 1.0)


def stddev_pop(rows: Moments, _: AggregateUse) -> float:
    return root(rows.m2 / rows.n)


def stddev_samp(rows: Moments, use: AggregateUse) -> float | None:
    return without_value(use) if rows.n == 1.0 else root(rows.m2 / (rows.n - 1.0))


def regr_slope(rows: Points, _: AggregateUse) -> float | None:
    return rows.xy / rows.of_x.m2 if rows.of_x.m2 else None


def of_numbers(arguments: int) -> Result:
    """A double, of so many numbers on each row."""

    def result(use: AggregateUse) -> ValueType | None:
        fit = len(use.types) == arguments and all(one.family in NUMBERS for one in use.types)
        return DOUBLE if fit else None

    return result


def statistic(evaluate: Callable[[Moments, AggregateUse], Value]) -> AggregateFunction:
    return AggregateFunction(of_numbers(1), lambda use: Statistic(use, Moments(), evaluate))


MOMENTS: Mapping[str, AggregateFunction] = {
    "stddev": statistic(stddev_samp),
    "stddev_samp": statistic(stddev_samp),
    "std": statistic(stddev_samp),
    "stddev_pop": statistic(stddev_pop),
    "variance": statistic(var_samp),
    "var_samp": statistic(var_samp),
    "var_pop": statistic(var_pop),
    "regr_slope": AggregateFunction(
        of_numbers(2), lambda use: Statistic(use, Points(), regr_slope)
    ),
}


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


class Percentile:
    """The value below which a part of the values lies.

    type_: of the values. discrete: whether it is one of them. descends: counted from the largest.
    """

    def __init__(self, type_: ValueType, *, discrete: bool = False, descends: bool = False) -> None:
        self.type = type_
        self.discrete = discrete
        self.descends = descends
        self.percentage: float | None = None
        self.values = SortedValues()

    def add(self, *values: Value) -> None:
        """A value, and the part."""
        value, percentage = values
        self.percentage = None if percentage is None else checked(float(percentage))
        if value is not None:
            self.values.add(value)

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
    """Of a value and the part; how many times a value counts is no third argument here."""
    if len(use.types) != 2 or use.types[1].family not in NUMBERS:
        return None
    return type_of_value(use.types[0])


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
