"""Statistics of one number: stddev, variance, skewness, kurtosis.

Source: Spark's CentralMomentAgg, whose updates these are, operation by operation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from matchrec.conditions.accumulators.aggregate import AggregateFunction, AggregateUse, Result
from matchrec.conditions.functions.function import AnsiError, Value
from matchrec.conditions.types import DOUBLE, NUMBERS, ValueType


class Moments:
    """The number of rows, their average, and the sums of powers of their distances from it."""

    def __init__(self) -> None:
        self.n = self.average = self.m2 = self.m3 = self.m4 = 0.0

    def add(self, x: float) -> None:
        self.n += 1.0
        delta = x - self.average
        part = delta / self.n
        delta_2, part_2 = delta * delta, part * part
        self.average += part
        m2 = self.m2 + delta * (delta - part)
        m3 = self.m3 - 3.0 * part * m2 + delta * (delta_2 - part_2)
        self.m4 = (
            self.m4
            - 4.0 * part * m3
            - 6.0 * part_2 * m2
            + delta * (delta * delta_2 - part * part_2)
        )
        self.m2, self.m3 = m2, m3


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


def quotient(dividend: float, divisor: float, use: AggregateUse) -> float | None:
    """A quotient as Spark divides."""
    if divisor == 0.0:
        if use.ansi:
            raise AnsiError("Division by zero")
        return None
    return dividend / divisor


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


def skewness(rows: Moments, use: AggregateUse) -> float | None:
    if rows.m2 == 0.0:
        return without_value(use)
    return quotient(root(rows.n) * rows.m3, root(rows.m2 * rows.m2 * rows.m2), use)


def kurtosis(rows: Moments, use: AggregateUse) -> float | None:
    if rows.m2 == 0.0:
        return without_value(use)
    found = quotient(rows.n * rows.m4, rows.m2 * rows.m2, use)
    return None if found is None else found - 3.0


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
    "skewness": statistic(skewness),
    "kurtosis": statistic(kurtosis),
}
