"""Which aggregates are computed over the rows of a match."""

from __future__ import annotations

from matchrec.errors.conditions import aggregate_not_yet
from matchrec.plan.expression import Aggregate

SUPPORTED = frozenset({"count", "sum", "avg", "mean", "min", "max"})


def check_form(aggregate: Aggregate) -> None:
    """Raises for an aggregate that is not plain count, sum, avg, min or max."""
    function, span = aggregate.function, aggregate.span
    if function not in SUPPORTED or len(aggregate.arguments) > 1:
        raise aggregate_not_yet(function, "in MEASURES or DEFINE", span)
    if aggregate.distinct:
        raise aggregate_not_yet(function, "with DISTINCT", span)
    if aggregate.condition is not None:
        raise aggregate_not_yet(function, "with FILTER", span)
