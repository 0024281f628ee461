"""Statistics of numbers: variances, standard deviations and the slope of a regression line.

Numbers of rows are floats, as in Spark. The source of the formulas is Spark's CentralMomentAgg and
Covariance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from matchrec.conditions.accumulators.accumulator import Accumulator, AggregateFunction
from matchrec.conditions.functions.function import AggregateUse, Value
from matchrec.conditions.types import DOUBLE, NUMBERS, ValueType


class Moments(NamedTuple):
    """The state of a variance or of a standard deviation.

    >>> Moments().add(2.0).add(4.0)
    Moments(rows=2.0, average=3.0, squares=2.0)
    """

    # How many rows have been added.
    rows: float = 0.0
    average: float = 0.0
    # The sum of the squared distances from the average.
    squares: float = 0.0

    def add(self, x: float) -> Moments:
        """Return the state after one more number."""
        rows = self.rows + 1.0
        distance = x - self.average
        change = distance / rows
        squares = self.squares + distance * (distance - change)
        return Moments(rows, self.average + change, squares)


class PointMoments(NamedTuple):
    """The state of `regr_slope(y, x)`.

    >>> PointMoments().add(1.0, 2.0).add(5.0, 4.0)  # the points (x=2, y=1) and (x=4, y=5)
    PointMoments(rows=2.0, average_x=3.0, average_y=3.0, products=4.0, squares_x=2.0)
    """

    # How many rows have been added.
    rows: float = 0.0
    average_x: float = 0.0
    average_y: float = 0.0
    # The sum of the products of the distances of x and y from their averages.
    products: float = 0.0
    # The sum of the squared distances of x from its average.
    squares_x: float = 0.0

    def add(self, y: float, x: float) -> PointMoments:
        """Return the state after one more point."""
        rows = self.rows + 1.0
        distance_x = x - self.average_x
        average_y = self.average_y + (y - self.average_y) / rows
        change_x = distance_x / rows
        return PointMoments(
            rows=rows,
            average_x=self.average_x + change_x,
            average_y=average_y,
            products=self.products + distance_x * (y - average_y),
            squares_x=self.squares_x + distance_x * (distance_x - change_x),
        )


M = TypeVar("M", Moments, PointMoments)


def compute_sample_variance(moments: Moments) -> float:
    """Return the variance of a sample of at least two numbers."""
    return moments.squares / (moments.rows - 1.0)


def compute_sample_deviation(moments: Moments) -> float:
    """Return the standard deviation of a sample of at least two numbers."""
    return compute_root(compute_sample_variance(moments))


def compute_population_variance(moments: Moments) -> float:
    """Return the variance of a whole population."""
    return moments.squares / moments.rows


def compute_population_deviation(moments: Moments) -> float:
    """Return the standard deviation of a whole population."""
    return compute_root(compute_population_variance(moments))


def compute_slope(moments: PointMoments) -> float | None:
    """Return the slope of the line that fits the points best; NULL if all have the same x."""
    return moments.products / moments.squares_x if moments.squares_x else None


def build_statistic(
    evaluate: Callable[[M], Value],
    *,
    start: M,
    argument_count: int = 1,
    needs_two_rows: bool = False,
) -> AggregateFunction:
    """Return a statistic of numbers, which leaves out rows with NULL.

    Args:
        evaluate: returns the statistic from the state after at least one row.
        start: the state without rows.
        argument_count: how many numbers the statistic takes from a row.
        needs_two_rows: whether a single row has no statistic, as for a sample.
    """

    def find_type(use: AggregateUse) -> ValueType | None:
        """Return DOUBLE if the arguments are as many numbers as the statistic takes."""
        are_numbers = all(type_.family in NUMBERS for type_ in use.types)
        return DOUBLE if are_numbers and len(use.types) == argument_count else None

    def begin(use: AggregateUse) -> Accumulator:
        """Begin the statistic over no rows."""

        def add(moments: M, *values: Value) -> M:
            """Add a row unless one of its values is NULL."""
            if None in values:
                return moments
            return moments.add(*[float(value) for value in values])

        def finish(moments: M) -> Value:
            """Return the statistic; NULL if it has no value for so few rows."""
            if needs_two_rows and moments.rows == 1.0:
                return math.nan if use.legacy_statistics else None
            return evaluate(moments) if moments.rows > 0.0 else None

        return Accumulator(start, add, finish)

    return AggregateFunction(find_type, begin)


def compute_root(value: float) -> float:
    """Return the square root of a number, NaN for a negative number."""
    return math.nan if value < 0.0 else math.sqrt(value)
