"""WITH of a query that names itself, before which some products have no RECURSIVE."""

from __future__ import annotations

from sqlglot import exp

from matchrec.frontends.dialects.rules.place import Place


def recursive_queries(node: exp.Expr, _: Place) -> exp.Expr:
    """`WITH t AS (SELECT ... UNION ALL SELECT ... FROM t)` is `WITH RECURSIVE`."""
    if isinstance(node, exp.With) and any(map(_names_itself, node.expressions)):
        node.set("recursive", True)
    return node


def _names_itself(query: exp.Expr) -> bool:
    if not isinstance(query.this, exp.SetOperation):
        return False
    name = query.alias.lower()
    return any(one.name.lower() == name for one in query.this.expression.find_all(exp.Table))
