"""Type what Python computes: functions of values of the run, and of one another.

    levenshtein(name || '.', LAST(A.name))   →   LEVENSHTEIN(||(name, '.'), name at A)

Arguments are cast to the types that a function takes, as Spark does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from matchrec.conditions.functions import load_functions
from matchrec.conditions.functions.calendar import has_fixed_offset, is_known_zone
from matchrec.conditions.functions.function import FunctionUse, ParameterType
from matchrec.conditions.residual import TypedOperation, TypedStep
from matchrec.conditions.run_condition import (
    ArithmeticOperator,
    BasicOperator,
    PythonCall,
    PythonExpression,
    ReadValue,
    RunAggregate,
    RunExpression,
    RunOperation,
)
from matchrec.conditions.types import (
    INT,
    INTERVAL,
    NESTED,
    NUMBERS,
    TIMESTAMP_NTZ,
    VOID,
    Family,
    ValueType,
    build_array_type,
    build_decimal_type,
    find_comparison_type,
    is_ranked,
    is_wide_decimal,
    number_fields,
)
from matchrec.conditions.typing.constants import make_null
from matchrec.conditions.typing.failures import cast_may_fail
from matchrec.conditions.typing.numbers import compute_times, find_common_nested, widen
from matchrec.conditions.typing.typer import Typer, are_columns
from matchrec.errors import MatchRecognizeError, conditions
from matchrec.plan.expression import COMPARISONS
from matchrec.plan.operators import BASIC_OPERATORS, OperatorKind, find_operator_names

# Operations that only the search computes, whatever the types of the operands are.
NEVER_IN_PYTHON = find_operator_names(OperatorKind.LOGIC, OperatorKind.CHOICE) | {"DIV"}


def needs_python(typer: Typer, step: TypedOperation) -> bool:
    """Return whether Python must compute an operation.

    It must if the search does not have the operation, or does not have the values of its operands.
    """
    if step.operator in NEVER_IN_PYTHON:
        return False
    if step.operator not in BASIC_OPERATORS:
        return step.operator in load_functions()
    if any(may_be_in_python(operand) for operand in step.operands):
        return True
    return needs_values_of_ranks(typer, step)


def needs_values_of_ranks(typer: Typer, step: TypedOperation) -> bool:
    """Return whether an operation on numbers needs values, but the search has only their ranks.

    Ranks of one type can be compared. Columns of different types are cast to one type by Spark.
    """
    numbers = [operand for operand in step.operands if operand.type.family in NUMBERS]
    are_ranks = [
        is_wide_decimal(number.type) and is_rank(number.expression, typer) for number in numbers
    ]
    if not any(are_ranks) or step.operator == "NEG":
        return any(are_ranks)
    have_one_type = len({number.type for number in numbers}) == 1
    can_compare_ranks = all(are_ranks) and have_one_type
    return not can_compare_ranks and not are_columns(*numbers)


def is_rank(expression: RunExpression, typer: Typer) -> bool:
    """Return whether the search has, or may have, the rank of a wide decimal instead of its value.

    It has ranks of decimals that it reads from columns, and digits of decimals that it computes.
    """
    reads = [
        value
        for value in find_possible_values(expression)
        if isinstance(value, ReadValue | RunAggregate)
    ]
    return any(typer.drafts[read.column].is_ranked for read in reads if read.column is not None)


def may_be_in_python(operand: TypedStep) -> bool:
    """Return whether only Python has a value, or may have it: it was computed during the match."""
    possible_values = find_possible_values(operand.expression)
    return is_ranked(operand.type) and any(
        isinstance(value, PythonExpression) for value in possible_values
    )


def find_possible_values(expression: RunExpression) -> Iterator[RunExpression]:
    """Yield the expressions that may be the value of an expression.

    These are the branches of IF, at any depth. Any other expression yields itself.
    """
    match expression:
        case RunOperation(BasicOperator.CHOOSE, (_, *values)):
            for value in values:
                yield from find_possible_values(value)
        case _:
            yield expression


def type_branches(typer: Typer, step: TypedOperation) -> tuple[TypedStep, TypedStep]:
    """Return the two values of IF as values of one type.

    If only Python may have one of the values, or if it must be computed from ranks, the other value
    is converted so that Python can hold it, too.

    Raises:
        MatchRecognizeUnsupportedError: there is no such type.
    """
    _, then, otherwise = step.operands
    then_type = then.type
    other_type = otherwise.type
    is_in_python = may_be_in_python(then) or may_be_in_python(otherwise)
    if not is_in_python and not needs_values_of_ranks(typer, step):
        return typer.unify(step, then, otherwise)
    if {then_type.family, other_type.family} <= NUMBERS:
        # If the decimals have more than 38 digits together, they keep all digits after the point.
        precision = then_type.precision + other_type.precision
        widest = build_decimal_type(precision, max(then_type.scale, other_type.scale))
        type_ = find_comparison_type(then_type, other_type, ansi=typer.ansi) or widest
    else:
        then, otherwise = typer.unify(step, then, otherwise)
        type_ = then.type
    return convert_branch(typer, step, then, type_), convert_branch(typer, step, otherwise, type_)


def convert_branch(
    typer: Typer, step: TypedOperation, operand: TypedStep, type_: ValueType
) -> TypedStep:
    """Return one of the values of IF if the other value may be in Python.

    It stays as it is if it has the type already and is a rank, a value that Python holds, or NULL.
    Python converts any other value.
    """
    is_null = operand.expression == make_null(type_).expression
    if operand.type == type_ and (
        is_null
        or not is_ranked(type_)
        or may_be_in_python(operand)
        or is_rank(operand.expression, typer)
    ):
        return operand
    return cast_in_python(typer, step, operand, type_)


def cast_in_python(
    typer: Typer, step: TypedOperation, operand: TypedStep, target: ValueType
) -> TypedStep:
    """Return a value as another type, cast by Python.

    Raises:
        MatchRecognizeUnsupportedError: Python does not have this cast.
    """
    words = (target.name.upper(),)
    use = FunctionUse((operand.type,), words, typer.ansi, typer.settings.time_zone)
    if load_functions()["CAST"].find_type(use) is None:
        raise conditions.types_cannot_be_combined(
            step.operator, operand.type.name, target.name, step.span
        )
    return TypedStep(PythonCall("CAST", (operand.expression,), use, target), target)


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
    if name in CASTS and typer.settings.timestamp_type == "timestamp_ntz":
        words = tuple("TIMESTAMP_NTZ" if word == "TIMESTAMP" else word for word in words)
    types = tuple(argument.type for argument in arguments)
    use = FunctionUse(types, words, typer.ansi, typer.settings.time_zone)
    if not function.takes_count(len(arguments)):
        raise conditions.function_of_several_rows(step.span, what=name)
    type_ = function.find_type(use)
    if type_ is None:
        raise build_argument_error(step, types)
    check_time_zone(typer, step, (*types, type_))
    expressions = tuple(argument.expression for argument in arguments)
    return TypedStep(PythonCall(name, expressions, use, type_), type_)


def build_argument_error(step: TypedOperation, types: Sequence[ValueType]) -> MatchRecognizeError:
    """Return the error for a function that has no result for arguments of these types."""
    type_names = [type_.name for type_ in types]
    if len(type_names) == 1:
        value = f"{type_names[0]} as {step.words[0]}" if step.words else type_names[0]
        return conditions.wrong_argument_type(step.span, function=step.operator, value=value)
    first_names = ", ".join(type_names[:-1])
    return conditions.types_cannot_be_combined(
        step.operator, first_names, type_names[-1], step.span
    )


def check_time_zone(typer: Typer, step: TypedOperation, types: Sequence[ValueType]) -> None:
    """Check that Python knows the local times of instants, if a function has to do with instants.

    Raises:
        MatchRecognizeUnsupportedError: Python does not know the time zone of the session.
    """
    time_zone = typer.settings.time_zone
    has_instant = any(type_.family is Family.TIMESTAMP for type_ in types)
    if has_instant and not is_known_zone(time_zone):
        raise conditions.unknown_time_zone(step.span, function=step.operator, name=time_zone)


def type_time_arithmetic(typer: Typer, step: TypedOperation) -> TypedStep:
    """Return arithmetic of times and intervals with its type.

    The difference of two instants, and the sum of an instant and an interval, are computed in local
    time. The search cannot do that if clocks change in the session's time zone. Then Spark casts
    two columns to local times, and Python computes anything else.

    Raises:
        MatchRecognizeUnsupportedError: there is no such arithmetic on these types.
    """
    left, right = step.operands
    families = {left.type.family, right.type.family}
    is_on_instants = Family.TIMESTAMP in families and families <= {
        Family.TIMESTAMP,
        Family.INTERVAL,
    }
    operator = ArithmeticOperator(step.operator)
    typed = None
    if not is_on_instants or has_fixed_offset(typer.settings.time_zone):
        typed = compute_times(operator, left, right)
    elif step.operator == "-" and families == {Family.TIMESTAMP} and are_columns(left, right):
        local_left = typer.cast_column(left, TIMESTAMP_NTZ)
        local_right = typer.cast_column(right, TIMESTAMP_NTZ)
        typed = compute_times(operator, local_left, local_right)
    if typed is not None:
        return typed
    if left.type == INTERVAL and step.operator == "+":
        operands = (right, left)  # the functions take the interval second
    else:
        operands = (left, right)
    use = FunctionUse(tuple(operand.type for operand in operands))
    name = f"TIME {step.operator}"
    function = load_functions().get(name)
    if function is None or function.find_type(use) is None:
        raise conditions.types_cannot_be_combined(
            step.operator, left.type.name, right.type.name, step.span
        )
    return type_call(typer, replace(step, operator=name, operands=operands))


# Arguments: what Spark casts implicitly is cast here, and nowhere else.
#
# levenshtein(A.s, B.s, C.l)    levenshtein(A.s, B.s, CAST(C.l AS INT)): without ANSI mode,
#                               4294967297 is 1; in ANSI mode it is an error
#
# `Function.parameters` lists the types that a function takes. Source: Spark's rules of implicit
# casts, `TypeCoercion.implicitCast`; the tests ask Spark which types it takes.

CAST_TO_NUMBERS = NUMBERS | {Family.STRING}

# For types of each family, the families that Spark casts to them. Binary values are left out:
# functions of them have the same names.
IMPLICIT_SOURCES: Mapping[Family, frozenset[Family]] = {
    Family.INTEGER: CAST_TO_NUMBERS,
    Family.FLOATING: CAST_TO_NUMBERS,
    Family.STRING: frozenset(Family) - NESTED - {Family.BINARY, Family.OTHER},
}


def convert_argument(
    typer: Typer, step: TypedOperation, operand: TypedStep, parameter: ParameterType
) -> TypedStep:
    """Return a value as an argument that a function takes.

    Raises:
        MatchRecognizeUnsupportedError: Spark does not cast it implicitly, or Python cannot.
    """
    if parameter is None:
        return operand
    type_ = operand.type
    if isinstance(parameter, Family):
        if type_ == VOID and parameter is Family.INTEGER:
            return make_null(INT)
        if type_.family is not parameter:
            raise conditions.wrong_argument_type(
                step.span, function=step.operator, value=type_.name
            )
        return operand
    if type_ == VOID:
        return make_null(parameter)
    if type_.family not in IMPLICIT_SOURCES[parameter.family]:
        raise conditions.wrong_argument_type(step.span, function=step.operator, value=type_.name)
    if type_.family is parameter.family and type_.bits <= parameter.bits:
        return (
            operand if type_.family is Family.STRING else TypedStep(operand.expression, parameter)
        )
    return cast_implicitly(typer, step, operand, parameter)


def cast_implicitly(
    typer: Typer, step: TypedOperation, operand: TypedStep, target: ValueType
) -> TypedStep:
    """Return an argument cast to a type by Spark, the search or Python.

    Spark casts a column for every row, so it does so only if the cast cannot fail.
    """
    type_ = operand.type
    if operand.column_read is not None and not (typer.ansi and cast_may_fail(type_, target)):
        return typer.cast_column(operand, target)
    is_narrow_number = type_.family in NUMBERS and not is_wide_decimal(type_)
    if target.family is Family.FLOATING and is_narrow_number:
        return widen(operand, target)
    return cast_in_python(typer, step, operand, target)


# Nested values and their elements are brought to one type, as Spark does before it computes.
#
# array_contains(A.tags, B.name)     collect_list(A.i) = B.longs

UNIFIED_FUNCTIONS = COMPARISONS | frozenset({"ARRAY_INTERSECT", "ARRAYS_OVERLAP"})


def unify_arguments(
    typer: Typer, step: TypedOperation, arguments: Sequence[TypedStep]
) -> list[TypedStep]:
    """Return the arguments of a function, with nested values brought to one type."""
    targets = find_common_types(typer, step.operator, [argument.type for argument in arguments])
    if targets is None:
        return list(arguments)
    return [
        typer.convert(step, argument, target)
        for argument, target in zip(arguments, targets, strict=True)
    ]


def find_common_types(
    typer: Typer, name: str, types: Sequence[ValueType]
) -> list[ValueType] | None:
    """Return the types to which Spark brings the arguments of a function.

    None if they keep their types.
    """
    if name == "ARRAY_CONTAINS" and types[0].element is not None:
        element = find_common_nested(types[0].element, types[1], ansi=typer.ansi)
        return None if element is None else [build_array_type(element), element]
    if name not in UNIFIED_FUNCTIONS or all(type_.family not in NESTED for type_ in types):
        return None
    if name in COMPARISONS and len({number_fields(type_) for type_ in types}) == 1:
        return None  # the names of fields do not matter
    common = find_common_nested(types[0], types[1], ansi=typer.ansi)
    return None if common is None else [common, common]
