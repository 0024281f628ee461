"""Convert the arguments of a function to the types that it takes.

1. The casts that Spark adds to an argument are added here. In `levenshtein(A.s, B.s, C.l)`, where l
   is a BIGINT, the last argument becomes `CAST(C.l AS INT)`: 4294967297 is 1 without ANSI mode, and
   an error in ANSI mode.
2. Nested values and their elements are brought to one type, as Spark does before it computes. In
   `array_contains(A.ints, B.i)`, the elements and B.i get the wider of their types.

`Function.parameters` lists the types that a function of Python takes. Mathematical functions of the
search take floats: see `operand_types.convert_to_float`.

Source: Spark's rules of implicit casts, `TypeCoercion.implicitCast`. The tests ask Spark which
types it takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matchrec.conditions.functions.function import ParameterType
from matchrec.conditions.residual import TypedOperation, TypedStep
from matchrec.conditions.types import (
    INT,
    NESTED,
    NUMBERS,
    VOID,
    Family,
    ValueType,
    build_array_type,
    find_common_nested_type,
    is_wide_decimal,
    remove_field_names,
)
from matchrec.conditions.typing.constants import make_null
from matchrec.conditions.typing.failures import cast_can_fail
from matchrec.conditions.typing.numbers import widen
from matchrec.conditions.typing.python_values import cast_in_python
from matchrec.conditions.typing.typer import Typer
from matchrec.errors import MatchRecognizeError, conditions
from matchrec.plan.expression import COMPARISONS

# What Spark casts to numbers.
NUMBER_SOURCES = NUMBERS | {Family.STRING}

# For types of each family, the families that Spark casts to them. Binary values are left out:
# functions of them have the same names.
IMPLICIT_SOURCES: Mapping[Family, frozenset[Family]] = {
    Family.INTEGER: NUMBER_SOURCES,
    Family.FLOATING: NUMBER_SOURCES,
    Family.STRING: frozenset(Family) - NESTED - {Family.BINARY, Family.OTHER},
}

# Functions of two values that are brought to one type.
UNIFIED_FUNCTIONS = COMPARISONS | frozenset({"ARRAY_INTERSECT", "ARRAYS_OVERLAP"})


def convert_argument(
    typer: Typer, step: TypedOperation, operand: TypedStep, parameter: ParameterType
) -> TypedStep:
    """Return a value as an argument that a function takes.

    Args:
        typer: the typer of the condition.
        step: the call of the function, for errors.
        operand: the value.
        parameter: what the function takes. If it is a type, the value is cast to it as Spark does.
            If it is a family, the value must be of the family. ANY_TYPE leaves the value as it is.

    Raises:
        MatchRecognizeUnsupportedError: the function does not take the value, or Python cannot cast
            it.
    """
    match parameter:
        case None:  # ANY_TYPE
            return operand
        case Family():
            return require_family(step, operand, parameter)
        case ValueType():
            return convert_to_parameter_type(typer, step, operand, parameter)


def require_family(step: TypedOperation, operand: TypedStep, family: Family) -> TypedStep:
    """Return a value if its type is of a family. NULL becomes an INT if the family is INTEGER.

    Raises:
        MatchRecognizeUnsupportedError: the type is of another family.
    """
    if operand.type == VOID and family is Family.INTEGER:
        return make_null(INT)  # the index in `A.array[NULL]`
    if operand.type.family is not family:
        raise build_argument_error(step, [operand.type])
    return operand


def convert_to_parameter_type(
    typer: Typer, step: TypedOperation, operand: TypedStep, target: ValueType
) -> TypedStep:
    """Return a value cast to the type of a parameter, as Spark does implicitly.

    Raises:
        MatchRecognizeUnsupportedError: Spark does not cast the value, or Python cannot cast it.
    """
    type_ = operand.type
    if type_ == VOID:
        return make_null(target)
    if type_.family not in IMPLICIT_SOURCES[target.family]:
        raise build_argument_error(step, [type_])
    if type_.family is target.family is Family.STRING:
        return operand
    if type_.family is target.family and type_.bits <= target.bits:
        # A number of fewer bits is held as one of more bits.
        return TypedStep(operand.expression, target)
    return cast_implicitly(typer, step, operand, target)


def build_argument_error(step: TypedOperation, types: Sequence[ValueType]) -> MatchRecognizeError:
    """Return the error for a function that does not take arguments of these types.

    Args:
        step: the call of the function.
        types: the type of the wrong argument; or the types of all arguments, which the function
            does not take together.
    """
    type_names = [type_.name for type_ in types]
    if len(type_names) == 1:
        value = f"{type_names[0]} as {step.words[0]}" if step.words else type_names[0]
        return conditions.wrong_argument_type(step.span, function=step.operator, value=value)
    first_names = ", ".join(type_names[:-1])
    return conditions.types_cannot_be_combined(
        step.operator, first_names, type_names[-1], step.span
    )


def cast_implicitly(
    typer: Typer, step: TypedOperation, operand: TypedStep, target: ValueType
) -> TypedStep:
    """Return an argument cast to a type, by the first of these that can do it:

    1. Spark casts a column for every row, before the match. So it does that only if the cast cannot
       fail.
    2. The search casts a number to a float, unless the number is a wide decimal.
    3. Python casts any other value.

    Raises:
        MatchRecognizeUnsupportedError: Python does not have this cast.
    """
    type_ = operand.type
    if operand.column_read is not None and not (typer.ansi and cast_can_fail(type_, target)):
        return typer.cast_column(operand, target)
    search_has_number = type_.family in NUMBERS and not is_wide_decimal(type_)
    if target.family is Family.FLOATING and search_has_number:
        return widen(operand, target)
    return cast_in_python(typer, step, operand, target)


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
    """Return the types to which Spark brings nested arguments of a function, and their elements.

    None if the arguments keep their types.
    """
    if name == "ARRAY_CONTAINS" and types[0].element is not None:
        element = find_common_nested_type(types[0].element, types[1], ansi=typer.ansi)
        return None if element is None else [build_array_type(element), element]
    if name not in UNIFIED_FUNCTIONS or all(type_.family not in NESTED for type_ in types):
        return None
    if name in COMPARISONS and len({remove_field_names(type_) for type_ in types}) == 1:
        return None  # the names of fields do not matter
    common = find_common_nested_type(types[0], types[1], ansi=typer.ansi)
    return None if common is None else [common, common]
