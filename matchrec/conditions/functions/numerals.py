"""Read numbers from texts, convert them to other widths, and compute with decimals.

Source: Spark's decimal types, with the default of `spark.sql.decimalOperations.allowPrecisionLoss`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from decimal import (
    ROUND_CEILING,
    ROUND_DOWN,
    ROUND_FLOOR,
    ROUND_HALF_UP,
    Context,
    Decimal,
    InvalidOperation,
)
from fractions import Fraction

from matchrec.conditions.functions.function import (
    AnsiError,
    Compute,
    Function,
    FunctionUse,
    UndecidedError,
    Value,
    make_function,
)
from matchrec.conditions.types import (
    FLOAT,
    MOST_DIGITS,
    Family,
    ValueType,
    build_decimal_type,
    find_arithmetic_type,
    find_decimal_type,
)

JAVA_BLANK = "".join(map(chr, range(33)))  # what Java trims
BLANK = JAVA_BLANK + "\x7f"  # what Spark trims from an integer or a boolean
WHOLE = re.compile(r"[+-]?[0-9]+")
WHOLE_WITH_FRACTION = re.compile(r"([+-]?[0-9]*)(?:\.[0-9]*)?")
FLOATING = re.compile(r"[+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
HEXADECIMAL = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?[0-9]+")
FRACTIONAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,10})?")  # any Unicode digits
SPECIAL = re.compile(r"[+-]?inf(?:inity)?|nan", re.ASCII | re.IGNORECASE)
WIDE = Context(prec=1000)
CERTAIN = re.compile(r"-?[0-9.]{1,16}")  # at most 15 digits and the point


class NoValueError(AnsiError):
    """A value that is cast has no equivalent in the target type."""


def wrap(number: int, bits: int) -> int:
    """Return the signed integer that the lowest bits of a number form.

    >>> wrap(127, 8), wrap(128, 8)
    (127, -128)
    """
    half = 1 << (bits - 1)
    return (number + half) % (2 * half) - half


def wrap_floating(bits: int, number: float) -> int:
    """Convert a floating-point number to an integer, as Java does.

    Java takes the nearest integer of 32 or 64 bits, and then its lowest bits.
    """
    if number != number:
        return 0
    largest = (1 << (max(bits, 32) - 1)) - 1
    if abs(number) > largest:
        return wrap(largest if number > 0 else -largest - 1, bits)
    return wrap(int(number), bits)


def fits(number: int, bits: int) -> bool:
    """Return whether a signed integer fits into a number of bits."""
    return -(1 << (bits - 1)) <= number < 1 << (bits - 1)


# Numbers as texts. These functions raise NoValueError if the text is not such a number.


def read_whole(text: str) -> int:
    """Read an integer."""
    stripped = text.strip(BLANK)
    if WHOLE.fullmatch(stripped) is None:
        raise NoValueError
    return int(stripped)


def read_whole_part(text: str) -> int:
    """Read a number that may have a fraction, and return it without the fraction. `.` is 0."""
    stripped = text.strip(BLANK)
    match = WHOLE_WITH_FRACTION.fullmatch(stripped)
    if match is None or stripped in ("", "+", "-"):
        raise NoValueError
    digits = match[1]
    return int(digits) if digits not in ("", "+", "-") else 0


def read_floating(text: str, *, is_single: bool) -> float:
    """Read a floating-point number of 32 or 64 bits as Java does."""
    stripped = text.strip(JAVA_BLANK)
    without_suffix = stripped[:-1] if stripped[-1:] in ("f", "F", "d", "D") else stripped
    if FLOATING.fullmatch(without_suffix) is not None:
        double = float(without_suffix)
        if is_single and math.isfinite(double) and double != 0:
            # Not from the double: it would be rounded twice.
            return round_to_single(Fraction(without_suffix))
        return double
    if HEXADECIMAL.fullmatch(without_suffix) is not None:
        double = float.fromhex(without_suffix)
        return narrow(double) if is_single else double
    if SPECIAL.fullmatch(stripped) is not None:
        return float(stripped)
    raise NoValueError


def read_decimal(text: str) -> Decimal:
    """Read a number that may have a fraction and an exponent."""
    stripped = text.strip(JAVA_BLANK)
    if FRACTIONAL.fullmatch(stripped) is None or max(stripped) > "\uffff":
        raise NoValueError
    return Decimal(stripped)


# Numbers of another width.


def round_to_single(number: Fraction) -> float:
    """Return the nearest number of 24 binary digits. Of two such numbers it is the even one."""
    if number == 0:
        return 0.0
    magnitude = abs(number)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** max(exponent - 23, -149)  # -149: the exponent of the least number
    rounded = round(magnitude / unit) * unit
    single = math.inf if rounded >= Fraction(2) ** 128 else float(rounded)
    return single if number > 0 else -single


def narrow(number: float) -> float:
    """Return the nearest floating-point number of 32 bits."""
    return round_to_single(Fraction(number)) if math.isfinite(number) and number else number


def rescale(number: Decimal, precision: int, scale: int) -> Decimal:
    """Return a decimal rounded half up. A zero loses its sign.

    Args:
        number: the decimal.
        precision: the most digits that the result may have.
        scale: how many digits it has after the point.

    Raises:
        NoValueError: it would have more digits.
    """
    rounded = number.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, WIDE)
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
    try:
        return rescale_if_certain(number, precision, scale)
    except InvalidOperation:
        raise NoValueError from None


def rescale_if_certain(number: float, precision: int, scale: int) -> Decimal:
    """Return a floating-point number rescaled, if all texts that are read as it give the same.

    Java writes one of these texts. Which one, if there are many digits, depends on its version.

    Raises:
        UndecidedError: the texts give different results.
    """
    text = repr(number)
    if CERTAIN.fullmatch(text) is not None or (number.is_integer() and abs(number) < 1e7):
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
    return Context(prec=2000).divide(Decimal(number.numerator), Decimal(number.denominator))


def drop_fraction(number: Decimal) -> int:
    """Return a decimal without its fraction."""
    return int(number.to_integral_value(ROUND_DOWN))


def divide_rounded(dividend: int, divisor: int) -> int:
    """Return a quotient rounded half away from zero. The divisor is positive."""
    quotient, remainder = divmod(abs(dividend), divisor)
    if 2 * remainder >= divisor:
        quotient += 1
    return quotient if dividend >= 0 else -quotient


# Arithmetic of decimals and integers.

EXACT = Context(prec=200, rounding=ROUND_HALF_UP)  # loses no digit of a sum or product

_SMALLEST = Decimal(1).scaleb(-MOST_DIGITS)  # to which Spark computes a quotient before it rounds

OPERATIONS: Mapping[str, Callable[[Decimal, Decimal], Decimal]] = {
    "+": EXACT.add,
    "-": EXACT.subtract,
    "*": EXACT.multiply,
    "/": lambda left, right: EXACT.divide(left, right).quantize(_SMALLEST, context=EXACT),
    "%": EXACT.remainder,
}


def build_arithmetic(operator: str) -> Function:
    """Return the function for an operation on two decimals, which rounds half up.

    If there is no result, the function raises an error in ANSI mode, and otherwise returns NULL.
    """

    def find_type(use: FunctionUse) -> ValueType | None:
        """Return the type of the result; None unless both are decimals or integers."""
        if not {type_.family for type_ in use.types} <= {Family.DECIMAL, Family.INTEGER}:
            return None
        left, right = use.types
        return find_arithmetic_type(operator, find_decimal_type(left), find_decimal_type(right))

    def build(use: FunctionUse) -> Compute:
        """Return the function that computes the operation for the types of a call."""
        type_ = find_type(use)
        assert type_ is not None
        unit = Decimal(1).scaleb(-type_.scale)
        limit = Decimal(10) ** (type_.precision - type_.scale)

        def compute(left: Value, right: Value) -> Decimal | None:
            """Return the rounded result; if there is none, raise in ANSI mode or return NULL."""
            reason = "division by zero"
            if right or operator not in ("/", "%"):
                value = OPERATIONS[operator](Decimal(left), Decimal(right))
                rounded = value.quantize(unit, context=EXACT)
                if abs(rounded) < limit:
                    return rounded
                reason = f"{value} cannot be represented as {type_.name}"
            if use.ansi:
                raise AnsiError(reason)
            return None

        return compute

    return Function((None, None), find_type, build)


# Rounding, half away from zero.

_EXACT_DOUBLE = Context(prec=800)  # has all digits of a double


def find_rounded_type(use: FunctionUse) -> ValueType | None:
    """Return the type of ROUND.

    For an integer or a floating-point number it is the type of the number, for a decimal a type
    with fewer digits after the point.
    """
    (type_,) = use.types
    places = int(use.words[0])
    if type_.family in (Family.INTEGER, Family.FLOATING):
        return type_
    if type_.family is not Family.DECIMAL:
        return None
    whole_digits = type_.precision - type_.scale + 1
    scale = min(max(places, 0), type_.scale)
    return build_decimal_type(max(whole_digits + scale, 1 - places), scale)


def build_rounding(use: FunctionUse) -> Compute:
    """Return the function for ROUND.

    A floating-point number is rounded as if it was the shortest decimal that Java reads as it.
    """
    (type_,) = use.types
    places = int(use.words[0])
    unit = Decimal(1).scaleb(-places)
    result_type = find_rounded_type(use)
    assert result_type is not None
    result_unit = Decimal(1).scaleb(-result_type.scale)

    def round_floating(value: float) -> float:
        """Round a floating-point number by its shortest decimal form, as Java prints it."""
        if not math.isfinite(value):
            return value
        rounded = float(Decimal(repr(value)).quantize(unit, ROUND_HALF_UP, _EXACT_DOUBLE))
        return narrow(rounded) if type_ == FLOAT else rounded

    def round_decimal(value: Decimal) -> Decimal:
        """Round a decimal to the scale of the result."""
        rounded = value.quantize(unit, context=EXACT) if places < 0 else value
        return EXACT.plus(rounded.quantize(result_unit, context=EXACT))

    def round_integer(value: int) -> int:
        """Round an integer to a power of ten: on overflow, raise in ANSI mode or wrap around."""
        rounded = divide_rounded(value, 10**-places) * 10**-places
        if use.ansi and not fits(rounded, type_.bits):
            raise AnsiError(f"{rounded} cannot be represented as {type_.name}")
        return wrap(rounded, type_.bits)

    if type_.family is Family.DECIMAL:
        return round_decimal
    return round_floating if type_.family is Family.FLOATING else round_integer


def build_whole_decimal(rounding: str) -> Function:
    """Return the function for FLOOR or CEIL of a decimal.

    Args:
        rounding: a rounding mode of Python's module `decimal`.
    """

    def find_type(use: FunctionUse) -> ValueType:
        """Return the type of the result: a decimal with one more whole digit and no fraction."""
        (type_,) = use.types
        return build_decimal_type(type_.precision - type_.scale + 1, 0)

    def compute(value: Decimal) -> Decimal:
        """Return the decimal rounded to a whole number."""
        return EXACT.plus(value.to_integral_value(rounding))

    return make_function((Family.DECIMAL,), find_type, compute)


NUMERALS: Mapping[str, Function] = {
    "NEG": make_function((Family.DECIMAL,), lambda use: use.types[0], EXACT.minus),
    "ROUND": Function((None,), find_rounded_type, build_rounding),
    "FLOOR": build_whole_decimal(ROUND_FLOOR),
    "CEIL": build_whole_decimal(ROUND_CEILING),
    **{operator: build_arithmetic(operator) for operator in OPERATIONS},
}
