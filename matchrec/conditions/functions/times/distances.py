"""Distances between days, instants and local times, and what they are as numbers.

An instant is read in the session's time zone; a TIMESTAMP_NTZ is local time in any zone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from matchrec.conditions.functions.function import Compute, Function, FunctionUse, Result
from matchrec.conditions.functions.numerals import wrap
from matchrec.conditions.functions.times.calendar import (
    DAY,
    SECOND,
    Zone,
    date_of,
    find_zone,
    length_of_month,
    months_of,
)
from matchrec.conditions.types import BIGINT, DOUBLE, INT, TIMES, Family, ValueType

UTC = find_zone("UTC")
MINUTE, HOUR = 60 * SECOND, 3600 * SECOND


def zone_of(use: FunctionUse, place: int = 0) -> Zone:
    """The zone in which an argument is read: a local time is in none."""
    local = use.types[place].family is not Family.TIMESTAMP
    return UTC if local else find_zone(use.time_zone)


def as_local(use: FunctionUse, place: int = 0) -> Callable[[int], int]:
    """A day, an instant or a local time as a local time in microseconds."""
    if use.types[place].family is Family.DATE:
        return lambda day: day * DAY
    zone = zone_of(use, place)
    return (lambda time: time) if zone is UTC else zone.local


def as_instant(use: FunctionUse, place: int = 0) -> Callable[[int], int]:
    """A day, an instant or a local time as an instant."""
    zone = find_zone(use.time_zone)
    match use.types[place].family:
        case Family.DATE:
            return zone.start_of
        case Family.TIMESTAMP_NTZ:
            return zone.instant
        case _:
            return lambda instant: instant


def as_day(use: FunctionUse, place: int = 0) -> Callable[[int], int]:
    """Its local day."""
    if use.types[place].family is Family.DATE:
        return lambda day: day
    local = as_local(use, place)
    return lambda time: local(time) // DAY


def of_times(type_: ValueType, *families: frozenset[Family]) -> Result:
    """A result of a type where the arguments are of these families."""

    def result(use: FunctionUse) -> ValueType | None:
        known = zip(use.types, families, strict=False)
        return type_ if all(one.family in family for one, family in known) else None

    return result


def of_time(type_: ValueType, compute: Compute, read: Callable[[FunctionUse], Compute]) -> Function:
    """A function of one time, which `read` brings to what it is computed of."""

    def build(use: FunctionUse) -> Compute:
        reads = read(use)
        return lambda time: compute(reads(time))

    return Function((None,), of_times(type_, TIMES), build)


def toward_zero(number: int, divisor: int) -> int:
    """The quotient without its fraction."""
    return number // divisor if number >= 0 else -(-number // divisor)


def whole_months(start: int, end: int) -> int:
    """How many whole months lie between two local times."""
    months = months_of(end // DAY) - months_of(start // DAY)
    rest = date_of(end // DAY)[2] * DAY + end % DAY - date_of(start // DAY)[2] * DAY - start % DAY
    if months > 0 and rest < 0:
        return months - 1
    return months + 1 if months < 0 and rest > 0 else months


UNITS = {
    "MICROSECOND": 1,
    "MILLISECOND": 1000,
    "SECOND": SECOND,
    "MINUTE": MINUTE,
    "HOUR": HOUR,
    "DAY": DAY,
    "DAYOFYEAR": DAY,
    "WEEK": 7 * DAY,
}
MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}


def distance(use: FunctionUse) -> Compute:
    """TIMESTAMPDIFF: whole units between the local times of two instants."""
    (unit,) = use.words
    zone = find_zone(use.time_zone)
    starts, ends = as_instant(use), as_instant(use, 1)

    def compute(start: int, end: int) -> int:
        one, other = zone.local(starts(start)), zone.local(ends(end))
        if unit in MONTHS:
            return toward_zero(whole_months(one, other), MONTHS[unit])
        return toward_zero(other - one, UNITS[unit])

    return compute


def distance_type(use: FunctionUse) -> ValueType | None:
    known = bool(use.words) and use.words[0] in UNITS.keys() | MONTHS.keys()
    return of_times(BIGINT, TIMES, TIMES)(use) if known else None


def days_between(use: FunctionUse) -> Compute:
    ends, starts = as_day(use), as_day(use, 1)
    return lambda end, start: wrap(ends(end) - starts(start), INT.bits)


def months_between(use: FunctionUse) -> Compute:
    """With a fraction of 31 days, rounded to eight places unless a third argument is false."""
    zone = find_zone(use.time_zone)
    ends, starts = as_instant(use), as_instant(use, 1)

    def compute(end: int, start: int, rounds: bool = True) -> float:
        return fraction_of_months(zone, (ends(end), starts(start)), rounds)

    return compute


def fraction_of_months(zone: Zone, instants: tuple[int, int], rounds: bool) -> float:
    days = [zone.local(one) // DAY for one in instants]
    first, second = map(date_of, days)
    months = months_of(days[0]) - months_of(days[1])
    both_last = all(length_of_month(y, m) == d for y, m, d in (first, second))
    if first[2] == second[2] or both_last:
        return float(months)
    seconds = [
        (one - zone.start_of(day)) // SECOND for one, day in zip(instants, days, strict=True)
    ]
    apart = (first[2] - second[2]) * 86_400 + seconds[0] - seconds[1]
    found = months + apart / (31 * 86_400)
    return half_up(found) if rounds else found


def half_up(number: float) -> float:
    """Eight places, a half up, as Java's Math.round does it."""
    scaled = number * 1e8
    floor = int(scaled // 1)
    return (floor + (scaled - floor >= 0.5)) / 1e8


def number_of_instant(divisor: int) -> Function:
    return of_time(BIGINT, lambda instant: instant // divisor, as_instant)


SECONDS_TOWARD_ZERO = of_time(BIGINT, lambda instant: toward_zero(instant, SECOND), as_instant)
DAYS_BETWEEN = Function((None, None), of_times(INT, TIMES, TIMES), days_between)

DISTANCES: Mapping[str, Function] = {
    "TIMESTAMPDIFF": Function((None, None), distance_type, distance),
    "DATEDIFF": DAYS_BETWEEN,
    "MONTHS_BETWEEN": Function(
        (None, None, Family.BOOLEAN), of_times(DOUBLE, TIMES, TIMES), months_between, 2
    ),
    "UNIX_TIMESTAMP": SECONDS_TOWARD_ZERO,
    "TO_UNIX_TIMESTAMP": SECONDS_TOWARD_ZERO,
    "UNIX_SECONDS": number_of_instant(SECOND),
    "UNIX_MILLIS": number_of_instant(1000),
    "UNIX_MICROS": number_of_instant(1),
    "UNIX_DATE": of_time(INT, lambda day: day, as_day),
}
