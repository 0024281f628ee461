"""Functions of numbers that compiled code lacks, or cannot be certain of."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from math import factorial, isfinite

from matchrec.conditions.functions.function import (
    AnsiError,
    Compute,
    Function,
    FunctionError,
    Result,
    Use,
    function,
    gives,
)
from matchrec.conditions.functions.type_names import TINYINT
from matchrec.conditions.types import BIGINT, DOUBLE, INT, STRING, Family, ValueType

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LARGEST_FACTORIAL = 20

_EXACT = Context(prec=800)


def rounding(mode: str) -> Function:
    """ROUND and BROUND of a float, which is rounded as the decimal that it is written as."""

    def build(use: Use) -> Compute:
        unit = Decimal(1).scaleb(-int(use.words[0]))

        def compute(value: float) -> float:
            if not isfinite(value):
                return value
            return float(Decimal(repr(value)).quantize(unit, mode, _EXACT))

        return compute

    return Function((Family.FLOATING,), gives(DOUBLE), build)


def of_whole(type_: ValueType) -> Result:
    """A result of a type, of integers."""
    return lambda use: type_ if all(one.family is Family.INTEGER for one in use.types) else None


def of_bits(use: Use) -> ValueType | None:
    return INT if use.types[0].family in (Family.INTEGER, Family.BOOLEAN) else None


def count_bits(value: int) -> int:
    """Of all 64 bits."""
    return (int(value) % (1 << 64)).bit_count()


def bit_at(use: Use) -> Compute:
    """A bit by its place, 0 is the lowest one."""
    bits = use.types[0].bits

    def compute(value: int, place: int) -> int:
        if not 0 <= place < bits:
            raise FunctionError(f"INVALID_PARAMETER_VALUE: {place} is no bit of {bits}")
        return value >> place & 1

    return compute


def factorial_of(value: int) -> int | None:
    """NULL where it has more than 64 bits, or there is none."""
    return factorial(value) if 0 <= value <= LARGEST_FACTORIAL else None


def bucket(value: float, low: float, high: float, buckets: int) -> int | None:
    """The number of the bucket of equal width, from 1; 0 before the first, one more at the end."""
    unusable = value != value or low == high or not (isfinite(low) and isfinite(high))
    if not 0 < buckets < (1 << 63) - 1 or unusable:
        return None
    least, most = min(low, high), max(low, high)
    distance = value - least if low < high else most - value
    if distance < 0:
        return 0
    if (value >= most) if low < high else (value <= least):
        return buckets + 1
    return int(float(buckets) * distance / (most - least)) + 1


def convert_base(use: Use) -> Compute:
    """A number of 64 bits in one base, as text, in another; signed where that is negative."""

    def compute(text: str, base: int, other: int) -> str | None:
        digits = text.strip(" ")
        if not (2 <= base <= len(DIGITS) and 2 <= abs(other) <= len(DIGITS)) or not digits:
            return None
        negative = digits.startswith("-")
        value = leading_digits(digits[negative:], base)
        if value >= 1 << 64:
            if use.ansi:
                raise AnsiError(f"ARITHMETIC_OVERFLOW: {text} has more than 64 bits")
            value = (1 << 64) - 1
        if negative and other > 0:
            value = (1 << 64) - 1 if value >= 1 << 63 else -value % (1 << 64)
        if other < 0 and value >= 1 << 63:
            value, negative = -value % (1 << 64), True
        sign = "-" if negative and other < 0 else ""
        return sign + in_base(value, abs(other))

    return compute


def leading_digits(text: str, base: int) -> int:
    """What the text begins with, as a number."""
    value = 0
    for letter in text:
        digit = DIGITS.find(letter.upper() if letter.isascii() else "?")
        if not 0 <= digit < base:
            break
        value = value * base + digit
    return value


def in_base(value: int, base: int) -> str:
    found = ""
    while value or not found:
        value, digit = divmod(value, base)
        found = DIGITS[digit] + found
    return found


BIT_AT = Function((None, Family.INTEGER), of_whole(TINYINT), bit_at)

NUMBERS: Mapping[str, Function] = {
    "ROUND": rounding(ROUND_HALF_UP),
    "BROUND": rounding(ROUND_HALF_EVEN),
    "BIN": function((None,), of_whole(STRING), lambda value: f"{value % (1 << 64):b}"),
    "BIT_COUNT": function((None,), of_bits, count_bits),
    "BIT_GET": BIT_AT,
    "GETBIT": BIT_AT,
    "CONV": Function((Family.STRING, Family.INTEGER, Family.INTEGER), gives(STRING), convert_base),
    "FACTORIAL": function((Family.INTEGER,), BIGINT, factorial_of),
    "WIDTH_BUCKET": function(
        (Family.FLOATING, Family.FLOATING, Family.FLOATING, Family.INTEGER), BIGINT, bucket
    ),
}
