"""Other days and instants: so much later, the first of a unit, the next Monday, made of parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from matchrec.conditions.functions.function import (
    AnsiError,
    Compute,
    Function,
    Use,
    function,
    gives,
)
from matchrec.conditions.functions.numerals import fits, wrap
from matchrec.conditions.functions.times.calendar import (
    DAY,
    SECOND,
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
    instant_of,
    of_time,
    of_times,
    toward_zero,
    zone_of,
)
from matchrec.conditions.functions.times.zones import Zone
from matchrec.conditions.functions.type_names import TIMESTAMP
from matchrec.conditions.types import DATE, TIMES, Family, ValueType

WHOLE = frozenset({Family.INTEGER})
TEXT = frozenset({Family.STRING})
WEEK_DAYS = {
    name[:letters]: number
    for number, name in enumerate(
        ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"]
    )
    for letters in (2, 3, None)
}


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


def shift(use: Use) -> Compute:
    """TIMESTAMPADD."""
    (unit,) = use.words
    zone = zone_of(replace(use, types=(shift_type(use) or TIMESTAMP,)))
    read = as_instant(use, 1) if use.types[1].family is Family.DATE else lambda time: time

    def compute(count: int, time: int) -> int:
        if unit in MONTHS:
            return add_months_to(zone, read(time), count * MONTHS[unit])
        if UNITS[unit] < DAY:
            return checked(read(time) + count * UNITS[unit])
        return add_span(zone, read(time), count * UNITS[unit])

    return compute


def shift_type(use: Use) -> ValueType | None:
    """Of the time; a day becomes an instant."""
    number, time = use.types
    known = bool(use.words) and use.words[0] in UNITS.keys() | MONTHS.keys()
    if not known or number.family is not Family.INTEGER or time.family not in TIMES:
        return None
    return TIMESTAMP if time.family is Family.DATE else time


def on_day(compute: Compute) -> Function:
    """A function of a day and a number that gives a day."""

    def build(use: Use) -> Compute:
        day = as_day(use)
        return lambda time, *others: compute(day(time), *others)

    return Function((None, Family.INTEGER), of_times(DATE, TIMES), build)


def last_day(day: int) -> int:
    year, month, _ = date_of(day)
    return day_of(year, month, length_of_month(year, month))


def next_day(use: Use) -> Compute:
    """The first such day of a week after a day; without one an error under ANSI, else NULL."""
    read = as_day(use)

    def compute(time: int, name: str) -> int | None:
        wanted = WEEK_DAYS.get(name.upper())
        if wanted is None:
            if use.ansi:
                raise AnsiError(f"ILLEGAL_DAY_OF_WEEK: {name!r}")
            return None
        day = read(time)
        return day + (wanted - week_day(day) - 1) % 7 + 1

    return compute


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


def truncate_day(use: Use) -> Compute:
    read = as_day(use)
    return lambda time, unit: first_day(read(time), unit)


def truncate(use: Use) -> Compute:
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


def make_day(use: Use) -> Compute:
    """A day that there is; else an error under ANSI, or NULL."""

    def compute(year: int, month: int, day: int) -> int | None:
        known = 1 <= month <= 12 and 1 <= day <= length_of_month(year, month)
        if not known and use.ansi:
            raise AnsiError(f"DATETIME_FIELD_OUT_OF_BOUNDS: {year}-{month}-{day}")
        return day_of(year, month, day) if known else None

    return compute


DATE_ADD = on_day(lambda day, days: wrap(day + days, 32))


TIME_SHIFTS: Mapping[str, Function] = {
    "TIMESTAMPADD": Function((None, None), shift_type, shift),
    "DATE_ADD": DATE_ADD,
    "DATEADD": DATE_ADD,
    "DATE_SUB": on_day(lambda day, days: wrap(day - days, 32)),
    "ADD_MONTHS": on_day(lambda day, months: checked(add_months(day, months), 32)),
    "LAST_DAY": of_time(DATE, last_day, as_day),
    "NEXT_DAY": Function((None, Family.STRING), of_times(DATE, TIMES, TEXT), next_day),
    "TRUNC": Function((None, Family.STRING), of_times(DATE, TIMES, TEXT), truncate_day),
    "DATE_TRUNC": Function((Family.STRING, None), of_times(TIMESTAMP, TEXT, TIMES), truncate),
    "DATE_FROM_UNIX_DATE": function((Family.INTEGER,), DATE, lambda day: day),
    "TIMESTAMP_SECONDS": function((None,), of_times(TIMESTAMP, WHOLE), instant_of(SECOND)),
    "TIMESTAMP_MILLIS": function((None,), of_times(TIMESTAMP, WHOLE), instant_of(1000)),
    "TIMESTAMP_MICROS": function((None,), of_times(TIMESTAMP, WHOLE), instant_of(1)),
    "MAKE_DATE": Function((Family.INTEGER,) * 3, gives(DATE), make_day),
}
