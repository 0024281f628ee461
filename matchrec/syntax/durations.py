"""Read durations: lengths of windows that users pass as Python values or write after WITHIN.

    10 minutes    1 hour 30 minutes    INTERVAL '10' SECONDS    500    timedelta(minutes=10)

Python values are arguments of a `Pattern`, and values of parameters after WITHIN. A number without
a unit is in the unit of the order column.

1. `read_positive_duration` converts a value to a `Duration`: an exact number of microseconds, or
   of units of the order column.
2. `Duration.build_expression` writes it as SQL.

`build_interval` does both for a value in the text of a query. `amounts` reads lengths that are
already SQL.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from math import isfinite

from matchrec.arguments import ArgumentKind, is_number, is_whole
from matchrec.errors import stages as errors
from matchrec.errors.lengths import LengthLocation, LengthSource
from matchrec.errors.sql.limits import interval_without_unit
from matchrec.errors.surface import describe_passed_value
from matchrec.plan.amounts import MICROSECONDS, Amount
from matchrec.plan.clauses import RowExpression
from matchrec.source import Span
from matchrec.syntax.amounts import UNITS_OF_TIME, read_amount
from matchrec.syntax.tokens import TokenSequence

_NUMBER = r"\d{1,40}(?:\.\d{1,40})?"
# Durations must be shorter than this, in microseconds or in the unit of the order column.
_DURATION_LIMIT = 2**63
# The most digits of a DECIMAL of Spark.
_MAX_DIGITS = 38
# A number, perhaps in quotes, with its unit: `10 minutes`, `'10' MINUTES`.
_NUMBER_WITH_UNIT = re.compile(
    rf"\s*(?P<quote>')?(?P<number>{_NUMBER})(?(quote)')\s*(?P<unit>[A-Za-z]+)\s*"
)
# The kind of the arguments of a Pattern that are durations.
DURATION_ARGUMENT = ArgumentKind(
    "a length of time, or a finite number in the unit of the order column",
    lambda value: isinstance(value, str | timedelta) or is_number(value),
    'write a length, such as "10 minutes", timedelta(minutes=10), or 500',
    right_types=(float,),
)
# An interval with several fields, such as `'1 12' DAY TO HOUR`, which is passed to Spark unchanged.
_INTERVAL_WITH_FIELDS = re.compile(
    r"\s*(?:INTERVAL\b)?\s*('[\d:. ]+'\s*(?:DAY|HOUR|MINUTE)\s+TO\s+(?:HOUR|MINUTE|SECOND))\s*",
    re.IGNORECASE,
)
# A number without a unit.
_NUMBER_WITHOUT_UNIT = re.compile(rf"\s*({_NUMBER})\s*")


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A distance along the order column. Compare only durations with the same `is_time`."""

    # True if `amount` is in microseconds, False if it is in the unit of the order column.
    is_time: bool
    # The exact length of the distance.
    amount: Fraction

    @property
    def sql(self) -> str:
        """Return the distance as SQL: `INTERVAL 90 MINUTE` or `500`."""
        return self.build_expression().text

    def build_expression(self, span: Span | None = None) -> RowExpression:
        """Return the distance as an expression of SQL.

        A time is written as a whole number of the largest unit possible: `INTERVAL 90 MINUTE`.
        Weeks are written as days.

        Args:
            span: where the distance is written in the query; None if it is not part of a query.
        """
        if not self.is_time:
            text = write_number(self.amount)
            return RowExpression(text, span, amount=read_amount(text))
        units_of_whole_number = [
            name
            for name, microseconds in MICROSECONDS.items()
            if self.amount % microseconds == 0 and name != "WEEK"
        ]
        # MICROSECONDS has the largest unit first.
        unit = units_of_whole_number[0]
        text = f"INTERVAL {self.amount / MICROSECONDS[unit]} {unit}"
        amount = Amount(self.amount, is_time=True, is_days=unit == "DAY")
        return RowExpression(text, span, amount=amount)

    def __str__(self) -> str:
        """Return the distance as messages show it: `10 minutes`, `1 hour`, `500`."""
        text = self.sql.removeprefix("INTERVAL ").lower()
        return f"{text}s" if self.is_time and not text.startswith("1 ") else text


def write_number(number: Fraction) -> str:
    """Return a number as a literal of Spark: a DECIMAL if it fits into one, or else a DOUBLE.

    >>> write_number(Fraction("12345678901234567.5")), write_number(Fraction("1e-60"))
    ('12345678901234567.5', '1e-60')
    """
    scale = find_scale(number)
    if scale is None:
        return repr(float(number))
    unscaled = abs(number.numerator) * 10**scale // number.denominator
    digits = str(unscaled).zfill(scale + 1)  # at least one digit before the point
    is_too_long_for_decimal = scale > 0 and len(digits) > _MAX_DIGITS
    if is_too_long_for_decimal:
        return repr(float(number))
    sign = "-" if number < 0 else ""
    if scale == 0:
        return f"{sign}{digits}"
    return f"{sign}{digits[:-scale]}.{digits[-scale:]}"


def find_scale(number: Fraction) -> int | None:
    """Return how many digits a number has after the point.

    The result is None if the number has more digits than a DECIMAL can have.

    >>> find_scale(Fraction("2.50")), find_scale(Fraction(7)), find_scale(Fraction(1, 3))
    (1, 0, None)
    """
    for scale in range(_MAX_DIGITS + 1):
        if 10**scale % number.denominator == 0:
            return scale
    return None


def read_positive_duration(
    value: object,
    location: LengthLocation,
    span: Span | None = None,
    unit_of_number: str | None = None,
) -> Duration:
    """Return a value as a duration, which must be positive.

    Args:
        value: the value, such as "10 minutes", 500 or a timedelta.
        location: where the value is written or passed, for messages.
        span: the location that an error shows.
        unit_of_number: the unit of a number that is written without a unit; by default, the unit of
            the order column.

    Raises:
        MatchRecognizePlanError: the value is not a duration, not positive, or too long.

    >>> from matchrec.errors.lengths import WITHIN_CALL
    >>> read_positive_duration("1 hour 30 minutes", WITHIN_CALL).sql
    'INTERVAL 90 MINUTE'
    >>> read_positive_duration(500, WITHIN_CALL).sql
    '500'
    >>> read_positive_duration(90, WITHIN_CALL, unit_of_number="SECONDS").sql
    'INTERVAL 90 SECOND'
    """
    duration = read_duration(value, location, span)
    if duration is None:
        text = value if isinstance(value, str) else ""
        raise errors.not_a_duration(
            span, location=location, value=_describe(value, location), text=text
        )
    if unit_of_number is not None and not duration.is_time:
        microseconds = duration.amount * find_microseconds(
            unit_of_number, location, span, f"{value} {unit_of_number}"
        )
        duration = Duration(is_time=True, amount=microseconds)
    has_part_of_microsecond = duration.is_time and duration.amount.denominator > 1
    if has_part_of_microsecond:
        raise errors.not_a_duration(span, location=location, value=_describe(value, location))
    if duration.amount <= 0:
        raise errors.not_a_positive_duration(span, location=location, value=value)
    if duration.amount >= _DURATION_LIMIT:
        raise errors.too_long_duration(span, location=location, value=value)
    return duration


def _describe(value: object, location: LengthLocation) -> str:
    """Return a value as an error shows it: a text in a query is shown without Python's type."""
    return f"'{value}'" if location.source is LengthSource.CLAUSE else describe_passed_value(value)


@dataclass(frozen=True, slots=True)
class WrittenDuration:
    """A value after WITHIN, and the words around it in the query.

    In `WITHIN INTERVAL :gap MINUTES`, the text is `:gap`, and INTERVAL and MINUTES are around it.
    """

    # The value of the constant or parameter.
    value: object
    # The constant or parameter as it is written in the query.
    text: str
    # Whether INTERVAL is written before the constant or parameter.
    has_interval_word: bool = False
    # The unit of time after the constant or parameter; None if there is none.
    unit: str | None = None


def build_interval(written: WrittenDuration, location: LengthLocation, span: Span) -> RowExpression:
    """Return a value after WITHIN as an expression of Spark SQL.

    A text with several fields, such as `'1 12' DAY TO HOUR`, is not read: it stays as it is.

    Args:
        written: the value and the words around it.
        location: where the value is written or passed, for messages.
        span: the location that an error shows.

    Raises:
        MatchRecognizeError: the value is not a positive duration, or INTERVAL has no unit.

    >>> from matchrec.errors.lengths import WITHIN_CLAUSE
    >>> written = WrittenDuration(90, ":gap", has_interval_word=True, unit="SECONDS")
    >>> build_interval(written, WITHIN_CLAUSE, Span(0, 4)).text
    'INTERVAL 90 SECOND'
    >>> written = WrittenDuration("INTERVAL '1 12' DAY TO HOUR", ":gap")
    >>> build_interval(written, WITHIN_CLAUSE, Span(0, 4)).text
    "INTERVAL '1 12' DAY TO HOUR"
    """
    value = written.value
    fields = _INTERVAL_WITH_FIELDS.fullmatch(value) if isinstance(value, str) else None
    if fields:
        return RowExpression(f"INTERVAL {fields[1]}", span, is_constant=True)
    duration = read_positive_duration(value, location, span, written.unit)
    if written.has_interval_word and not duration.is_time:
        raise interval_without_unit(span, number=written.text, where="WITHIN", unit="MINUTE")
    return duration.build_expression(span)


def read_duration(value: object, location: LengthLocation, span: Span | None) -> Duration | None:
    """Return a value as a duration; None if it is not a duration.

    The duration may be zero or negative, and may have a part of a microsecond.

    Args:
        value: the value.
        location: where the value is written or passed, for messages.
        span: the location that an error shows.

    Raises:
        MatchRecognizePlanError: a unit is not known.

    >>> from matchrec.errors.lengths import WITHIN_CALL
    >>> str(read_duration("INTERVAL '1' HOUR 30 minutes", WITHIN_CALL, None))
    '90 minutes'
    """
    if isinstance(value, timedelta):
        return Duration(is_time=True, amount=Fraction(value // timedelta(microseconds=1)))
    if is_whole(value) or (isinstance(value, Decimal) and value.is_finite()):
        return Duration(is_time=False, amount=Fraction(value))
    if isinstance(value, float) and isfinite(value):
        # A float is read from its text, so that 0.1 is exactly a tenth.
        return Duration(is_time=False, amount=Fraction(str(value)))
    if isinstance(value, str):
        return _read_duration_text(value, location, span)
    return None


def _read_duration_text(text: str, location: LengthLocation, span: Span | None) -> Duration | None:
    """Return a text as a duration: `500`, `1 hour 30 minutes`, `INTERVAL '10' SECONDS`.

    The arguments and the errors are as for `read_duration`.
    """
    number = _NUMBER_WITHOUT_UNIT.fullmatch(text)
    if number:
        return Duration(is_time=False, amount=Fraction(number[1]))
    text = re.sub(r"^\s*INTERVAL\b", "", text, flags=re.IGNORECASE).strip()
    is_quoted_as_a_whole = text[:1] == text[-1:] == "'"
    if is_quoted_as_a_whole:
        text = text[1:-1]
    amounts = list(_NUMBER_WITH_UNIT.finditer(text))  # such as `1 hour ` and `30 minutes`
    covers_text = "".join(amount[0] for amount in amounts) == text
    if not amounts or not covers_text:
        return None
    microseconds = Fraction(0)
    for amount in amounts:
        unit = find_microseconds(amount["unit"], location, span, text)
        microseconds += Fraction(amount["number"]) * unit
    return Duration(is_time=True, amount=microseconds)


def find_microseconds(name: str, location: LengthLocation, span: Span | None, text: str) -> int:
    """Return the microseconds of a unit of time, singular or plural.

    Args:
        name: the unit, such as "minutes".
        location: where the length is written or passed, for messages.
        span: the location that an error shows.
        text: the whole length, for messages.

    Raises:
        MatchRecognizePlanError: the unit is not known.
    """
    singular = name.upper().removesuffix("S")
    if singular not in MICROSECONDS:
        known_units = [f"{unit_name.lower()}s" for unit_name in MICROSECONDS]
        raise errors.unknown_duration_unit(
            span, location=location, name=name, units=known_units, text=text
        )
    return MICROSECONDS[singular]


# Recognise the lengths of windows by their tokens.


def is_length_of_time(tokens: TokenSequence, index: int) -> bool:
    """Return whether a length of time without INTERVAL starts at `index`: `5 DAYS`, `'5' DAY`."""
    if not 0 <= index < len(tokens):
        return False
    return tokens[index].is_constant and tokens.key(index + 1) in UNITS_OF_TIME


def is_distance(tokens: TokenSequence, index: int) -> bool:
    """Return whether the length of a window starts at `index`.

    The length is an interval, with or without the word INTERVAL, or a number of rows: `5 ROWS`,
    `:n ROWS`.
    """
    if tokens.key(index) == "INTERVAL" or is_length_of_time(tokens, index):
        return True
    is_constant = 0 <= index < len(tokens) and tokens[index].is_constant
    is_parameter = tokens.key(index) in (":", "?")
    last = index + 1 if tokens.key(index) == ":" else index  # `:n` is two tokens
    return (is_constant or is_parameter) and tokens.key(last + 1) == "ROWS"
