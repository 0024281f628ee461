"""Warnings about conditions and windows that no row or match can satisfy, whatever the rows are.

DEFINE A AS price > 10 AND price < 5     no price is in both ranges
DEFINE A AS price BETWEEN 100 AND 50     the lower bound is above the upper one
DEFINE A AS price NOT IN (1, NULL)       a comparison with NULL is NULL
PATTERN (A B{9,}) WITHIN 3 ROWS          a match has at least ten rows
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from matchrec.errors import warnings
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.plan.clauses import Definition
from matchrec.plan.expression import (
    Aggregate,
    ColumnReference,
    Operation,
    Scalar,
    Term,
    TextPiece,
    find_amount,
    is_null,
    split_conjuncts,
    walk_scalar,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.row_counts import count_rows
from matchrec.plan.warning_rules.comparisons import normalize_operand, show_users_operand

# The comparison that is true for `b, a` if the key is true for `a, b`.
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


def warn_about_contradictions(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for each condition, and for a window, that can never be satisfied."""
    for definition in plan.definitions:
        for part in walk_scalar(definition.condition):
            if isinstance(part, Operation):
                yield from warn_about_list(part)
        yield from warn_about_ranges(definition, plan)
    least_rows = count_rows(plan.pattern).least
    if plan.within_rows is not None and least_rows > plan.within_rows:
        yield warnings.window_shorter_than_pattern(
            plan.pattern.span, least=least_rows, most=plan.within_rows
        )


def warn_about_list(operation: Operation) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for `x NOT IN (...)` with NULL and for BETWEEN with swapped bounds."""
    value, *others = operation.operands or (None,)
    if operation.operator == "NOT IN" and any(is_null(other) for other in others):
        yield warnings.not_in_with_null(operation.span)
    if operation.operator == "BETWEEN" and len(others) == 2 and value is not None:
        lower, upper = others
        lower_number, upper_number = find_number(lower), find_number(upper)
        if lower_number is None or upper_number is None or lower_number <= upper_number:
            return
        yield warnings.swapped_bounds(
            operation.span,
            value=show_users_operand(value),
            least=show_users_operand(upper),
            most=show_users_operand(lower),
        )


def find_number(scalar: Scalar) -> Fraction | None:
    """Return the value of a literal number; None for intervals and all other expressions."""
    amount = find_amount(scalar)
    return None if amount is None or amount.is_time else amount.value


@dataclass(frozen=True, slots=True)
class Bound:
    """A comparison of a column or an aggregate with a number, which must hold."""

    comparison: Operation
    # The column or the aggregate, in the form of `normalize_operand`.
    value: tuple[TextPiece, ...]
    # `<`, `<=`, `>`, `>=` or `=`, with the number on the right.
    operator: str
    number: Fraction


def warn_about_ranges(definition: Definition, plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning if two comparisons that must hold have no value in common."""
    bounds = [
        bound
        for part in split_conjuncts(definition.condition)
        for bound in find_bounds(part, definition, plan)
    ]
    for index, bound in enumerate(bounds):
        for earlier in bounds[:index]:
            if earlier.value == bound.value and exclude_each_other(earlier, bound):
                yield warnings.ranges_without_common_value(
                    bound.comparison.span,
                    comparison=show_users_operand(bound.comparison),
                    other=show_users_operand(earlier.comparison),
                )
                return


def find_bounds(part: Scalar, definition: Definition, plan: MatchPlan) -> Iterator[Bound]:
    """Yield the bound that a part of a condition is, if it compares a value with a number."""
    if not isinstance(part, Operation) or part.operator not in _MIRRORED:
        return
    for index, operand in enumerate(part.operands):
        number = find_number(part.operands[1 - index])
        match operand:
            case Term((ColumnReference() | Aggregate(),)) if number is not None:
                operator = part.operator if index == 0 else _MIRRORED[part.operator]
                value = normalize_operand(operand, definition, plan)
                yield Bound(part, value, operator, number)


def exclude_each_other(first: Bound, second: Bound) -> bool:
    """Return whether no number satisfies both of two bounds of the same value."""
    for lower, upper in ((first, second), (second, first)):
        if lower.operator in (">", ">=", "=") and upper.operator in ("<", "<=", "="):
            includes_both = lower.operator != ">" and upper.operator != "<"
            if lower.number > upper.number or (lower.number == upper.number and not includes_both):
                return True
    return False
