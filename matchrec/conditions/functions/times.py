"""Functions of dates and timestamps that depend on a calendar or a time zone.

    TIMESTAMPDIFF(HOUR, a, b)        whole units between two instants
    DATEDIFF(b, a)                   days between two dates
    a + INTERVAL '1 02:00'           `TIME +`, an interval added to a timestamp
    b - a, b - INTERVAL '1 02:00'    `TIME -`, the difference of two instants, or a timestamp minus
                                     an interval

Times are integers, as `function` says: a date is a number of days, a timestamp or an interval a
number of microseconds. A TIMESTAMP is an *instant*; its date and time of day are those of the
session's time zone. A TIMESTAMP_NTZ is a *local time*, which has the same date and time of day in
every time zone.

A function `build_...` returns the Python function that computes a call. A function `find_..._type`
returns the type of the call's value, or None if the arguments do not fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from matchrec.conditions import types
from matchrec.conditions.functions import TIME_PREFIX
from matchrec.conditions.functions.calendar import DAY, Zone, find_month_and_day, find_zone
from matchrec.conditions.functions.casts import build_strict_cast
from matchrec.conditions.functions.function import (
    ANY_TYPE,
    Compute,
    FindType,
    Function,
    FunctionUse,
)
from matchrec.conditions.functions.number_conversions import fits, wrap
from matchrec.conditions.types import INT, TIMES, Family, ValueType
from matchrec.plan.amounts import MICROSECONDS

UTC = find_zone("UTC")


def find_zone_of_first_argument(use: FunctionUse) -> Zone:
    """Return the time zone that gives the first argument its date and time of day.

    For an instant it is the session's. For a local time it is UTC, in which both are the same.
    """
    is_instant = use.types[0].family is Family.TIMESTAMP
    return find_zone(use.time_zone) if is_instant else UTC


def build_argument_casts(use: FunctionUse, target: ValueType) -> list[Compute]:
    """Return for each argument the function that casts it to `target`: DATE or TIMESTAMP."""
    return [
        build_strict_cast(replace(use, types=(type_,), words=(target.name.upper(),)))
        for type_ in use.types
    ]


def require_families(result_type: ValueType, *families: frozenset[Family]) -> FindType:
    """Return a function that finds the type of a call: `result_type` if its arguments fit.

    Args:
        result_type: the type of the call's value.
        families: for each argument, the families of types that are allowed.
    """

    def find_type(use: FunctionUse) -> ValueType | None:
        """Return the result type if each argument is of an allowed family, else None."""
        for type_, allowed_families in zip(use.types, families, strict=True):
            if type_.family not in allowed_families:
                return None
        return result_type

    return find_type


def divide_toward_zero(number: int, divisor: int) -> int:
    """Return a quotient without its fraction. The divisor is positive.

    >>> divide_toward_zero(7, 2), divide_toward_zero(-7, 2)
    (3, -3)
    """
    return number // divisor if number >= 0 else -(-number // divisor)


# The lengths of the units of TIMESTAMPDIFF. A DAYOFYEAR is a day.
MICROSECONDS_PER_UNIT = MICROSECONDS | {"DAYOFYEAR": DAY}
MONTHS_PER_UNIT = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}


def build_timestamp_difference(use: FunctionUse) -> Compute:
    """Return the function for TIMESTAMPDIFF(unit, start, end), a number of whole units.

    It is computed from local times, so that midnight to midnight is one day even if clocks change
    in between. The call's word is the unit.
    """
    (unit,) = use.words
    zone = find_zone(use.time_zone)
    cast_start, cast_end = build_argument_casts(use, types.TIMESTAMP)

    def compute(start: int, end: int) -> int:
        """Return the number of whole units from `start` to `end`, negative if `end` is earlier."""
        local_start = zone.convert_to_local(cast_start(start))
        local_end = zone.convert_to_local(cast_end(end))
        if unit in MONTHS_PER_UNIT:
            months = count_months(local_start, local_end)
            return divide_toward_zero(months, MONTHS_PER_UNIT[unit])
        microseconds = local_end - local_start
        return divide_toward_zero(microseconds, MICROSECONDS_PER_UNIT[unit])

    return compute


def count_months(start: int, end: int) -> int:
    """Return the number of whole months from one local time to another, perhaps negative.

    From January 31, 12:00 to February 28, 13:00 there is none: day 28 is before day 31.
    """
    start_date = find_month_and_day(start // DAY)
    end_date = find_month_and_day(end // DAY)
    months = end_date.month - start_date.month
    # How far both times are into their months, in microseconds.
    end_in_month = end_date.day * DAY + end % DAY
    start_in_month = start_date.day * DAY + start % DAY
    # Without the last month, if it is not whole.
    if months > 0 and end_in_month < start_in_month:
        return months - 1
    if months < 0 and end_in_month > start_in_month:
        return months + 1
    return months


def find_timestamp_difference_type(use: FunctionUse) -> ValueType | None:
    """Return BIGINT for two dates or timestamps and a unit that TIMESTAMPDIFF has, else None."""
    if not use.words or use.words[0] not in MICROSECONDS_PER_UNIT.keys() | MONTHS_PER_UNIT.keys():
        return None
    return require_families(types.BIGINT, TIMES, TIMES)(use)


def build_days_between(use: FunctionUse) -> Compute:
    """Return the function for DATEDIFF(end, start), the number of days from `start` to `end`.

    As in Spark, the result wraps around in 32 bits.
    """
    cast_end, cast_start = build_argument_casts(use, types.DATE)
    return lambda end, start: wrap(cast_end(end) - cast_start(start), INT.bits)


# A timestamp plus an interval.


def add_interval(zone: Zone, instant: int, interval: int) -> int:
    """Return an instant plus an interval.

    First the date moves by the whole days of the interval, which keeps the time of day, although a
    day on which clocks change is longer or shorter than others. Then the clock moves by the rest.

    Raises:
        OverflowError: the sum does not fit 64 bits.
    """
    whole_days = divide_toward_zero(interval, DAY) * DAY
    local = zone.convert_to_local(instant) + whole_days
    new_instant = find_instant_after_days(zone, instant, local) + (interval - whole_days)
    if not fits(new_instant, 64):
        raise OverflowError
    return new_instant


def find_instant_after_days(zone: Zone, instant: int, local: int) -> int:
    """Return the instant at a local time.

    If clocks are put back, the local time can come twice. Then the result is the instant with the
    offset of the instant from which it is moved, if there is one.

    Args:
        zone: the time zone.
        instant: the instant that is moved by whole days.
        local: the local time to which it is moved.
    """
    offset = zone.find_offset(instant)
    with_same_offset = local - offset
    if zone.find_offset(with_same_offset) == offset:
        return with_same_offset
    return zone.convert_to_instant(local)


def build_time_sum(use: FunctionUse) -> Compute:
    """Return the function for `TIME +`, which adds an interval to a timestamp."""
    zone = find_zone_of_first_argument(use)
    return lambda time, interval: add_interval(zone, time, interval)


def find_time_sum_type(use: FunctionUse) -> ValueType | None:
    """Return the type of the timestamp for a timestamp and a day-time interval, else None."""
    time, interval = use.types
    is_timestamp = time.family in TIMES - {Family.DATE}
    return time if is_timestamp and interval.family is Family.INTERVAL else None


def find_time_difference_type(use: FunctionUse) -> ValueType | None:
    """Return INTERVAL for two instants, and for a timestamp and an interval as `TIME +` does."""
    are_instants = all(type_.family is Family.TIMESTAMP for type_ in use.types)
    return types.INTERVAL if are_instants else find_time_sum_type(use)


def build_time_difference(use: FunctionUse) -> Compute:
    """Return the function for `TIME -`.

    It subtracts an interval from a timestamp, or two instants from each other. As in Spark, the
    difference of two instants is the difference of their local times.
    """
    zone = find_zone_of_first_argument(use)
    if use.types[1].family is Family.TIMESTAMP:
        return lambda end, start: zone.convert_to_local(end) - zone.convert_to_local(start)
    return lambda time, interval: add_interval(zone, time, -interval)


TIME_FUNCTIONS: Mapping[str, Function] = {
    "TIMESTAMPDIFF": Function(
        (ANY_TYPE, ANY_TYPE), find_timestamp_difference_type, build_timestamp_difference
    ),
    "DATEDIFF": Function(
        (ANY_TYPE, ANY_TYPE), require_families(INT, TIMES, TIMES), build_days_between
    ),
    f"{TIME_PREFIX}+": Function((ANY_TYPE, ANY_TYPE), find_time_sum_type, build_time_sum),
    f"{TIME_PREFIX}-": Function(
        (ANY_TYPE, ANY_TYPE), find_time_difference_type, build_time_difference
    ),
}
