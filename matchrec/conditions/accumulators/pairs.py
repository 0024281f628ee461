"""Statistics of two numbers: corr, covar_pop, covar_samp and linear regression.

Source: Spark's Covariance and PearsonCorrelation, whose updates these are. In regr_...(y, x) the
second argument is the independent variable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from matchrec.conditions.accumulators.aggregate import (
    Accumulator,
    AggregateFunction,
    AggregateUse,
    Result,
    Taking,
)
from matchrec.conditions.accumulators.counts import Count, count_type
from matchrec.conditions.accumulators.moments import (
    Moments,
    Statistic,
    of_numbers,
    quotient,
    root,
    without_value,
)
from matchrec.conditions.accumulators.sums import begin_average, type_of_average
from matchrec.conditions.functions.function import Value
from matchrec.conditions.types import ValueType


class Pairs:
    """The number of rows, averages, and sums of products of the distances from them."""

    def __init__(self) -> None:
        self.n = self.average_x = self.average_y = self.xy = self.xx = self.yy = 0.0

    def add(self, x: float, y: float) -> None:
        self.n += 1.0
        from_x, from_y = x - self.average_x, y - self.average_y
        self.average_x += from_x / self.n
        self.average_y += from_y / self.n
        self.xy += from_x * (y - self.average_y)
        self.xx += from_x * (x - self.average_x)
        self.yy += from_y * (y - self.average_y)


class Points(Pairs):
    """Pairs whose x is the second number, as in regr_slope(y, x), with its moments."""

    def __init__(self) -> None:
        super().__init__()
        self.of_x = Moments()

    def add(self, x: float, y: float) -> None:
        super().add(y, x)
        self.of_x.add(y)


def covar_pop(rows: Pairs, _: AggregateUse) -> float:
    return rows.xy / rows.n


def covar_samp(rows: Pairs, use: AggregateUse) -> float | None:
    return without_value(use) if rows.n == 1.0 else rows.xy / (rows.n - 1.0)


def corr(rows: Pairs, use: AggregateUse) -> float | None:
    if rows.n == 1.0 or rows.xx == 0.0 or rows.yy == 0.0:
        return without_value(use)
    return quotient(rows.xy, root(rows.xx * rows.yy), use)


def regr_r2(rows: Pairs, use: AggregateUse) -> float | None:
    """Of y and x: the first number is y here."""
    if rows.yy == 0.0:
        return None
    if rows.xx == 0.0:
        return 1.0
    found = quotient(rows.xy, root(rows.xx * rows.yy), use)
    return None if found is None else found * found


def regr_sxy(rows: Pairs, _: AggregateUse) -> float:
    return rows.xy


def regr_slope(rows: Points, _: AggregateUse) -> float | None:
    return rows.xy / rows.of_x.m2 if rows.of_x.m2 else None


def regr_intercept(rows: Points, use: AggregateUse) -> float | None:
    slope = regr_slope(rows, use)
    return None if slope is None else rows.average_y - slope * rows.average_x


def squares(rows: Moments, _: AggregateUse) -> float:
    """The sum of the squares of a number's distances from its average."""
    return rows.m2


def one_part(part: int, rows: Accumulator) -> Accumulator:
    """An aggregate of one of two numbers, over the rows that have both. part: its place."""
    return Taking(rows, lambda values: None if None in values else (values[part],))


def use_of_part(use: AggregateUse, part: int) -> AggregateUse:
    """The use of an aggregate of one of two arguments."""
    return AggregateUse((use.types[part],), ansi=use.ansi)


def type_of_part(part: int) -> Result:
    """The type of the average of one of two numbers."""

    def result(use: AggregateUse) -> ValueType | None:
        fits = of_numbers(2)(use) is not None
        return type_of_average(use_of_part(use, part)) if fits else None

    return result


def average_of(part: int) -> AggregateFunction:
    return AggregateFunction(
        type_of_part(part), lambda use: one_part(part, begin_average(use_of_part(use, part)))
    )


def of_pairs(
    evaluate: Callable[[Any, AggregateUse], Value], sums: type[Pairs] = Pairs
) -> AggregateFunction:
    return AggregateFunction(of_numbers(2), lambda use: Statistic(use, sums(), evaluate))


def squares_of(part: int) -> AggregateFunction:
    return AggregateFunction(
        of_numbers(2), lambda use: one_part(part, Statistic(use, Moments(), squares))
    )


def count_of_pairs(use: AggregateUse) -> ValueType | None:
    return count_type(use) if len(use.types) == 2 else None


PAIRS: Mapping[str, AggregateFunction] = {
    "corr": of_pairs(corr),
    "covar_pop": of_pairs(covar_pop),
    "covar_samp": of_pairs(covar_samp),
    "regr_count": AggregateFunction(count_of_pairs, Count),
    "regr_avgy": average_of(0),
    "regr_avgx": average_of(1),
    "regr_syy": squares_of(0),
    "regr_sxx": squares_of(1),
    "regr_sxy": of_pairs(regr_sxy),
    "regr_r2": of_pairs(regr_r2),
    "regr_slope": of_pairs(regr_slope, Points),
    "regr_intercept": of_pairs(regr_intercept, Points),
}
