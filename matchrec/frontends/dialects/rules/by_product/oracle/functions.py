"""Functions, names and row sources of Oracle."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import function_name
from matchrec.frontends.dialects.rules.by_product.oracle.days import day_to_second
from matchrec.frontends.dialects.rules.place import Place


def row_generator(node: exp.Expr, _: Place) -> exp.Expr:
    """`FROM dual CONNECT BY LEVEL <= n` is the numbers from 1 to n."""
    connect = node.args.get("connect") if isinstance(node, exp.Select) else None
    if connect is None:
        return node
    condition, source = connect.args["connect"], node.args["from_"].this
    if (
        not isinstance(condition, (exp.LTE, exp.LT))
        or condition.this.name.upper() != "LEVEL"
        or source.name.upper() != "DUAL"
        or connect.args.get("start")
    ):
        raise UnsupportedError("no CONNECT BY: write WITH RECURSIVE")
    end = condition.expression.copy()
    if isinstance(condition, exp.LTE):
        end = exp.Add(this=exp.paren(end), expression=exp.Literal.number(1))
    numbers = exp.Anonymous(this="RANGE", expressions=[exp.Literal.number(1), end])
    alias = exp.TableAlias(this=exp.to_identifier("dual"), columns=[exp.to_identifier("level")])
    for column in list(node.find_all(exp.Column)):
        is_item = isinstance(column.parent, (exp.Alias, exp.Select))
        if column.name.upper() == "LEVEL" and not is_item:
            column.replace(exp.cast(column.copy(), "int"))  # tells rules of dates what it is
    node.set("connect", None)
    node.args["from_"].set("this", exp.Table(this=numbers, alias=alias))
    return node


def no_dual(node: exp.Expr, _: Place) -> exp.Expr:
    """`FROM dual` is nothing: a query without FROM has one row."""
    if not isinstance(node, exp.Select):
        return node
    source = node.find(exp.From)
    if source is None or source.parent is not node or node.args.get("joins"):
        return node
    if source.this.name.lower() == "dual" and source.arg_key:
        node.set(source.arg_key, None)
    return node


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
    if function_name(node) == "LNNVL":
        return exp.Not(this=exp.Is(this=exp.paren(node.expressions[0]), expression=exp.true()))
    return node


def no_row_order(node: exp.Expr, _: Place) -> exp.Expr:
    """`ROWNUM` and `KEEP (DENSE_RANK FIRST ORDER BY y)`, which Spark SQL has not."""
    is_column = isinstance(node, exp.Pseudocolumn | exp.Column) and not node.args.get("table")
    if is_column and node.name.upper() == "ROWNUM":
        raise UnsupportedError("no ROWNUM: write row_number() OVER (ORDER BY ...), or LIMIT")
    if isinstance(node, exp.WithinGroup | exp.Window) and node.args.get("over") == "KEEP":
        raise UnsupportedError("no KEEP: write max_by(x, y) or min_by(x, y)")
    return node
