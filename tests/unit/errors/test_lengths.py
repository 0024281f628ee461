"""Lengths of time in other notations."""

import pytest

from matchrec.errors.lengths import find_meant_length


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("1.5 hours", "INTERVAL 90 MINUTE"),
        ("1.0 day", "INTERVAL 1 DAY"),
        ("0.25 s", "INTERVAL 250 MILLISECOND"),
        ("1 quarter", "INTERVAL 3 MONTH"),
        ("0.5 year", "INTERVAL 6 MONTH"),
    ],
)
def test_lengths_have_whole_numbers_of_units_that_spark_has(text: str, sql: str) -> None:
    """Spark rejects INTERVAL 1.5 HOUR and INTERVAL 1 QUARTER."""
    length = find_meant_length(text)
    assert length is not None
    assert length.sql == sql


def test_a_fraction_of_a_month_has_no_length() -> None:
    assert find_meant_length("0.5 months") is None
