"""Show the conditions of variables and of stages as text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from matchrec.plan.clauses import Definition
from matchrec.plan.expression import ColumnReference, Reference, Scalar, render
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.show import show_navigation, show_reference, show_scalar


def show_conditions(
    plan: MatchPlan, other_definitions: Iterable[Definition] = ()
) -> dict[str, str]:
    """Return the text of each condition, by the name of its variable.

    Args:
        plan: the plan.
        other_definitions: conditions that are not in the plan. They are left out for patterns of
            stages.
    """
    if plan.staging is not None:
        return {
            definition.variable: show_stage_condition(definition.condition, definition.variable)
            for definition in plan.definitions
        }
    return {
        definition.variable: show_scalar(definition.condition)
        for definition in (*plan.definitions, *other_definitions)
    }


def show_stage_condition(scalar: Scalar, tested_variable: str) -> str:
    """Return the text of a stage's condition.

    A column alone is read on the row that is tested, `LAST(price)` on the event before it, and
    `LAST(A.price)` on the last event of the stage A.

    Args:
        scalar: the condition.
        tested_variable: the variable that stands for the row that is tested.
    """

    def show(reference: Reference) -> str:
        """Return the text of a reference of the condition."""
        if not isinstance(reference, ColumnReference):
            return show_reference(reference)
        navigation = reference.navigation
        if navigation.variable is None:
            return f"LAST({reference.argument})"
        if navigation.variable == tested_variable:
            navigation = replace(navigation, variable=None)
            return show_navigation(navigation, reference.argument)
        text = show_navigation(navigation, reference.argument)
        has_call = text.endswith(")")  # otherwise it is only `A.price`
        return text if has_call else f"LAST({text})"

    return render(scalar, show)
