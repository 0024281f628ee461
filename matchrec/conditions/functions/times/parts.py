"""Parts of dates, times and intervals: EXTRACT, and the functions that are named after a part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

from matchrec.conditions.functions.function import Compute, Function, Use, Value
from matchrec.conditions.functions.times.calendar import (
    DAY,
    MONTHS,
    SECOND,
    WEEK_DAYS,
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
)
from matchrec.conditions.functions.type_names import TINYINT
from matchrec.conditions.types import INT, STRING, TIMES, Family, ValueType, decimal

SECONDS = decimal(8, 6)


def exact_seconds(microseconds: int) -> Decimal:
    """With the fraction."""
    return Decimal(microseconds).scaleb(-6)


def remainder(number: int, divisor: int) -> int:
    """With the sign of the number."""
    return number - toward_zero(number, divisor) * divisor


PARTS: Mapping[str, tuple[ValueType, Callable[[int], Value]]] = {
    "YEAR": (INT, lambda time: date_of(time // DAY)[0]),
    "YEAROFWEEK": (INT, lambda time: iso_week(time // DAY)[0]),
    "QUARTER": (INT, lambda time: (date_of(time // DAY)[1] + 2) // 3),
    "MONTH": (INT, lambda time: date_of(time // DAY)[1]),
    "WEEK": (INT, lambda time: iso_week(time // DAY)[1]),
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
        "YEAROFWEEK": "YEAROFWEEK",
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


def found_part(use: Use) -> tuple[ValueType, Callable[[int], Value]] | None:
    part = SPELLINGS.get(use.words[0]) if use.words else None
    family = use.types[0].family
    if part is None:
        return None
    return PARTS[part] if family in TIMES else OF_INTERVALS.get((family, part))


def part_type(use: Use) -> ValueType | None:
    found = found_part(use)
    return None if found is None else found[0]


def extract(use: Use) -> Compute:
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


def named(name: str, names: Sequence[str], first: int) -> Function:
    """The English name of a part, in three letters. first: the number of the first one."""
    return of_time(STRING, lambda time: names[PARTS[name][1](time) - first][:3], as_local)


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
    "DAYNAME": named("WEEKDAY", WEEK_DAYS, 0),
    "MONTHNAME": named("MONTH", MONTHS, 1),
    "SECOND": of_time(INT, lambda time: time % MINUTE // SECOND, as_local),
}
