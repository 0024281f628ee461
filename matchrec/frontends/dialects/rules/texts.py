"""Rules for texts."""

from __future__ import annotations

from sqlglot import exp

from matchrec.frontends.dialects.rules.place import Place

_CUTTING = frozenset({"oracle", "trino"})


def bounded_text(node: exp.Expr, place: Place) -> exp.Expr:
    """`CAST(x AS VARCHAR(3))` cuts what is longer, which Spark does not."""
    if not isinstance(node, exp.Cast) or not node.is_type(*exp.DataType.TEXT_TYPES):
        return node
    if place.write.name in _CUTTING:
        return node
    length = node.to.expressions[0].this if node.to.expressions else None
    if length is None:
        return node
    return exp.Anonymous(this="LEFT", expressions=[exp.cast(node.this, "text"), length.copy()])
