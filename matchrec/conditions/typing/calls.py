"""Type the functions that Python computes. Their arguments can be results of such functions.

    levenshtein(name || '.', LAST(A.name))   →   LEVENSHTEIN(||(name, '.'), name at A)

`arguments` casts the arguments to the types that a function takes, as Spark does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from matchrec.conditions.functions import TIME_PREFIX, load_functions
from matchrec.conditions.functions.calendar import has_fixed_offset, is_known_zone
from matchrec.conditions.residual import TypedOperation, TypedStep
from matchrec.conditions.run_condition import ArithmeticOperator, PythonCall
from matchrec.conditions.types import INTERVAL, TIMESTAMP_NTZ, Family, ValueType
from matchrec.conditions.typing.arguments import (
    build_argument_error,
    convert_argument,
    unify_arguments,
)
from matchrec.conditions.typing.numbers import build_time_arithmetic
from matchrec.conditions.typing.typer import Typer, are_columns, make_types_error
from matchrec.errors import conditions


def type_call(typer: Typer, step: TypedOperation) -> TypedStep:
    """Return a function that Python computes with its type.

    Raises:
        MatchRecognizeUnsupportedError: the function does not take these arguments, or depends on a
            time zone that Python does not know.
    """
    from matchrec.conditions.functions.casts import CASTS

    name = step.operator
    function = load_functions()[name]
    arguments = [
        convert_argument(typer, step, operand, function.find_parameter(index))
        for index, operand in enumerate(step.operands)
    ]
    arguments = unify_arguments(typer, step, arguments)
    words = step.words
    if name in CASTS and typer.settings.timestamp_type == TIMESTAMP_NTZ.name:
        # In this session, a cast to TIMESTAMP is one to TIMESTAMP_NTZ.
        words = tuple("TIMESTAMP_NTZ" if word == "TIMESTAMP" else word for word in words)
    use = typer.describe_call([argument.type for argument in arguments], words)
    if not function.takes_count(len(arguments)):
        raise conditions.function_of_several_rows(step.span, what=name)
    type_ = function.find_type(use)
    if type_ is None:
        raise build_argument_error(step, use.types)
    check_time_zone(typer, step, (*use.types, type_))
    expressions = tuple(argument.expression for argument in arguments)
    return TypedStep(PythonCall(name, expressions, use, type_), type_)


def check_time_zone(typer: Typer, step: TypedOperation, types: Sequence[ValueType]) -> None:
    """Check that Python knows the session's time zone, if a function takes or returns an instant.

    Args:
        typer: the typer, which has the settings of the session.
        step: the call of the function, for the error.
        types: the types of its arguments and of its result.

    Raises:
        MatchRecognizeUnsupportedError: Python does not know the time zone.
    """
    time_zone = typer.settings.time_zone
    has_instant = any(type_.family is Family.TIMESTAMP for type_ in types)
    if has_instant and not is_known_zone(time_zone):
        raise conditions.unknown_time_zone(step.span, function=step.operator, name=time_zone)


def type_time_arithmetic(typer: Typer, step: TypedOperation) -> TypedStep:
    """Return arithmetic of times and intervals with its type.

    Raises:
        MatchRecognizeUnsupportedError: there is no such arithmetic on these types.
    """
    left, right = step.operands
    typed_step = build_time_arithmetic_in_search(
        typer, ArithmeticOperator(step.operator), left, right
    )
    if typed_step is not None:
        return typed_step
    if left.type == INTERVAL and step.operator == "+":
        operands = (right, left)  # the functions take the interval second
    else:
        operands = (left, right)
    use = typer.describe_call(operand.type for operand in operands)
    name = f"{TIME_PREFIX}{step.operator}"
    function = load_functions().get(name)
    if function is None or function.find_type(use) is None:
        raise make_types_error(step, left.type, right.type)
    return type_call(typer, replace(step, operator=name, operands=operands))


def build_time_arithmetic_in_search(
    typer: Typer, operator: ArithmeticOperator, left: TypedStep, right: TypedStep
) -> TypedStep | None:
    """Return arithmetic of times and intervals that the search computes; None if it cannot.

    The difference of two instants, and the sum of an instant and an interval, are computed in local
    time. If clocks change in the session's time zone, the search has local times only of two
    columns, which Spark casts to them.
    """
    families = {left.type.family, right.type.family}
    are_instants = families == {Family.TIMESTAMP}
    has_instant_and_interval = families == {Family.TIMESTAMP, Family.INTERVAL}
    is_in_local_time = are_instants or has_instant_and_interval
    if not is_in_local_time or has_fixed_offset(typer.settings.time_zone):
        return build_time_arithmetic(operator, left, right)
    if operator is ArithmeticOperator.SUBTRACT and are_instants and are_columns(left, right):
        local_left = typer.cast_column(left, TIMESTAMP_NTZ)
        local_right = typer.cast_column(right, TIMESTAMP_NTZ)
        return build_time_arithmetic(operator, local_left, local_right)
    return None
