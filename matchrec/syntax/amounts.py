"""Read numbers, and the amounts of constants: numbers and lengths of time.

    1800    30.5    INTERVAL '1' HOUR    INTERVAL 1 HOUR 30 MINUTES    INTERVAL '90 minutes'

A number without a unit is a number of rows, or an amount in the unit of the order column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

from matchrec.errors.kinds import MatchRecognizeParseError
from matchrec.errors.lengths import find_meant_length
from matchrec.errors.sql import limits as errors
from matchrec.plan.amounts import MICROSECONDS, Amount
from matchrec.plan.clauses import FirstMatches
from matchrec.source import Span
from matchrec.syntax.tokens import Token, TokenKind, split_words

# The units of time, in the singular.
UNITS = split_words(
    "YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND MICROSECOND NANOSECOND"
)
# The units of time, in the singular and in the plural.
UNITS_OF_TIME = UNITS | {f"{unit}S" for unit in UNITS}

# The greatest number of rows or repetitions: the greatest distance that `lag` of Spark accepts.
MAX_ROWS = 2**31 - 1


def read_whole_number(digits: str) -> int | None:
    """Return the number with these digits; None if it is greater than `MAX_ROWS`.

    >>> read_whole_number("007"), read_whole_number("9" * 5000)
    (7, None)
    """
    significant = digits.lstrip("0") or "0"
    if len(significant) > len(str(MAX_ROWS)):  # Python refuses to convert very long numbers.
        return None
    number = int(significant)
    return number if number <= MAX_ROWS else None


def read_amount(text: str) -> Amount | None:
    """Return the amount of a literal number; None if the number is not exact or too long.

    A number may have 19 digits, or 18 before a point and 18 after it.

    >>> read_amount("1800L"), read_amount("1e3")
    (Amount(value=Fraction(1800, 1), is_time=False, is_days=False), None)
    """
    number = text
    if "." not in text and text[-1:] in ("L", "l"):  # the suffix of BIGINT
        number = text[:-1]
    integer_digits, point, fraction_digits = number.partition(".")
    most_digits = 18 if point else 19
    if not (integer_digits + fraction_digits).isdecimal():
        return None
    if max(len(integer_digits), len(fraction_digits)) > most_digits:
        return None
    return Amount(Fraction(number))


# Letters after a number that look like a unit of time, but are a type in Spark SQL.
_TYPES_OF_LETTERS = {"S": "SMALLINT", "D": "DOUBLE", "Y": "TINYINT"}


def reject_unit_in_number(token: Token) -> None:
    """Reject `30s`, `30d` and `30y` as the length of a window.

    `30L` and `30BD` are accepted, because no unit of time is written like that.

    Raises:
        MatchRecognizeParseError: the token is such a number.
    """
    type_name = _TYPES_OF_LETTERS.get(token.text[-1:].upper())
    length = find_meant_length(token.text)
    if token.kind is TokenKind.NUMBER and type_name is not None and length is not None:
        raise errors.unit_without_interval(
            token.span, text=token.text, length=length, type_name=type_name
        )


def read_interval_amount(words: Iterable[str]) -> Amount | None:
    """Return the length of an interval; None if the length is not exact.

    The length is exact if the interval consists of numbers, each before its unit, and has no months
    or years.

    Args:
        words: the text of each token after INTERVAL. A string has its quotes.

    >>> read_interval_amount(["'1 DAY'"]).is_days, read_interval_amount(["1", "MONTH"])
    (True, None)
    """
    unquoted_text = " ".join(word.strip("'\"") for word in words)
    numbers_and_units = unquoted_text.split()  # such as 1, HOUR, 30, MINUTES
    numbers = [read_amount(word) for word in numbers_and_units[::2]]
    units = [word.upper().removesuffix("S") for word in numbers_and_units[1::2]]
    if not numbers or len(numbers) != len(units):
        return None
    has_only_exact_units = all(unit in MICROSECONDS for unit in units)
    if not has_only_exact_units:
        return None
    microseconds = Fraction(0)
    for number, unit in zip(numbers, units, strict=True):
        if number is None or (number.value.denominator != 1 and unit != "SECOND"):
            return None  # Spark allows fractions only of seconds.
        microseconds += number.value * MICROSECONDS[unit]
    if microseconds.denominator != 1:
        return None
    return Amount(microseconds, is_time=True, is_days=set(units) == {"DAY"})


def make_first_matches(number: str, span: Span | None) -> FirstMatches:
    """Return the option `FIRST number MATCHES`.

    Raises:
        MatchRecognizeParseError: the number is not from 1 to `MAX_ROWS`.
    """
    return FirstMatches(read_number_of_rows(number, span, errors.not_a_number_of_matches), span)


def read_number_of_rows(
    number: str,
    span: Span | None,
    make_error: Callable[..., MatchRecognizeParseError] = errors.not_a_number_of_rows,
) -> int:
    """Return the number of `WITHIN number ROWS`, or of another option with a positive number.

    Args:
        number: the number as it is written.
        span: the location that the error shows.
        make_error: makes the error if the number is not allowed.

    Raises:
        MatchRecognizeParseError: the number is not from 1 to `MAX_ROWS`.
    """
    count = read_whole_number(number) if number.isdecimal() else None
    if not count:
        raise make_error(span, number=number, limit=MAX_ROWS)
    return count
