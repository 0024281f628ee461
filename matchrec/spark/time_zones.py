"""Write the time zone of a session as Arrow and JSON need it: as an offset or as a region."""

from __future__ import annotations

from datetime import datetime, timezone
from zoneinfo import ZoneInfo

from matchrec.conditions.functions.calendar import find_zone
from matchrec.conditions.functions.function import FunctionError


def find_fixed_offset(zone: str) -> str | None:
    """Return the offset from UTC of a time zone that never changes.

    Returns None if the offset may change, and for an unknown zone.

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
    """Return the region of a time zone, spelled as in the time zone database.

    Returns None for a zone that is not a region, and for an unknown one.

    >>> [find_region(zone) for zone in ("europe/paris", "UTC", "PST")]
    ['Europe/Paris', None, None]
    """
    try:
        rules = find_zone(zone).rules
    except FunctionError:
        return None
    return rules.key if isinstance(rules, ZoneInfo) else None
