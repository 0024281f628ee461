"""Find the operations over several rows that are computed without Spark, and reject others.

    price > PREV(price)          the worker, for all rows before the match
    price > LAST(A.price)        the search, during the match
    name LIKE LAST(A.prefix)     Python, which the search calls
    exists(A.tags, t -> t = x)   none of them, so it is an error

`split` calls this module for each expression that reads several rows.
"""

from __future__ import annotations

from matchrec.conditions.functions import load_functions
from matchrec.errors import MatchRecognizeError
from matchrec.errors.conditions import (
    function_of_several_rows,
    lambda_of_several_rows,
    operations_nested_too_deep,
)
from matchrec.plan.expression import LONG_CHAIN, MAX_NESTED, Operation, Scalar
from matchrec.plan.operators import BASIC_OPERATORS, OPERATORS, OperatorKind, find_operator_names
from matchrec.plan.show import show_scalar

# Operations of several rows that the worker computes for all rows, before the match.
COMPUTED_BY_WORKER = BASIC_OPERATORS | find_operator_names(OperatorKind.REWRITTEN, OperatorKind.TRY)

# Functions that take a lambda.
LAMBDA_FUNCTIONS = frozenset(
    {
        "AGGREGATE",
        "EXISTS",
        "FILTER",
        "FORALL",
        "MAP_FILTER",
        "MAP_ZIP_WITH",
        "REDUCE",
        "TRANSFORM",
        "TRANSFORM_KEYS",
        "TRANSFORM_VALUES",
        "ZIP_WITH",
    }
)


def find_worker_operation(scalar: Scalar) -> Operation | None:
    """Return an expression if it is an operation that the worker computes; otherwise None."""
    if isinstance(scalar, Operation) and scalar.operator in COMPUTED_BY_WORKER:
        return scalar
    return None


def find_run_operation(scalar: Scalar) -> Operation | None:
    """Return an expression if it is an operation that is computed in the run; otherwise None."""
    if isinstance(scalar, Operation) and is_computed_in_run(scalar.operator):
        return scalar
    return None


def is_computed_in_run(operator: str) -> bool:
    """Return whether the search, or Python for it, computes an operation during the match."""
    entry = OPERATORS.get(operator)
    if entry is None or entry.kind is OperatorKind.FUNCTION:
        return operator in load_functions()
    return True


def has_repeated_field(scalar: Scalar) -> bool:
    """Return whether an expression is a struct with two fields of the same name.

    Arrow has no such structs, so no worker can receive one.
    """
    if not isinstance(scalar, Operation) or scalar.operator != "STRUCT":
        return False
    field_names = scalar.words
    return len(set(field_names)) < len(field_names)


def build_not_computed_error(scalar: Scalar) -> MatchRecognizeError:
    """Return the error for an expression over several rows that the search cannot compute."""
    if isinstance(scalar, Operation) and scalar.operator == LONG_CHAIN:
        return operations_nested_too_deep(scalar.span, limit=MAX_NESTED)
    name = name_expression(scalar)
    if name.upper() in LAMBDA_FUNCTIONS:
        return lambda_of_several_rows(scalar.span, what=name)
    return function_of_several_rows(scalar.span, what=name)


def name_expression(scalar: Scalar) -> str:
    """Return the name of an expression in messages: its operator, function or first word.

    The name of `my_function(A.x, B.x)` is `my_function`.
    """
    if isinstance(scalar, Operation):
        return scalar.operator
    text = show_scalar(scalar)
    if " " not in text:
        return text
    words_before_bracket = text.split("(")[0].split()
    return words_before_bracket[0] if words_before_bracket else text.split()[0]
