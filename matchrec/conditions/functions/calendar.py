"""Days of the Gregorian calendar, for all of time, and local times of a time zone.

A day is a number of days since 1970-01-01. Python's dates end with the year 9999, so other days are
moved by whole cycles of 400 years. As in Spark, dates before 1582 are those of ISO 8601.

If clocks are put forward, a local time that is left out is moved forward by as much. If they are
put back, a local time that comes twice is the first one. Source: java.time.ZonedDateTime.ofLocal,
which Spark uses.
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

# The offsets that Spark has for some short names. Python has regions of these names. There are no
# other short names. Source: java.time.ZoneId.SHORT_IDS.
FIXED_OFFSETS = {"EST": "-05:00", "MST": "-07:00", "HST": "-10:00"}


def find_month(day: int) -> tuple[int, int]:
    """Return the month of a day, counted from the year 0, and the number of the day in it.

    >>> find_month(0) == (1970 * 12 + 1, 1)
    True
    """
    cycle, day_of_cycle = divmod(day + DAYS_BEFORE_1970, DAYS_OF_400_YEARS)
    moved = date.fromordinal(day_of_cycle + 1)
    return (cycle * 400 + moved.year) * 12 + moved.month, moved.day


@dataclass(frozen=True, slots=True)
class Zone:
    """A time zone. Instants and local times are microseconds since 1970 began."""

    rules: tzinfo

    def find_offset(self, instant: int) -> int:
        """Return how much local time is ahead of UTC at an instant."""
        since_1970 = timedelta(microseconds=move_into_range(instant))
        moved = datetime.fromtimestamp(0, timezone.utc) + since_1970
        return count_microseconds(moved.astimezone(self.rules).utcoffset())

    def find_offset_of_local(self, local: int, fold: int = 0) -> int:
        """Return how much a local time is ahead of UTC.

        If clocks are changed, this is the offset before the change, and with `fold` 1 the offset
        after it.
        """
        moved = EPOCH + timedelta(microseconds=move_into_range(local))
        return count_microseconds(moved.replace(tzinfo=self.rules, fold=fold).utcoffset())

    def convert_to_local(self, instant: int) -> int:
        """Return the local time at an instant."""
        return instant + self.find_offset(instant)

    def convert_to_instant(self, local: int) -> int:
        """Return the instant of a local time."""
        return local - self.find_offset_of_local(local)

    def find_start_of_day(self, day: int) -> int:
        """Return the instant at which a day begins, which need not be at midnight."""
        local = day * DAY
        late = self.convert_to_instant(local)
        if self.convert_to_local(late) == local:
            return late
        # The clocks skip midnight. The day begins when they are changed, which is between two
        # instants, one for each of the two offsets.
        early = local - self.find_offset_of_local(local, fold=1)
        new_offset = self.find_offset(late)
        instants = range(early, late)
        skipped = bisect_left(
            instants, True, key=lambda instant: self.find_offset(instant) == new_offset
        )
        return early + skipped


def move_into_range(time: int) -> int:
    """Return a time moved by whole cycles of the calendar, so that Python has a date for it."""
    while time < EARLIEST:
        time += CYCLE * max(1, (EARLIEST - time) // CYCLE)
    while time >= LATEST:
        time -= CYCLE * max(1, (time - LATEST) // CYCLE)
    return time


def count_microseconds(offset: timedelta | None) -> int:
    """Return an offset in microseconds."""
    assert offset is not None
    return offset // timedelta(microseconds=1)


@cache
def find_zone(name: str) -> Zone:
    """Return the time zone with a name, which is a region or an offset, in upper or lower case.

    Raises:
        FunctionError: Python does not have it.
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
    """Return whether Python has a time zone."""
    try:
        find_zone(name)
    except FunctionError:
        return False
    return True


def has_fixed_offset(name: str) -> bool:
    """Return whether a time zone is one whose clocks are never changed."""
    return is_known_zone(name) and isinstance(find_zone(name).rules, timezone)
