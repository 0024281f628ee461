"""Rules of Databricks: aggregates of measures are over all rows of the match."""

from __future__ import annotations

from sqlglot import exp

from matchrec.frontends.dialects.marks import called, name_of
from matchrec.frontends.dialects.rules.place import Place

_SEMANTICS = ("RUNNING", "FINAL")


def final_aggregates(node: exp.Expr, place: Place) -> exp.Expr:
    """An aggregate without RUNNING or FINAL is over all rows of the match."""
    has_semantics = node.parent is not None and name_of(node.parent) in _SEMANTICS
    if not place.is_seen_from_rows or not isinstance(node, exp.AggFunc) or has_semantics:
        return node
    return called("FINAL", node.copy())
