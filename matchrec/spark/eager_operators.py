"""Rewrite operators whose first operand Spark computes too early, outside of AND and CASE.

Spark 4 computes the first operand of BETWEEN and of NULLIF once, in a projection below the
condition. In ANSI mode this can raise an error on a row that an earlier part of AND rules out:

    v <> 'many' AND CAST(v AS INT) BETWEEN 7 AND 9                      raises on 'many'
    v <> 'many' AND CAST(v AS INT) >= 7 AND CAST(v AS INT) <= 9         does not

So both operators are rewritten to comparisons. Spark evaluates all other operators only if their
guards hold.
"""

from __future__ import annotations

from matchrec.conditions.functions import load_functions
from matchrec.plan.build_expressions import make_comparison, make_literal
from matchrec.plan.change_expressions import map_operations
from matchrec.plan.expression import (
    ColumnReference,
    Navigation,
    Operation,
    Scalar,
    reads_columns_only,
)
from matchrec.plan.match_plan import MatchPlan, map_expressions
from matchrec.plan.operations import (
    NEVER_FAILING_FUNCTIONS,
    can_fail_besides_overflow,
    find_called_functions,
)

# Functions of Spark that can raise an error, and that matchrec does not compute itself.
FAILING_FUNCTIONS = frozenset({"ELEMENT_AT", "SPLIT_PART", "TRY_ELEMENT_AT"})


def write_out_eager_operators(plan: MatchPlan) -> MatchPlan:
    """Return the plan without the BETWEEN and NULLIF whose first operand Spark computes too early.

    These are operations over one row whose first operand can raise an error.
    """

    def write_out_expression(scalar: Scalar, variable: str | None) -> Scalar:
        """Return an expression with its operations written out."""
        return map_operations(scalar, lambda operation: write_out_operation(operation, variable))

    return map_expressions(plan, write_out_expression)


def write_out_operation(operation: Operation, variable: str | None) -> Operation:
    """Return an operation as comparisons if Spark would compute its first operand too early.

        a BETWEEN b AND c       (a >= b AND a <= c)
        a NOT BETWEEN b AND c   (NOT (a >= b AND a <= c))
        NULLIF(a, b)            IF((a) = (b), NULL, a)

    Args:
        operation: any operation. Other operations are returned as they are.
        variable: the variable whose condition contains the operation; None for a measure.
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
            null = make_literal("NULL", span)
            return Operation("IF", ("IF(", equal, ", ", null, ", ", first, ")"), span)
    return operation


def is_eager(operation: Operation, variable: str | None) -> bool:
    """Return whether the first operand of an operation can raise an error, and Spark computes it.

    Spark computes only operations over one row. False for an operation whose first operand calls
    unknown functions, because the operation as comparisons contains this operand twice.
    """
    first_operand = operation.operands[0]
    can_raise = can_fail_besides_overflow(first_operand.operations)
    if not can_raise or not calls_known_functions(first_operand):
        return False
    return find_one_row(operation, variable) is not None


def compare_with_bounds(value: Scalar, low: Scalar, high: Scalar) -> Operation:
    """Return `(value >= low AND value <= high)`."""
    above_low = make_comparison(">=", value, low)
    below_high = make_comparison("<=", value, high)
    parts = ("(", above_low, " AND ", below_high, ")")
    return Operation("AND", parts, value.span.to(high.span))


def calls_known_functions(scalar: Scalar) -> bool:
    """Return whether an expression calls only functions that may be called twice for a row.

    A user's own function may be slow, and may return another value when it is called again.
    """
    called = find_called_functions(scalar.operations)
    if called is None:
        return False
    return called - NEVER_FAILING_FUNCTIONS - FAILING_FUNCTIONS <= load_functions().keys()


def find_one_row(scalar: Scalar, variable: str | None) -> Navigation | None:
    """Return the navigation to the row that an expression reads, if it reads exactly one row.

    Returns None if the expression reads several rows, or none. In the condition of B, `x` and `B.x`
    both read the current row.

    Args:
        scalar: the expression.
        variable: the variable whose condition contains the expression; None for a measure.
    """
    if not reads_columns_only(scalar):
        return None
    current_row = Navigation()
    row_of_variable = Navigation(variable=variable)
    rows = set()
    for reference in scalar.references:
        if isinstance(reference, ColumnReference):
            is_current = reference.navigation == row_of_variable
            rows.add(current_row if is_current else reference.navigation)
    return rows.pop() if len(rows) == 1 else None
