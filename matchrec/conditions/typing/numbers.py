"""Build arithmetic that the search computes: of numbers, dates, timestamps and intervals.

Most functions take values with their types, and return the run expression with the type that Spark
gives to the result. `price * 2`, with a decimal(5,2) and an integer, becomes the product of two
int64 and has the type decimal(16,2).

A decimal is held as its digits, an int64; its type says where the point is. If the digits of a
result do not fit an int64, the query ends with an error that says so, although Spark would go on
with up to 38 digits.
"""

from __future__ import annotations

from matchrec.conditions.residual import TypedStep
from matchrec.conditions.run_condition import (
    Arithmetic,
    ArithmeticOperator,
    BasicOperator,
    Comparison,
    Constant,
    OnFailure,
    RunExpression,
    build_operation,
)
from matchrec.conditions.types import (
    ADDED_BY_AVERAGE,
    DATE,
    FLOAT,
    INT,
    INTERVAL,
    Family,
    Kind,
    ValueType,
    find_arithmetic_type,
    find_average_type,
    find_decimal_type,
    is_wide_decimal,
)

MICROSECONDS_PER_DAY = 86_400_000_000
LARGEST_INT64 = 2**63 - 1

# The precision of the decimals that messages suggest if an int64 overflows: more digits than an
# int64 holds.
SUGGESTED_PRECISION = 20

# Short, for the patterns in `build_time_arithmetic`.
F = Family


def name_wider_decimal(scale: int) -> str:
    """Return the decimal type that a message suggests if the search overflows.

    Decimals of this type are too wide for an int64, so Python computes with them.
    """
    return f"DECIMAL({SUGGESTED_PRECISION}, {scale})"


def widen(number: TypedStep, type_: ValueType) -> TypedStep:
    """Return a number as a value of a wider type.

    Args:
        number: the number.
        type_: a floating type; or an integer or decimal type with at least as many digits after the
            point as the number.
    """
    if number.type == type_:
        return number
    if type_.family is Family.FLOATING:
        return convert_to_floating(number, type_)
    added_digits = type_.scale - number.type.scale
    if not added_digits:
        return TypedStep(number.expression, type_)
    power = Constant(10**added_digits, Kind.INTEGER)
    digits = make_integer_arithmetic(ArithmeticOperator.MULTIPLY, number.expression, power)
    return TypedStep(digits, type_)


def convert_to_floating(number: TypedStep, type_: ValueType) -> TypedStep:
    """Return a number as a FLOAT or a DOUBLE. Only integers and FLOAT become FLOAT."""
    if number.type.family is Family.FLOATING:
        return TypedStep(number.expression, type_)  # the search holds a FLOAT as a double
    if type_ == FLOAT:
        return TypedStep(build_operation(BasicOperator.NARROW, number.expression), type_)
    expression: RunExpression = build_operation(BasicOperator.WIDEN, number.expression)
    scale = number.type.scale
    if scale:  # a decimal, whose digits have been widened
        power = Constant(float(10**scale), Kind.FLOATING)
        expression = Arithmetic(ArithmeticOperator.DIVIDE, (expression, power), Kind.FLOATING)
    return TypedStep(expression, type_)


def widen_clamped(integer: TypedStep, type_: ValueType) -> TypedStep:
    """Return an integer as a decimal for a comparison, clamped to an int64.

    An integer that has too many digits for an int64 at the scale of the decimal becomes the largest
    int64, or its negative. The comparison has the same result, because the decimals on the other
    side have at most 18 digits.

        IF(i > limit, largest, IF(i < -limit, -largest, i * 10^scale))
    """
    limit = LARGEST_INT64 // 10**type_.scale
    expression = widen(integer, type_).expression
    for comparison, sign in ((Comparison.LESS, -1), (Comparison.GREATER, 1)):
        is_beyond = build_operation(
            comparison, integer.expression, Constant(sign * limit, Kind.INTEGER)
        )
        clamped = Constant(sign * LARGEST_INT64, Kind.INTEGER)
        expression = build_operation(BasicOperator.CHOOSE, is_beyond, clamped, expression)
    return TypedStep(expression, type_)


def make_integer_arithmetic(
    operator: ArithmeticOperator, left: RunExpression, right: RunExpression
) -> RunExpression:
    """Return arithmetic of 64-bit integers. In every mode, its overflow is an error."""
    return Arithmetic(operator, (left, right), Kind.INTEGER)


def build_number_arithmetic(
    operator: ArithmeticOperator, left: TypedStep, right: TypedStep, *, ansi: bool
) -> TypedStep:
    """Return arithmetic of two numbers with its type. Integers and decimals can be mixed.

    The search cannot divide decimals as Spark does, so DIVIDE and REMAINDER are not allowed for
    them.
    """
    if Family.DECIMAL in (left.type.family, right.type.family):
        return build_decimal_arithmetic(operator, left, right)
    type_ = left.type if left.type.bits >= right.type.bits else right.type
    operands = (left.expression, right.expression)
    on_error = OnFailure.choose_by_mode(ansi=ansi)
    expression = Arithmetic(operator, operands, type_.kind, type_.bits, on_error)
    # The search computes with doubles. Results of floats are rounded; the remainder is exact.
    if type_ == FLOAT and operator is not ArithmeticOperator.REMAINDER:
        return TypedStep(build_operation(BasicOperator.NARROW, expression), type_)
    return TypedStep(expression, type_)


def build_decimal_arithmetic(
    operator: ArithmeticOperator, left: TypedStep, right: TypedStep
) -> TypedStep:
    """Return the sum or difference of decimals of one scale, or the product of any decimals.

    Integers count as decimals without digits after the point.
    """
    assert operator not in (ArithmeticOperator.DIVIDE, ArithmeticOperator.REMAINDER)
    left_type = find_decimal_type(left.type)
    right_type = find_decimal_type(right.type)
    type_ = find_arithmetic_type(operator.value, left_type, right_type)
    result = make_integer_arithmetic(operator, left.expression, right.expression)
    if operator is ArithmeticOperator.MULTIPLY:
        lost_digits = left_type.scale + right_type.scale - type_.scale
        if lost_digits:  # the type has 38 digits, and fewer after the point than the product
            unit = Constant(10**lost_digits, Kind.INTEGER)
            result = make_integer_arithmetic(ArithmeticOperator.DIVIDE, result, unit)
    return TypedStep(result, type_)


def negate(value: TypedStep, *, ansi: bool) -> TypedStep:
    """Return `-x` for a number or an interval."""
    type_ = value.type
    if type_.kind is Kind.FLOATING:
        minus_one = Constant(-1.0, Kind.FLOATING)
        operands: tuple[RunExpression, ...] = (minus_one, value.expression)
        return TypedStep(Arithmetic(ArithmeticOperator.MULTIPLY, operands, Kind.FLOATING), type_)
    operands = (Constant(0, Kind.INTEGER), value.expression)
    # Decimals and intervals never wrap around.
    on_error = OnFailure.choose_by_mode(ansi=ansi or type_.family is not Family.INTEGER)
    difference = Arithmetic(
        ArithmeticOperator.SUBTRACT, operands, Kind.INTEGER, type_.bits, on_error
    )
    return TypedStep(difference, type_)


def build_decimal_average(
    total: RunExpression, count: RunExpression, type_: ValueType
) -> TypedStep:
    """Return Spark's `avg` of decimals with its type: it has four more digits after the point.

    Args:
        total: the sum of the decimals.
        count: the number of the decimals.
        type_: the type of the decimals.
    """
    power = Constant(10**ADDED_BY_AVERAGE, Kind.INTEGER)
    shifted_total = make_integer_arithmetic(ArithmeticOperator.MULTIPLY, total, power)
    # DIVIDE rounds half away from zero, as Spark does.
    average = make_integer_arithmetic(ArithmeticOperator.DIVIDE, shifted_total, count)
    return TypedStep(average, find_average_type(type_))


def build_time_arithmetic(
    operator: ArithmeticOperator, left: TypedStep, right: TypedStep
) -> TypedStep | None:
    """Return arithmetic of dates, timestamps and day-time intervals, with its type.

    A date is a number of days, the others are numbers of microseconds. The difference of two times
    is an interval. A time plus an interval is a time.

    Returns:
        None if Spark has no such operation, or if Python must compute it.
    """
    expression = make_integer_arithmetic(operator, left.expression, right.expression)
    match left.type.family, operator.value, right.type.family:
        case (F.DATE, "+" | "-", F.INTEGER) | (F.INTEGER, "+", F.DATE):
            days = right if left.type == DATE else left
            if days.type.bits > INT.bits:
                return None  # Spark does not add a bigint to a date
            return TypedStep(build_day_arithmetic(operator, left, right), DATE)
        case (F.INTERVAL, "*" | "/", F.INTEGER | F.DECIMAL):
            return scale_interval(operator, left, right)
        case (F.INTEGER | F.DECIMAL, "*", F.INTERVAL):
            return scale_interval(operator, right, left)
        case (F.TIMESTAMP | F.TIMESTAMP_NTZ | F.INTERVAL, "+" | "-", F.INTERVAL):
            return TypedStep(expression, left.type)
        case (F.INTERVAL, "+", F.TIMESTAMP | F.TIMESTAMP_NTZ):
            return TypedStep(expression, right.type)
        case (F.DATE, "-", F.DATE):
            day = Constant(MICROSECONDS_PER_DAY, Kind.INTEGER)
            microseconds = make_integer_arithmetic(ArithmeticOperator.MULTIPLY, expression, day)
            return TypedStep(microseconds, INTERVAL)
        case (F.TIMESTAMP, "-", F.TIMESTAMP) | (F.TIMESTAMP_NTZ, "-", F.TIMESTAMP_NTZ):
            return TypedStep(expression, INTERVAL)
        case _:
            return None


def scale_interval(
    operator: ArithmeticOperator, interval: TypedStep, number: TypedStep
) -> TypedStep | None:
    """Return an interval times or divided by an exact number, with its type.

    The result is rounded half away from zero. None if the number is a decimal too wide for an
    int64.
    """
    if is_wide_decimal(number.type):
        return None
    # The number is its digits divided by this power of ten; the power of an integer is 1.
    digits: RunExpression = number.expression
    power: RunExpression = Constant(10**number.type.scale, Kind.INTEGER)
    if operator is ArithmeticOperator.DIVIDE:
        factor, divisor = power, digits
    else:
        factor, divisor = digits, power
    product = make_integer_arithmetic(ArithmeticOperator.MULTIPLY, interval.expression, factor)
    return TypedStep(make_integer_arithmetic(ArithmeticOperator.DIVIDE, product, divisor), INTERVAL)


def build_day_arithmetic(
    operator: ArithmeticOperator, left: TypedStep, right: TypedStep
) -> RunExpression:
    """Return a date plus or minus days, or the days between two dates.

    The result wraps around in 32 bits, even in ANSI mode.
    """
    operands = (left.expression, right.expression)
    return Arithmetic(operator, operands, Kind.INTEGER, INT.bits, OnFailure.WRAP)
