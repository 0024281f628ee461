"""Functions and names of Oracle."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import function_name, plain_call
from matchrec.frontends.dialects.rules.by_product.oracle.days import day_to_second
from matchrec.frontends.dialects.rules.kinds import Kind
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
    """`TO_NUMBER(x)`, `TO_CLOB(x)`, `BITAND(x, y)` and `LNNVL(condition)`."""
    if isinstance(node, exp.ToNumber) and not node.args.get("format"):
        return exp.cast(node.this, "double")
    if function_name(node) in ("TO_CLOB", "TO_NCLOB"):
        return exp.cast(node.expressions[0].copy(), "text")
    if function_name(node) == "BITAND":
        left, right = (exp.paren(one.copy()) for one in node.expressions)
        return exp.paren(exp.BitwiseAnd(this=left, expression=right))
    if isinstance(node, exp.Round) and node.text("decimals").isalpha():
        raise UnsupportedError("no ROUND of dates: write TRUNC")
    if function_name(node) in ("XMLAGG", "XMLELEMENT"):
        raise UnsupportedError(f"no {function_name(node)}: write LISTAGG(x, ',')")
    if function_name(node) == "LNNVL":
        return exp.Not(this=exp.Is(this=exp.paren(node.expressions[0]), expression=exp.true()))
    return node


def field_of_json(node: exp.Expr, place: Place) -> exp.Expr:
    """`t.doc.day.year`, a part of the JSON that is the text of a column."""
    if not isinstance(node, exp.Column) or not node.args.get("db") or not place.write.is_spark:
        return node
    table, column, *path = (one.name for one in node.parts)
    select = node.parent_select
    if select is None or place.columns.of_input(select, column.lower()) is not Kind.TEXT:
        return node
    place_ = exp.Literal.string(".".join(["$", *path]))
    found = plain_call("GET_JSON_OBJECT", exp.column(column, table=table), place_)
    return exp.alias_(found, path[-1]) if isinstance(node.parent, exp.Select) else found


def deviation_of_one(node: exp.Expr, place: Place) -> exp.Expr:
    """`STDDEV(x)` and `VARIANCE(x)`, 0 of one value, of which Spark has none."""
    if not isinstance(node, exp.Stddev | exp.Variance) or not place.write.is_spark:
        return node
    is_one = exp.EQ(this=exp.Count(this=node.this.copy()), expression=exp.Literal.number(1))
    return exp.If(this=is_one, true=exp.Literal.number("0.0"), false=node.copy())


def remainder(node: exp.Expr, place: Place) -> exp.Expr:
    """`MOD(x, y)`, which is x where y is 0; elsewhere that is an error."""
    if not isinstance(node, exp.Mod) or place.write.name == "oracle":
        return node
    divisor = node.expression.unnest()
    if isinstance(divisor, exp.Literal) and divisor.name.strip("0."):
        return node
    is_zero = exp.EQ(this=node.expression.copy(), expression=exp.Literal.number(0))
    return exp.If(this=is_zero, true=node.this.copy(), false=node.copy())
