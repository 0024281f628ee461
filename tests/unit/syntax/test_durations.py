"""Lengths of windows that are Python values: what they mean, and how they are written."""

from __future__ import annotations

from decimal import Decimal

import pytest

from matchrec.syntax.durations import read_positive_duration


@pytest.mark.parametrize(
    ("value", "sql"),
    [
        (Decimal("12345678901234567.5"), "12345678901234567.5"),
        ("12345678901234567.5", "12345678901234567.5"),
        (Decimal("500.00"), "500"),
        (2**63 - 1, "9223372036854775807"),
        (0.1, "0.1"),
        (1e-05, "0.00001"),
        (2.5, "2.5"),
        (1e-300, "1e-300"),  # no DECIMAL has as many digits
    ],
)
def test_a_number_is_written_as_it_was_passed(value: object, sql: str) -> None:
    assert read_positive_duration(value, "within").sql == sql
