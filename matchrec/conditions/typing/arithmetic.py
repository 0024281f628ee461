"""Type arithmetic and mathematical functions of values of the run.

The search computes the operations of `numbers`. Python computes all others, see `calls`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from math import nan

from matchrec.conditions.residual import TypedOperation, TypedStep
from matchrec.conditions.run_condition import (
    INTEGER_FUNCTIONS,
    Arithmetic,
    ArithmeticOperator,
    BasicOperator,
    Comparison,
    Constant,
    MathFunction,
    OnError,
    PythonCall,
    PythonExpression,
    RunExpression,
    RunOperation,
    build_operation,
)
from matchrec.conditions.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    MOST_DIGITS,
    NUMBERS,
    Family,
    Kind,
    ValueType,
    build_decimal_type,
    find_comparison_type,
    find_decimal_type,
    is_wide_decimal,
)
from matchrec.conditions.typing import calls
from matchrec.conditions.typing.numbers import (
    compute_days,
    compute_numbers,
    make_integer_arithmetic,
    negate,
    widen_clamped,
)
from matchrec.conditions.typing.typer import Typer, are_columns, are_different_times
from matchrec.errors.conditions import (
    function_of_several_rows,
    types_cannot_be_combined,
    wrong_aggregate_argument_type,
)
from matchrec.plan.expression import COMPARISONS
from matchrec.plan.operators import OPERATORS

# Operations whose operands, which may be more than two, Spark brings to one type.
UNIFIED_OPERATIONS = frozenset({"COALESCE", "GREATEST", "LEAST", "IN", "CASE"})

# Operations that return one of their operands, or compare them.
CHOICES = UNIFIED_OPERATIONS | {"IF", "IFNULL", "NVL", "NVL2"}


def type_arithmetic(typer: Typer, step: TypedOperation) -> TypedStep:
    """Return arithmetic of numbers, times and intervals with its type.

    Raises:
        MatchRecognizeUnsupportedError: there is no such arithmetic on these types.
    """
    if step.operator == "DIV":
        return type_integer_division(typer, step)
    if step.operator == "NEG":
        value = step.operands[0]
        if value.type.family not in NUMBERS | {Family.INTERVAL}:
            raise wrong_aggregate_argument_type("-", [value.type.name], step.span)
        return negate(value, ansi=typer.ansi)
    if step.operator == "DATEDIFF":
        return type_days_between(typer, step)
    left, right = step.operands
    if left.type.family in NUMBERS and right.type.family in NUMBERS:
        return type_number_arithmetic(typer, step, left, right)
    if step.operator == "-" and are_different_times(left.type, right.type):
        times = typer.unify_times(step, left, right)
        return type_arithmetic(typer, replace(step, operands=times))
    return calls.type_time_arithmetic(typer, step)


def type_days_between(typer: Typer, step: TypedOperation) -> TypedStep:
    """Return DATEDIFF(end, start), a number of days, with its type.

    Spark casts columns to dates. Python computes anything else.
    """
    if not are_columns(*step.operands):
        return calls.type_call(typer, step)
    end, start = [typer.cast_column(operand, DATE) for operand in step.operands]
    return TypedStep(compute_days(ArithmeticOperator.SUBTRACT, end, start), INT)


def type_number_arithmetic(
    typer: Typer, step: TypedOperation, left: TypedStep, right: TypedStep
) -> TypedStep:
    """Return arithmetic of two numbers with its type.

    Raises:
        MatchRecognizeUnsupportedError: the search cannot compute it.
    """
    operator = ArithmeticOperator(step.operator)
    is_on_decimals = has_exact_decimal(left.type, right.type)
    has_wide_decimal = is_wide_decimal(left.type) or is_wide_decimal(right.type)
    if is_on_decimals and (operator is ArithmeticOperator.DIVIDE or has_wide_decimal):
        return calls.type_call(typer, step)
    has_float = Family.FLOATING in (left.type.family, right.type.family)
    if operator is ArithmeticOperator.DIVIDE:
        targets = (DOUBLE, DOUBLE)
    elif operator is ArithmeticOperator.MULTIPLY and not has_float:
        targets = (left.type, right.type)
    else:
        common = find_comparison_type(left.type, right.type, ansi=typer.ansi) or left.type
        targets = (common, common)
    left_value = typer.convert_number(step, left, targets[0])
    right_value = typer.convert_number(step, right, targets[1])
    typed = compute_numbers(operator, left_value, right_value, ansi=typer.ansi)
    if typed is None:
        raise types_cannot_be_combined(step.operator, left.type.name, right.type.name, step.span)
    return typed


def has_exact_decimal(left: ValueType, right: ValueType) -> bool:
    """Return whether arithmetic on numbers of these types has decimals and no floats."""
    families = {left.family, right.family}
    return Family.DECIMAL in families and Family.FLOATING not in families


def type_try_function(typer: Typer, step: TypedOperation) -> TypedStep:
    """Return TRY_ADD, TRY_DIVIDE or a similar function of two numbers with its type.

    Raises:
        MatchRecognizeUnsupportedError: the operands are not numbers, or the search cannot compute
            the operation.
    """
    left_type, right_type = [operand.type for operand in step.operands]
    if not {left_type.family, right_type.family} <= NUMBERS:
        raise types_cannot_be_combined(step.operator, left_type.name, right_type.name, step.span)
    operator = OPERATORS[step.operator].target
    assert operator is not None
    operation = replace(step, operator=operator)
    if has_exact_decimal(left_type, right_type):
        # Python computes it: a result that does not fit an int64 is no error, but a decimal.
        typed = calls.type_call(typer, operation)
    else:
        typed = typer.type_operation(operation)
    return TypedStep(make_null_on_error(typed.expression), typed.type)


def make_null_on_error(expression: RunExpression) -> RunExpression:
    """Return arithmetic changed so that it is NULL instead of an error."""
    match expression:
        case Arithmetic():
            return replace(expression, on_error=OnError.NULL)
        case RunOperation(BasicOperator.NARROW, (value,)):
            return build_operation(BasicOperator.NARROW, make_null_on_error(value))
        case PythonCall(use=use):
            return replace(expression, use=replace(use, ansi=False))
        case _:
            raise AssertionError(expression)


# Bringing operands to one type.


def unify_compared_operands(typer: Typer, step: TypedOperation) -> tuple[TypedStep, TypedStep]:
    """Return the operands of a comparison as values of one type.

    An integer and a decimal are compared within an int64, even if their common type has more
    digits.

    Raises:
        MatchRecognizeUnsupportedError: there is no such type.
    """
    left, right = step.operands
    common = find_wide_common_type(typer, left.type, right.type)
    if common is None or are_columns(left, right):
        return typer.unify(step, left, right)

    def convert(operand: TypedStep) -> TypedStep:
        """Return an operand converted to the common type."""
        if operand.type.family is Family.INTEGER:
            return widen_clamped(operand, common)
        return typer.convert_number(step, operand, common)

    return convert(left), convert(right)


def find_wide_common_type(typer: Typer, left: ValueType, right: ValueType) -> ValueType | None:
    """Return the common type of an integer and a decimal if it is too wide for an int64.

    None if an int64 holds it, or if the types are anything but an integer and a decimal.
    """
    if {left.family, right.family} != {Family.INTEGER, Family.DECIMAL}:
        return None
    if is_wide_decimal(left) or is_wide_decimal(right):
        return None
    common = find_comparison_type(left, right, ansi=typer.ansi)
    return common if common is not None and is_wide_decimal(common) else None


def limit_to_38_digits(typer: Typer, step: TypedOperation) -> TypedOperation:
    """Return an operation with its decimals rounded if their common type needs too many digits.

    Spark brings decimals to one type to compare them or to choose one of them. If that type needs
    more than 38 digits, it drops digits after the point: 3.33 = 3 is true if 3 is a DECIMAL(38, 0).
    In a comparison, an integer that the user wrote counts with its own digits only.

    Source: Spark's DecimalType.boundedPreferIntegralDigits, from version 4.0 on.
    """
    is_comparison = step.operator in COMPARISONS
    if not (is_comparison or step.operator in CHOICES) or not typer.settings.cuts_decimals:
        return step
    types = {
        find_narrowest_type(operand) if is_comparison else operand.type
        for operand in step.operands
        if operand.type.family in NUMBERS
    }
    has_wide_decimal = any(is_wide_decimal(type_) for type_ in types)
    has_float = any(type_.family is Family.FLOATING for type_ in types)
    if not has_wide_decimal or has_float:
        return step
    digits_before_point = max(find_decimal_type(type_).precision - type_.scale for type_ in types)
    digits_after_point = max(type_.scale for type_ in types)
    if digits_before_point + digits_after_point <= MOST_DIGITS:
        return step
    target = build_decimal_type(MOST_DIGITS, MOST_DIGITS - digits_before_point).name.upper()

    def round_number(operand: TypedStep) -> TypedStep:
        """Return a number cast to the target type; leave other operands unchanged."""
        if operand.type.family not in NUMBERS:
            return operand
        return typer.type_operation(TypedOperation("CAST", (operand,), step.span, (target,)))

    return replace(step, operands=tuple(round_number(operand) for operand in step.operands))


def find_narrowest_type(operand: TypedStep) -> ValueType:
    """Return the type of a number; for an integer that the user wrote, the least decimal type.

    Source: Spark's DecimalPrecision, integral literals.
    """
    match operand.expression:
        case Constant(int(value)) if operand.type.family is Family.INTEGER:
            return build_decimal_type(len(str(abs(value))), 0)
    return operand.type


def unify_with_floats(typer: Typer, step: TypedOperation) -> TypedOperation:
    """Return an operation in which all numbers have one type if one of them is a float.

    Spark brings the operands of `UNIFIED_OPERATIONS` to one type, so that
    9007199254740993 IN (0.5, 9007199254740992) is true.

    Raises:
        MatchRecognizeUnsupportedError: IN has numbers and texts, and the session is not in ANSI
            mode. Spark would compare all of them as texts.
    """
    if step.operator not in UNIFIED_OPERATIONS:
        return step
    types = [operand.type for operand in step.operands]
    number_types = [type_ for type_ in types if type_.family in NUMBERS]
    text_types = [type_ for type_ in types if type_.family is Family.STRING]
    if step.operator == "IN" and number_types and text_types and not typer.ansi:
        other_type = (number_types + text_types)[0]
        raise types_cannot_be_combined(step.operator, types[0].name, other_type.name, step.span)
    floats = [type_ for type_ in number_types if type_.family is Family.FLOATING]
    if not floats:
        return step

    def widen_type(left: ValueType, right: ValueType) -> ValueType:
        """Return the common type of two numbers, DOUBLE if they have none."""
        return find_comparison_type(left, right, ansi=typer.ansi) or DOUBLE

    target = reduce(widen_type, number_types, floats[0])
    operands = tuple(
        convert_to_float(typer, step, operand, target)
        if operand.type.family in NUMBERS
        else operand
        for operand in step.operands
    )
    return replace(step, operands=operands)


# Mathematical functions: round, floor, ln, sqrt, power and so on.
#
# The search computes floats, and rounds narrow decimals. Python computes anything else, also ROUND
# of a float close to the middle between two results.

TWO_ARGUMENTS = frozenset({MathFunction.POWER, MathFunction.LOG})
MOST_PLACES = 18  # the most decimal places to which ROUND can round


def type_mathematics(typer: Typer, step: TypedOperation) -> TypedStep:
    """Return a mathematical function with its type.

    Raises:
        MatchRecognizeUnsupportedError: it does not take these arguments.
    """
    if step.operator == "ROUND":
        return type_rounding(typer, step)
    name = OPERATORS[step.operator].target
    function = None if name is None else MathFunction(name)
    if function is MathFunction.LOG and len(step.operands) == 1:
        function = MathFunction.LN
    if len(step.operands) != (2 if function in TWO_ARGUMENTS else 1):
        raise function_of_several_rows(step.span, what=step.operator)
    if function is None:
        return type_isnan(typer, step)
    if function in INTEGER_FUNCTIONS:
        return type_floor_or_ceiling(typer, step, function)
    arguments = tuple(
        convert_to_float(typer, step, operand).expression for operand in step.operands
    )
    return TypedStep(RunOperation(function, arguments), DOUBLE)


def type_isnan(typer: Typer, step: TypedOperation) -> TypedStep:
    """Return ISNAN(x) with its type. It is false if x is NULL."""
    value = convert_to_float(typer, step, step.operands[0]).expression
    is_nan = build_operation(Comparison.EQUAL, value, Constant(nan, Kind.FLOATING))
    is_not_null = build_operation(BasicOperator.NOT, build_operation(BasicOperator.IS_NULL, value))
    return TypedStep(build_operation(BasicOperator.AND, is_not_null, is_nan), BOOLEAN)


def type_floor_or_ceiling(typer: Typer, step: TypedOperation, function: MathFunction) -> TypedStep:
    """Return FLOOR or CEIL with its type: a bigint, or a decimal for a decimal."""
    value = step.operands[0]
    if value.type.family is Family.INTEGER:
        return TypedStep(value.expression, BIGINT)
    if value.type.family is Family.DECIMAL:
        return calls.type_call(typer, replace(step, operator=function.value))
    return TypedStep(
        build_operation(function, convert_to_float(typer, step, value).expression), BIGINT
    )


def convert_to_float(
    typer: Typer, step: TypedOperation, operand: TypedStep, target: ValueType = DOUBLE
) -> TypedStep:
    """Return an argument as a float.

    Raises:
        MatchRecognizeUnsupportedError: Spark does not cast it implicitly.
    """
    if operand.type.family in NUMBERS and not is_wide_decimal(operand.type):
        return typer.convert_number(step, operand, target)
    return calls.convert_argument(typer, step, operand, target)


def type_rounding(typer: Typer, step: TypedOperation) -> TypedStep:
    """Return ROUND(x) or ROUND(x, places) with its type.

    Raises:
        MatchRecognizeUnsupportedError: `places` is not a whole number that the user wrote, or the
            function does not take x.
    """
    value = step.operands[0]
    type_ = value.type
    places = read_rounding_places(step)
    if type_.family is Family.INTEGER and places >= 0:
        return TypedStep(value.expression, type_)
    if type_.family is Family.DECIMAL and not is_wide_decimal(type_) and places >= 0:
        return round_decimal(value, places)
    by_python = calls.type_call(typer, replace(step, operands=(value,), words=(str(places),)))
    if type_.family is not Family.FLOATING or isinstance(value.expression, PythonExpression):
        return by_python
    double = convert_to_float(typer, step, value).expression
    by_engine = build_operation(MathFunction.ROUND, double, Constant(float(places), Kind.FLOATING))
    if type_ == FLOAT:
        by_engine = build_operation(BasicOperator.NARROW, by_engine)
    is_uncertain = build_operation(BasicOperator.IS_NULL, by_engine)
    return TypedStep(
        build_operation(BasicOperator.CHOOSE, is_uncertain, by_python.expression, by_engine), type_
    )


def round_decimal(value: TypedStep, places: int) -> TypedStep:
    """Return a decimal rounded to at most `places` digits after the point."""
    type_ = value.type
    scale = min(type_.scale, places)
    rounded_type = build_decimal_type(type_.precision - type_.scale + 1 + scale, scale)
    if scale == type_.scale:
        return TypedStep(value.expression, rounded_type)
    # DIVIDE of integers rounds half away from zero.
    power = Constant(10 ** (type_.scale - scale), Kind.INTEGER)
    rounded = make_integer_arithmetic(ArithmeticOperator.DIVIDE, value.expression, power)
    return TypedStep(rounded, rounded_type)


def read_rounding_places(step: TypedOperation) -> int:
    """Return the second argument of ROUND, a number of decimal places, which is 0 by default.

    Raises:
        MatchRecognizeUnsupportedError: it is not an INT that the user wrote, or too large.
    """
    if len(step.operands) == 1:
        return 0
    match step.operands[1:]:
        case (TypedStep(Constant(int() as places), type_),) if type_ == INT:
            if abs(places) <= MOST_PLACES:
                return places
    raise function_of_several_rows(step.span, what=step.operator)


def type_integer_division(typer: Typer, step: TypedOperation) -> TypedStep:
    """Return `a DIV b` of integers with its type: a bigint, rounded towards zero.

    It becomes `(a - a % b) / b`.

    Raises:
        MatchRecognizeUnsupportedError: an operand is not an integer.
    """
    left, right = step.operands
    if left.type.family is not Family.INTEGER or right.type.family is not Family.INTEGER:
        raise types_cannot_be_combined("DIV", left.type.name, right.type.name, step.span)

    def calculate(operator: ArithmeticOperator, *operands: RunExpression) -> RunExpression:
        """Return an operation on integers in the session's ANSI mode."""
        on_error = OnError.find(ansi=typer.ansi)
        return Arithmetic(operator, operands, Kind.INTEGER, on_error=on_error)

    dividend = left.expression
    divisor = right.expression
    remainder = calculate(ArithmeticOperator.REMAINDER, dividend, divisor)
    multiple = calculate(ArithmeticOperator.SUBTRACT, dividend, remainder)
    return TypedStep(calculate(ArithmeticOperator.DIVIDE, multiple, divisor), BIGINT)
