"""Conditions on how far a row lies after another one along the order, as WITHIN says them."""

from __future__ import annotations

from matchrec.plan.clauses import RowExpression
from matchrec.plan.expression import Aggregate, ColumnReference, Navigation, Operation, Scalar, Term
from matchrec.plan.match_plan import MatchPlan
from matchrec.source import Span


def less_after(plan: MatchPlan, interval: RowExpression, row: Navigation) -> Scalar:
    """`ts < <ts of the row> + interval`."""
    order, span = plan.order_by[0].expression.text, place_of(interval)
    here, there = (ColumnReference(one, order, span) for one in (Navigation(), row))
    parts = Term((there,), span), Term((interval.text,), span)
    end = Operation("+", parts, (there, " + ", interval.text), span)
    return Operation("<", (Term((here,), span), end), (here, " < ", *end.pieces), span)


def count_is(variable: str | None, number: int, interval: RowExpression) -> Scalar:
    """`count(variable.*) = number`, with the current row. interval: whose place it has."""
    span = place_of(interval)
    count = Aggregate("count", variable, (), span=span)
    parts = Term((count,), span), Term((str(number),), span)
    return Operation("=", parts, (count, f" = {number}"), span)


def place_of(interval: RowExpression) -> Span:
    """Where an interval is written."""
    return interval.span or Span(0, 0)
