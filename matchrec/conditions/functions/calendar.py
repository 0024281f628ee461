"""Days of the Gregorian calendar, for all of time, and local times of a time zone.

A day is a number of days since 1970-01-01. Python's dates end with the year 9999, so other days are
moved by whole cycles of 400 years. As in Spark, dates before 1582 are those of ISO 8601.

A change of clocks skips local times or repeats them. A skipped time is moved forward by the length
of the gap: if clocks go from 02:00 to 03:00, 02:30 means 03:30. A repeated time is the first of the
two. Source: java.time.ZonedDateTime.ofLocal, which Spark uses.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone, tzinfo
from functools import cache
from typing import NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from matchrec.conditions.functions.function import FunctionError

MONTHS_OF_YEAR = 12
YEARS_OF_CYCLE = 400
DAYS_OF_400_YEARS = 146_097
DAYS_BEFORE_1970 = 719_162  # since 0001-01-01

# In microseconds.
SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
CYCLE = DAYS_OF_400_YEARS * DAY  # after which the calendar and the rules of time zones repeat
EARLIEST = -62_104_060_800 * SECOND  # 0002-01-01
LATEST = 253_370_764_800 * SECOND  # 9999-01-01

EPOCH = datetime(1970, 1, 1)
OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?")

# The offsets that Spark has for some short names. Python has regions of these names instead, and
# does not know Spark's other short names. Source: java.time.ZoneId.SHORT_IDS.
FIXED_OFFSETS = {"EST": "-05:00", "MST": "-07:00", "HST": "-10:00"}


class MonthAndDay(NamedTuple):
    """A day, as the month that it is in and its place in this month."""

    # The number of the month, counted through all years: January of the year 0 is 1, and January
    # 1970 is 1970 * 12 + 1.
    month: int
    # The day of the month, from 1.
    day: int


def find_month_and_day(day: int) -> MonthAndDay:
    """Return the month and the day of the month, given the number of a day.

    >>> find_month_and_day(0)
    MonthAndDay(month=23641, day=1)
    """
    cycle, day_of_cycle = divmod(day + DAYS_BEFORE_1970, DAYS_OF_400_YEARS)
    date_in_first_cycle = date.fromordinal(day_of_cycle + 1)
    year = cycle * YEARS_OF_CYCLE + date_in_first_cycle.year
    month = year * MONTHS_OF_YEAR + date_in_first_cycle.month
    return MonthAndDay(month, date_in_first_cycle.day)


@dataclass(frozen=True, slots=True)
class Zone:
    """A time zone.

    Instants and local times are microseconds since 1970 began. Offsets are microseconds.
    """

    # Python's time zone.
    rules: tzinfo

    def find_offset(self, instant: int) -> int:
        """Return how much local time is ahead of UTC at an instant."""
        since_1970 = timedelta(microseconds=move_into_range(instant))
        utc_time = datetime.fromtimestamp(0, timezone.utc) + since_1970
        return count_microseconds(utc_time.astimezone(self.rules).utcoffset())

    def find_offset_of_local(self, local: int, fold: int = 0) -> int:
        """Return how much a local time is ahead of UTC.

        The offset of a skipped or repeated time is the one before the change of clocks.

        Args:
            local: the local time.
            fold: 1 for the offset after the change instead.
        """
        local_time = EPOCH + timedelta(microseconds=move_into_range(local))
        return count_microseconds(local_time.replace(tzinfo=self.rules, fold=fold).utcoffset())

    def convert_to_local(self, instant: int) -> int:
        """Return the local time at an instant."""
        return instant + self.find_offset(instant)

    def convert_to_instant(self, local: int) -> int:
        """Return the instant of a local time."""
        return local - self.find_offset_of_local(local)

    def find_start_of_day(self, day: int) -> int:
        """Return the instant at which a day begins, which need not be at midnight."""
        midnight = day * DAY
        by_old_offset = self.convert_to_instant(midnight)
        if self.convert_to_local(by_old_offset) == midnight:
            return by_old_offset
        # The clocks skip midnight. The day begins when they are changed, which is between the
        # instants that the new and the old offset give for midnight.
        by_new_offset = midnight - self.find_offset_of_local(midnight, fold=1)
        new_offset = self.find_offset(by_old_offset)
        instants = range(by_new_offset, by_old_offset)
        change_index = bisect_left(
            instants, True, key=lambda instant: self.find_offset(instant) == new_offset
        )
        return by_new_offset + change_index


def move_into_range(time: int) -> int:
    """Return a time moved by whole cycles of the calendar, so that Python has a date for it."""
    while time < EARLIEST:
        time += CYCLE * max(1, (EARLIEST - time) // CYCLE)
    while time >= LATEST:
        time -= CYCLE * max(1, (time - LATEST) // CYCLE)
    return time


def count_microseconds(offset: timedelta | None) -> int:
    """Return an offset in microseconds."""
    assert offset is not None, "a time with a zone has an offset"
    return offset // timedelta(microseconds=1)


@cache
def find_zone(name: str) -> Zone:
    """Return the time zone with a name: a region or an offset, in upper or lower case.

    Raises:
        FunctionError: Python has no region of this name.
    """
    name = FIXED_OFFSETS.get(name.upper(), name)
    if name.upper() in ("Z", "UTC", "GMT", "UT"):
        return Zone(timezone.utc)
    match = OFFSET.fullmatch(name.upper())
    if match is not None:
        sign, hours, minutes, seconds = match.groups()
        offset = timedelta(hours=int(hours), minutes=int(minutes or 0), seconds=int(seconds or 0))
        return Zone(timezone(-offset if sign == "-" else offset))
    regions = {region.lower(): region for region in available_timezones()}
    if name.lower() not in regions:
        raise FunctionError(f"Python has no time zone `{name}`")
    return Zone(ZoneInfo(regions[name.lower()]))


def is_known_zone(name: str) -> bool:
    """Return whether Python has the time zone with this name."""
    try:
        find_zone(name)
    except FunctionError:
        return False
    return True


def has_fixed_offset(name: str) -> bool:
    """Return whether a time zone is an offset from UTC.

    False for every region, even if its clocks are never changed.
    """
    return is_known_zone(name) and isinstance(find_zone(name).rules, timezone)
