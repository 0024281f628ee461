"""Rules of Flink SQL."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import called, function_name
from matchrec.frontends.dialects.rules.place import Place


def processing_time(node: exp.Expr, _: Place) -> exp.Expr:
    """`PROCTIME()` and `MATCH_PROCTIME()`, which rows of a table do not have."""
    name = function_name(node)
    if name in ("MATCH_PROCTIME", "PROCTIME"):
        raise UnsupportedError(f"no {name}, as rows have no time of processing: write now()")
    return node


def match_rowtime(node: exp.Expr, place: Place) -> exp.Expr:
    """`MATCH_ROWTIME()` is the time of the last row, by which the clause orders."""
    if function_name(node) != "MATCH_ROWTIME":
        return node
    if node.expressions:
        return called("LAST", node.expressions[0].copy())
    if place.order is None:
        raise UnsupportedError("no MATCH_ROWTIME without ORDER BY")
    return called("LAST", exp.column(place.order))


def rounded_time(node: exp.Expr, _: Place) -> exp.Expr:
    """`FLOOR(t TO HOUR)` and `CEIL(t TO HOUR)`."""
    unit = node.args.get("to") if isinstance(node, (exp.Floor, exp.Ceil)) else None
    if unit is None:
        return node
    name = unit.name.upper()
    start = exp.Anonymous(
        this="DATE_TRUNC", expressions=[exp.Literal.string(name), node.this.copy()]
    )
    if isinstance(node, exp.Floor):
        return start
    one = exp.Interval(this=exp.Literal.string("1"), unit=exp.var(name))
    is_start = exp.EQ(this=start, expression=node.this.copy())
    return exp.If(
        this=is_start, true=start.copy(), false=exp.Add(this=start.copy(), expression=one)
    )


def no_hints(node: exp.Expr, _: Place) -> exp.Expr:
    """`/*+ STATE_TTL('t' = '1d') */`, which says how Flink is to run a query."""
    if isinstance(node, exp.Select) and node.args.get("hint"):
        node.set("hint", None)
    return node
