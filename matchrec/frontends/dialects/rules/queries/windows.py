"""Rules for OVER and FILTER behind what rules have made of an aggregate, and for its functions.

ARRAY_AGG(x) OVER w    NULLIF(TRANSFORM(ARRAY_AGG(STRUCT(x AS item)) OVER w, ...), ARRAY())
"""

from __future__ import annotations

from sqlglot import exp

from matchrec.frontends.dialects.marks import function_name
from matchrec.frontends.dialects.rules.place import Place

_WRITTEN_OUT = (exp.Nullif, exp.ArrayToString, exp.If)


def over_each_aggregate(node: exp.Expr, _: Place) -> exp.Expr:
    """OVER and FILTER behind each aggregate of what an aggregate has become."""
    is_behind = isinstance(node, exp.Window | exp.Filter) and isinstance(node.this, _WRITTEN_OUT)
    if not is_behind:
        return node
    result: exp.Expr = node.this
    for aggregate in list(result.find_all(exp.AggFunc)):
        inner = aggregate.parent if isinstance(aggregate.parent, exp.Filter) else aggregate
        outer = node.copy()
        outer.set("this", inner.copy())
        inner.replace(outer)
    return result


def ratio_to_report(node: exp.Expr, _: Place) -> exp.Expr:
    """`RATIO_TO_REPORT(x) OVER w` is x by the sum of it over w."""
    if not isinstance(node, exp.Window) or function_name(node.this) != "RATIO_TO_REPORT":
        return node
    value = node.this.expressions[0]
    total = node.copy()
    total.set("this", exp.Sum(this=value.copy()))
    whole = exp.Nullif(this=total, expression=exp.Literal.number(0))
    return exp.paren(exp.Div(this=exp.paren(value.copy()), expression=whole), copy=False)
