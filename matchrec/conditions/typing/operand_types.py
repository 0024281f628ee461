"""Bring the operands of an operation to one type, as Spark does.

`Typer.unify` brings two values to one type. Here is what depends on the operation: its operands can
be more than two, their types can decide together, or the common type can be one that the search
does not have.

    unify_compared_operands    `=`, `<` and other comparisons
    unify_branches             IF
    unify_with_floats          operations of many operands, such as IN, if one of them is a float
    limit_to_38_digits         all of these, if their decimals need too many digits together
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from matchrec.conditions.residual import TypedOperation, TypedStep
from matchrec.conditions.run_condition import Constant
from matchrec.conditions.types import (
    DOUBLE,
    MAX_DIGITS,
    NUMBERS,
    Family,
    ValueType,
    build_decimal_type,
    find_comparison_type,
    find_decimal_type,
    is_ranked,
    is_wide_decimal,
)
from matchrec.conditions.typing.arguments import convert_argument
from matchrec.conditions.typing.constants import make_null
from matchrec.conditions.typing.numbers import widen_clamped
from matchrec.conditions.typing.python_values import (
    can_be_in_python,
    can_be_rank,
    cast_in_python,
    needs_values_of_ranks,
)
from matchrec.conditions.typing.typer import Typer, are_columns, make_types_error
from matchrec.plan.expression import COMPARISONS

# Operations whose operands, which can be more than two, Spark brings to one type.
UNIFIED_OPERATIONS = frozenset({"COALESCE", "GREATEST", "LEAST", "IN", "CASE"})

# Operations that return one of their operands, or compare them.
CHOICES = UNIFIED_OPERATIONS | {"IF", "IFNULL", "NVL", "NVL2"}


def unify_compared_operands(typer: Typer, step: TypedOperation) -> tuple[TypedStep, TypedStep]:
    """Return the operands of a comparison as values of one type.

    An integer and a decimal are compared within an int64, even if their common type has more
    digits: see `numbers.widen_clamped`. But Spark casts two columns to the common type.

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
    if digits_before_point + digits_after_point <= MAX_DIGITS:
        return step
    target = build_decimal_type(MAX_DIGITS, MAX_DIGITS - digits_before_point).name.upper()

    def round_number(operand: TypedStep) -> TypedStep:
        """Return a number cast to the target type; leave other operands unchanged."""
        if operand.type.family not in NUMBERS:
            return operand
        return typer.type_operation(TypedOperation("CAST", (operand,), step.span, (target,)))

    operands = tuple(round_number(operand) for operand in step.operands)
    return replace(step, operands=operands)


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
        raise make_types_error(step, types[0], other_type)
    if not any(type_.family is Family.FLOATING for type_ in number_types):
        return step
    target = find_common_float_type(number_types, ansi=typer.ansi)
    operands = tuple(
        convert_to_float(typer, step, operand, target)
        if operand.type.family in NUMBERS
        else operand
        for operand in step.operands
    )
    return replace(step, operands=operands)


def find_common_float_type(number_types: Sequence[ValueType], *, ansi: bool) -> ValueType:
    """Return the type to which numbers are brought if at least one of them is a float."""
    common = next(type_ for type_ in number_types if type_.family is Family.FLOATING)
    for type_ in number_types:
        common = find_comparison_type(common, type_, ansi=ansi) or DOUBLE
    return common


def convert_to_float(
    typer: Typer, step: TypedOperation, operand: TypedStep, target: ValueType = DOUBLE
) -> TypedStep:
    """Return an argument as a float of the target's width.

    Raises:
        MatchRecognizeUnsupportedError: Spark does not cast the argument implicitly.
    """
    if operand.type.family in NUMBERS and not is_wide_decimal(operand.type):
        return typer.convert_number(step, operand, target)
    return convert_argument(typer, step, operand, target)


def unify_branches(typer: Typer, step: TypedOperation) -> tuple[TypedStep, TypedStep]:
    """Return the two values of IF as values of one type.

    If only Python can have one of the values, or if a number must be computed from its rank, both
    are converted to values that Python has.

    Raises:
        MatchRecognizeUnsupportedError: there is no such type.
    """
    _, then, otherwise = step.operands
    then_type = then.type
    other_type = otherwise.type
    is_in_python = can_be_in_python(then) or can_be_in_python(otherwise)
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
    """Return one of the values of IF as a value that Python has.

    A value of the type stays as it is if Python can read it: NULL, a value of a type without ranks,
    a value that Python has computed, and a rank. Python casts any other value.

    Raises:
        MatchRecognizeUnsupportedError: Python does not have this cast.
    """
    is_null = operand.expression == make_null(type_).expression
    is_readable = (
        is_null
        or not is_ranked(type_)
        or can_be_in_python(operand)
        or can_be_rank(typer, operand.expression)
    )
    if operand.type == type_ and is_readable:
        return operand
    return cast_in_python(typer, step, operand, type_)
