"""Sums that Sail computes with our own expressions."""

from __future__ import annotations

import pytest

from matchrec.plan.text import write_sum_or_null
from matchrec.spark.sail.sums import rewrite_sums


@pytest.mark.parametrize(
    ("key", "length", "written"),
    [
        ("t", "5L", "CASE WHEN (t) <= 9223372036854775802L THEN (t) + 5L END"),
        ("t", "(5L)", "CASE WHEN (t) <= 9223372036854775802L THEN (t) + 5L END"),
        (
            "coalesce(t, ')', `,(`)",
            "(5L)",
            (
                "CASE WHEN (coalesce(t, ')', `,(`)) <= 9223372036854775802L"
                " THEN (coalesce(t, ')', `,(`)) + 5L END"
            ),
        ),
        ("ts", "INTERVAL 1 DAY", None),
        ("t", ":n", None),
    ],
)
def test_a_sum_by_itself_is_rewritten(key: str, length: str, written: str | None) -> None:
    text = write_sum_or_null(key, length)
    assert rewrite_sums(text) == (text if written is None else written)


def test_sums_in_a_text_are_rewritten_outside_of_strings() -> None:
    ends = write_sum_or_null("t", "5L"), write_sum_or_null("ts", "INTERVAL 1 DAY")
    text = f"SELECT {ends[0]} AS a, {ends[1]} AS b, '{ends[0]}'"
    plain = "CASE WHEN (t) <= 9223372036854775802L THEN (t) + 5L END"
    assert rewrite_sums(text).startswith(f"SELECT {plain} AS a, {ends[1]} AS b")
