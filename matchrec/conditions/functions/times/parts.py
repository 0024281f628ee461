"""Parts of dates, times and intervals, as EXTRACT has them; arithmetic of intervals.

Instants are moved along the calendar of the session's time zone: by whole days, which are not all
as long, then by the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction

from matchrec.conditions.functions.function import (
    Compute,
    Function,
    FunctionError,
    FunctionUse,
    Value,
)
from matchrec.conditions.functions.numerals import divided
from matchrec.conditions.functions.times.calendar import (
    DAY,
    SECOND,
    add_months,
    date_of,
    day_of_year,
    iso_week,
    week_day,
)
from matchrec.conditions.functions.times.distances import (
    HOUR,
    MINUTE,
    as_local,
    of_time,
    toward_zero,
    zone_of,
)
from matchrec.conditions.functions.times.shifts import add_months_to, add_span, checked
from matchrec.conditions.types import (
    DATE,
    INT,
    INTERVAL,
    SPANS,
    TIMES,
    TINYINT,
    Family,
    ValueType,
    decimal,
)

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


TIME_PARTS: Mapping[str, Function] = {
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
}


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


SPAN_ARITHMETIC: Mapping[str, Function] = {
    "TIME *": Function((None, None), scaled, multiplied),
    "TIME /": Function((None, None), scaled, quotient),
    "TIME +": added(1),
    "TIME -": Function((None, None), subtracted_type, subtracted),
}
