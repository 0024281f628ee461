"""How long a window is: a time, or a number in the unit of the order column.

10 minutes    1 hour 30 minutes    INTERVAL '10' SECONDS    500    timedelta(minutes=10)
"""

from __future__ import annotations

import re
from datetime import timedelta
from fractions import Fraction

from matchrec.arguments import Kind, is_number
from matchrec.dataclass import dataclass
from matchrec.errors import durations as errors
from matchrec.plan.text.amounts import MICROSECONDS

NUMBER = r"\d{1,40}(?:\.\d{1,40})?"
MOST = 2**63  # of microseconds, or of the column's own unit
AMOUNT = re.compile(rf"\s*'?({NUMBER})'?\s*([A-Za-z]+)\s*")
DURATION = Kind(
    "a length of time, or a finite number in the unit of the order column",
    lambda value: isinstance(value, str | timedelta) or is_number(value),
    'write e.g. "10 minutes", timedelta(minutes=10), or 500',
)
ALONE = re.compile(rf"\s*({NUMBER})\s*")


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A distance along the order column.

    is_time: whether `amount` is in microseconds, and not in the column's own unit.
    """

    is_time: bool
    amount: Fraction

    @property
    def sql(self) -> str:
        """The distance as Spark SQL."""
        if not self.is_time:
            whole = self.amount.denominator == 1
            return str(self.amount.numerator) if whole else repr(float(self.amount))
        units = (name for name in MICROSECONDS if name != "WEEK")
        unit = next(name for name in units if self.amount % MICROSECONDS[name] == 0)
        return f"INTERVAL {self.amount / MICROSECONDS[unit]} {unit}"

    def __str__(self) -> str:
        return self.sql.removeprefix("INTERVAL ").lower()


def duration(value: object, call: str) -> Duration:
    """The distance that an argument says. Raises MatchRecognizePlanError for what is none.

    >>> duration("1 hour 30 minutes", "within").sql, duration(500, "within").sql
    ('INTERVAL 90 MINUTE', '500')
    """
    length = read(value, call)
    if length is None:
        raise errors.not_a_duration(value, call)
    if length.amount <= 0:
        raise errors.not_a_positive_duration(value, call)
    if length.amount >= MOST:
        raise errors.too_long_duration(value, call)
    return length


def read(value: object, call: str) -> Duration | None:
    """The distance, or None where there is none to be read."""
    if isinstance(value, timedelta):
        return Duration(True, Fraction(value // timedelta(microseconds=1)))
    if isinstance(value, int):
        return Duration(False, Fraction(value))
    if isinstance(value, float):
        return Duration(False, Fraction(str(value)))
    assert isinstance(value, str), value
    if alone := ALONE.fullmatch(value):
        return Duration(False, Fraction(alone[1]))
    text = re.sub(r"^\s*INTERVAL\b", "", value, flags=re.IGNORECASE)
    amounts = list(AMOUNT.finditer(text))
    if not amounts or "".join(one[0] for one in amounts) != text:
        return None
    total = sum(Fraction(one[1]) * unit(one[2], call) for one in amounts)
    return Duration(True, Fraction(total)) if Fraction(total).denominator == 1 else None


def unit(name: str, call: str) -> int:
    """How many microseconds a unit has."""
    singular = name.upper().removesuffix("S")
    if singular not in MICROSECONDS:
        raise errors.unknown_unit(name, [f"{one.lower()}s" for one in MICROSECONDS], call)
    return MICROSECONDS[singular]
