"""Convert numbers to other widths, precisions and types, as Spark and Java do.

A number without an equivalent raises NoValueError; `casts` decides what becomes of that.
"""

from __future__ import annotations

import math
import re
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal, InvalidOperation
from fractions import Fraction

from matchrec.conditions.functions.function import AnsiError, UndecidedError

# Loses no digit of a number that is rescaled to a decimal type: a double has at most 309 digits
# before the point, and a type at most 38 after it.
WIDE_CONTEXT = Context(prec=1000)
# Loses no digit of a number in the middle between two doubles, which has at most 1,075 digits after
# the point.
MIDPOINT_CONTEXT = Context(prec=2000)

# The binary digits of a floating-point number of 32 bits, the exponent of the least such number,
# and the exponent of the least number that is too large.
SINGLE_DIGITS = 24
MIN_SINGLE_EXPONENT = -149
TOO_LARGE_SINGLE_EXPONENT = 128

# Java writes numbers from here on with an exponent.
LEAST_NUMBER_WITH_EXPONENT = 1e7

# A text of at most 15 digits and a point. Every version of Java writes such a number like this.
SHORT_NUMBER = re.compile(r"-?[0-9.]{1,16}")


class NoValueError(AnsiError):
    """A value that is cast has no equivalent in the target type."""


# Integers.


def wrap(number: int, bits: int) -> int:
    """Return the signed integer that the lowest bits of a number form.

    >>> wrap(127, 8), wrap(128, 8)
    (127, -128)
    """
    half = 1 << (bits - 1)
    return (number + half) % (2 * half) - half


def wrap_floating(number: float, bits: int) -> int:
    """Convert a floating-point number to an integer, as Java does.

    Java takes the nearest integer of 32 or 64 bits, and then its lowest bits.
    """
    if math.isnan(number):
        return 0
    largest = (1 << (max(bits, 32) - 1)) - 1
    if abs(number) > largest:
        return wrap(largest if number > 0 else -largest - 1, bits)
    return wrap(int(number), bits)


def fits(number: int, bits: int) -> bool:
    """Return whether a signed integer fits into a number of bits."""
    return -(1 << (bits - 1)) <= number < 1 << (bits - 1)


def drop_fraction(number: Decimal) -> int:
    """Return a decimal without its fraction."""
    return int(number.to_integral_value(ROUND_DOWN))


def divide_rounded(dividend: int, divisor: int) -> int:
    """Return a quotient rounded half away from zero. The divisor is positive."""
    quotient, remainder = divmod(abs(dividend), divisor)
    if 2 * remainder >= divisor:
        quotient += 1
    return quotient if dividend >= 0 else -quotient


# Floating-point numbers of 32 bits.


def round_to_single(number: Fraction) -> float:
    """Return the nearest number of 32 bits, the even one if two are equally near.

    Infinity if the number is too large.
    """
    if number == 0:
        return 0.0
    magnitude = abs(number)
    # The exponent of the greatest power of two that is not greater than the magnitude.
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** max(exponent - SINGLE_DIGITS + 1, MIN_SINGLE_EXPONENT)
    rounded = round(magnitude / unit) * unit
    is_too_large = rounded >= Fraction(2) ** TOO_LARGE_SINGLE_EXPONENT
    single = math.inf if is_too_large else float(rounded)
    return single if number > 0 else -single


def narrow_to_single(number: float) -> float:
    """Return the nearest floating-point number of 32 bits."""
    return round_to_single(Fraction(number)) if math.isfinite(number) and number else number


# Decimals.


def rescale(number: Decimal, precision: int, scale: int) -> Decimal:
    """Return a decimal rounded half up. A zero loses its sign.

    Args:
        number: the decimal.
        precision: the most digits that the result can have.
        scale: how many digits it has after the point.

    Raises:
        NoValueError: it would have more digits.
    """
    try:
        rounded = number.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, WIDE_CONTEXT)
    except InvalidOperation:  # it has more digits than even the context
        raise NoValueError from None
    if rounded.adjusted() + 1 + scale > precision and rounded != 0:
        raise NoValueError
    return abs(rounded) if rounded == 0 else rounded


def convert_to_decimal(number: float, precision: int, scale: int) -> Decimal | None:
    """Return the decimal that Java writes for a floating-point number, rescaled.

    NaN and infinity become NULL, in ANSI mode, too.

    Raises:
        NoValueError: the decimal does not have that precision.
        UndecidedError: the result depends on the version of Java.
    """
    if not math.isfinite(number):
        return None
    return rescale_if_certain(number, precision, scale)


def rescale_if_certain(number: float, precision: int, scale: int) -> Decimal:
    """Return a floating-point number rescaled, if all texts that are read as it give the same.

    Java writes one of these texts. Which one, if there are many digits, depends on its version.

    Raises:
        NoValueError: the result would have more digits than the precision.
        UndecidedError: the texts give different results.
    """
    text = repr(number)
    is_small_integer = number.is_integer() and abs(number) < LEAST_NUMBER_WITH_EXPONENT
    if SHORT_NUMBER.fullmatch(text) is not None or is_small_integer:
        return rescale(Decimal(text), precision, scale)
    # The texts are those between the middles to the numbers before and after.
    before = Fraction(math.nextafter(number, -math.inf))
    after = Fraction(math.nextafter(number, math.inf))
    lowest = rescale(convert_to_exact_decimal((Fraction(number) + before) / 2), precision, scale)
    highest = rescale(convert_to_exact_decimal((Fraction(number) + after) / 2), precision, scale)
    if lowest != highest:
        raise UndecidedError(f"how {number} is rounded to {scale} places depends on Java's version")
    return lowest


def convert_to_exact_decimal(number: Fraction) -> Decimal:
    """Return a fraction over a power of two as a decimal."""
    return MIDPOINT_CONTEXT.divide(Decimal(number.numerator), Decimal(number.denominator))
