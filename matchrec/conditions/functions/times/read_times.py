"""Texts as instants and local times: a day, and after `T` or a blank a time and an offset."""

from __future__ import annotations

import re

from matchrec.conditions.functions.function import FunctionError, UndecidedError
from matchrec.conditions.functions.numerals import BLANK, NoValueError
from matchrec.conditions.functions.times.calendar import DAY, SECOND, day_of, length_of_month
from matchrec.conditions.functions.times.zones import Zone, find_zone

TIME = re.compile(
    r"([+-]?)([0-9]{4,6})(?:-([0-9]{1,2})(?:-([0-9]{1,2})"
    r"(?:[T ](?:([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:\.([0-9]*))?)?(.*))?)?)?",
    re.DOTALL,
)
OFFSET = re.compile(r"Z|[+-][0-9]{2}:[0-9]{2}")
ANY_TIME = re.compile(r"[0-9T:]")


def read_local(text: str) -> tuple[int, str]:
    """A local time, and what says in which zone. Raises NoValueError, and where it is not sure."""
    stripped = text.strip(BLANK)
    found = TIME.fullmatch(stripped)
    if found is None:
        if ":" in stripped:  # of the day on which the query runs, or with fewer parts
            raise UndecidedError(f"what time {text!r} is depends on Spark's version")
        raise NoValueError
    sign, digits, month, day, hour, minute, second, fraction, zone = found.groups()
    if zone and not OFFSET.fullmatch(zone):
        raise UndecidedError(f"what time {text!r} is depends on Spark's version")
    year = -int(digits) if sign == "-" else int(digits)
    numbers = [int(part or 0) for part in (hour, minute, second)]
    number, of_month = int(month or 1), int(day or 1)
    there = 1 <= number <= 12 and 1 <= of_month <= length_of_month(year, number)
    if not there or numbers[0] > 23 or max(numbers[1:]) > 59:
        raise NoValueError
    within = (numbers[0] * 3600 + numbers[1] * 60 + numbers[2]) * SECOND
    return day_of(year, number, of_month) * DAY + within + microseconds(fraction or ""), zone or ""


def microseconds(fraction: str) -> int:
    """Of digits after the point, of which the first six count."""
    return int(f"{fraction:0<6}"[:6])


def read_instant(text: str, zone: Zone) -> int:
    """In a zone, unless the text has an offset."""
    local, name = read_local(text)
    try:
        return (find_zone(name) if name else zone).instant(local)
    except FunctionError:
        raise NoValueError from None


def read_without_zone(text: str) -> int:
    """A local time; an offset after it is left out."""
    return read_local(text)[0]
