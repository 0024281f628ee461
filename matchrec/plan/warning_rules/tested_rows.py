"""Warnings about comparisons that are never true for a tested row, because of its position.

B AS count(B.*) = 0            the tested row is a row of B
ORDER BY day, day < PREV(day)  the tested row is not before an earlier row
"""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.errors import condition_warnings
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.plan import pattern as patterns
from matchrec.plan.clauses import Definition
from matchrec.plan.expression import (
    Aggregate,
    ColumnReference,
    Operation,
    Scalar,
    Semantics,
    find_amount,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.warning_rules.references import (
    MIRRORED,
    find_only_reference,
    reads_nearby_row,
    show_users_operand,
)


def warn_about_tested_row(
    comparison: Operation, definition: Definition, plan: MatchPlan
) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for a comparison in SQL that is never true for a tested row.

    Conditions of negated variables and of stages raise no warning: their tested row is not a row of
    the match, or the rows that they read can come later.

    Args:
        comparison: a comparison.
        definition: the condition that has it, with the variable to which the condition belongs.
        plan: the plan that has the condition.
    """
    variable = definition.variable
    has_rows = variable in patterns.list_variable_names(plan.pattern)
    if plan.staging is not None or not has_rows or variable in plan.negated_variables:
        return
    left, right = comparison.operands
    mirrored_operator = MIRRORED[comparison.operator]
    for value, operator, other in (
        (left, comparison.operator, right),
        (right, mirrored_operator, left),
    ):
        reference = find_only_reference(value)
        if isinstance(reference, Aggregate) and is_count_below_one(reference, operator, other):
            if plan.ids[variable] in plan.members[reference.variable]:
                yield condition_warnings.count_below_one(
                    comparison.span,
                    condition=show_users_operand(comparison),
                    count=show_users_operand(value),
                    variable=variable,
                )
                return
        elif isinstance(reference, ColumnReference) and contradicts_order(
            reference, operator, other, definition, plan
        ):
            key, other_value = show_users_operand(value), show_users_operand(other)
            yield condition_warnings.comparison_against_order(
                comparison.span,
                condition=show_users_operand(comparison),
                key=key,
                possible_condition=f"{key} {MIRRORED[operator]} {other_value}",
                is_descending=plan.order_by[0].is_descending,
            )
            return


def is_count_below_one(count: Aggregate, operator: str, other: Scalar) -> bool:
    """Return whether a comparison requires that a variable has no row: `count(B.*) = 0`."""
    counts_all_rows = count == Aggregate("count", count.variable, ())
    amount = find_amount(other)
    if not counts_all_rows or amount is None or amount.is_time:
        return False
    match operator:
        case "=" | "<=>" | "<=":
            return amount.value < 1
        case "<":
            return amount.value <= 1
        case _:
            return False


def contradicts_order(
    column: ColumnReference, operator: str, other: Scalar, definition: Definition, plan: MatchPlan
) -> bool:
    """Return whether a comparison contradicts the first key of ORDER BY.

    In the order of `day`, `day < PREV(day)` and `day > NEXT(day)` are never true. If the order is
    descending, `day > PREV(day)` and `day < NEXT(day)` are never true.

    Args:
        column: the left operand.
        operator: the operator.
        other: the right operand.
        definition: the condition, with its variable.
        plan: the plan that has the condition.
    """
    read = find_only_reference(other)
    if not plan.order_by or not isinstance(read, ColumnReference) or operator not in ("<", ">"):
        return False
    key = plan.order_by[0]
    is_key = bool(key.expression.column_path) and key.expression.text == column.argument
    if not is_key or read.argument != column.argument:
        return False
    if not reads_nearby_row(column, definition, plan, offset=0):
        return False
    reads_earlier_row = is_earlier_row(read, definition, plan)
    if not reads_earlier_row and not is_later_row(read, definition, plan):
        return False
    earlier_is_less = not key.is_descending
    return (operator == "<") == (reads_earlier_row == earlier_is_less)


def is_earlier_row(read: ColumnReference, definition: Definition, plan: MatchPlan) -> bool:
    """Return whether a reference reads a row that is not after the tested row, or NULL.

    All rows that are mapped when a condition is tested are such rows. The tested row itself is left
    out.
    """
    navigation = read.navigation
    is_running = navigation.semantics is Semantics.RUNNING
    if not is_running or navigation.physical_offset > 0:
        return False
    return not reads_nearby_row(read, definition, plan, offset=0)


def is_later_row(read: ColumnReference, definition: Definition, plan: MatchPlan) -> bool:
    """Return whether a reference is NEXT of the tested row."""
    offset = read.navigation.physical_offset
    return offset > 0 and reads_nearby_row(read, definition, plan, offset=offset)
