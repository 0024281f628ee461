"""Functions of numbers: arithmetic of decimals, ROUND, FLOOR and CEIL.

A kernel computes with integers, floating-point numbers, and decimals of at most 18 digits. Here are
decimals of up to 38 digits, quotients of decimals, and what else Spark rounds in decimal digits.

A function `find_...` returns the type of a call's value. A function `build_...` of a call returns
the Python function that computes the value: see `functions.function`.

Source: Spark's decimal types, with the default of `spark.sql.decimalOperations.allowPrecisionLoss`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal
from functools import partial

from matchrec.conditions.functions.function import (
    ANY_TYPE,
    AnsiError,
    Compute,
    Function,
    FunctionUse,
    Value,
    use_for_all_types,
)
from matchrec.conditions.functions.number_conversions import (
    divide_rounded,
    fits,
    narrow_to_single,
    wrap,
)
from matchrec.conditions.types import (
    FLOAT,
    MAX_DIGITS,
    Family,
    ValueType,
    build_decimal_type,
    find_arithmetic_type,
    find_decimal_type,
)

# Loses no digit of a sum or product of decimals, and rounds half away from zero.
EXACT_CONTEXT = Context(prec=200, rounding=ROUND_HALF_UP)
# Loses no digit of a double.
DOUBLE_CONTEXT = Context(prec=800)

# Arithmetic of decimals and integers.

# Spark rounds a quotient to a multiple of this before it rounds it to its type.
QUOTIENT_UNIT = Decimal(1).scaleb(-MAX_DIGITS)


def divide(left: Decimal, right: Decimal) -> Decimal:
    """Return a quotient rounded to 38 digits after the point."""
    return EXACT_CONTEXT.divide(left, right).quantize(QUOTIENT_UNIT, context=EXACT_CONTEXT)


OPERATIONS: Mapping[str, Callable[[Decimal, Decimal], Decimal]] = {
    "+": EXACT_CONTEXT.add,
    "-": EXACT_CONTEXT.subtract,
    "*": EXACT_CONTEXT.multiply,
    "/": divide,
    "%": EXACT_CONTEXT.remainder,
}
# The operations without a result if the right operand is 0.
DIVISIONS = frozenset({"/", "%"})


def make_arithmetic(operator: str) -> Function:
    """Return the function of two decimals or integers for one of the OPERATIONS."""
    return Function(
        (ANY_TYPE, ANY_TYPE),
        partial(find_arithmetic_result_type, operator),
        partial(build_arithmetic, operator),
    )


def find_arithmetic_result_type(operator: str, use: FunctionUse) -> ValueType | None:
    """Return the type of an operation; None unless both operands are decimals or integers."""
    if not {type_.family for type_ in use.types} <= {Family.DECIMAL, Family.INTEGER}:
        return None
    left, right = use.types
    return find_arithmetic_type(operator, find_decimal_type(left), find_decimal_type(right))


def build_arithmetic(operator: str, use: FunctionUse) -> Compute:
    """Return the function that computes an operation, rounded half away from zero to its type.

    Its value is NULL, or in ANSI mode an error, if the right operand of a division is 0, or if the
    result has too many digits before the point.
    """
    operation = OPERATIONS[operator]
    is_division = operator in DIVISIONS
    type_ = find_arithmetic_result_type(operator, use)
    assert type_ is not None
    unit = Decimal(1).scaleb(-type_.scale)
    limit = Decimal(10) ** (type_.precision - type_.scale)

    def compute(left: Value, right: Value) -> Value:
        """Return the rounded result; if there is none, raise in ANSI mode or return NULL."""
        if is_division and not right:
            return return_null_or_raise("division by zero", use)
        value = operation(Decimal(left), Decimal(right))
        rounded = value.quantize(unit, context=EXACT_CONTEXT)
        if abs(rounded) >= limit:
            reason = f"{value} cannot be represented as {type_.name}"
            return return_null_or_raise(reason, use)
        return rounded

    return compute


def return_null_or_raise(reason: str, use: FunctionUse) -> Value:
    """Return NULL, the value of a call that has no result, unless ANSI mode is on.

    Args:
        reason: why the call has no result.
        use: the call.

    Raises:
        AnsiError: ANSI mode is on.
    """
    if use.ansi:
        raise AnsiError(reason)
    return None


def find_negated_type(use: FunctionUse) -> ValueType:
    """Return the type of minus a decimal: the type of the decimal."""
    return use.types[0]


# ROUND. Numbers in the middle between two results are rounded away from zero.


def find_rounded_type(use: FunctionUse) -> ValueType | None:
    """Return the type of ROUND.

    An integer or a floating-point number keeps its type. A decimal gets one more digit before the
    point, and at most `decimal_places` digits after it. None for any other value.
    """
    (type_,) = use.types
    decimal_places = int(use.words[0])
    if type_.family in (Family.INTEGER, Family.FLOATING):
        return type_
    if type_.family is not Family.DECIMAL:
        return None
    whole_digits = type_.precision - type_.scale + 1
    scale = min(max(decimal_places, 0), type_.scale)
    return build_decimal_type(max(whole_digits + scale, 1 - decimal_places), scale)


def build_rounding(use: FunctionUse) -> Compute:
    """Return the function for ROUND to the number of decimal places in the call's word.

    The number is negative to round to tens, hundreds and so on.
    """
    (type_,) = use.types
    decimal_places = int(use.words[0])
    if type_.family is Family.FLOATING:
        return build_floating_rounding(type_, decimal_places)
    if type_.family is Family.INTEGER:
        return build_integer_rounding(type_, decimal_places, ansi=use.ansi)
    result_type = find_rounded_type(use)
    assert result_type is not None
    return build_decimal_rounding(result_type, decimal_places)


def build_floating_rounding(type_: ValueType, decimal_places: int) -> Callable[[float], float]:
    """Return the function that rounds floating-point numbers of a type.

    A number is rounded as if it was the shortest decimal that Java reads as it.
    """
    unit = Decimal(1).scaleb(-decimal_places)

    def compute(value: float) -> float:
        """Return the number rounded. NaN and infinity stay as they are."""
        if not math.isfinite(value):
            return value
        rounded = float(Decimal(repr(value)).quantize(unit, ROUND_HALF_UP, DOUBLE_CONTEXT))
        return narrow_to_single(rounded) if type_ == FLOAT else rounded

    return compute


def build_decimal_rounding(
    result_type: ValueType, decimal_places: int
) -> Callable[[Decimal], Decimal]:
    """Return the function that rounds decimals, whose results have this type."""
    unit = Decimal(1).scaleb(-decimal_places)
    result_unit = Decimal(1).scaleb(-result_type.scale)

    def compute(value: Decimal) -> Decimal:
        """Return the decimal rounded."""
        rounded = value.quantize(unit, context=EXACT_CONTEXT) if decimal_places < 0 else value
        return EXACT_CONTEXT.plus(rounded.quantize(result_unit, context=EXACT_CONTEXT))

    return compute


def build_integer_rounding(
    type_: ValueType, decimal_places: int, *, ansi: bool
) -> Callable[[int], int]:
    """Return the function that rounds integers of a type to a power of ten.

    Args:
        type_: the type.
        decimal_places: minus the exponent of the power. With 0 or more, integers stay as they are.
        ansi: whether a result that is too large is an error. Otherwise it wraps around.
    """
    power = 10**-decimal_places if decimal_places < 0 else 1

    def compute(value: int) -> int:
        """Return the integer rounded."""
        rounded = divide_rounded(value, power) * power
        if ansi and not fits(rounded, type_.bits):
            raise AnsiError(f"{rounded} cannot be represented as {type_.name}")
        return wrap(rounded, type_.bits)

    return compute


# FLOOR and CEIL.


def make_integral_decimal(rounding: str) -> Function:
    """Return the function for FLOOR or CEIL of a decimal.

    Args:
        rounding: a rounding mode of Python's module `decimal`.
    """

    def compute(value: Decimal) -> Decimal:
        """Return the decimal rounded to a whole number."""
        return EXACT_CONTEXT.plus(value.to_integral_value(rounding))

    return Function((Family.DECIMAL,), find_integral_type, use_for_all_types(compute))


def find_integral_type(use: FunctionUse) -> ValueType:
    """Return the type of FLOOR and CEIL: a decimal with one more whole digit and no fraction."""
    (type_,) = use.types
    return build_decimal_type(type_.precision - type_.scale + 1, 0)


# The functions of this file by their names; operators by their signs, as in the table of operators.
NUMERALS: Mapping[str, Function] = {
    "NEG": Function((Family.DECIMAL,), find_negated_type, use_for_all_types(EXACT_CONTEXT.minus)),
    "ROUND": Function((ANY_TYPE,), find_rounded_type, build_rounding),
    "FLOOR": make_integral_decimal(ROUND_FLOOR),
    "CEIL": make_integral_decimal(ROUND_CEILING),
    **{operator: make_arithmetic(operator) for operator in OPERATIONS},
}
