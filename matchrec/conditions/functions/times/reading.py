"""Texts as days, `2024`, `2024-2`, `2024-02-29`, and as instants and local times.

What stands after a day and `T` or a blank is left out of a day, and is the time and the zone of an
instant.

Source: Spark's `DateTimeUtils.parseTimestampString`, and java.time.ZoneId.of.
"""

from __future__ import annotations

import re

from matchrec.conditions.functions.function import UndecidedError
from matchrec.conditions.functions.numerals import BLANK, NoValueError, fits
from matchrec.conditions.functions.times.calendar import (
    DAY,
    SECOND,
    Zone,
    day_of,
    find_zone,
    length_of_month,
)
from matchrec.conditions.functions.times.distances import HOUR, MINUTE

A_DAY = re.compile(r"([+-]?)([0-9]{4,7})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[T ].*)?)?)?", re.DOTALL)


def read_day(text: str) -> int:
    """The day. Raises NoValueError."""
    found = A_DAY.fullmatch(text.strip(BLANK))
    if found is None:
        raise NoValueError
    sign, digits, month, day = found.groups()
    year = -int(digits) if sign == "-" else int(digits)
    number, of_month = int(month or 1), int(day or 1)
    if not (1 <= number <= 12 and 1 <= of_month <= length_of_month(year, number)):
        raise NoValueError
    return day_of(year, number, of_month)


TIME = re.compile(
    r"([+-]?)([0-9]{4,6})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[T ]([0-9]{1,2})(?::([0-9]{1,2})"
    r"(?::([0-9]{1,2})(?:\.([0-9]*))?([^0-9.].*)?)?)?)?)?)?",
    re.DOTALL,
)
WITHOUT_DAY = re.compile(r"T|[0-9]{1,2}:")
OFFSET = re.compile(r"([+-])([0-9]{1,2}(?=:|$)|[0-9]{2}(?=[0-9]{2}$))(?::?([0-9]{1,2}))?")
WITH_SECONDS = re.compile(r"[+-][0-9:]{7,9}")
LARGEST_OFFSET = 18 * 60  # minutes


def read_local(text: str) -> tuple[int, str]:
    """A local time, and the zone that stands after it. Raises NoValueError."""
    found = TIME.fullmatch(text.strip(BLANK))
    if found is None:
        raise NoValueError
    *numbers, fraction, zone = found.groups()[1:]
    year, month, day, hour, minute, second = (
        int(number or least) for number, least in zip(numbers, (0, 1, 1, 0, 0, 0), strict=True)
    )
    year = -year if found[1] == "-" else year
    there = 1 <= month <= 12 and 1 <= day <= length_of_month(year, month)
    if not there or hour > 23 or minute > 59 or second > 59:
        raise NoValueError
    micros = int(f"{fraction or '':0<6}"[:6])
    within = hour * HOUR + minute * MINUTE + second * SECOND + micros
    return day_of(year, month, day) * DAY + within, (zone or "").strip(BLANK)


def zone_named(name: str) -> Zone:
    """The zone that stands in a text. Raises NoValueError."""
    if name == "Z":
        return find_zone("UTC")
    found = OFFSET.fullmatch(name)
    if found is None and (name[0] not in "+-" or WITH_SECONDS.fullmatch(name)):
        raise UndecidedError(f"whether Java knows the time zone {name!r} is not known")
    if found is None:
        raise NoValueError
    sign, hours, minutes = found[1], int(found[2]), int(found[3] or 0)
    if minutes > 59 or hours * 60 + minutes > LARGEST_OFFSET:
        raise NoValueError
    return find_zone(f"{sign}{hours:02d}:{minutes:02d}")


def read_instant(text: str, zone: Zone) -> int:
    """In a zone, unless the text has one."""
    if WITHOUT_DAY.match(text.strip(BLANK)):
        raise UndecidedError(f"{text!r} is a time of the day on which the query runs")
    local, name = read_local(text)
    found = (zone_named(name) if name else zone).instant(local)
    if not fits(found, 64):
        raise NoValueError
    return found


def read_without_zone(text: str) -> int:
    """A local time; a zone after it is left out."""
    local, name = read_local(text)
    if name:
        zone_named(name)
    if not fits(local, 64):
        raise NoValueError
    return local
