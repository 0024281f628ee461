"""Days of the Gregorian calendar, for all of time, and local times of a time zone.

Python's dates end with 9999. A day is counted from 1970-01-01. Spark's dates are those of ISO 8601,
also before 1582. A local time that a zone leaves out is as much later as it leaves out, and one
that it has twice is the first. Source: java.time.ZonedDateTime.ofLocal, which Spark uses.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from matchrec.conditions.functions.function import FunctionError

DAYS_OF_400_YEARS = 146_097
DAYS_BEFORE_1970 = 719_162  # from 0001-01-01 on
DAY = 86_400_000_000  # in microseconds
SECOND = 1_000_000
MINUTE, HOUR = 60 * SECOND, 3600 * SECOND


def month_of(day: int) -> tuple[int, int]:
    """The month of a day, counted from year 0 on, and the day in it."""
    era, within = divmod(day + DAYS_BEFORE_1970, DAYS_OF_400_YEARS)
    there = date.fromordinal(within + 1)
    return (era * 400 + there.year) * 12 + there.month, there.day


CYCLE = DAYS_OF_400_YEARS * DAY  # after which the calendar and the rules of zones repeat
EARLIEST = -62_104_060_800 * SECOND  # 0002-01-01
LATEST = 253_370_764_800 * SECOND  # 9999-01-01
EPOCH = datetime(1970, 1, 1)
OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?")

# What Spark makes of short names, of which Python has regions. Other short names are not known.
# Source: java.time.ZoneId.SHORT_IDS.
FIXED = {"EST": "-05:00", "MST": "-07:00", "HST": "-10:00"}


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
        times = range(early, late)  # of which one is that when the clocks are changed
        return early + bisect_left(times, True, key=lambda time: self.offset_at(time) == offset)


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
    try:
        find_zone(name)
    except FunctionError:
        return False
    return True


def has_one_offset(name: str) -> bool:
    """Whether a zone's clocks are never changed."""
    return is_known(name) and isinstance(find_zone(name).rules, timezone)
