"""Type arithmetic of values of the run: of numbers, times and intervals.

The search computes the operations of `numbers`. Python computes all others, see `calls`.
"""

from __future__ import annotations

from dataclasses import replace

from matchrec.conditions.residual import TypedOperation, TypedStep
from matchrec.conditions.run_condition import (
    Arithmetic,
    ArithmeticOperator,
    BasicOperator,
    OnFailure,
    PythonCall,
    RunExpression,
    RunOperation,
    build_operation,
)
from matchrec.conditions.types import (
    BIGINT,
    DATE,
    DOUBLE,
    INT,
    NUMBERS,
    Family,
    Kind,
    ValueType,
    find_comparison_type,
    is_wide_decimal,
)
from matchrec.conditions.typing import calls
from matchrec.conditions.typing.numbers import (
    build_day_arithmetic,
    build_number_arithmetic,
    name_wider_decimal,
    negate,
)
from matchrec.conditions.typing.typer import (
    Typer,
    are_columns,
    are_different_times,
    make_types_error,
)
from matchrec.errors.conditions import wrong_negated_type
from matchrec.errors.run.origins import OperationOrigin, make_operation_origin
from matchrec.plan.operators import OPERATORS


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
            raise wrong_negated_type(value.type.name, step.span)
        return add_origin(negate(value, ansi=typer.ansi), step)
    if step.operator == "DATEDIFF":
        return type_days_between(typer, step)
    left, right = step.operands
    if left.type.family in NUMBERS and right.type.family in NUMBERS:
        return type_number_arithmetic(typer, step, left, right)
    if step.operator == "-" and are_different_times(left.type, right.type):
        times = typer.unify_times(step, left, right)
        return type_arithmetic(typer, replace(step, operands=times))
    return calls.type_time_arithmetic(typer, step)


def type_integer_division(typer: Typer, step: TypedOperation) -> TypedStep:
    """Return `a DIV b` of integers with its type: a bigint, rounded towards zero.

    It becomes `(a - a % b) / b`.

    Raises:
        MatchRecognizeUnsupportedError: an operand is not an integer.
    """
    left, right = step.operands
    if left.type.family is not Family.INTEGER or right.type.family is not Family.INTEGER:
        raise make_types_error(step, left.type, right.type)

    origin = find_operation_origin(step, BIGINT.bits)

    def calculate(operator: ArithmeticOperator, *operands: RunExpression) -> RunExpression:
        """Return an operation on integers in the session's ANSI mode."""
        on_error = OnFailure.choose_by_mode(ansi=typer.ansi)
        return Arithmetic(operator, operands, Kind.INTEGER, on_error=on_error, origin=origin)

    dividend = left.expression
    divisor = right.expression
    remainder = calculate(ArithmeticOperator.REMAINDER, dividend, divisor)
    multiple = calculate(ArithmeticOperator.SUBTRACT, dividend, remainder)
    return TypedStep(calculate(ArithmeticOperator.DIVIDE, multiple, divisor), BIGINT)


def type_days_between(typer: Typer, step: TypedOperation) -> TypedStep:
    """Return DATEDIFF(end, start), a number of days, with its type.

    Spark casts columns to dates. Python computes anything else.
    """
    if not are_columns(*step.operands):
        return calls.type_call(typer, step)
    end, start = [typer.cast_column(operand, DATE) for operand in step.operands]
    return TypedStep(build_day_arithmetic(ArithmeticOperator.SUBTRACT, end, start), INT)


def type_number_arithmetic(
    typer: Typer, step: TypedOperation, left: TypedStep, right: TypedStep
) -> TypedStep:
    """Return arithmetic of two numbers with its type.

    Python computes quotients and remainders of decimals, and arithmetic of decimals that an int64
    cannot hold.
    """
    operator = ArithmeticOperator(step.operator)
    is_division = operator in (ArithmeticOperator.DIVIDE, ArithmeticOperator.REMAINDER)
    has_wide_decimal = is_wide_decimal(left.type) or is_wide_decimal(right.type)
    if has_exact_decimal(left.type, right.type) and (is_division or has_wide_decimal):
        return calls.type_call(typer, step)
    left_type, right_type = find_operand_types(operator, left.type, right.type, ansi=typer.ansi)
    left_value = typer.convert_number(step, left, left_type)
    right_value = typer.convert_number(step, right, right_type)
    typed_step = build_number_arithmetic(operator, left_value, right_value, ansi=typer.ansi)
    return add_origin(typed_step, step)


def add_origin(typed_step: TypedStep, step: TypedOperation) -> TypedStep:
    """Return arithmetic that remembers where the user wrote it.

    Args:
        typed_step: the arithmetic with its type. Decimals and floats can have an operation around
            it.
        step: the operation as the user wrote it.
    """
    expression = typed_step.expression
    if isinstance(expression, Arithmetic):
        origin = find_operation_origin(step, expression.bits)
        return replace(typed_step, expression=replace(expression, origin=origin))
    return typed_step


def find_operation_origin(step: TypedOperation, bits: int) -> OperationOrigin | None:
    """Return where the user wrote an operation on numbers; None if that is not known.

    Args:
        step: the operation.
        bits: the width of its result if it is an integer.
    """
    first_operand = step.operands[0]
    wider_type: str | None
    if first_operand.type.family is Family.INTEGER and bits < BIGINT.bits:
        wider_type = "BIGINT"
    elif step.operator == "DIV":
        wider_type = None  # the search has DIV only for integers
    else:
        wider_type = name_wider_decimal(first_operand.type.scale)
    return make_operation_origin(step.span, first_operand.span, wider_type)


def find_operand_types(
    operator: ArithmeticOperator, left: ValueType, right: ValueType, *, ansi: bool
) -> tuple[ValueType, ValueType]:
    """Return the types to which the search brings two numbers to compute with them.

    A quotient is computed from doubles; Python divides decimals. The factors of a product keep
    their types, unless one is a float. All other operations have operands of one type.
    """
    has_float = Family.FLOATING in (left.family, right.family)
    if operator is ArithmeticOperator.DIVIDE:
        return DOUBLE, DOUBLE
    if operator is ArithmeticOperator.MULTIPLY and not has_float:
        return left, right
    common = find_comparison_type(left, right, ansi=ansi)
    # Only decimals that are too wide for an int64 can need more than 38 digits together, and Python
    # computes with these.
    assert common is not None
    return common, common


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
        raise make_types_error(step, left_type, right_type)
    operator = OPERATORS[step.operator].tried_operator
    assert operator is not None
    operation = replace(step, operator=operator)
    if has_exact_decimal(left_type, right_type):
        # Python computes it: a result that does not fit an int64 is no error, but a decimal.
        typed_step = calls.type_call(typer, operation)
    else:
        typed_step = typer.type_operation(operation)
    return TypedStep(make_null_on_error(typed_step.expression), typed_step.type)


def make_null_on_error(expression: RunExpression) -> RunExpression:
    """Return arithmetic changed so that it is NULL instead of an error."""
    match expression:
        case Arithmetic():
            return replace(expression, on_error=OnFailure.NULL)
        case RunOperation(BasicOperator.NARROW, (value,)):
            return build_operation(BasicOperator.NARROW, make_null_on_error(value))
        case PythonCall(use=use):
            return replace(expression, use=replace(use, ansi=False))
        case _:
            raise AssertionError(expression)
