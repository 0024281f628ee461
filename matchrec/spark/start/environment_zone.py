"""Read the time zone of the environment, which Sail does not read itself."""

from __future__ import annotations

import os
import re
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

# The path of the file of a time zone.
ZONE_FILE = re.compile(r"/.*/zoneinfo/(?:posix/)?(?P<name>.+)")


def find_environment_zone() -> str | None:
    """Return the time zone that the environment variable TZ names; None if TZ is not set.

    Sail reads only the system's time zone. Java (so also Spark), Python and pandas read TZ first.
    TZ holds the name of a zone, or the path of its file. For another value, such as `UTC-3`, the
    result is the offset that the C library has for it today, such as `+03:00`, as in Java.

    Source: OpenJDK, TimeZone_md.c.
    """
    zone_text = os.environ.get("TZ", "").removeprefix(":")
    if not zone_text:
        return None
    zone_file = ZONE_FILE.fullmatch(zone_text)
    name = zone_file["name"] if zone_file else zone_text.removeprefix("posix/")
    try:
        return ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError, OSError):  # no such name, a path, or a folder
        offset = datetime.now().astimezone().strftime("%z")  # such as +0300
        return f"{offset[:3]}:{offset[3:5]}"
