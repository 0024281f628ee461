"""Operators whose operand Spark computes on every row, although AND or CASE guards them.

Spark 4 computes the first operand of BETWEEN and of NULLIF once, in a projection below the
condition. Under ANSI that operand may fail on a row that an earlier part of AND rules out:

    v <> 'many' AND CAST(v AS INT) BETWEEN 7 AND 9      fails on 'many'
    v <> 'many' AND CAST(v AS INT) >= 7 AND CAST(v AS INT) <= 9      does not

So both operators are written out. Other operators of Spark keep to their guards.
"""

from __future__ import annotations

from matchrec.conditions.functions import functions
from matchrec.plan.expression import (
    ColumnReference,
    Navigation,
    Operation,
    Scalar,
    comparison,
    literal,
    looks_at_columns_only,
    with_operations,
)
from matchrec.plan.match_plan import MatchPlan, with_expressions
from matchrec.plan.operations import FUNCTIONS, is_partial


def write_out_eager_operators(plan: MatchPlan) -> MatchPlan:
    """Return the plan without BETWEEN and NULLIF of one row whose first operand may fail."""

    def write_out_in(scalar: Scalar, variable: str | None) -> Scalar:
        return with_operations(scalar, lambda operation: write_out(operation, variable))

    return with_expressions(plan, write_out_in)


def write_out(operation: Operation, variable: str | None) -> Operation:
    """Return `a BETWEEN b AND c` as comparisons and `NULLIF(a, b)` as IF, if `a` may fail.

    Args:
        operation: any operation; all others are returned as they are.
        variable: the variable whose condition has the operation, None for a measure.
    """
    match operation:
        case Operation("BETWEEN", (value, low, high)) if is_eager(operation, variable):
            return compare_with_bounds(value, low, high)
        case Operation("NOT BETWEEN", (value, low, high)) if is_eager(operation, variable):
            between = compare_with_bounds(value, low, high)
            return Operation("NOT", ("(NOT ", between, ")"), operation.span)
        case Operation("NULLIF", (first, second)) if is_eager(operation, variable):
            span = operation.span
            equal = Operation("=", ("(", first, ") = (", second, ")"), span)
            parts = "IF(", equal, ", ", literal("NULL", span), ", ", first, ")"
            return Operation("IF", parts, span)
        case _:
            return operation


def is_eager(operation: Operation, variable: str | None) -> bool:
    """Return whether the first operand may fail, and Spark computes it.

    Spark computes only what looks at one row. An operand that calls unknown functions stays as it
    is, because it would be computed twice.
    """
    first = operation.operands[0]
    if not is_partial(first.operations) or not calls_known_functions(first):
        return False
    return find_one_row(operation, variable) is not None


def compare_with_bounds(value: Scalar, low: Scalar, high: Scalar) -> Operation:
    """Return `(value >= low AND value <= high)`."""
    parts = "(", comparison(">=", value, low), " AND ", comparison("<=", value, high), ")"
    return Operation("AND", parts, value.span.to(high.span))


def calls_known_functions(scalar: Scalar) -> bool:
    """Return whether each function is known, so that it may be called twice for a row.

    A function of the user's may be slow, and may give another value at the second call.
    """
    if "SELECT" in scalar.operations or "?" in scalar.operations:
        return False
    called = {name.removesuffix("()") for name in scalar.operations if name.endswith("()")}
    return called - FUNCTIONS <= functions().keys()


def find_one_row(scalar: Scalar, variable: str | None) -> Navigation | None:
    """Return the one row that an expression reads; None if it reads several rows or none.

    variable: the one whose condition has the expression: `x` and `B.x` are of one row in the
    condition of B. None for a measure.
    """
    if not looks_at_columns_only(scalar):
        return None
    columns = [one for one in scalar.references if isinstance(one, ColumnReference)]
    own, here = Navigation(variable=variable), Navigation()
    rows = {here if one.navigation == own else one.navigation for one in columns}
    return rows.pop() if len(rows) == 1 else None
