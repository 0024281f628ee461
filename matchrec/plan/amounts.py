"""The exact values of literal numbers and day-time intervals."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

# The length of a unit in microseconds.
MICROSECONDS = {
    "WEEK": 7 * 24 * 3600 * 10**6,
    "DAY": 24 * 3600 * 10**6,
    "HOUR": 3600 * 10**6,
    "MINUTE": 60 * 10**6,
    "SECOND": 10**6,
    "MILLISECOND": 1000,
    "MICROSECOND": 1,
}


@dataclass(frozen=True, slots=True)
class Amount:
    """The value of a literal number or interval."""

    # The number; for an interval its microseconds.
    value: Fraction
    # Whether it is an interval.
    is_time: bool = False
    # Whether it is an interval that is written in days only.
    is_days: bool = False
