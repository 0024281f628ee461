"""Whole units of time between two rows, which DEFINE takes as a difference of numbers."""

from __future__ import annotations

from sqlglot import exp

from matchrec.frontends.dialects.typed.context import Context
from matchrec.frontends.dialects.typed.kinds import TIMESTAMPS
from matchrec.frontends.dialects.typed.oracle_times import microseconds

_SECONDS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3600, "DAY": 86_400}


def elapsed(node: exp.Expr, context: Context) -> exp.Expr:
    """`date_diff('second', a, b)` and `TIMESTAMPDIFF(SECOND, a, b)` of two timestamps in DEFINE."""
    if not context.in_define or not isinstance(node, (exp.DateDiff, exp.TimestampDiff)):
        return node
    unit = node.args.get("unit")
    seconds = _SECONDS.get(unit.name.upper()) if unit else None
    kinds = context.kind(node.this), context.kind(node.expression)
    if seconds is None or not set(kinds) <= TIMESTAMPS:
        return node
    later, earlier = map(microseconds, (node.this.copy(), node.expression.copy()), kinds)
    length = exp.paren(exp.Sub(this=later, expression=earlier), copy=False)
    micros = exp.Literal.number(seconds * 1_000_000)
    return exp.paren(exp.IntDiv(this=length, expression=micros), copy=False)
