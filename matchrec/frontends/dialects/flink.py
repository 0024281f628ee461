"""Rules for expressions of Flink SQL."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import called
from matchrec.frontends.dialects.typed.context import Context
from matchrec.frontends.dialects.typed.kinds import Kind

_WINDOWS = ("TUMBLE", "HOP", "SESSION", "CUMULATE")


def group_window(node: exp.Expr) -> exp.Expr:
    """Windows of time around a clause, which Spark says in other words."""
    name = str(node.this).upper() if isinstance(node, exp.Anonymous) else ""
    if name.split("_")[0] in _WINDOWS:
        raise UnsupportedError(f"no {name}: write window(ts, '10 minutes') in GROUP BY of Spark")
    if name in ("MATCH_PROCTIME", "PROCTIME"):
        raise UnsupportedError(f"no {name}, as rows have no time of processing: write now()")
    return node


def match_rowtime(node: exp.Expr, context: Context) -> exp.Expr:
    """`MATCH_ROWTIME()` is the time of the last row, by which the clause orders."""
    if not isinstance(node, exp.Anonymous) or str(node.this).upper() != "MATCH_ROWTIME":
        return node
    if node.expressions:
        return called("LAST", node.expressions[0].copy())
    if context.order is None:
        raise UnsupportedError("no MATCH_ROWTIME without ORDER BY")
    return called("LAST", exp.column(context.order))


def average_of_integers(node: exp.Expr, context: Context) -> exp.Expr:
    """`AVG` of integers, which Flink gives without a fraction and its documentation with one."""
    if isinstance(node, exp.Avg) and context.kind(node.this) is Kind.INTEGER:
        context.remarks.append("AVG of integers keeps its fraction, which Flink SQL drops")
    return node
