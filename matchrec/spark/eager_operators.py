"""Rewrite BETWEEN and NULLIF, whose first operand Spark computes before the parts that guard it.

Spark 4 computes the first operand of BETWEEN and of NULLIF once, in a projection below the
condition. In ANSI mode this can raise an error on a row that an earlier part of AND, or a branch of
CASE, excludes:

    v <> 'many' AND CAST(v AS INT) BETWEEN 7 AND 9                      raises on 'many'
    v <> 'many' AND CAST(v AS INT) >= 7 AND CAST(v AS INT) <= 9         does not raise

So both operators are rewritten to comparisons. Spark computes all other operators only if the parts
that guard them hold.
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

# Functions of Spark that matchrec does not compute itself, and that can raise an error.
FAILING_FUNCTIONS = frozenset({"ELEMENT_AT", "SPLIT_PART", "TRY_ELEMENT_AT"})


def write_out_eager_operators(plan: MatchPlan) -> MatchPlan:
    """Return the plan without the BETWEEN and NULLIF whose first operand Spark computes too early.

    These are operations over one row whose first operand can raise an error.
    """

    def write_out_expression(scalar: Scalar, variable: str | None) -> Scalar:
        """Return an expression with each of its eager operations as comparisons."""
        return map_operations(scalar, lambda operation: write_out_operation(operation, variable))

    return map_expressions(plan, write_out_expression)


def write_out_operation(operation: Operation, variable: str | None) -> Operation:
    """Return an operation as comparisons, if it is eager; otherwise the operation itself.

        a BETWEEN b AND c       (a >= b AND a <= c)
        a NOT BETWEEN b AND c   (NOT (a >= b AND a <= c))
        NULLIF(a, b)            IF((a) = (b), NULL, a)

    Args:
        operation: any operation.
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
    """Return whether a BETWEEN or NULLIF must be rewritten, and can be.

    It must be rewritten if its first operand can raise an error, and if Spark computes it: Spark
    computes only operations over one row. It can be rewritten if its first operand calls only known
    functions, because the comparisons contain this operand twice.
    """
    first_operand = operation.operands[0]
    can_raise = can_fail_besides_overflow(first_operand.operations)
    if not can_raise or not calls_known_functions(first_operand):
        return False
    return find_only_row(operation, variable) is not None


def compare_with_bounds(value: Scalar, low: Scalar, high: Scalar) -> Operation:
    """Return `(value >= low AND value <= high)`."""
    above_low = make_comparison(">=", value, low)
    below_high = make_comparison("<=", value, high)
    parts = ("(", above_low, " AND ", below_high, ")")
    return Operation("AND", parts, value.span.to(high.span))


def calls_known_functions(scalar: Scalar) -> bool:
    """Return whether an expression calls only functions that can be called twice for a row.

    A user's own function can be slow, and can return another value at the second call.
    """
    called_functions = find_called_functions(scalar.operations)
    if called_functions is None:
        return False
    known_functions = load_functions().keys() | NEVER_FAILING_FUNCTIONS | FAILING_FUNCTIONS
    return called_functions <= known_functions


def find_only_row(scalar: Scalar, variable: str | None) -> Navigation | None:
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
