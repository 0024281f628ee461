"""Warnings about COUNT of a condition, which counts rows where the condition is false, too.

MEASURES COUNT(A.price > 1)            counts every row of A that has a price
MEASURES count_if(A.price > 1)         no warning: counts what was probably meant
MEASURES COUNT(A.price > 1 OR NULL)    no warning: NULL where the condition is false
"""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.errors import condition_warnings
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.plan.expression import Aggregate, Operation, Scalar, is_null
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.operators import OPERATORS
from matchrec.plan.warning_rules.references import show_users_operand


def warn_about_counted_conditions(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for each COUNT of a condition."""
    for definition in plan.definitions:
        yield from warn_about_counts(definition.condition, "DEFINE")
    for measure in plan.measures:
        yield from warn_about_counts(measure.value, "MEASURES")


def warn_about_counts(scalar: Scalar, clause: str) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for each COUNT of a condition in an expression of a clause."""
    for reference in scalar.references:
        if not isinstance(reference, Aggregate) or reference.function != "count":
            continue
        if reference.is_distinct or len(reference.arguments) != 1:
            continue
        (argument,) = reference.arguments
        if is_false_for_some_rows(argument):
            condition = show_users_operand(argument)
            yield condition_warnings.counted_condition(
                reference.span, clause=clause, condition=condition
            )


def is_false_for_some_rows(scalar: Scalar) -> bool:
    """Return whether an expression is a condition that can be false, and not only true or NULL.

    `x > 1 OR NULL` is never false.
    """
    if not isinstance(scalar, Operation):
        return False
    if scalar.operator == "OR" and any(is_null(operand) for operand in scalar.operands):
        return False
    entry = OPERATORS.get(scalar.operator)
    return entry is not None and entry.is_truth
