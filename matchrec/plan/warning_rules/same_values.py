"""Word the warning about a comparison of a value with itself: find out what was probably meant.

price > price                    PREV(price), or A.price of an earlier variable A
PREV(price) > PREV(price)        price > PREV(price)
a[i].price > a[i].price          a[i-1].price in SASE+
price + 1 > price + 1            nothing is known
"""

from __future__ import annotations

import re

from matchrec.errors import condition_warnings
from matchrec.errors.language import SASE, SQL, current_language
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.plan import pattern as patterns
from matchrec.plan.clauses import Definition
from matchrec.plan.expression import ColumnReference, Operation
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.warning_rules.early_variables import EarlyVariables
from matchrec.plan.warning_rules.references import (
    find_only_reference,
    reads_nearby_row,
    show_plain_argument,
    show_users_operand,
)

# A value of SASE+: `a.price`, or `a[i].price` of a Kleene plus.
_SASE_VALUE = re.compile(r"(?P<variable>\w+)\s*(?P<is_kleene>\[\s*i\s*\])?\s*\.\s*(?P<column>\w+)")


def make_same_value_warning(
    comparison: Operation, definition: Definition, plan: MatchPlan, early_variables: EarlyVariables
) -> MatchRecognizeWarning:
    """Return the warning for a comparison of a value with itself.

    Args:
        comparison: the comparison.
        definition: the condition that has it, with the variable to which the condition belongs.
        plan: the plan that has the condition.
        early_variables: the variables that can have rows when a condition is tested.
    """
    span = comparison.span
    value = show_users_operand(comparison.operands[1])
    reference = find_only_reference(comparison.operands[1])
    if current_language() is SASE:
        return condition_warnings.same_value(span, intended=find_intended_sase(value, plan))
    if not isinstance(reference, ColumnReference) or len(reference.column_path) != 1:
        return condition_warnings.same_value(span, intended=None)
    column = show_plain_argument(reference)
    if not reads_nearby_row(reference, definition, plan, offset=0):
        intended = f"{column} {comparison.operator} {value}"
        return condition_warnings.same_value(span, intended=intended)
    subject = early_variables.find_subject(definition.variable, is_required=False)
    other = next(
        (
            name
            for name in patterns.list_variable_names(plan.pattern)
            if name in subject.early_variables and name not in (definition.variable, subject.name)
        ),
        None,
    )
    return condition_warnings.same_value(span, intended=show_other_row(column, other))


def find_intended_sase(value: str, plan: MatchPlan) -> str | None:
    """Return the value of another event that was probably meant instead of a value of SASE+.

    >>> from matchrec.plan.pattern import Variable
    >>> find_intended_sase("a[i].price", MatchPlan(Variable("a")))
    'a[i-1].price for the previous event'
    """
    parts = _SASE_VALUE.fullmatch(value)
    if parts is None:
        return None
    variable, column = parts["variable"], parts["column"]
    if parts["is_kleene"]:
        return f"{variable}[i-1].{column} for the previous event"
    unions = {member: subset.name for subset in plan.subsets for member in subset.members}
    names = (unions.get(name, name) for name in patterns.list_variable_names(plan.pattern))
    other = next((name for name in names if name.casefold() != variable.casefold()), None)
    if other is None or other in plan.unions:
        return None
    return f"{other}.{column} for the event of {other}"


def show_other_row(column: str, other: str | None) -> str | None:
    """Return how SQL or a Pattern reads a column of another row than the tested one.

    Args:
        column: the column.
        other: a variable that has rows before the tested row; None if there is none.

    Returns:
        None if there is no such row.
    """
    if current_language() is SQL:
        text = f"PREV({column}) for the previous row"
        return text if other is None else f"{text}, or {other}.{column} for the last row of {other}"
    return None if other is None else f"last({other}.{column}) for the last event of {other}"
