"""Local times of the session's time zone.

A local time that a zone leaves out is as much later as it leaves out, and one that it has twice is
the first. Source: java.time.ZonedDateTime.ofLocal, which Spark uses.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from matchrec.conditions.functions.function import FunctionError
from matchrec.conditions.functions.times.calendar import DAY, DAYS_OF_400_YEARS, SECOND
from matchrec.dataclass import dataclass

CYCLE = DAYS_OF_400_YEARS * DAY  # after which the calendar and the rules of zones repeat
EARLIEST = -62_104_060_800 * SECOND  # 0002-01-01
LATEST = 253_370_764_800 * SECOND  # 9999-01-01
EPOCH = datetime(1970, 1, 1)
OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?")

SHORT_NAMES = {
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo",
    "AST": "America/Anchorage",
    "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare",
    "CNT": "America/St_Johns",
    "CST": "America/Chicago",
    "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris",
    "EST": "-05:00",
    "HST": "-10:00",
    "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia",
    "MST": "-07:00",
    "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal",
    "VST": "Asia/Ho_Chi_Minh",
}
"""Source: java.time.ZoneId.SHORT_IDS, by which Spark reads the names of zones."""


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
    """The zone of that name, in any case: a region, an offset, or a short name of Java's."""
    name = SHORT_NAMES.get(name.upper(), name)
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
