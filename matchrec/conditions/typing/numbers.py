"""Arithmetic of typed values: integers, floats, decimals, dates, timestamps and intervals.

A decimal is held as its digits, an int64, and its type says where the point is. Results have the
type that Spark gives them; a number that does not fit an int64 ends the query with an error that
says so, which is earlier than Spark would for a decimal of more than 18 digits.
"""

from __future__ import annotations

from matchrec.conditions.residual import Typed
from matchrec.conditions.run_condition import (
    Arithmetic,
    ArithmeticOperator,
    Basic,
    Comparison,
    Constant,
    RunExpression,
    operate,
)
from matchrec.conditions.types import (
    DATE,
    FLOAT,
    INT,
    INTERVAL,
    NESTED,
    NUMBERS,
    VOID,
    Family,
    Kind,
    ValueType,
    as_decimal,
    average_type,
    common_type,
    decimal,
    is_wide_decimal,
    nested,
)

MICROSECONDS_A_DAY = 86_400_000_000
LARGEST = 2**63 - 1
F = Family


def common_nested(one: ValueType, other: ValueType, ansi: bool) -> ValueType | None:
    """The type to which Spark brings parts of nested values, or None where there is none."""
    if one == other or other == VOID:
        return one
    if one == VOID:
        return other
    if one.family in NUMBERS and other.family in NUMBERS:
        return common_type(one, other, ansi)
    if one.family is not other.family or one.family not in NESTED or one.names != other.names:
        return None
    pairs = zip(one.parts, other.parts, strict=True)
    parts = [common_nested(left, right, ansi) for left, right in pairs]
    known = tuple(part for part in parts if part is not None)
    return nested(one.family, one.names, known) if len(known) == len(parts) else None


def widen(typed: Typed, type_: ValueType) -> Typed:
    """A number as a wider type: an integer or decimal as a float, or with more decimal places."""
    if typed.type == type_:
        return typed
    scale = typed.type.scale
    if type_.family is Family.FLOATING:
        if typed.type.family is Family.FLOATING:
            return Typed(typed.expression, type_)
        if type_ == FLOAT:
            return Typed(operate(Basic.NARROW, typed.expression), type_)
        expression: RunExpression = operate(Basic.WIDEN, typed.expression)
        if scale:
            power = Constant(float(10**scale), Kind.FLOATING)
            expression = Arithmetic(ArithmeticOperator.DIVIDE, (expression, power), Kind.FLOATING)
        return Typed(expression, type_)
    shift = type_.scale - scale
    if not shift:
        return Typed(typed.expression, type_)
    power = Constant(10**shift, Kind.INTEGER)
    return Typed(integer_arithmetic(ArithmeticOperator.MULTIPLY, typed.expression, power), type_)


def bounded(typed: Typed, type_: ValueType) -> Typed:
    """An integer as a decimal to compare with others; too large ones are the largest int64."""
    limit, found = LARGEST // 10**type_.scale, widen(typed, type_).expression
    for comparison, sign in ((Comparison.LESS, -1), (Comparison.GREATER, 1)):
        is_beyond = operate(comparison, typed.expression, Constant(sign * limit, Kind.INTEGER))
        found = operate(Basic.CHOOSE, is_beyond, Constant(sign * LARGEST, Kind.INTEGER), found)
    return Typed(found, type_)


def integer_arithmetic(
    operator: ArithmeticOperator, left: RunExpression, right: RunExpression
) -> RunExpression:
    """64-bit integer arithmetic, whose overflow is an error."""
    return Arithmetic(operator, (left, right), Kind.INTEGER)


def compute(operator: ArithmeticOperator, left: Typed, right: Typed, ansi: bool) -> Typed | None:
    """Arithmetic on two numbers of one family, or None where the engine has none.

    Of decimals: + and - of one scale, * of any two; the quotient is Spark's alone.
    """
    if Family.DECIMAL in (left.type.family, right.type.family):
        one, other = as_decimal(left.type), as_decimal(right.type)
        match operator:
            case ArithmeticOperator.ADD | ArithmeticOperator.SUBTRACT:
                type_ = decimal(max(one.precision, other.precision) + 1, one.scale)
            case ArithmeticOperator.MULTIPLY:
                type_ = decimal(one.precision + other.precision + 1, one.scale + other.scale)
            case _:
                return None
        return Typed(integer_arithmetic(operator, left.expression, right.expression), type_)
    type_ = left.type if left.type.bits >= right.type.bits else right.type
    sides = left.expression, right.expression
    found = Arithmetic(operator, sides, type_.kind, type_.bits, ansi)
    rounds = type_ == FLOAT and operator is not ArithmeticOperator.REMAINDER  # which is exact
    return Typed(operate(Basic.NARROW, found) if rounds else found, type_)


def negative(value: Typed, ansi: bool) -> Typed:
    """`-x` of a number or an interval."""
    type_ = value.type
    if type_.kind is Kind.FLOATING:
        times, minus_one = ArithmeticOperator.MULTIPLY, Constant(-1.0, Kind.FLOATING)
        return Typed(Arithmetic(times, (minus_one, value.expression), Kind.FLOATING), type_)
    minus, zero = ArithmeticOperator.SUBTRACT, Constant(0, Kind.INTEGER)
    fails, parts = ansi or type_.family is not Family.INTEGER, (zero, value.expression)
    return Typed(Arithmetic(minus, parts, Kind.INTEGER, type_.bits, fails), type_)


def decimal_average(total: RunExpression, count: RunExpression, type_: ValueType) -> Typed:
    """Spark's avg(decimal(p,s)): the sum over the count with four more places, rounded half up."""
    more = integer_arithmetic(ArithmeticOperator.MULTIPLY, total, Constant(10_000, Kind.INTEGER))
    return Typed(integer_arithmetic(ArithmeticOperator.DIVIDE, more, count), average_type(type_))


def on_times(operator: ArithmeticOperator, left: Typed, right: Typed) -> Typed | None:
    """Arithmetic of dates, timestamps and day-time intervals, or None where there is none.

    Two times are an interval apart; anything else is the time, or an interval.
    """
    found = integer_arithmetic(operator, left.expression, right.expression)
    match left.type.family, operator.value, right.type.family:
        case (F.DATE, "+" | "-", F.INTEGER) | (F.INTEGER, "+", F.DATE):
            days = right if left.type == DATE else left  # for which Spark takes no bigint
            is_bigint = days.type.bits > INT.bits
            return None if is_bigint else Typed(in_int(operator, left, right), DATE)
        case (F.INTERVAL, "*" | "/", F.INTEGER | F.DECIMAL):
            return multiple(operator, left, right)
        case (F.INTEGER | F.DECIMAL, "*", F.INTERVAL):
            return multiple(operator, right, left)
        case (F.TIMESTAMP | F.TIMESTAMP_NTZ | F.INTERVAL, "+" | "-", F.INTERVAL):
            return Typed(found, left.type)
        case (F.INTERVAL, "+", F.TIMESTAMP | F.TIMESTAMP_NTZ):
            return Typed(found, right.type)
        case (F.DATE, "-", F.DATE):
            day = Constant(MICROSECONDS_A_DAY, Kind.INTEGER)
            return Typed(integer_arithmetic(ArithmeticOperator.MULTIPLY, found, day), INTERVAL)
        case (F.TIMESTAMP, "-", F.TIMESTAMP) | (F.TIMESTAMP_NTZ, "-", F.TIMESTAMP_NTZ):
            return Typed(found, INTERVAL)
        case _:
            return None


def multiple(operator: ArithmeticOperator, span: Typed, number: Typed) -> Typed | None:
    """An interval times an exact number, or by it, rounded half away from zero."""
    if is_wide_decimal(number.type):
        return None
    times, by = number.expression, Constant(10**number.type.scale, Kind.INTEGER)
    if operator is ArithmeticOperator.DIVIDE:
        times, by = by, times
    found = integer_arithmetic(ArithmeticOperator.MULTIPLY, span.expression, times)
    return Typed(integer_arithmetic(ArithmeticOperator.DIVIDE, found, by), INTERVAL)


def in_int(operator: ArithmeticOperator, left: Typed, right: Typed) -> RunExpression:
    """Arithmetic of days, which wraps in 32 bits whatever the settings are."""
    parts = left.expression, right.expression
    return Arithmetic(operator, parts, Kind.INTEGER, INT.bits, ansi=False)
