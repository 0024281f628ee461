"""Numbers and day-time intervals that are written as constants: how much they are, exactly.

1800    30.5    INTERVAL '1' HOUR    INTERVAL 1 HOUR 30 MINUTES    INTERVAL '90 minutes'
"""

from __future__ import annotations

import re
from fractions import Fraction

from matchrec.dataclass import dataclass

MICROSECONDS = {
    "WEEK": 7 * 24 * 3600 * 10**6,
    "DAY": 24 * 3600 * 10**6,
    "HOUR": 3600 * 10**6,
    "MINUTE": 60 * 10**6,
    "SECOND": 10**6,
    "MILLISECOND": 1000,
    "MICROSECOND": 1,
}
A_NUMBER = re.compile(r"(\d{1,18})[Ll]?|(\d{1,18}\.\d{0,18}|\.\d{1,18})")
AN_INTERVAL = re.compile(r"INTERVAL\b(.*)", re.IGNORECASE | re.DOTALL)
AN_AMOUNT = re.compile(r"\s*('?)(\d{1,18}(?:\.\d{1,6})?)(\1)\s*([A-Za-z]+)\s*")


@dataclass(frozen=True, slots=True)
class Amount:
    """A constant. is_time: `value` is in microseconds. is_days: it is written in days alone."""

    value: Fraction
    is_time: bool = False
    is_days: bool = False


def amount(text: str) -> Amount | None:
    """What a constant says, not negative; None for anything else.

    >>> amount("1800").value, amount("INTERVAL '1' DAY").is_days, amount("x")
    (Fraction(1800, 1), True, None)
    """
    written = text.strip()
    while written.startswith("(") and written.endswith(")"):
        written = written[1:-1].strip()
    if number := A_NUMBER.fullmatch(written):
        return Amount(Fraction(number[1] or number[2]))
    if interval := AN_INTERVAL.fullmatch(written):
        return interval_amount(interval[1].strip())
    return None


def interval_amount(text: str) -> Amount | None:
    """The same of what stands after INTERVAL."""
    if text.startswith("'") and text.endswith("'"):
        text = text[1:-1]
    amounts = list(AN_AMOUNT.finditer(text))
    if not amounts or "".join(one[0] for one in amounts) != text:
        return None
    parts = [(one[2], one[4].upper().removesuffix("S")) for one in amounts]
    if any(unit not in MICROSECONDS or ("." in n and unit != "SECOND") for n, unit in parts):
        return None
    total = sum(Fraction(number) * MICROSECONDS[unit] for number, unit in parts)
    return Amount(Fraction(total), True, {unit for _, unit in parts} == {"DAY"})
