"""Other days and instants: so much later, the first of a unit, the next Monday, made of parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from matchrec.conditions.functions.function import Compute, Function, FunctionUse, Parameter
from matchrec.conditions.functions.numerals import fits, wrap
from matchrec.conditions.functions.times.calendar import (
    DAY,
    SECOND,
    Zone,
    add_months,
    date_of,
    day_of,
    length_of_month,
    week_day,
)
from matchrec.conditions.functions.times.distances import (
    MONTHS,
    UNITS,
    as_day,
    as_instant,
    of_time,
    of_times,
    toward_zero,
    zone_of,
)
from matchrec.conditions.types import BIGINT, DATE, INT, STRING, TIMES, TIMESTAMP, Family, ValueType

TEXT = frozenset({Family.STRING})


def later(zone: Zone, instant: int, local: int) -> int:
    """The instant of another local time, if it can be by the offset of the instant before it."""
    offset = zone.offset_at(instant)
    return local - offset if zone.offset_at(local - offset) == offset else zone.instant(local)


def add_span(zone: Zone, instant: int, span: int) -> int:
    """Whole days along the calendar, then the rest along the clock."""
    days = toward_zero(span, DAY)
    moved = later(zone, instant, zone.local(instant) + days * DAY)
    return checked(moved + span - days * DAY)


def add_months_to(zone: Zone, instant: int, months: int) -> int:
    local = zone.local(instant)
    day = add_months(local // DAY, months)
    return checked(later(zone, instant, day * DAY + local % DAY))


def checked(number: int, bits: int = 64) -> int:
    if not fits(number, bits):
        raise OverflowError
    return number


def shift(use: FunctionUse) -> Compute:
    """TIMESTAMPADD."""
    (unit,) = use.words
    zone = zone_of(replace(use, types=(shift_type(use) or TIMESTAMP,)))
    read = as_instant(use, 1) if use.types[1].family is Family.DATE else lambda time: time

    def compute(count: int, time: int) -> int:
        if unit in MONTHS:
            return add_months_to(zone, read(time), count * MONTHS[unit])
        if UNITS[unit] < DAY:
            return checked(read(time) + checked(count * UNITS[unit]))
        return add_span(zone, read(time), checked(count * UNITS[unit]))

    return compute


def shift_type(use: FunctionUse) -> ValueType | None:
    """Of the time; a day becomes an instant."""
    number, time = use.types
    known = bool(use.words) and use.words[0] in UNITS.keys() | MONTHS.keys()
    if not known or number.family is not Family.INTEGER or time.family not in TIMES:
        return None
    return TIMESTAMP if time.family is Family.DATE else time


def on_day(compute: Compute, parameter: Parameter = Family.INTEGER) -> Function:
    """A function of a day and a number that gives a day; a bigint is cast to INT or refused."""

    def build(use: FunctionUse) -> Compute:
        day = as_day(use)
        return lambda time, *others: compute(day(time), *others)

    def result(use: FunctionUse) -> ValueType | None:
        return DATE if use.types[0].family in TIMES and use.types[1].bits <= INT.bits else None

    return Function((None, parameter), result, build)


def last_day(day: int) -> int:
    year, month, _ = date_of(day)
    return day_of(year, month, length_of_month(year, month))


DAY_UNITS = {
    "YEAR": 12, "YYYY": 12, "YY": 12, "QUARTER": 3, "MONTH": 1, "MON": 1, "MM": 1, "WEEK": 0,
}  # fmt: skip
CLOCK_UNITS = {
    unit: UNITS[unit] for unit in ["MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY"]
} | {"DD": DAY}


def first_day(day: int, unit: str) -> int | None:
    """Of the year, the quarter, the month or the week, by its name; NULL for another name."""
    months = DAY_UNITS.get(unit.upper())
    if months is None:
        return None
    if months == 0:
        return day - week_day(day)
    year, month, _ = date_of(day)
    return day_of(year, (month - 1) // months * months + 1, 1)


def truncate_day(use: FunctionUse) -> Compute:
    read = as_day(use)
    return lambda time, unit: first_day(read(time), unit)


def truncate(use: FunctionUse) -> Compute:
    """DATE_TRUNC: the first instant of the unit."""
    instant, zone = as_instant(use, 1), zone_of(replace(use, types=(TIMESTAMP,)))

    def compute(unit: str, time: int) -> int | None:
        moment = instant(time)
        size, local = CLOCK_UNITS.get(unit.upper()), zone.local(moment)
        if size is not None and size < DAY:
            offset = zone.offset_at(moment)
            if size <= SECOND:
                return moment // size * size
            return local // size * size - offset
        day = local // DAY if size == DAY else first_day(local // DAY, unit)
        return None if day is None else zone.start_of(day)

    return compute


DATE_ADD = on_day(lambda day, days: wrap(day + days, 32))


TIME_SHIFTS: Mapping[str, Function] = {
    "TIMESTAMPADD": Function((BIGINT, None), shift_type, shift),
    "DATE_ADD": DATE_ADD,
    "DATEADD": DATE_ADD,
    "DATE_SUB": on_day(lambda day, days: wrap(day - days, 32)),
    "ADD_MONTHS": on_day(lambda day, months: checked(add_months(day, months), 32), INT),
    "LAST_DAY": of_time(DATE, last_day, as_day),
    "TRUNC": Function((None, STRING), of_times(DATE, TIMES, TEXT), truncate_day),
    "DATE_TRUNC": Function((STRING, None), of_times(TIMESTAMP, TEXT, TIMES), truncate),
}
