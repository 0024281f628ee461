"""Rules of Databricks: aggregates of measures are over all rows of the match."""

from __future__ import annotations

from sqlglot import exp

from matchrec.frontends.dialects.marks import called, has_semantics
from matchrec.frontends.dialects.rules.place import Place


def final_aggregates(node: exp.Expr, place: Place) -> exp.Expr:
    """An aggregate without RUNNING or FINAL is over all rows of the match."""
    is_aggregate = place.is_seen_from_rows and isinstance(node, exp.AggFunc)
    if not is_aggregate or has_semantics(node):
        return node
    return called("FINAL", node.copy())
