"""The constants of conditions, and what is certain about two of them whatever the column's type is.

The types of columns are not known yet, and a comparison casts the column or the constant. So two
constants are only compared if no cast can make a difference:

    10 and 5                        10 is greater
    5 and 5.5                       nothing is certain: '5.5' as a whole number is 5
    '2026-01-01' and '2026-02-01'   the first is less, as a date and as a string
    'buy' and 'sell'                different
    'a' and 'A'                     nothing is certain: a collation may make them equal
    'on' and 'off'                  different
    'yes' and 'true'                nothing is certain: both can be TRUE
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from fractions import Fraction

from matchrec.plan.expression import Scalar, find_amount, render
from matchrec.plan.warning_rules.references import find_literal_text


class ConstantKind(Enum):
    """The kinds of constants. Only constants of comparable kinds are compared."""

    # 5
    WHOLE_NUMBER = auto()
    # 5.0, 5L, 5e1
    OTHER_NUMBER = auto()
    # INTERVAL 5 MINUTE
    INTERVAL = auto()
    # DATE'2026-01-01'
    DATE = auto()
    # '2026-01-01'
    DATE_AS_STRING = auto()
    # 'buy'
    WORD = auto()


_NUMBERS = frozenset({ConstantKind.WHOLE_NUMBER, ConstantKind.OTHER_NUMBER})


@dataclass(frozen=True, slots=True)
class ComparedConstant:
    """A literal whose value is known."""

    kind: ConstantKind
    # The number, the microseconds of an interval, or the text without quotes.
    value: Fraction | str


_WHOLE_NUMBER = re.compile(r"\(*-?\d+\)*")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_DATE_LITERAL = re.compile(rf"DATE\s*'({_DATE.pattern})'", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z][A-Za-z _-]*")

# Words that are values of other types than STRING: of BOOLEAN, DOUBLE, DATE and TIMESTAMP.
_WORDS_OF_OTHER_TYPES = frozenset(
    {"t", "true", "y", "yes", "f", "false", "n", "no"}
    | {"inf", "infinity", "nan"}
    | {"epoch", "now", "today", "tomorrow", "yesterday"}
)


def read_constant(scalar: Scalar) -> ComparedConstant | None:
    """Return the constant that an operand is.

    Returns:
        None for a constant of no `ConstantKind`, and for anything but a literal.
    """
    if scalar.references:
        return None
    text = render(scalar, str).strip()
    amount = find_amount(scalar)
    if amount is not None:
        if amount.is_time:
            return ComparedConstant(ConstantKind.INTERVAL, amount.value)
        is_whole = _WHOLE_NUMBER.fullmatch(text) is not None
        kind = ConstantKind.WHOLE_NUMBER if is_whole else ConstantKind.OTHER_NUMBER
        return ComparedConstant(kind, amount.value)
    date = _DATE_LITERAL.fullmatch(text)
    if date is not None:
        return ComparedConstant(ConstantKind.DATE, date[1])
    string = find_literal_text(scalar)
    if string is None:
        return None
    content = string[1:-1]
    if _DATE.fullmatch(content):
        return ComparedConstant(ConstantKind.DATE_AS_STRING, content)
    return ComparedConstant(ConstantKind.WORD, content) if _WORD.fullmatch(content) else None


def fold(text: str) -> str:
    """Return a text without what a collation can ignore in ASCII: case and outer blanks."""
    return text.strip().casefold()


def is_certainly_equal(left: ComparedConstant, right: ComparedConstant) -> bool:
    """Return whether no column can be equal to one constant and different from the other."""
    return left == right


def is_certainly_different(left: ComparedConstant, right: ComparedConstant) -> bool:
    """Return whether no column can be equal to both constants."""
    if left.kind is right.kind is ConstantKind.WORD:
        words = {fold(str(left.value)), fold(str(right.value))}
        return len(words) == 2 and not words <= _WORDS_OF_OTHER_TYPES
    return is_certainly_less(left, right) or is_certainly_less(right, left)


def is_certainly_less(left: ComparedConstant, right: ComparedConstant) -> bool:
    """Return whether every column that is at most the left constant is less than the right one."""
    match left, right:
        case ComparedConstant(value=Fraction() as left_number), ComparedConstant(
            value=Fraction() as right_number
        ):
            return has_less_number(left, left_number, right, right_number)
        case ComparedConstant(value=str() as left_text), ComparedConstant(
            value=str() as right_text
        ):
            has_order = left.kind is right.kind is not ConstantKind.WORD
            return has_order and left_text < right_text
        case _:
            return False


def has_less_number(
    left: ComparedConstant, left_number: Fraction, right: ComparedConstant, right_number: Fraction
) -> bool:
    """Return whether a number or an interval is certainly less than another one.

    A cast of the column to a whole number may change it by less than 1. A cast to DOUBLE rounds
    both constants.
    """
    if left.kind is not right.kind:
        are_numbers = {left.kind, right.kind} <= _NUMBERS
        return are_numbers and left_number + 1 <= right_number
    try:
        return float(left_number) < float(right_number)
    except OverflowError:
        return False
