"""Numbers as texts, and of one width as of another; decimals and floats, which are rounded.

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
    function,
)
from matchrec.conditions.types import FLOAT, Family, ValueType, as_decimal, decimal

JAVA_BLANK = "".join(map(chr, range(33)))  # what Java trims
BLANK = JAVA_BLANK + "\x7f"  # what Spark trims from a whole number or a boolean
WHOLE = re.compile(r"[+-]?[0-9]+")
WHOLE_WITH_FRACTION = re.compile(r"([+-]?[0-9]*)(?:\.[0-9]*)?")
FLOATING = re.compile(r"[+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
HEXADECIMAL = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?[0-9]+")
FRACTIONAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,10})?")  # any digits
SPECIAL = re.compile(r"[+-]?inf(?:inity)?|nan", re.ASCII | re.IGNORECASE)
WIDE = Context(prec=1000)
CERTAIN = re.compile(r"-?[0-9.]{1,16}")  # 15 digits and the point


class NoValueError(AnsiError):
    """What is cast has no value of the type."""


def wrap(number: int, bits: int) -> int:
    """The lowest bits of a number, with a sign."""
    half = 1 << (bits - 1)
    return (number + half) % (2 * half) - half


def wrap_floating(bits: int, number: float) -> int:
    """As Java does: to the nearest number of 32 or 64 bits, whose lowest ones are kept."""
    if number != number:
        return 0
    last = (1 << (max(bits, 32) - 1)) - 1
    if abs(number) > last:
        return wrap(last if number > 0 else -last - 1, bits)
    return wrap(int(number), bits)


def fits(number: int, bits: int) -> bool:
    return -(1 << (bits - 1)) <= number < 1 << (bits - 1)


def read_whole(text: str) -> int:
    stripped = text.strip(BLANK)
    if WHOLE.fullmatch(stripped) is None:
        raise NoValueError
    return int(stripped)


def read_whole_part(text: str) -> int:
    """A whole number, after which a fraction may stand, and even `.` alone."""
    stripped = text.strip(BLANK)
    found = WHOLE_WITH_FRACTION.fullmatch(stripped)
    if found is None or stripped in ("", "+", "-"):
        raise NoValueError
    return int(found[1]) if found[1] not in ("", "+", "-") else 0


def read_floating(text: str, *, single: bool) -> float:
    """A number as Java reads it."""
    stripped = text.strip(JAVA_BLANK)
    plain = stripped[:-1] if stripped[-1:] in ("f", "F", "d", "D") else stripped
    if FLOATING.fullmatch(plain) is not None:
        double = float(plain)
        whole = not single or not math.isfinite(double) or double == 0
        return double if whole else to_single(Fraction(plain))
    if HEXADECIMAL.fullmatch(plain) is not None:
        double = float.fromhex(plain)
        return narrow(double) if single else double
    if SPECIAL.fullmatch(stripped) is not None:
        return float(stripped)
    raise NoValueError


def read_decimal(text: str) -> Decimal:
    stripped = text.strip(JAVA_BLANK)
    if FRACTIONAL.fullmatch(stripped) is None or max(stripped) > "\uffff":
        raise NoValueError
    return Decimal(stripped)


def to_single(number: Fraction) -> float:
    """The nearest number of 24 binary digits; a tie goes to the even one."""
    if number == 0:
        return 0.0
    size = abs(number)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** max(exponent - 23, -149)
    rounded = round(size / unit) * unit
    found = math.inf if rounded >= Fraction(2) ** 128 else float(rounded)
    return found if number > 0 else -found


def narrow(number: float) -> float:
    return to_single(Fraction(number)) if math.isfinite(number) and number else number


def rescale(number: Decimal, precision: int, scale: int) -> Decimal:
    """The number with so many places after the point, rounded half up."""
    found = number.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, WIDE)
    if found.adjusted() + 1 + scale > precision and found != 0:
        raise NoValueError
    return abs(found) if found == 0 else found


def floating_to_decimal(number: float, precision: int, scale: int) -> Decimal | None:
    """The text that Java gives the number, rescaled; NULL, also under ANSI, without digits."""
    if not math.isfinite(number):
        return None
    try:
        return rescale_if_certain(number, precision, scale)
    except InvalidOperation:
        raise NoValueError from None


def rescale_if_certain(number: float, precision: int, scale: int) -> Decimal:
    """The number rescaled, where all texts that are read as it give the same."""
    text = repr(number)
    if CERTAIN.fullmatch(text) is not None or (number.is_integer() and abs(number) < 1e7):
        return rescale(Decimal(text), precision, scale)
    beside = (Fraction(math.nextafter(number, far)) for far in (-math.inf, math.inf))
    middles = [(Fraction(number) + one) / 2 for one in beside]
    exact = Context(prec=2000)
    written = (exact.divide(Decimal(one.numerator), Decimal(one.denominator)) for one in middles)
    low, high = (rescale(one, precision, scale) for one in written)
    if low != high:
        raise UndecidedError(f"how {number} is rounded to {scale} places depends on Java's version")
    return low


def whole_part(number: Decimal) -> int:
    return int(number.to_integral_value(ROUND_DOWN))


def divided(dividend: int, divisor: int) -> int:
    """The quotient rounded half away from zero. divisor: positive."""
    whole, rest = divmod(abs(dividend), divisor)
    whole += 2 * rest >= divisor
    return whole if dividend >= 0 else -whole


# Arithmetic of decimals, of which an integer is one.

EXACT = Context(prec=200, rounding=ROUND_HALF_UP)  # arithmetic of decimals that loses no digit

_MOST, _LEAST_SCALE = 38, 6
_SMALLEST = Decimal(1).scaleb(-_MOST)  # of what Spark computes of a quotient before it rounds

OPERATIONS: Mapping[str, Callable[[Decimal, Decimal], Decimal]] = {
    "+": EXACT.add,
    "-": EXACT.subtract,
    "*": EXACT.multiply,
    "/": lambda left, right: EXACT.divide(left, right).quantize(_SMALLEST, context=EXACT),
    "%": EXACT.remainder,
}


def type_of_decimals(operator: str, left: ValueType, right: ValueType) -> ValueType:
    """A type of at most 38 digits: places after the point go first, down to six of them."""
    scale = max(left.scale, right.scale)
    whole = left.precision - left.scale, right.precision - right.scale
    match operator:
        case "*":
            scale = left.scale + right.scale
            digits = left.precision + right.precision + 1
        case "/":
            scale = max(_LEAST_SCALE, left.scale + right.precision + 1)
            digits = whole[0] + right.scale + scale
        case "%":
            digits = min(whole) + scale
        case _:
            digits = max(whole) + scale + 1
    if digits > _MOST:
        scale = max(_MOST - (digits - scale), min(scale, _LEAST_SCALE))
    return decimal(digits, scale)


def arithmetic(operator: str) -> Function:
    """An operation on two decimals; half up, and what has no result is an error or NULL."""

    def result(use: FunctionUse) -> ValueType | None:
        if not {type_.family for type_ in use.types} <= {Family.DECIMAL, Family.INTEGER}:
            return None
        return type_of_decimals(operator, *map(as_decimal, use.types))

    def build(use: FunctionUse) -> Compute:
        type_ = result(use)
        assert type_ is not None
        unit, most = Decimal(1).scaleb(-type_.scale), Decimal(10) ** (type_.precision - type_.scale)

        def compute(left: Value, right: Value) -> Decimal | None:
            why = "division by zero"
            if right or operator not in ("/", "%"):
                value = OPERATIONS[operator](Decimal(left), Decimal(right))
                rounded = value.quantize(unit, context=EXACT)
                if abs(rounded) < most:
                    return rounded
                why = f"{value} cannot be represented as {type_.name}"
            if use.ansi:
                raise AnsiError(why)
            return None

        return compute

    return Function((None, None), result, build)


# Rounding, half away from zero.

_OF_A_FLOAT = Context(prec=800)


def rounded_type(use: FunctionUse) -> ValueType | None:
    """Of a float or an integer its own, of a decimal one of fewer places."""
    (own,), places = use.types, int(use.words[0])
    if own.family is not Family.DECIMAL:
        return own if own.family in (Family.INTEGER, Family.FLOATING) else None
    whole, scale = own.precision - own.scale + 1, min(max(places, 0), own.scale)
    return decimal(max(whole + scale, 1 - places), scale)


def rounding(use: FunctionUse) -> Compute:
    """ROUND. A float is rounded as the decimal that it is written as."""
    (own,), places = use.types, int(use.words[0])
    unit, type_ = Decimal(1).scaleb(-places), rounded_type(use)
    assert type_ is not None
    last = Decimal(1).scaleb(-type_.scale)

    def of_a_float(value: float) -> float:
        if not math.isfinite(value):
            return value
        found = float(Decimal(repr(value)).quantize(unit, ROUND_HALF_UP, _OF_A_FLOAT))
        return narrow(found) if own == FLOAT else found

    def of_a_decimal(value: Decimal) -> Decimal:
        rounded = value.quantize(unit, context=EXACT) if places < 0 else value
        return EXACT.plus(rounded.quantize(last, context=EXACT))

    def of_an_integer(value: int) -> int:
        found = divided(value, 10**-places) * 10**-places
        if use.ansi and not fits(found, own.bits):
            raise AnsiError(f"{found} cannot be represented as {own.name}")
        return wrap(found, own.bits)

    if own.family is Family.DECIMAL:
        return of_a_decimal
    return of_a_float if own.family is Family.FLOATING else of_an_integer


def whole_decimal(toward: str) -> Function:
    return function(
        (Family.DECIMAL,),
        lambda use: decimal(use.types[0].precision - use.types[0].scale + 1, 0),
        lambda value: EXACT.plus(value.to_integral_value(toward)),
    )


NUMERALS: Mapping[str, Function] = {
    "NEG": function((Family.DECIMAL,), lambda use: use.types[0], EXACT.minus),
    "ROUND": Function((None,), rounded_type, rounding, fails=True),
    "FLOOR": whole_decimal(ROUND_FLOOR),
    "CEIL": whole_decimal(ROUND_CEILING),
    **{operator: arithmetic(operator) for operator in OPERATIONS},
}
