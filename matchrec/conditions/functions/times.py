"""Functions of days, instants and local times, and arithmetic of intervals.

An instant is read in the session's time zone. A TIMESTAMP_NTZ is a local time in any time zone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from matchrec.conditions import types
from matchrec.conditions.functions.calendar import DAY, Zone, find_month, find_zone
from matchrec.conditions.functions.casts import build_strict_cast
from matchrec.conditions.functions.function import Compute, FindType, Function, FunctionUse
from matchrec.conditions.functions.number_conversions import fits, wrap
from matchrec.conditions.types import INT, TIMES, Family, ValueType
from matchrec.plan.amounts import MICROSECONDS

UTC = find_zone("UTC")


def find_reading_zone(use: FunctionUse) -> Zone:
    """Return the time zone in which the first argument is read; for a local time it is UTC."""
    is_instant = use.types[0].family is Family.TIMESTAMP
    return find_zone(use.time_zone) if is_instant else UTC


def build_argument_casts(use: FunctionUse, target: ValueType) -> list[Compute]:
    """Return the casts of all arguments to one type of time."""
    return [
        build_strict_cast(replace(use, types=(type_,), words=(target.name.upper(),)))
        for type_ in use.types
    ]


def require_families(result_type: ValueType, *families: frozenset[Family]) -> FindType:
    """Return the rule for a type that is the result if the arguments are of these families.

    Args:
        result_type: the type of the result.
        families: for each argument, its allowed families.
    """

    def find_type(use: FunctionUse) -> ValueType | None:
        """Return the result type if the arguments are of the required families, else None."""
        for type_, argument_families in zip(use.types, families, strict=False):
            if type_.family not in argument_families:
                return None
        return result_type

    return find_type


def divide_toward_zero(number: int, divisor: int) -> int:
    """Return a quotient without its fraction. The divisor is positive."""
    return number // divisor if number >= 0 else -(-number // divisor)


# Units of TIMESTAMPDIFF, in microseconds or in months.
MICROSECONDS_PER_UNIT = MICROSECONDS | {"DAYOFYEAR": DAY}
MONTHS_PER_UNIT = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}


def build_distance(use: FunctionUse) -> Compute:
    """Return TIMESTAMPDIFF: the number of whole units between the local times of two instants."""
    (unit,) = use.words
    zone = find_zone(use.time_zone)
    cast_start, cast_end = build_argument_casts(use, types.TIMESTAMP)

    def compute(start: int, end: int) -> int:
        """Return the number of whole units from `start` to `end`, negative if `end` is earlier."""
        local_start = zone.convert_to_local(cast_start(start))
        local_end = zone.convert_to_local(cast_end(end))
        if unit in MONTHS_PER_UNIT:
            return divide_toward_zero(count_months(local_start, local_end), MONTHS_PER_UNIT[unit])
        return divide_toward_zero(local_end - local_start, MICROSECONDS_PER_UNIT[unit])

    return compute


def count_months(start: int, end: int) -> int:
    """Return the number of whole months from one local time to another, perhaps negative."""
    start_month, start_day = find_month(start // DAY)
    end_month, end_day = find_month(end // DAY)
    months = end_month - start_month
    # How much later in its month the end is than the start in its own.
    lead = (end_day - start_day) * DAY + end % DAY - start % DAY
    if months > 0 and lead < 0:
        return months - 1
    if months < 0 and lead > 0:
        return months + 1
    return months


def find_distance_type(use: FunctionUse) -> ValueType | None:
    """Return BIGINT for two times and a unit that is known, else None."""
    if not use.words or use.words[0] not in MICROSECONDS_PER_UNIT.keys() | MONTHS_PER_UNIT.keys():
        return None
    return require_families(types.BIGINT, TIMES, TIMES)(use)


def build_days_between(use: FunctionUse) -> Compute:
    """Return DATEDIFF(end, start): the number of days between two days."""
    cast_end, cast_start = build_argument_casts(use, types.DATE)
    return lambda end, start: wrap(cast_end(end) - cast_start(start), INT.bits)


# Times plus intervals.
#
# An instant is moved along the calendar of the session's time zone by whole days, which differ in
# length, and then along the clock by the rest.


def find_moved_instant(zone: Zone, instant: int, local: int) -> int:
    """Return the instant of a local time to which an instant is moved.

    If the local time comes twice, it is the one with the offset of the instant before.
    """
    offset = zone.find_offset(instant)
    same_offset = local - offset
    if zone.find_offset(same_offset) == offset:
        return same_offset
    return zone.convert_to_instant(local)


def add_interval(zone: Zone, instant: int, interval: int) -> int:
    """Return an instant plus an interval.

    Raises:
        OverflowError: the sum does not fit 64 bits.
    """
    whole_days = divide_toward_zero(interval, DAY) * DAY
    local = zone.convert_to_local(instant) + whole_days
    moved = find_moved_instant(zone, instant, local) + interval - whole_days
    if not fits(moved, 64):
        raise OverflowError
    return moved


def build_sum(use: FunctionUse) -> Compute:
    """Return a time plus an interval."""
    zone = find_reading_zone(use)
    return lambda time, interval: add_interval(zone, time, interval)


def find_time_sum_type(use: FunctionUse) -> ValueType | None:
    """Return the type of a timestamp plus an interval, else None."""
    time, interval = use.types
    is_timestamp = time.family in TIMES - {Family.DATE}
    return time if is_timestamp and interval.family is Family.INTERVAL else None


def find_difference_type(use: FunctionUse) -> ValueType | None:
    """Return the type of a timestamp minus an interval, or of a distance of instants, else None."""
    are_instants = all(type_.family is Family.TIMESTAMP for type_ in use.types)
    return types.INTERVAL if are_instants else find_time_sum_type(use)


def build_difference(use: FunctionUse) -> Compute:
    """Return a time minus an interval, or the distance of two instants in local time."""
    zone = find_reading_zone(use)
    if use.types[1].family is Family.TIMESTAMP:
        return lambda end, start: zone.convert_to_local(end) - zone.convert_to_local(start)
    return lambda time, interval: add_interval(zone, time, -interval)


TIME_FUNCTIONS: Mapping[str, Function] = {
    "TIMESTAMPDIFF": Function((None, None), find_distance_type, build_distance),
    "DATEDIFF": Function((None, None), require_families(INT, TIMES, TIMES), build_days_between),
    "TIME +": Function((None, None), find_time_sum_type, build_sum),
    "TIME -": Function((None, None), find_difference_type, build_difference),
}
