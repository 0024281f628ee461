"""Instants and intervals that are made of numbers, and clock times of other time zones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

from matchrec.conditions.functions.function import AnsiError, Compute, Function, Result, Use, Value
from matchrec.conditions.functions.times.calendar import DAY, day_of, length_of_month
from matchrec.conditions.functions.times.distances import HOUR, MINUTE, as_instant, of_times
from matchrec.conditions.functions.times.shifts import checked
from matchrec.conditions.functions.times.zones import Zone, find_zone
from matchrec.conditions.functions.type_names import TIMESTAMP, TIMESTAMP_NTZ
from matchrec.conditions.types import INTERVAL, MONTHS, TIMES, Family, ValueType

WHOLE = Family.INTEGER
PLACES = 6  # of seconds
LARGEST_YEAR = 999_999_999


def with_seconds(type_: ValueType) -> Result:
    """A type, where the last argument is a number of seconds that has its fraction exactly."""

    def result(use: Use) -> ValueType | None:
        last = use.types[-1]
        exact = last.family is WHOLE or (last.family is Family.DECIMAL and last.scale <= PLACES)
        return type_ if exact else None

    return result


def microseconds(seconds: Value) -> int:
    return int(Decimal(seconds).scaleb(PLACES))


def local_time(date: Sequence[int], hour: int, minute: int, seconds: Value) -> int | None:
    """None where there is no such time; 60 seconds are the next minute."""
    year, month, day = date
    there = 1 <= month <= 12 and abs(year) <= LARGEST_YEAR
    there = there and 1 <= day <= length_of_month(year, month)
    there = there and 0 <= hour < 24 and 0 <= minute < 60
    within = microseconds(seconds)
    if not there or not 0 <= within <= MINUTE:
        return None
    return day_of(year, month, day) * DAY + hour * HOUR + minute * MINUTE + within


def make_time(read: Callable[[Zone, int], int]) -> Callable[[Use], Compute]:
    """What reads a local time that is made of its parts; else an error under ANSI, or NULL."""

    def build(use: Use) -> Compute:
        zone = find_zone(use.time_zone)

        def compute(*parts: Value) -> int | None:
            found = local_time(parts[:3], *parts[3:])
            if found is not None:
                return checked(read(zone, found))
            if use.ansi:
                raise AnsiError("DATETIME_FIELD_OUT_OF_BOUNDS: no time has such parts")
            return None

        return compute

    return build


def make_span(days: int = 0, hours: int = 0, minutes: int = 0, seconds: Value = 0) -> int:
    whole = days * DAY + hours * HOUR + minutes * MINUTE
    return checked(checked(whole) + microseconds(seconds))


def span_type(use: Use) -> ValueType | None:
    return with_seconds(INTERVAL)(use) if len(use.types) == 4 else INTERVAL


def make_months(years: int, months: int = 0) -> int:
    return checked(years * 12 + months, 32)


def of_zone(read: Callable[[Zone, int], int]) -> Function:
    """An instant of an instant and the name of a time zone."""

    def build(use: Use) -> Compute:
        instant = as_instant(use)
        return lambda time, name: checked(read(find_zone(name), instant(time)))

    type_ = of_times(TIMESTAMP, TIMES, frozenset({Family.STRING}))
    return Function((None, Family.STRING), type_, build)


FIVE = (WHOLE,) * 5
MAKE_TIMESTAMP = Function((*FIVE, None), with_seconds(TIMESTAMP), make_time(Zone.instant))

MADE_TIMES: Mapping[str, Function] = {
    "MAKE_TIMESTAMP": MAKE_TIMESTAMP,
    "MAKE_TIMESTAMP_LTZ": MAKE_TIMESTAMP,
    "MAKE_TIMESTAMP_NTZ": Function(
        (*FIVE, None), with_seconds(TIMESTAMP_NTZ), make_time(lambda _, local: local)
    ),
    "MAKE_DT_INTERVAL": Function((WHOLE, WHOLE, WHOLE, None), span_type, lambda _: make_span, 1),
    "MAKE_YM_INTERVAL": Function((WHOLE, WHOLE), lambda _: MONTHS, lambda _: make_months, 1),
    "FROM_UTC_TIMESTAMP": of_zone(Zone.local),
    "TO_UTC_TIMESTAMP": of_zone(Zone.instant),
}
