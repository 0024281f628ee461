"""Rules of Flink SQL."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import called
from matchrec.frontends.dialects.rules.place import Place

_WINDOWS = ("TUMBLE", "HOP", "SESSION", "CUMULATE")


def group_window(node: exp.Expr, _: Place) -> exp.Expr:
    """Windows of time around a clause, which Spark says in other words."""
    name = str(node.this).upper() if isinstance(node, exp.Anonymous) else ""
    if name.split("_")[0] in _WINDOWS:
        raise UnsupportedError(f"no {name}: write window(ts, '10 minutes') in GROUP BY of Spark")
    if name in ("MATCH_PROCTIME", "PROCTIME"):
        raise UnsupportedError(f"no {name}, as rows have no time of processing: write now()")
    return node


def match_rowtime(node: exp.Expr, place: Place) -> exp.Expr:
    """`MATCH_ROWTIME()` is the time of the last row, by which the clause orders."""
    if not isinstance(node, exp.Anonymous) or str(node.this).upper() != "MATCH_ROWTIME":
        return node
    if node.expressions:
        return called("LAST", node.expressions[0].copy())
    if place.order is None:
        raise UnsupportedError("no MATCH_ROWTIME without ORDER BY")
    return called("LAST", exp.column(place.order))
