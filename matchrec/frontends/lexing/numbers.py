"""Whole numbers in a text, which may have more digits than Python turns into a number."""

from __future__ import annotations

MOST = 2**31 - 1
"""The greatest number of rows or repetitions: what Spark takes as the distance of `lag`."""


def whole_number(digits: str) -> int | None:
    """The number, or None where it is greater than `MOST`.

    >>> whole_number("007"), whole_number("9" * 5000)
    (7, None)
    """
    plain = digits.lstrip("0") or "0"
    number = int(plain) if len(plain) <= len(str(MOST)) else MOST + 1
    return number if number <= MOST else None
