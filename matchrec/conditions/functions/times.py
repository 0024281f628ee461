"""Functions of days, instants and local times: distances, shifts, parts; arithmetic of intervals.

An instant is read in the session's time zone; a TIMESTAMP_NTZ is local time in any zone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from matchrec.conditions.functions.calendar import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    Zone,
    add_months,
    date_of,
    day_of,
    day_of_year,
    find_zone,
    iso_week,
    length_of_month,
    months_of,
    week_day,
)
from matchrec.conditions.functions.function import (
    Compute,
    Function,
    FunctionError,
    FunctionUse,
    Parameter,
    Result,
    Value,
)
from matchrec.conditions.functions.numerals import divided, fits, wrap
from matchrec.conditions.types import (
    BIGINT,
    DATE,
    DOUBLE,
    INT,
    INTERVAL,
    SPANS,
    STRING,
    TIMES,
    TIMESTAMP,
    TINYINT,
    Family,
    ValueType,
    decimal,
)

UTC = find_zone("UTC")


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
    return eight_places(found) if rounds else found


def eight_places(number: float) -> float:
    """Eight places, a half up, as Java's Math.round does it."""
    scaled = number * 1e8
    floor = int(scaled // 1)
    return (floor + (scaled - floor >= 0.5)) / 1e8


def number_of_instant(divisor: int) -> Function:
    return of_time(BIGINT, lambda instant: instant // divisor, as_instant)


SECONDS_TOWARD_ZERO = of_time(BIGINT, lambda instant: toward_zero(instant, SECOND), as_instant)
DAYS_BETWEEN = Function((None, None), of_times(INT, TIMES, TIMES), days_between)


# Other days and instants: so much later, the first of a unit, the next Monday, made of parts.


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


# Parts of dates, times and intervals, as EXTRACT has them; arithmetic of intervals.
#
# Instants are moved along the calendar of the session's time zone: by whole days, which are not all
# as long, then by the rest.


SECONDS = decimal(8, 6)


def exact_seconds(microseconds: int) -> Decimal:
    """With the fraction."""
    return Decimal(microseconds).scaleb(-6)


def remainder(number: int, divisor: int) -> int:
    """With the sign of the number."""
    return number - toward_zero(number, divisor) * divisor


PARTS: Mapping[str, tuple[ValueType, Callable[[int], Value]]] = {
    "YEAR": (INT, lambda time: date_of(time // DAY)[0]),
    "QUARTER": (INT, lambda time: (date_of(time // DAY)[1] + 2) // 3),
    "MONTH": (INT, lambda time: date_of(time // DAY)[1]),
    "WEEK": (INT, lambda time: iso_week(time // DAY)),
    "DAY": (INT, lambda time: date_of(time // DAY)[2]),
    "DAYOFWEEK": (INT, lambda time: (week_day(time // DAY) + 1) % 7 + 1),
    "DAYOFWEEK_ISO": (INT, lambda time: week_day(time // DAY) + 1),
    "WEEKDAY": (INT, lambda time: week_day(time // DAY)),
    "DOY": (INT, lambda time: day_of_year(time // DAY)),
    "HOUR": (INT, lambda time: time % DAY // HOUR),
    "MINUTE": (INT, lambda time: time % HOUR // MINUTE),
    "SECOND": (SECONDS, lambda time: exact_seconds(time % MINUTE)),
}
"""Of a local time."""

OF_INTERVALS: Mapping[tuple[Family, str], tuple[ValueType, Callable[[int], Value]]] = {
    (Family.INTERVAL, "DAY"): (INT, lambda span: toward_zero(span, DAY)),
    (Family.INTERVAL, "HOUR"): (TINYINT, lambda span: toward_zero(remainder(span, DAY), HOUR)),
    (Family.INTERVAL, "MINUTE"): (
        TINYINT,
        lambda span: toward_zero(remainder(span, HOUR), MINUTE),
    ),
    (Family.INTERVAL, "SECOND"): (SECONDS, lambda span: exact_seconds(remainder(span, MINUTE))),
    (Family.MONTHS, "YEAR"): (INT, lambda months: toward_zero(months, 12)),
    (Family.MONTHS, "MONTH"): (TINYINT, lambda months: remainder(months, 12)),
}

SPELLINGS = {
    spelling: part
    for part, spellings in {
        "YEAR": "YEAR Y YEARS YR YRS",
        "QUARTER": "QUARTER QTR",
        "MONTH": "MONTH MON MONS MONTHS",
        "WEEK": "WEEK W WEEKS",
        "DAY": "DAY D DAYS",
        "DAYOFWEEK": "DAYOFWEEK DOW",
        "DAYOFWEEK_ISO": "DAYOFWEEK_ISO DOW_ISO",
        "DOY": "DOY",
        "HOUR": "HOUR H HOURS HR HRS",
        "MINUTE": "MINUTE M MIN MINS MINUTES",
        "SECOND": "SECOND S SEC SECONDS SECS",
    }.items()
    for spelling in spellings.split()
}
"""What EXTRACT calls the parts."""


def found_part(use: FunctionUse) -> tuple[ValueType, Callable[[int], Value]] | None:
    part = SPELLINGS.get(use.words[0]) if use.words else None
    family = use.types[0].family
    if part is None:
        return None
    return PARTS[part] if family in TIMES else OF_INTERVALS.get((family, part))


def part_type(use: FunctionUse) -> ValueType | None:
    found = found_part(use)
    return None if found is None else found[0]


def extract(use: FunctionUse) -> Compute:
    found = found_part(use)
    assert found is not None
    compute = found[1]
    if use.types[0].family not in TIMES:
        return compute
    local = as_local(use)
    return lambda time: compute(local(time))


def part(name: str) -> Function:
    return of_time(INT, PARTS[name][1], as_local)


DAY_OF_MONTH = part("DAY")


def bits_of(span: ValueType) -> int:
    return 64 if span.family is Family.INTERVAL else 32


def half_up(number: Fraction) -> int:
    """The nearest whole number, a half away from zero."""
    return divided(number.numerator, number.denominator)


def scaled(use: FunctionUse) -> ValueType | None:
    """The interval's type, which stands first. Floating numbers are rounded by Java."""
    span, number = use.types
    exact = number.family in (Family.INTEGER, Family.DECIMAL)
    return SPANS.get(span.family) if exact else None


def multiplied(use: FunctionUse) -> Compute:
    """Rounded half up where the number has a fraction."""
    bits = bits_of(use.types[0])
    return lambda span, number: checked(half_up(span * Fraction(number)), bits)


def quotient(use: FunctionUse) -> Compute:
    bits = bits_of(use.types[0])

    def compute(span: int, number: Value) -> int:
        if number == 0:
            raise FunctionError("INTERVAL_DIVIDED_BY_ZERO")
        return checked(half_up(span / Fraction(number)), bits)

    return compute


def added(sign: int) -> Function:
    """A time and an interval."""

    def build(use: FunctionUse) -> Compute:
        zone, of_months = zone_of(use), use.types[1].family is Family.MONTHS
        if use.types[0].family is Family.DATE:
            return lambda day, months: checked(add_months(day, sign * months), 32)
        add = add_months_to if of_months else add_span
        return lambda time, span: add(zone, time, sign * span)

    return Function((None, None), moved_type, build)


def moved_type(use: FunctionUse) -> ValueType | None:
    time, span = use.types
    if time.family is Family.DATE:
        return DATE if span.family is Family.MONTHS else None
    return time if time.family in TIMES and span.family in SPANS else None


def subtracted_type(use: FunctionUse) -> ValueType | None:
    both = all(one.family is Family.TIMESTAMP for one in use.types)
    return INTERVAL if both else moved_type(use)


def subtracted(use: FunctionUse) -> Compute:
    """An interval from a time; or between two instants, which Spark measures in local time."""
    if use.types[1].family is not Family.TIMESTAMP:
        return added(-1).build(use)
    local = zone_of(use).local
    return lambda end, start: local(end) - local(start)


TIME_FUNCTIONS: Mapping[str, Function] = {
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
    "EXTRACT": Function((None,), part_type, extract),
    "YEAR": part("YEAR"),
    "QUARTER": part("QUARTER"),
    "MONTH": part("MONTH"),
    "WEEKOFYEAR": part("WEEK"),
    "DAY": DAY_OF_MONTH,
    "DAYOFMONTH": DAY_OF_MONTH,
    "DAYOFWEEK": part("DAYOFWEEK"),
    "WEEKDAY": part("WEEKDAY"),
    "DAYOFYEAR": part("DOY"),
    "HOUR": part("HOUR"),
    "MINUTE": part("MINUTE"),
    "SECOND": of_time(INT, lambda time: time % MINUTE // SECOND, as_local),
    "TIMESTAMPADD": Function((BIGINT, None), shift_type, shift),
    "DATE_ADD": DATE_ADD,
    "DATEADD": DATE_ADD,
    "DATE_SUB": on_day(lambda day, days: wrap(day - days, 32)),
    "ADD_MONTHS": on_day(lambda day, months: checked(add_months(day, months), 32), INT),
    "LAST_DAY": of_time(DATE, last_day, as_day),
    "TRUNC": Function((None, STRING), of_times(DATE, TIMES, TEXT), truncate_day),
    "DATE_TRUNC": Function((STRING, None), of_times(TIMESTAMP, TEXT, TIMES), truncate),
    "TIME *": Function((None, None), scaled, multiplied),
    "TIME /": Function((None, None), scaled, quotient),
    "TIME +": added(1),
    "TIME -": Function((None, None), subtracted_type, subtracted),
}
