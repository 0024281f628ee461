"""Percentiles of numbers, times and intervals: PERCENTILE and MEDIAN."""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass, field

from matchrec.conditions.accumulators.accumulator import Accumulator
from matchrec.conditions.functions.comparisons import make_rank_key
from matchrec.conditions.functions.function import AggregateUse, FunctionError, Value
from matchrec.conditions.types import NUMBERS

MEDIAN_FRACTION = 0.5


@dataclass(slots=True)
class Distribution:
    """The state of a percentile."""

    # The values in ascending order, without NULL.
    values: list[Value] = field(default_factory=list)
    # The fraction of the values that is below the percentile, from 0 to 1. None if it is NULL, or
    # if no row has been added.
    fraction: float | None = None


def begin_percentile(use: AggregateUse) -> Accumulator:
    """Return an accumulator for PERCENTILE, or for MEDIAN, which takes no fraction.

    The accumulator raises FunctionError if the fraction is not between 0 and 1.
    """
    is_number = use.types[0].family in NUMBERS

    def step(
        distribution: Distribution, value: Value, fraction: Value = MEDIAN_FRACTION
    ) -> Distribution:
        """Insert a value in order unless it is NULL, and check and keep the fraction."""
        if value is not None:
            insort(distribution.values, value, key=make_rank_key)
        distribution.fraction = None if fraction is None else check_fraction(float(fraction))
        return distribution

    def finish(distribution: Distribution) -> Value:
        """Return the percentile; NULL without values or without a fraction."""
        values = distribution.values
        fraction = distribution.fraction
        if not values or fraction is None:
            return None
        value = interpolate(values, fraction, weighs_both_values=use.weighs_both_values)
        return value if is_number else int(value)

    return Accumulator(Distribution(), step, finish)


def check_fraction(fraction: float) -> float:
    """Return the fraction of a percentile if it is between 0 and 1.

    Raises:
        FunctionError: it is not.
    """
    if not 0.0 <= fraction <= 1.0:
        raise FunctionError(f"a percentage must be between 0 and 1, and it is {fraction}")
    return fraction


def interpolate(values: Sequence[Value], fraction: float, *, weighs_both_values: bool) -> float:
    """Return the value at a fraction of the way through sorted values, as Spark computes it.

    Between two values, the result is a number between them. It equals Spark's result in all bits.

    >>> interpolate([10, 20, 40], 0.25, weighs_both_values=False)
    15.0

    Args:
        values: the values in ascending order.
        fraction: the fraction of the way, from 0 to 1.
        weighs_both_values: see `AggregateUse`.
    """
    position = (len(values) - 1) * fraction
    lower_index = math.floor(position)
    higher_index = math.ceil(position)
    lower_value = float(values[lower_index])
    higher_value = float(values[higher_index])
    if lower_index == higher_index or lower_value == higher_value:
        return lower_value
    higher_weight = position - lower_index
    if weighs_both_values:
        return (higher_index - position) * lower_value + higher_weight * higher_value
    return lower_value + higher_weight * (higher_value - lower_value)
