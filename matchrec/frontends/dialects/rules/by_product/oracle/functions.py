"""Functions and names of Oracle."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import function_name
from matchrec.frontends.dialects.rules.by_product.oracle.days import day_to_second
from matchrec.frontends.dialects.rules.place import Place


def unusual_name(node: exp.Expr, _: Place) -> exp.Expr:
    """`page#` is a name that Spark wants in quotes."""
    if isinstance(node, exp.Identifier) and "#" in node.name:
        node.set("quoted", True)
    return node


def interval_function(node: exp.Expr, _: Place) -> exp.Expr:
    """`NUMTODSINTERVAL(n, 'MINUTE')`, `NUMTOYMINTERVAL` and `TO_DSINTERVAL('0 01:00:00')`."""
    name = function_name(node)
    if name not in ("NUMTODSINTERVAL", "NUMTOYMINTERVAL", "TO_DSINTERVAL"):
        return node
    first = node.expressions[0]
    if name == "TO_DSINTERVAL":
        return day_to_second(_text(first, name))
    one = exp.Interval(
        this=exp.Literal.string("1"), unit=exp.var(_text(node.expressions[1], name).upper())
    )
    return exp.paren(exp.Mul(this=one, expression=exp.paren(first.copy())), copy=False)


def _text(node: exp.Expr, function: str) -> str:
    if not isinstance(node, exp.Literal) or not node.is_string:
        raise UnsupportedError(f"the text of {function} must be a literal")
    return node.name


def current_time(node: exp.Expr, _: Place) -> exp.Expr:
    """`SYSTIMESTAMP`, and `CURRENT_DATE`, which has a time of day."""
    is_now = isinstance(node, (exp.Systimestamp, exp.CurrentDate))
    return exp.CurrentTimestamp() if is_now else node


def function_of_oracle(node: exp.Expr, _: Place) -> exp.Expr:
    """`TO_NUMBER(x)`, `INITCAP(x)` and `LNNVL(condition)`."""
    if isinstance(node, exp.ToNumber) and not node.args.get("format"):
        return exp.cast(node.this, "double")
    if isinstance(node, exp.Initcap):
        return exp.Anonymous(this="INITCAP", expressions=[node.this])
    if function_name(node) == "BITAND":
        left, right = (exp.paren(one.copy()) for one in node.expressions)
        return exp.paren(exp.BitwiseAnd(this=left, expression=right))
    if isinstance(node, exp.Round) and node.text("decimals").isalpha():
        raise UnsupportedError("no ROUND of dates: write TRUNC")
    if isinstance(node, exp.StrPosition) and isinstance(node.args.get("position"), exp.Neg):
        raise UnsupportedError("no INSTR from the end: write INSTR(REVERSE(x), y)")
    if function_name(node) in ("XMLAGG", "XMLELEMENT"):
        raise UnsupportedError(f"no {function_name(node)}: write LISTAGG(x, ',')")
    if function_name(node) == "LNNVL":
        return exp.Not(this=exp.Is(this=exp.paren(node.expressions[0]), expression=exp.true()))
    return node
