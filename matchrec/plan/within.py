"""WITHIN → conditions: each row of a match lies less than the interval after its first row.

Rows are sorted ascending by the first ORDER BY column, so the last row bounds all of them and every
row may be tested as it is mapped: the search gives up where the time is over.
"""

from __future__ import annotations

from dataclasses import replace

from matchrec.errors.conditions import within_needs_ascending_order
from matchrec.plan.clauses import Definition, Within
from matchrec.plan.expression import ColumnReference, End, Navigation, Operation, Scalar, Term
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.row_column import RowColumn, row_column
from matchrec.source import Span


def bounded(plan: MatchPlan) -> MatchPlan:
    """The plan with its WITHIN as a conjunct of every variable's condition; others as they are.

    Where rows may be skipped or all matches are asked for, the engine keeps to the window itself.
    """
    if plan.within is None:
        return plan
    span = plan.within.interval.span or Span(0, 0)
    if not plan.order_by or plan.order_by[0].descending:
        raise within_needs_ascending_order(plan.within.interval.span)
    if plan.selects:
        return plan
    bound = in_time(plan.order_by[0].expression.text, plan.within, span)
    conditions = {one.variable: one for one in plan.definitions}
    definitions = tuple(
        with_conjunct(conditions.get(variable), variable, bound) for variable in plan.variables
    )
    return replace(plan, within=None, definitions=definitions)


def window_columns(plan: MatchPlan) -> tuple[RowColumn, ...]:
    """The key along which a window is measured, and where the window of a row ends; or none."""
    if plan.within is None:
        return ()
    order, interval = plan.order_by[0].expression.text, plan.within.interval.text.strip()
    if interval.isdigit():
        interval += "L"  # so that the end of the last window of an int fits
    return row_column(order), row_column(f"({order}) + ({interval})")


def in_time(order: str, within: Within, span: Span) -> Scalar:
    """`order - FIRST(order) < interval`."""
    here = Term((ColumnReference(Navigation(), order, span),), span)
    first = Term((ColumnReference(Navigation(end=End.FIRST), order, span),), span)
    since = Operation("-", (here, first), (*here.pieces, " - ", *first.pieces), span)
    interval = Term((within.interval.text,), span)
    return Operation("<", (since, interval), (*since.pieces, " < ", *interval.pieces), span)


def with_conjunct(definition: Definition | None, variable: str, bound: Scalar) -> Definition:
    """The definition of a variable with one more condition."""
    if definition is None:
        return Definition(variable, bound)
    pieces = ("(", *definition.condition.pieces, ") AND (", *bound.pieces, ")")
    both = Operation("AND", (definition.condition, bound), pieces, definition.condition.span)
    return replace(definition, condition=both)
