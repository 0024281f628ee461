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


def text_of_subquery(node: exp.Expr, _: Place) -> exp.Expr:
    """`x IN (SELECT 'a')`, where Spark's own parser takes SELECT for the type of a literal."""
    query = node.args.get("query") if isinstance(node, exp.In) else None
    select = query.unnest() if isinstance(query, exp.Subquery) else query
    if not isinstance(select, exp.Select) or select.args.get("from_"):
        return node
    for one in select.expressions:
        if isinstance(one, exp.Literal) and one.is_string:
            one.replace(exp.alias_(one.copy(), "text"))
    return node
