"""Days of the Gregorian calendar, for all of time, local times of a time zone, texts as both.

Python's dates end with 9999. A day is counted from 1970-01-01. Spark's dates are those of ISO 8601,
also before 1582. A local time that a zone leaves out is as much later as it leaves out, and one
that it has twice is the first. Source: java.time.ZonedDateTime.ofLocal, which Spark uses.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from matchrec.conditions.functions.function import FunctionError, UndecidedError
from matchrec.conditions.functions.numerals import BLANK, NoValueError, fits
from matchrec.dataclass import dataclass

DAYS_OF_400_YEARS = 146_097
DAYS_BEFORE_1970 = 719_468  # from 0000-03-01, with which a year ends with its leap day
DAY = 86_400_000_000  # in microseconds
SECOND = 1_000_000
MINUTE, HOUR = 60 * SECOND, 3600 * SECOND


def day_of(year: int, month: int, day: int) -> int:
    """The day of a date."""
    months = year * 12 + month - 3  # since the March of year 0
    era, year_of_era = divmod(months // 12, 400)
    month_of_year = months % 12
    within = (153 * month_of_year + 2) // 5 + day - 1
    leap = year_of_era // 4 - year_of_era // 100
    return era * DAYS_OF_400_YEARS + year_of_era * 365 + leap + within - DAYS_BEFORE_1970


def date_of(day: int) -> tuple[int, int, int]:
    """The year, month and day of a day."""
    era, within = divmod(day + DAYS_BEFORE_1970, DAYS_OF_400_YEARS)
    year = (within - within // 1460 + within // 36_524 - within // 146_096) // 365
    rest = within - (365 * year + year // 4 - year // 100)
    month = (5 * rest + 2) // 153
    first = (153 * month + 2) // 5
    return era * 400 + year + (month >= 10), (month + 2) % 12 + 1, rest - first + 1


def length_of_month(year: int, month: int) -> int:
    """How many days a month has."""
    return day_of(year + month // 12, month % 12 + 1, 1) - day_of(year, month, 1)


def months_of(day: int) -> int:
    """How many months lie between year 0 and that of a day."""
    year, month, _ = date_of(day)
    return year * 12 + month - 1


def show_day(day: int) -> str:
    """The day as Spark writes it."""
    year, month, of_month = date_of(day)
    return f"{show_year(year)}-{month:02d}-{of_month:02d}"


def show_year(year: int) -> str:
    """At least four digits, with a sign where there are more, or before year 0."""
    if year < 0:
        return f"-{-year:04d}"
    return f"{year:04d}" if year <= 9999 else f"+{year}"


def show_time(microseconds: int) -> str:
    """A local time as Spark writes it: no more of the fraction than there is."""
    day, within = divmod(microseconds, DAY)
    seconds, fraction = divmod(within, SECOND)
    minutes, second = divmod(seconds, 60)
    text = f"{show_day(day)} {minutes // 60:02d}:{minutes % 60:02d}:{second:02d}"
    return f"{text}.{fraction:06d}".rstrip("0") if fraction else text


CYCLE = DAYS_OF_400_YEARS * DAY  # after which the calendar and the rules of zones repeat
EARLIEST = -62_104_060_800 * SECOND  # 0002-01-01
LATEST = 253_370_764_800 * SECOND  # 9999-01-01
EPOCH = datetime(1970, 1, 1)
OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?")

FIXED = {"EST": "-05:00", "MST": "-07:00", "HST": "-10:00"}
"""What Spark makes of short names, of which Python has regions. Other short names are not known.

Source: java.time.ZoneId.SHORT_IDS.
"""


@dataclass(frozen=True, slots=True)
class Zone:
    """A time zone. Instants and local times are microseconds since 1970 began."""

    rules: tzinfo

    def offset_at(self, instant: int) -> int:
        """How much later local times are than those of UTC."""
        moved = datetime.fromtimestamp(0, timezone.utc) + timedelta(microseconds=in_range(instant))
        return microseconds_of(moved.astimezone(self.rules).utcoffset())

    def offset_before(self, local: int, fold: int = 0) -> int:
        """The offset with which a local time is read; `fold` 1: the one after a change."""
        there = EPOCH + timedelta(microseconds=in_range(local))
        return microseconds_of(there.replace(tzinfo=self.rules, fold=fold).utcoffset())

    def local(self, instant: int) -> int:
        return instant + self.offset_at(instant)

    def instant(self, local: int) -> int:
        return local - self.offset_before(local)

    def start_of(self, day: int) -> int:
        """The instant with which a day begins, which need not be midnight."""
        local = day * DAY
        late = self.instant(local)
        if self.local(late) == local:
            return late
        early, offset = local - self.offset_before(local, 1), self.offset_at(late)
        while early < late:  # when the clocks are changed
            middle = (early + late) // 2
            early, late = (
                (early, middle) if self.offset_at(middle) == offset else (middle + 1, late)
            )
        return late


def in_range(instant: int) -> int:
    """A time of the same place in the cycle that Python has as a date."""
    while instant < EARLIEST:
        instant += CYCLE * max(1, (EARLIEST - instant) // CYCLE)
    while instant >= LATEST:
        instant -= CYCLE * max(1, (instant - LATEST) // CYCLE)
    return instant


def microseconds_of(offset: timedelta | None) -> int:
    assert offset is not None
    return offset // timedelta(microseconds=1)


@cache
def find_zone(name: str) -> Zone:
    """The zone of that name, in any case: a region or an offset."""
    name = FIXED.get(name.upper(), name)
    if name.upper() in ("Z", "UTC", "GMT", "UT"):
        return Zone(timezone.utc)
    found = OFFSET.fullmatch(name.upper())
    if found is not None:
        sign, hours, minutes, seconds = found.groups()
        offset = timedelta(hours=int(hours), minutes=int(minutes or 0), seconds=int(seconds or 0))
        return Zone(timezone(-offset if sign == "-" else offset))
    regions = {region.lower(): region for region in available_timezones()}
    if name.lower() not in regions:
        raise FunctionError(f"Python has no time zone `{name}`")
    return Zone(ZoneInfo(regions[name.lower()]))


def is_known(name: str) -> bool:
    """Whether Python has the zone."""
    try:
        find_zone(name)
    except FunctionError:
        return False
    return True


def has_one_offset(name: str) -> bool:
    """Whether a zone's clocks are never changed."""
    return is_known(name) and isinstance(find_zone(name).rules, timezone)


# Texts as days, `2024`, `2024-2`, `2024-02-29`, and as instants and local times.
#
# What stands after a day and `T` or a blank is left out of a day, and is the time and the zone of
# an instant.
#
# Source: Spark's `DateTimeUtils.parseTimestampString`, and java.time.ZoneId.of.


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


A_TIME = re.compile(
    r"([+-]?)([0-9]{4,6})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[T ]([0-9]{1,2})(?::([0-9]{1,2})"
    r"(?::([0-9]{1,2})(?:\.([0-9]*))?([^0-9.].*)?)?)?)?)?)?",
    re.DOTALL,
)
WITHOUT_DAY = re.compile(r"T|[0-9]{1,2}:")
WRITTEN_OFFSET = re.compile(r"([+-])([0-9]{1,2}(?=:|$)|[0-9]{2}(?=[0-9]{2}$))(?::?([0-9]{1,2}))?")
WITH_SECONDS = re.compile(r"[+-][0-9:]{7,9}")
LARGEST_OFFSET = 18 * 60  # minutes


def read_local(text: str) -> tuple[int, str]:
    """A local time, and the zone that stands after it. Raises NoValueError."""
    found = A_TIME.fullmatch(text.strip(BLANK))
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
    found = WRITTEN_OFFSET.fullmatch(name)
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
