"""Read numbers and truth values from texts, as Spark and Java do when they cast a text.

The functions raise NoValueError if the text is not such a value.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction

from matchrec.conditions.functions.number_conversions import (
    NoValueError,
    narrow_to_single,
    round_to_single,
)

# The characters that Java trims, and those that Spark trims from an integer or a boolean.
JAVA_BLANK = "".join(map(chr, range(33)))
SPARK_BLANK = JAVA_BLANK + "\x7f"

# `-12`
INTEGER = re.compile(r"[+-]?[0-9]+")
# `12.5`, `12.`, `.5`; also `.` and `-`, which need another test
INTEGER_WITH_FRACTION = re.compile(r"([+-]?[0-9]*)(?:\.[0-9]*)?")
# `1.5e-3`, `.5`, `-Infinity`
FLOATING = re.compile(r"[+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
# `0x1.8p3`, which is 12
HEXADECIMAL = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?[0-9]+")
# `inf`, `NAN`: what Spark accepts although Java does not
SPECIAL_FLOATING = re.compile(r"[+-]?inf(?:inity)?|nan", re.ASCII | re.IGNORECASE)
# `1.5e3`, with any Unicode digits
DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,10})?")
# Java's decimals have only digits that are a single UTF-16 unit.
LAST_SINGLE_UNIT = "\uffff"

# Java allows one of these letters after a floating-point number.
FLOATING_SUFFIXES = ("f", "F", "d", "D")


def read_integer(text: str) -> int:
    """Read an integer."""
    stripped = text.strip(SPARK_BLANK)
    if INTEGER.fullmatch(stripped) is None:
        raise NoValueError
    return int(stripped)


def read_integer_part(text: str) -> int:
    """Read a number that can have a fraction, and return it without the fraction. `.` is 0."""
    stripped = text.strip(SPARK_BLANK)
    match = INTEGER_WITH_FRACTION.fullmatch(stripped)
    if match is None or stripped in ("", "+", "-"):
        raise NoValueError
    digits = match[1]
    return int(digits) if digits not in ("", "+", "-") else 0


def read_floating(text: str, *, is_single: bool) -> float:
    """Read a floating-point number as Java does.

    Args:
        text: the text.
        is_single: whether the number has 32 bits instead of 64.
    """
    stripped = text.strip(JAVA_BLANK)
    without_suffix = stripped[:-1] if stripped.endswith(FLOATING_SUFFIXES) else stripped
    if FLOATING.fullmatch(without_suffix) is not None:
        double = float(without_suffix)
        if is_single and math.isfinite(double) and double != 0:
            # Not from the double: it would be rounded twice.
            return round_to_single(Fraction(without_suffix))
        return double
    if HEXADECIMAL.fullmatch(without_suffix) is not None:
        double = float.fromhex(without_suffix)
        return narrow_to_single(double) if is_single else double
    if SPECIAL_FLOATING.fullmatch(stripped) is not None:
        return float(stripped)
    raise NoValueError


def read_decimal(text: str) -> Decimal:
    """Read a number that can have a fraction and an exponent."""
    stripped = text.strip(JAVA_BLANK)
    if DECIMAL.fullmatch(stripped) is None or max(stripped) > LAST_SINGLE_UNIT:
        raise NoValueError
    return Decimal(stripped)


TRUE_WORDS = frozenset({"t", "true", "y", "yes", "1"})
FALSE_WORDS = frozenset({"f", "false", "n", "no", "0"})


def read_boolean(text: str) -> bool:
    """Read a truth value."""
    word = text.strip(SPARK_BLANK).lower()
    if word in TRUE_WORDS:
        return True
    if word in FALSE_WORDS:
        return False
    raise NoValueError
