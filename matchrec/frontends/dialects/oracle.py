"""Rules for expressions of Oracle that need no types."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.dialects.oracle import Oracle
from sqlglot.errors import UnsupportedError
from sqlglot.time import format_time

from matchrec.frontends.dialects.typed.oracle_times import day_to_second

_TIME_OF_DAY = re.compile(r"%[HIMSfp]")
_NAMES_IN_CAPITALS = re.compile(r"\b(MON|DY)\b")
_PADDED_NAMES = re.compile(r"\b(MONTH|DAY)\b")


def row_generator(node: exp.Expr) -> exp.Expr:
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


def unusual_name(node: exp.Expr) -> exp.Expr:
    """`page#` is a name that Spark wants in quotes."""
    if isinstance(node, exp.Identifier) and "#" in node.name:
        node.set("quoted", True)
    return node


def concatenation(node: exp.Expr) -> exp.Expr:
    """`a || b`: NULL is the empty string, and the empty string is NULL."""
    if not isinstance(node, exp.DPipe) or isinstance(node.parent, exp.DPipe):
        return node
    parts = [part.copy() for part in node.flatten()]
    text = exp.Anonymous(this="CONCAT_WS", expressions=[exp.Literal.string(""), *parts])
    if any(isinstance(part, exp.Literal) and part.name for part in parts):
        return text
    return exp.Nullif(this=text, expression=exp.Literal.string(""))


def parsed_time(node: exp.Expr) -> exp.Expr:
    """`TO_DATE` gives a time of day where its format has one; without a format it has Oracle's."""
    if not isinstance(node, exp.StrToDate):
        return node
    pattern = node.args.get("format")
    if pattern is None:
        node.set("format", exp.Literal.string("%d-%b-%y"))
    elif _TIME_OF_DAY.search(pattern.name):
        return exp.StrToTime(this=node.this, format=pattern)
    return node


def timestamp_literal(node: exp.Expr) -> exp.Expr:
    """`TIMESTAMP '2011-04-01 10:00:00'`, whose fraction of a second may be left out."""
    is_literal = isinstance(node, exp.StrToTime) and isinstance(node.this, exp.Literal)
    if is_literal and node.args["format"].name == "%Y-%m-%d %H:%M:%S.%f":
        return exp.cast(node.this, "timestamp")
    return node


def formatted_time(node: exp.Expr) -> exp.Expr:
    """`TO_CHAR(time, 'YYYY-MM-DD')`, where the format is one of times."""
    pattern = node.args.get("format") if isinstance(node, exp.ToChar) else None
    if not isinstance(pattern, exp.Literal) or not pattern.is_string:
        return node
    written = format_time(pattern.name.upper(), Oracle.TIME_MAPPING)
    if not written or "%" not in written:
        return node
    if _PADDED_NAMES.search(pattern.name.upper()):
        raise UnsupportedError("names of months and days, which Oracle pads: write MON or DY")
    text = exp.TimeToStr(this=node.this, format=exp.Literal.string(written))
    return exp.Upper(this=text) if _NAMES_IN_CAPITALS.search(pattern.name) else text


def interval_function(node: exp.Expr) -> exp.Expr:
    """`NUMTODSINTERVAL(n, 'MINUTE')`, `NUMTOYMINTERVAL` and `TO_DSINTERVAL('0 01:00:00')`."""
    name = str(node.this).upper() if isinstance(node, exp.Anonymous) else ""
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


def current_time(node: exp.Expr) -> exp.Expr:
    """`SYSTIMESTAMP`, and `CURRENT_DATE`, which has a time of day."""
    is_now = isinstance(node, (exp.Systimestamp, exp.CurrentDate))
    return exp.CurrentTimestamp() if is_now else node


def function_of_oracle(node: exp.Expr) -> exp.Expr:
    """`TO_NUMBER(x)`, `INITCAP(x)` and `LNNVL(condition)`."""
    if isinstance(node, exp.ToNumber) and not node.args.get("format"):
        return exp.cast(node.this, "double")
    if isinstance(node, exp.Initcap):
        return exp.Anonymous(this="INITCAP", expressions=[node.this])
    if isinstance(node, exp.Anonymous) and str(node.this).upper() == "LNNVL":
        return exp.Not(this=exp.Is(this=exp.paren(node.expressions[0]), expression=exp.true()))
    return node


RULES = (
    row_generator,
    unusual_name,
    concatenation,
    parsed_time,
    timestamp_literal,
    formatted_time,
    interval_function,
    current_time,
    function_of_oracle,
)
