"""Which values of a run only Python has, and so which operations it must compute.

The search has an int64 or a float64 for each value. For a text, a nested value or a wide decimal
that it reads from a column, that is a rank, which it can only compare with other ranks. If Python
computed such a value during the match, the search has nothing at all.

    LAST(A.name) < name              the search compares two ranks
    LAST(A.name) < name || '.'       Python compares two texts
"""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.conditions.functions import load_functions
from matchrec.conditions.residual import TypedOperation, TypedStep
from matchrec.conditions.run_condition import (
    BasicOperator,
    PythonCall,
    PythonExpression,
    ReadValue,
    RunAggregate,
    RunExpression,
    RunOperation,
)
from matchrec.conditions.types import NUMBERS, ValueType, is_ranked, is_wide_decimal
from matchrec.conditions.typing.typer import Typer, are_columns, make_types_error
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
    if any(can_be_in_python(operand) for operand in step.operands):
        return True
    return needs_values_of_ranks(typer, step)


def needs_values_of_ranks(typer: Typer, step: TypedOperation) -> bool:
    """Return whether an operation on numbers needs values, but the search has only their ranks.

    The search can compare ranks of one type. Spark casts columns of different types to one type.
    """
    numbers = [operand for operand in step.operands if operand.type.family in NUMBERS]
    are_ranks = [
        is_wide_decimal(number.type) and can_be_rank(typer, number.expression) for number in numbers
    ]
    if not any(are_ranks):
        return False
    if step.operator == "NEG":
        return True
    have_one_type = len({number.type for number in numbers}) == 1
    can_compare_ranks = all(are_ranks) and have_one_type
    return not can_compare_ranks and not are_columns(*numbers)


def can_be_rank(typer: Typer, expression: RunExpression) -> bool:
    """Return whether the search has, or can have, the rank of a value instead of the value.

    It has ranks of texts, nested values and wide decimals that it reads from columns. Of a wide
    decimal that it computes, it has the digits.
    """
    reads = [
        value
        for value in find_possible_values(expression)
        if isinstance(value, ReadValue | RunAggregate)
    ]
    return any(typer.drafts[read.column].is_ranked for read in reads if read.column is not None)


def can_be_in_python(operand: TypedStep) -> bool:
    """Return whether a value is one that only Python has, or is so in some runs.

    Python has computed such a value during the match, so the search has no rank of it.
    """
    possible_values = find_possible_values(operand.expression)
    return is_ranked(operand.type) and any(
        isinstance(value, PythonExpression) for value in possible_values
    )


def find_possible_values(expression: RunExpression) -> Iterator[RunExpression]:
    """Yield the expressions that can be the value of an expression.

    These are the branches of IF, at any depth. Any other expression yields itself.
    """
    match expression:
        case RunOperation(BasicOperator.CHOOSE, (_, *values)):
            for value in values:
                yield from find_possible_values(value)
        case _:
            yield expression


def cast_in_python(
    typer: Typer, step: TypedOperation, operand: TypedStep, target: ValueType
) -> TypedStep:
    """Return a value as another type, cast by Python.

    Raises:
        MatchRecognizeUnsupportedError: Python does not have this cast.
    """
    use = typer.describe_call([operand.type], words=(target.name.upper(),))
    if load_functions()["CAST"].find_type(use) is None:
        raise make_types_error(step, operand.type, target)
    return TypedStep(PythonCall("CAST", (operand.expression,), use, target), target)
