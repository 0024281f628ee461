"""Type mathematical functions: round, floor, ln, sqrt, power and so on.

The search computes functions of floats, converts other arguments to floats, and rounds integers and
decimals that an int64 holds. Python computes the other functions of decimals, rounds integers to
tens, hundreds and so on, and rounds floats that are close to the middle between two results.
"""

from __future__ import annotations

from dataclasses import replace
from math import nan

from matchrec.conditions.residual import TypedOperation, TypedStep
from matchrec.conditions.run_condition import (
    INTEGER_FUNCTIONS,
    ArithmeticOperator,
    BasicOperator,
    Comparison,
    Constant,
    MathFunction,
    PythonExpression,
    RunOperation,
    build_operation,
)
from matchrec.conditions.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INT,
    Family,
    Kind,
    build_decimal_type,
    is_wide_decimal,
)
from matchrec.conditions.typing.calls import type_call
from matchrec.conditions.typing.numbers import make_integer_arithmetic
from matchrec.conditions.typing.operand_types import convert_to_float
from matchrec.conditions.typing.typer import Typer
from matchrec.errors.conditions import function_of_several_rows
from matchrec.plan.operators import OPERATORS

FUNCTIONS_OF_TWO_ARGUMENTS = frozenset({MathFunction.POWER, MathFunction.LOG})
# The most places to which ROUND can round, before or after the point.
MAX_PLACES = 18


def type_mathematics(typer: Typer, step: TypedOperation) -> TypedStep:
    """Return a mathematical function with its type.

    Raises:
        MatchRecognizeUnsupportedError: it does not take these arguments.
    """
    if step.operator == "ROUND":
        return type_rounding(typer, step)
    name = OPERATORS[step.operator].math_function
    function = None if name is None else MathFunction(name)
    if function is MathFunction.LOG and len(step.operands) == 1:
        function = MathFunction.LN
    argument_count = 2 if function in FUNCTIONS_OF_TWO_ARGUMENTS else 1
    if len(step.operands) != argument_count:
        raise function_of_several_rows(step.span, what=step.operator)
    if function is None:  # ISNAN, the only one that is rewritten
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
        return type_call(typer, replace(step, operator=function.value))
    double = convert_to_float(typer, step, value).expression
    return TypedStep(build_operation(function, double), BIGINT)


def type_rounding(typer: Typer, step: TypedOperation) -> TypedStep:
    """Return ROUND(x) or ROUND(x, d) with its type.

    The search rounds integers and decimals that an int64 holds, unless `d` is negative. It rounds
    floats, too; if compiled code cannot be certain of the result, it calls Python. Python rounds
    any other number, and a float that Python has computed.

    Raises:
        MatchRecognizeUnsupportedError: d is not an INT between -18 and 18 that the user wrote, or
            x is not a number.
    """
    value = step.operands[0]
    type_ = value.type
    decimal_places = read_rounding_places(step)
    if type_.family is Family.INTEGER and decimal_places >= 0:
        return TypedStep(value.expression, type_)
    if type_.family is Family.DECIMAL and not is_wide_decimal(type_) and decimal_places >= 0:
        return round_decimal(value, decimal_places)
    python_call = type_call(typer, replace(step, operands=(value,), words=(str(decimal_places),)))
    if type_.family is not Family.FLOATING or isinstance(value.expression, PythonExpression):
        return python_call
    double = convert_to_float(typer, step, value).expression
    places_constant = Constant(float(decimal_places), Kind.FLOATING)
    search_result = build_operation(MathFunction.ROUND, double, places_constant)
    if type_ == FLOAT:
        search_result = build_operation(BasicOperator.NARROW, search_result)
    is_uncertain = build_operation(BasicOperator.IS_NULL, search_result)
    rounded = build_operation(
        BasicOperator.CHOOSE, is_uncertain, python_call.expression, search_result
    )
    return TypedStep(rounded, type_)


def round_decimal(value: TypedStep, decimal_places: int) -> TypedStep:
    """Return a decimal rounded to at most `decimal_places` digits after the point."""
    type_ = value.type
    scale = min(type_.scale, decimal_places)
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
        MatchRecognizeUnsupportedError: it is not an INT that the user wrote, or it is beyond
            MAX_PLACES.
    """
    if len(step.operands) == 1:
        return 0
    match step.operands[1:]:
        case (TypedStep(Constant(int() as places), type_),) if type_ == INT:
            if abs(places) <= MAX_PLACES:
                return places
    raise function_of_several_rows(step.span, what=step.operator)
