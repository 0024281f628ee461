"""Arithmetic of decimals that needs more than 64 bits, and quotients, which are rounded.

Source: Spark's rules of decimal types, `spark.sql.decimalOperations.allowPrecisionLoss` as it is by
default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_UP, Context, Decimal

from matchrec.conditions.functions.function import (
    AnsiError,
    Compute,
    Function,
    Use,
    Value,
    function,
)
from matchrec.conditions.types import Family, ValueType, as_decimal, decimal

_EXACT = Context(prec=200, rounding=ROUND_HALF_UP)
_MOST, _LEAST_SCALE, _MOST_SCALE = 38, 6, 38

Operation = Callable[[Decimal, Decimal], Decimal]


def type_of_sum(one: ValueType, other: ValueType) -> tuple[int, int]:
    scale = max(one.scale, other.scale)
    return max(one.precision - one.scale, other.precision - other.scale) + scale + 1, scale


def type_of_product(one: ValueType, other: ValueType) -> tuple[int, int]:
    return one.precision + other.precision + 1, one.scale + other.scale


def type_of_quotient(one: ValueType, other: ValueType) -> tuple[int, int]:
    scale = max(_LEAST_SCALE, one.scale + other.precision + 1)
    return one.precision - one.scale + other.scale + scale, scale


def type_of_remainder(one: ValueType, other: ValueType) -> tuple[int, int]:
    scale = max(one.scale, other.scale)
    return min(one.precision - one.scale, other.precision - other.scale) + scale, scale


def adjusted(precision: int, scale: int) -> ValueType:
    """The type with at most 38 digits: places after the point go first, down to six of them."""
    if precision <= _MOST:
        return decimal(precision, scale)
    whole = precision - scale
    return decimal(_MOST, max(_MOST - whole, min(scale, _LEAST_SCALE)))


def arithmetic(
    type_of: Callable[[ValueType, ValueType], tuple[int, int]], operate: Operation
) -> Function:
    """An operation on two decimals, or on a decimal and an integer."""

    def result(use: Use) -> ValueType | None:
        if not {one.family for one in use.types} <= {Family.DECIMAL, Family.INTEGER}:
            return None
        one, other = map(as_decimal, use.types)
        return adjusted(*type_of(one, other))

    def build(use: Use) -> Compute:
        type_ = result(use)
        assert type_ is not None
        fit = fitting(type_, ansi=use.ansi)

        def compute(left: Value, right: Value) -> Decimal | None:
            try:
                return fit(operate(Decimal(left), Decimal(right)))
            except ZeroDivisionError:
                if use.ansi:
                    raise AnsiError("division by zero") from None
                return None

        return compute

    return Function((None, None), result, build)


def fitting(type_: ValueType, *, ansi: bool) -> Callable[[Decimal], Decimal | None]:
    """What rounds a number to a type: half up; too large ones are an error, or NULL."""
    unit, most = Decimal(1).scaleb(-type_.scale), Decimal(10) ** (type_.precision - type_.scale)

    def fit(value: Decimal) -> Decimal | None:
        rounded = value.quantize(unit, context=_EXACT)
        if abs(rounded) < most:
            return rounded
        if ansi:
            raise AnsiError(f"{value} cannot be represented as {type_.name}")
        return None

    return fit


def divide(left: Decimal, right: Decimal) -> Decimal:
    if not right:
        raise ZeroDivisionError
    quotient = _EXACT.divide(left, right)
    return quotient.quantize(Decimal(1).scaleb(-_MOST_SCALE), context=_EXACT)


def remainder(left: Decimal, right: Decimal) -> Decimal:
    if not right:
        raise ZeroDivisionError
    return _EXACT.remainder(left, right)


DECIMALS: Mapping[str, Function] = {
    "NEG": function((Family.DECIMAL,), lambda use: use.types[0], _EXACT.minus),
    "+": arithmetic(type_of_sum, _EXACT.add),
    "-": arithmetic(type_of_sum, _EXACT.subtract),
    "*": arithmetic(type_of_product, _EXACT.multiply),
    "/": arithmetic(type_of_quotient, divide),
    "%": arithmetic(type_of_remainder, remainder),
}
