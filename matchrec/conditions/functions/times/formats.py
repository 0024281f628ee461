"""Times as texts in a format: DATE_FORMAT and FROM_UNIXTIME.

Letters are those that mean the same in all versions of Spark and under all its policies.
Source: java.time.format.DateTimeFormatter, "Patterns for Formatting and Parsing".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from matchrec.conditions.functions.function import Compute, Function, UndecidedError, Use
from matchrec.conditions.functions.times.calendar import (
    DAY,
    MONTHS,
    SECOND,
    WEEK_DAYS,
    date_of,
    day_of_year,
    week_day,
)
from matchrec.conditions.functions.times.distances import HOUR, MINUTE, as_instant, of_times
from matchrec.conditions.functions.times.zones import find_zone
from matchrec.conditions.types import STRING, TIMES, Family

TEXT = frozenset({Family.STRING})
WHOLE = frozenset({Family.INTEGER})
PARTS = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z'\[\]{}#]+")
LAST_YEAR = 9999

Show = Callable[[int], str]
"""A part of a local time as text."""


def year_of(local: int) -> int:
    year = date_of(local // DAY)[0]
    if not 1 <= year <= LAST_YEAR:
        raise UndecidedError(f"how the year {year} is written in a format")
    return year


def number(digits: int, part: Callable[[int], int]) -> Show:
    """With so many digits at least."""
    return lambda local: f"{part(local):0{digits}d}"


def month(local: int) -> int:
    return date_of(local // DAY)[1]


def half_day_hour(local: int) -> int:
    """From 1 to 12."""
    return (local // HOUR - 1) % 12 + 1


def fraction(digits: int) -> Show:
    """The first digits after the point."""
    return lambda local: f"{local % SECOND:06d}000"[:digits]


SHOWN: Mapping[str, Show] = {
    "yy": number(2, lambda local: year_of(local) % 100),
    **{"y" * digits: number(digits, year_of) for digits in (1, 4)},
    **{"M" * digits: number(digits, month) for digits in (1, 2)},
    "MMM": lambda local: MONTHS[month(local) - 1][:3],
    "MMMM": lambda local: MONTHS[month(local) - 1],
    **{"D" * digits: number(digits, lambda local: day_of_year(local // DAY)) for digits in (1, 3)},
    "a": lambda local: "AM" if local % DAY < 12 * HOUR else "PM",
    **dict.fromkeys(("E", "EE", "EEE"), lambda local: WEEK_DAYS[week_day(local // DAY)][:3]),
    "EEEE": lambda local: WEEK_DAYS[week_day(local // DAY)],
    **{
        letter * digits: number(digits, part)
        for digits in (1, 2)
        for letter, part in {
            "d": lambda local: date_of(local // DAY)[2],
            "H": lambda local: local % DAY // HOUR,
            "h": half_day_hour,
            "m": lambda local: local % HOUR // MINUTE,
            "s": lambda local: local % MINUTE // SECOND,
        }.items()
    },
    **{"S" * digits: fraction(digits) for digits in range(1, 10)},
}


@lru_cache(maxsize=1000)
def read_format(text: str) -> tuple[Show, ...]:
    """What shows each part of a format. Raises UndecidedError."""
    found: list[Show] = []
    place = 0
    while place < len(text):
        part = PARTS.match(text, place)
        letters = None if part is None or part[2] is None else part[0]
        if part is None or (letters is not None and letters not in SHOWN):
            raise UndecidedError(f"the format {text!r} has {letters or text[place]!r}")
        found.append(SHOWN[letters] if letters else constant(part))
        place = part.end()
    return tuple(found)


def constant(part: re.Match[str]) -> Show:
    """A text that stands in quotes, or between letters."""
    inner: str | None = part[1]
    text = part[0] if inner is None else inner.replace("''", "'") or "'"
    return lambda _: text


def shown(local: int, text: str) -> str:
    return "".join(show(local) for show in read_format(text))


def date_format(use: Use) -> Compute:
    instant, zone = as_instant(use), find_zone(use.time_zone)
    return lambda time, text: shown(zone.local(instant(time)), text)


def from_unix_time(use: Use) -> Compute:
    zone = find_zone(use.time_zone)

    def compute(seconds: int, text: str = "yyyy-MM-dd HH:mm:ss") -> str:
        return shown(zone.local(seconds * SECOND), text)

    return compute


FORMATS: Mapping[str, Function] = {
    "DATE_FORMAT": Function((None, Family.STRING), of_times(STRING, TIMES, TEXT), date_format),
    "FROM_UNIXTIME": Function(
        (None, Family.STRING), of_times(STRING, WHOLE, TEXT), from_unix_time, least=1
    ),
}
