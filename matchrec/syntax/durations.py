"""Lengths of time that are values: of a window of a Pattern, and of a parameter after WITHIN."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from matchrec.arguments import ArgumentKind, is_number
from matchrec.errors import kinds
from matchrec.errors import stages as errors
from matchrec.errors.sql.clause import interval_without_unit
from matchrec.plan.clauses import RowExpression
from matchrec.plan.text import MICROSECONDS, Amount
from matchrec.source import Span
from matchrec.syntax.tokens import amount_of_number

# How long a window is: a time, or a number in the unit of the order column.
#
# 10 minutes    1 hour 30 minutes    INTERVAL '10' SECONDS    500    timedelta(minutes=10)

NUMBER = r"\d{1,40}(?:\.\d{1,40})?"
MOST = 2**63  # of microseconds, or of the column's own unit
AMOUNT = re.compile(rf"\s*'?({NUMBER})'?\s*([A-Za-z]+)\s*")
DURATION = ArgumentKind(
    "a length of time, or a finite number in the unit of the order column",
    lambda value: isinstance(value, str | timedelta) or is_number(value),
    'write e.g. "10 minutes", timedelta(minutes=10), or 500',
)
FIELDS = re.compile(
    r"\s*(?:INTERVAL\b)?\s*('[\d:. ]+'\s*(?:DAY|HOUR|MINUTE)\s+TO\s+(?:HOUR|MINUTE|SECOND))\s*",
    re.IGNORECASE,
)  # which Spark reads
ALONE = re.compile(rf"\s*({NUMBER})\s*")


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A distance along the order column."""

    is_time: bool  # `amount` is in microseconds, and not in the column's own unit
    amount: Fraction

    @property
    def sql(self) -> str:
        return self.interval().text

    def interval(self, span: Span | None = None) -> RowExpression:
        """The distance as an expression, which stands for what is written at `span`."""
        if not self.is_time:
            whole = self.amount.denominator == 1
            text = str(self.amount.numerator) if whole else repr(float(self.amount))
            return RowExpression(text, span, amount=amount_of_number(text))
        units = (name for name in MICROSECONDS if name != "WEEK")
        unit = next(name for name in units if self.amount % MICROSECONDS[name] == 0)
        text = f"INTERVAL {self.amount / MICROSECONDS[unit]} {unit}"
        return RowExpression(text, span, amount=Amount(self.amount, True, unit == "DAY"))

    def __str__(self) -> str:
        return self.sql.removeprefix("INTERVAL ").lower()


def duration(
    value: object, call: str, span: Span | None = None, counted_in: str | None = None
) -> Duration:
    """The distance that an argument says. Raises MatchRecognizePlanError for what is none.

    call: to which it was passed; span: where. counted_in: the unit of a number, which without one
    is in the unit of the order column.

    >>> duration("1 hour 30 minutes", "within").sql, duration(500, "within").sql
    ('INTERVAL 90 MINUTE', '500')
    >>> duration(90, "within", counted_in="SECONDS").sql
    'INTERVAL 90 SECOND'
    """
    length = read(value, call, span)
    if length is not None and counted_in and not length.is_time:
        length = Duration(True, length.amount * unit(counted_in, call, span))
    if length is None or (length.is_time and length.amount.denominator > 1):
        raise errors.not_a_duration(span, call=call, value=kinds.shown(value))
    if length.amount <= 0:
        raise errors.not_a_positive_duration(span, call=call, value=value)
    if length.amount >= MOST:
        raise errors.too_long_duration(span, call=call, value=value)
    return length


def interval(
    value: object, call: str, span: Span, written: str, counted_in: str | None
) -> RowExpression:
    """A value after WITHIN as Spark SQL. written: what stands for it.

    counted_in: the unit after it, empty where there is none, None without the word INTERVAL.

    >>> interval("INTERVAL '1 12' DAY TO HOUR", "WITHIN", Span(0, 4), ":gap", None).text
    "INTERVAL '1 12' DAY TO HOUR"
    """
    if isinstance(value, str) and (fields := FIELDS.fullmatch(value)):
        return RowExpression(f"INTERVAL {fields[1]}", span, is_constant=True)
    length = duration(value, call, span, counted_in)
    if not (length.is_time or counted_in is None):
        unit = "MINUTE, or pass '10 minutes'"
        raise interval_without_unit(span, number=written, where="WITHIN", unit=unit)
    return length.interval(span)


def read(value: Any, call: str, span: Span | None) -> Duration | None:
    """The distance, perhaps with a part of a microsecond; None where there is none to be read."""
    if isinstance(value, timedelta):
        return Duration(True, Fraction(value // timedelta(microseconds=1)))
    if is_number(value) or (isinstance(value, Decimal) and value.is_finite()):
        return Duration(False, Fraction(str(value) if isinstance(value, float) else value))
    if not isinstance(value, str):
        return None
    if alone := ALONE.fullmatch(value):
        return Duration(False, Fraction(alone[1]))
    text = re.sub(r"^\s*INTERVAL\b", "", value, flags=re.IGNORECASE).strip()
    if text[:1] == text[-1:] == "'":
        text = text[1:-1]
    amounts = list(AMOUNT.finditer(text))
    if not amounts or "".join(amount[0] for amount in amounts) != text:
        return None
    parts = (Fraction(amount[1]) * unit(amount[2], call, span) for amount in amounts)
    return Duration(True, sum(parts, Fraction(0)))


def unit(name: str, call: str, span: Span | None) -> int:
    singular = name.upper().removesuffix("S")
    if singular not in MICROSECONDS:
        known = [f"{one.lower()}s" for one in MICROSECONDS]
        raise errors.unknown_unit(span, call=call, name=name, known=known)
    return MICROSECONDS[singular]
