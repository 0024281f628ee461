"""Functions of days, instants and local times: distances, shifts, parts; arithmetic of intervals.

An instant is read in the session's time zone; a TIMESTAMP_NTZ is local time in any zone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal

from matchrec.conditions import types
from matchrec.conditions.functions.calendar import DAY, HOUR, MINUTE, Zone, find_zone, month_of
from matchrec.conditions.functions.casts import cast_strictly
from matchrec.conditions.functions.function import Compute, Function, FunctionUse, Result, by_name
from matchrec.conditions.functions.numerals import fits, wrap
from matchrec.conditions.types import INT, TIMES, Family, ValueType
from matchrec.plan.text import MICROSECONDS

UTC = find_zone("UTC")


def zone_of(use: FunctionUse) -> Zone:
    """The zone in which the first argument is read: a local time is in none."""
    local = use.types[0].family is not Family.TIMESTAMP
    return UTC if local else find_zone(use.time_zone)


def arguments_as(target: ValueType, use: FunctionUse) -> Iterator[Compute]:
    """What casts each argument, a day, an instant or a local time, to one of these."""
    for own in use.types:
        yield cast_strictly(replace(use, types=(own,), words=(target.name.upper(),)))


def of_times(type_: ValueType, *families: frozenset[Family]) -> Result:
    def result(use: FunctionUse) -> ValueType | None:
        known = zip(use.types, families, strict=False)
        return type_ if all(one.family in family for one, family in known) else None

    return result


def toward_zero(number: int, divisor: int) -> int:
    return number // divisor if number >= 0 else -(-number // divisor)


UNITS = MICROSECONDS | {"DAYOFYEAR": DAY}
MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}


def distance(use: FunctionUse) -> Compute:
    """TIMESTAMPDIFF: whole units between the local times of two instants."""
    (unit,) = use.words
    zone = find_zone(use.time_zone)
    starts, ends = arguments_as(types.TIMESTAMP, use)

    def compute(start: int, end: int) -> int:
        one, other = zone.local(starts(start)), zone.local(ends(end))
        if unit not in MONTHS:
            return toward_zero(other - one, UNITS[unit])
        (first, day), (last, other_day) = month_of(one // DAY), month_of(other // DAY)
        months, rest = last - first, (other_day - day) * DAY + other % DAY - one % DAY
        if (months > 0 and rest < 0) or (months < 0 and rest > 0):  # the last one is not whole
            months -= 1 if months > 0 else -1
        return toward_zero(months, MONTHS[unit])

    return compute


def distance_type(use: FunctionUse) -> ValueType | None:
    known = bool(use.words) and use.words[0] in UNITS.keys() | MONTHS.keys()
    return of_times(types.BIGINT, TIMES, TIMES)(use) if known else None


def days_between(use: FunctionUse) -> Compute:
    ends, starts = arguments_as(types.DATE, use)
    return lambda end, start: wrap(ends(end) - starts(start), INT.bits)


# Parts of intervals, as EXTRACT has them; times with intervals.
#
# Instants are moved along the calendar of the session's time zone: by whole days, which are not all
# as long, then by the rest.


def remainder(number: int, divisor: int) -> int:
    """With the sign of the number."""
    return number - toward_zero(number, divisor) * divisor


PARTS: Mapping[str, tuple[ValueType, Compute]] = {
    "DAY": (INT, lambda span: toward_zero(span, DAY)),
    "HOUR": (types.TINYINT, lambda span: toward_zero(remainder(span, DAY), HOUR)),
    "MINUTE": (types.TINYINT, lambda span: toward_zero(remainder(span, HOUR), MINUTE)),
    "SECOND": (types.decimal(8, 6), lambda span: Decimal(remainder(span, MINUTE)).scaleb(-6)),
}

# What EXTRACT calls the parts of a day-time interval.
SPELLINGS = by_name(
    {
        "DAY D DAYS": "DAY",
        "HOUR H HOURS HR HRS": "HOUR",
        "MINUTE M MIN MINS MINUTES": "MINUTE",
        "SECOND S SEC SECONDS SECS": "SECOND",
    }
)


def part_type(use: FunctionUse) -> ValueType | None:
    part = SPELLINGS.get(use.words[0]) if use.words else None
    is_span = use.types[0].family is Family.INTERVAL
    return PARTS[part][0] if part is not None and is_span else None


def later(zone: Zone, instant: int, local: int) -> int:
    """The instant of another local time, if it can be by the offset of the instant before it."""
    offset = zone.offset_at(instant)
    return local - offset if zone.offset_at(local - offset) == offset else zone.instant(local)


def add_span(zone: Zone, instant: int, span: int) -> int:
    """Whole days along the calendar, then the rest along the clock."""
    days = toward_zero(span, DAY)
    found = later(zone, instant, zone.local(instant) + days * DAY) + span - days * DAY
    if not fits(found, 64):
        raise OverflowError
    return found


def added(sign: int) -> Compute:
    def build(use: FunctionUse) -> Compute:
        zone = zone_of(use)
        return lambda time, span: add_span(zone, time, sign * span)

    return build


def moved_type(use: FunctionUse) -> ValueType | None:
    time, span = use.types
    is_moved = time.family in TIMES - {Family.DATE} and span.family is Family.INTERVAL
    return time if is_moved else None


def subtracted_type(use: FunctionUse) -> ValueType | None:
    both = all(type_.family is Family.TIMESTAMP for type_ in use.types)
    return types.INTERVAL if both else moved_type(use)


def subtracted(use: FunctionUse) -> Compute:
    """An interval from a time; or between two instants, which Spark measures in local time."""
    if use.types[1].family is not Family.TIMESTAMP:
        compute: Compute = added(-1)(use)
        return compute
    local = zone_of(use).local
    return lambda end, start: local(end) - local(start)


TIME_FUNCTIONS: Mapping[str, Function] = {
    "TIMESTAMPDIFF": Function((None, None), distance_type, distance),
    "DATEDIFF": Function((None, None), of_times(INT, TIMES, TIMES), days_between),
    "EXTRACT": Function((None,), part_type, lambda use: PARTS[SPELLINGS[use.words[0]]][1]),
    "TIME +": Function((None, None), moved_type, added(1)),
    "TIME -": Function((None, None), subtracted_type, subtracted),
}
