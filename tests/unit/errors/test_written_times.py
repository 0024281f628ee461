"""Dates and times in the user's text."""

from matchrec.errors.sql.type_kinds import TypeKind
from matchrec.errors.sql.written_times import read_times


def test_literals_keep_the_time_zone_and_fractions_of_a_second() -> None:
    """Without Z, a literal is a time in the time zone of the session."""
    (written_time,) = read_times("2026-01-31T9:30:00.25Z")
    assert written_time.write(TypeKind.TIMESTAMP) == "TIMESTAMP'2026-01-31 09:30:00.25Z'"
    assert written_time.write(TypeKind.TIMESTAMP_NTZ) == "TIMESTAMP_NTZ'2026-01-31 09:30:00.25'"


def test_an_hour_may_be_wrong() -> None:
    assert read_times("2026-01-31 24:00") == []
