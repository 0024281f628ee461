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
    Moments(row_count=2.0, average=3.0, squared_deviations=2.0)
    """

    # How many rows have been added.
    row_count: float = 0.0
    average: float = 0.0
    # The sum of the squared deviations from the average.
    squared_deviations: float = 0.0

    def add(self, x: float) -> Moments:
        """Return the state after one more number."""
        row_count = self.row_count + 1.0
        deviation = x - self.average
        change = deviation / row_count
        return Moments(
            row_count=row_count,
            average=self.average + change,
            squared_deviations=self.squared_deviations + deviation * (deviation - change),
        )


class PointMoments(NamedTuple):
    """The state of `regr_slope(y, x)`.

    >>> moments = PointMoments().add(1.0, 2.0).add(5.0, 4.0)  # the points (x=2, y=1), (x=4, y=5)
    >>> moments.average_x, moments.average_y, moments.codeviations, moments.squared_deviations_x
    (3.0, 3.0, 4.0, 2.0)
    """

    # How many rows have been added.
    row_count: float = 0.0
    average_x: float = 0.0
    average_y: float = 0.0
    # The sum of the products of the deviations of x and y from their averages.
    codeviations: float = 0.0
    # The sum of the squared deviations of x from its average.
    squared_deviations_x: float = 0.0

    def add(self, y: float, x: float) -> PointMoments:
        """Return the state after one more point."""
        row_count = self.row_count + 1.0
        deviation_x = x - self.average_x
        average_y = self.average_y + (y - self.average_y) / row_count
        change_x = deviation_x / row_count
        added_square_x = deviation_x * (deviation_x - change_x)
        return PointMoments(
            row_count=row_count,
            average_x=self.average_x + change_x,
            average_y=average_y,
            codeviations=self.codeviations + deviation_x * (y - average_y),
            squared_deviations_x=self.squared_deviations_x + added_square_x,
        )


AnyMoments = TypeVar("AnyMoments", Moments, PointMoments)


def compute_sample_variance(moments: Moments) -> float:
    """Return the variance of a sample of at least two numbers."""
    return moments.squared_deviations / (moments.row_count - 1.0)


def compute_sample_deviation(moments: Moments) -> float:
    """Return the standard deviation of a sample of at least two numbers."""
    return compute_square_root(compute_sample_variance(moments))


def compute_population_variance(moments: Moments) -> float:
    """Return the variance of a whole population."""
    return moments.squared_deviations / moments.row_count


def compute_population_deviation(moments: Moments) -> float:
    """Return the standard deviation of a whole population."""
    return compute_square_root(compute_population_variance(moments))


def compute_slope(moments: PointMoments) -> float | None:
    """Return the slope of the line that fits the points best; NULL if all have the same x."""
    if moments.squared_deviations_x == 0.0:
        return None
    return moments.codeviations / moments.squared_deviations_x


def build_statistic(
    evaluate: Callable[[AnyMoments], Value],
    *,
    empty_state: AnyMoments,
    argument_count: int = 1,
    needs_two_rows: bool = False,
) -> AggregateFunction:
    """Build the aggregate function for a statistic. Rows with a NULL argument do not count.

    Args:
        evaluate: returns the statistic from the state after at least one row.
        empty_state: the state without rows.
        argument_count: how many numbers the statistic takes from a row.
        needs_two_rows: True if the statistic is undefined for one row, as a sample variance is.
    """

    def find_type(use: AggregateUse) -> ValueType | None:
        """Return DOUBLE if the arguments are as many numbers as the statistic takes."""
        are_numbers = all(type_.family in NUMBERS for type_ in use.types)
        return DOUBLE if are_numbers and len(use.types) == argument_count else None

    def begin(use: AggregateUse) -> Accumulator:
        """Return an accumulator for the statistic."""

        def add(moments: AnyMoments, *values: Value) -> AnyMoments:
            """Add a row unless one of its values is NULL."""
            if None in values:
                return moments
            return moments.add(*[float(value) for value in values])

        def finish(moments: AnyMoments) -> Value:
            """Return the statistic; NULL without rows.

            If the statistic needs two rows and there is only one, it is NULL, or NaN if the session
            sets `spark.sql.legacy.statisticalAggregate`.
            """
            if moments.row_count == 0.0:
                return None
            if needs_two_rows and moments.row_count == 1.0:
                return math.nan if use.legacy_statistics else None
            return evaluate(moments)

        return Accumulator(empty_state, add, finish)

    return AggregateFunction(find_type, begin)


def compute_square_root(value: float) -> float:
    """Return the square root of a number, NaN for a negative number."""
    return math.nan if value < 0.0 else math.sqrt(value)
