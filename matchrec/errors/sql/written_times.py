"""Translate a date, a time or a length of time in the user's text to Spark SQL, for messages.

2026-01-31    20260131    '31.01.2026'    1/31/2026    '2026-01-31 9:30'    '5 minutes'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, time

from matchrec.errors.lengths import find_meant_length
from matchrec.errors.sql.type_kinds import LENGTHS_OF_TIME, TypeKind

# A literal of each kind of times and lengths of time.
EXAMPLE_LITERALS = {
    TypeKind.DATE: "DATE'2026-01-31'",
    TypeKind.TIMESTAMP: "TIMESTAMP'2026-01-31 12:00:00'",
    TypeKind.TIMESTAMP_NTZ: "TIMESTAMP_NTZ'2026-01-31 12:00:00'",
    TypeKind.INTERVAL: "INTERVAL '10' MINUTE",
    TypeKind.MONTHS: "INTERVAL '3' MONTH",
}

_TIME_OF_DAY = (
    r"(?:[ T](?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?P<fraction>\.\d+)?)?"
    r"(?P<zone>Z)?)?"
)
# Dates without spaces in them, each with the letters of its format in Spark.
_FORMS = tuple(
    (re.compile(fields + _TIME_OF_DAY), letters)
    for fields, letters in (
        (r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})", "yyyy-MM-dd"),
        (r"(?P<year>\d{4})/(?P<month>\d{1,2})/(?P<day>\d{1,2})", "yyyy/MM/dd"),
        (r"(?P<year>(?:19|20)\d\d)(?P<month>\d\d)(?P<day>\d\d)", "yyyyMMdd"),
        (r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})", "dd.MM.yyyy"),
        (r"(?P<day>\d{1,2})-(?P<month>\d{1,2})-(?P<year>\d{4})", "dd-MM-yyyy"),
        (r"(?P<day>\d{1,2})/(?P<month>\d{1,2})/(?P<year>\d{4})", "dd/MM/yyyy"),
        (r"(?P<month>\d{1,2})-(?P<day>\d{1,2})-(?P<year>\d{4})", "MM-dd-yyyy"),
        (r"(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})", "MM/dd/yyyy"),
    )
)


@dataclass(frozen=True, slots=True)
class WrittenTime:
    """A date, perhaps with a time of day, as a user wrote it."""

    # The date as SQL writes it, `2026-01-31`.
    day: str
    # The time of day, `12:00:00`; "" if it is not written.
    time_of_day: str
    # The format of the text in Spark's letters, `dd.MM.yyyy`.
    letters: str
    # Whether the text ends with Z, so that the time is in UTC.
    is_utc: bool = False

    def write(self, kind: TypeKind) -> str:
        """Return the literal of a kind of times: `DATE'2026-01-31'`."""
        if kind is TypeKind.DATE:
            return f"DATE'{self.day}'"
        zone = "Z" if self.is_utc and kind is TypeKind.TIMESTAMP else ""
        return f"{kind.name}'{self.day} {self.time_of_day or '00:00:00'}{zone}'"


def read_times(text: str) -> list[WrittenTime]:
    """Return the dates that a text may mean; several if the day may also be the month.

    >>> [time.day for time in read_times("01/02/2026")]
    ['2026-02-01', '2026-01-02']
    >>> read_times("'20260131 9:30'")
    [WrittenTime(day='2026-01-31', time_of_day='09:30:00', letters='yyyyMMdd HH:mm', is_utc=False)]
    >>> read_times("2026-13-01"), read_times("2026-01-31 25:00:00"), read_times("soon")
    ([], [], [])
    """
    times: list[WrittenTime] = []
    for form, letters in _FORMS:
        fields = form.fullmatch(text.strip("'\" "))
        if fields is None:
            continue
        try:
            day = date(int(fields["year"]), int(fields["month"]), int(fields["day"]))
            time_of_day = _read_time_of_day(fields)
        except ValueError:
            continue
        letters_of_time = f" HH:mm{':ss' if fields['second'] else ''}" if time_of_day else ""
        is_utc = fields["zone"] is not None
        written = WrittenTime(day.isoformat(), time_of_day, letters + letters_of_time, is_utc)
        if all(written.day != other.day for other in times):
            times.append(written)
    return times


def _read_time_of_day(fields: re.Match[str]) -> str:
    """Return the time of day in a text that one of `_FORMS` matches; "" if it has none.

    Raises:
        ValueError: there is no such time, such as 25:00.
    """
    if fields["hour"] is None:
        return ""
    whole_seconds = time(int(fields["hour"]), int(fields["minute"]), int(fields["second"] or 0))
    return whole_seconds.isoformat() + (fields["fraction"] or "")


def write_literal(kind: TypeKind, text: str) -> str:
    """Return the literal that a text means as a time or length of a kind, or else an example.

    >>> write_literal(TypeKind.DATE, "20260131"), write_literal(TypeKind.DATE, "5")
    ("DATE'2026-01-31'", "DATE'2026-01-31'")
    >>> write_literal(TypeKind.INTERVAL, "'5 min'"), write_literal(TypeKind.INTERVAL, "'1h30m'")
    ("INTERVAL '5' MINUTE", 'INTERVAL 1 HOUR 30 MINUTE')
    """
    if kind in LENGTHS_OF_TIME:
        length = find_meant_length(text)
        if length is None:
            return EXAMPLE_LITERALS[kind]
        if len(length.amounts) > 1:
            return length.sql
        (amount,) = length.amounts
        return f"INTERVAL '{amount.number}' {amount.unit}"
    times = read_times(text)
    return times[0].write(kind) if len(times) == 1 else EXAMPLE_LITERALS[kind]


def is_written_literal(kind: TypeKind, text: str) -> bool:
    """Return whether `write_literal` returns what the text means, instead of an example."""
    is_length = kind in LENGTHS_OF_TIME
    return find_meant_length(text) is not None if is_length else len(read_times(text)) == 1
