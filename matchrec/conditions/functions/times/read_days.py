"""Texts as days: `2024`, `2024-2`, `2024-02-29`, and what stands after a day and `T` or a blank."""

from __future__ import annotations

import re

from matchrec.conditions.functions.numerals import BLANK, NoValueError
from matchrec.conditions.functions.times.calendar import day_of, length_of_month

DAY = re.compile(r"([+-]?)([0-9]{4,7})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[T ].*)?)?)?", re.DOTALL)


def read_day(text: str) -> int:
    """The day. Raises NoValueError."""
    found = DAY.fullmatch(text.strip(BLANK))
    if found is None:
        raise NoValueError
    sign, digits, month, day = found.groups()
    year = -int(digits) if sign == "-" else int(digits)
    number, of_month = int(month or 1), int(day or 1)
    if not (1 <= number <= 12 and 1 <= of_month <= length_of_month(year, number)):
        raise NoValueError
    return day_of(year, number, of_month)
