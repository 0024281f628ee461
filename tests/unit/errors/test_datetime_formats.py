"""Formats of dates and times of other languages, in Spark's letters."""

import pytest

from matchrec.errors.sql.datetime_formats import write_format


@pytest.mark.parametrize(
    ("foreign", "spark"),
    [
        ('YYYY-MM-DD"T"HH24:MI', "yyyy-MM-dd'T'HH:mm"),
        ("yyyy-MM-dd'T'hh:mi", "yyyy-MM-dd'T'HH:mm"),
        ("%Y-%m-%dT%H:%M", "yyyy-MM-dd'T'HH:mm"),
        ("YYYYMMDDHHMM", "yyyyMMddHHmm"),
        ("YYYY:MM:DD HH:MM", "yyyy:MM:dd HH:mm"),
        ("HH:MI AM", "hh:mm a"),
    ],
)
def test_foreign_formats_are_rewritten_for_spark(foreign: str, spark: str) -> None:
    assert write_format(foreign) == spark
