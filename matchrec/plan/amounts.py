"""The exact values of literal numbers and day-time intervals.

    300                  Amount(300)
    0.1                  Amount(1/10)
    INTERVAL 1 DAY       Amount(86400000000, is_time=True, is_days=True)
    INTERVAL 90 SECOND   Amount(90000000, is_time=True)

`syntax.amounts` reads amounts from the text of a query. Intervals of months and years have no exact
value, because months differ in length.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

# For each unit of day-time intervals, its length in microseconds. The largest unit comes first.
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
    """The value of a literal number or day-time interval."""

    # The number; for an interval, the number of its microseconds.
    value: Fraction
    # Whether the literal is an interval.
    is_time: bool = False
    # Whether the literal is an interval that is written in days only, such as INTERVAL 1 DAY. In
    # Spark, a date plus such an interval is a date; plus any other interval, it is a timestamp.
    is_days: bool = False
