"""Facts about references and texts in conditions, for several rules."""

from __future__ import annotations

from dataclasses import replace

from matchrec.plan.clauses import Definition
from matchrec.plan.expression import ColumnReference, Scalar, render
from matchrec.plan.match_plan import MatchPlan


def reads_current_row(
    reference: ColumnReference, definition: Definition, plan: MatchPlan, step: int = 0
) -> bool:
    """Return whether a reference reads the row that a condition tests, or a certain row near it.

    Args:
        reference: a reference in the condition.
        definition: the condition.
        plan: the plan of the condition.
        step: which row to look for: 0 for the tested row, -1 for the row before it, and so on.
    """
    navigation = reference.navigation
    if not navigation.is_last or navigation.physical_offset != step:
        return False
    # The test of a stage, or a match condition, reads the tested row only through its own name.
    if plan.staging is not None or definition.variable == plan.match_condition:
        return navigation.variable == definition.variable
    return plan.ids[definition.variable] in plan.members[navigation.variable]


def show_plain_argument(reference: ColumnReference) -> str:
    """Return the argument of a reference, without backticks that a column does not need."""
    name = reference.names[0] if len(reference.names) == 1 else ""
    return name if name.isascii() and name.isidentifier() else reference.argument


def make_plain(reference: ColumnReference) -> ColumnReference:
    """Return the reference with the text that `show_plain_argument` gives it."""
    return replace(reference, argument=show_plain_argument(reference))


def find_literal_text(operand: Scalar) -> str:
    """Return a literal text with its quotes; the empty string for any other operand.

    The result is also empty for a text that contains quotes or escapes.
    """
    if operand.references:
        return ""
    text = render(operand, str).strip()
    quote = text[:1]
    is_quoted = quote in ("'", '"') and len(text) > 1 and text[-1] == quote
    if not is_quoted or quote in text[1:-1] or "\\" in text[1:-1]:
        return ""
    return text
