"""Find the fixed offset or the region of a session's time zone, as Arrow and JSON need it."""

from __future__ import annotations

from datetime import datetime, timezone
from zoneinfo import ZoneInfo

from matchrec.conditions.functions.calendar import find_zone
from matchrec.conditions.functions.function import FunctionError

# The setting of the session's time zone.
TIME_ZONE = "spark.sql.session.timeZone"


def find_fixed_offset(zone: str) -> str | None:
    """Return the offset from UTC of a time zone that never changes its offset, such as `+03:00`.

    Returns None for any other zone, and for an unknown one.

    >>> [find_fixed_offset(zone) for zone in ("GMT+3", "-05:30", "UTC", "Europe/Paris", "PST")]
    ['+03:00', '-05:30', '+00:00', None, None]
    """
    try:
        rules = find_zone(zone).rules
    except FunctionError:
        return None
    if not isinstance(rules, timezone):
        return None
    offset = datetime(1970, 1, 1, tzinfo=rules).isoformat()
    return offset.removeprefix("1970-01-01T00:00:00")


def find_region(zone: str) -> str | None:
    """Return the region of a time zone as the time zone database spells it.

    Returns None for a zone with a fixed offset, and for an unknown one.

    >>> [find_region(zone) for zone in ("europe/paris", "UTC", "PST")]
    ['Europe/Paris', None, None]
    """
    try:
        rules = find_zone(zone).rules
    except FunctionError:
        return None
    return rules.key if isinstance(rules, ZoneInfo) else None
