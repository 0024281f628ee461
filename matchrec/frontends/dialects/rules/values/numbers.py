"""Rules for quotients and averages, whose fraction is kept, dropped or cut by some products.

And for the greatest of several values, which some products do not know if one of them is NULL.
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import plain_call
from matchrec.frontends.dialects.rules.kinds import Kind
from matchrec.frontends.dialects.rules.place import Place

_PERCENTILES = (exp.PercentileCont, exp.PercentileDisc)


def quotient(node: exp.Expr, place: Place) -> exp.Expr:
    """`a / b` of integers becomes `a DIV b` where the other product would keep the fraction."""
    read, write = place.read, place.write
    if read.divides_integers == write.divides_integers or not isinstance(node, exp.Div):
        return node
    kinds = {place.kind(node.this), place.kind(node.expression)}
    if kinds == {Kind.INTEGER} and read.divides_integers:
        return exp.IntDiv(this=node.this, expression=node.expression)
    if kinds <= {Kind.INTEGER, None}:
        drops, keeps = (read, write) if read.divides_integers else (write, read)
        place.remark(
            f"the quotient of two integers is an integer in {drops.title}, and has a fraction in "
            f"{keeps.title}"
        )
    return node


def average_of_integers(node: exp.Expr, place: Place) -> exp.Expr:
    """`AVG` of integers, which Flink gives without a fraction and its documentation with one."""
    if isinstance(node, exp.Avg) and place.kind(node.this) is Kind.INTEGER:
        place.remark("AVG of integers keeps its fraction, which Flink SQL drops")
    return node


def average_of_decimals(node: exp.Expr, place: Place) -> exp.Expr:
    """`AVG` of decimals, which has as many digits as they in Trino, and four more in Spark."""
    if isinstance(node, exp.Avg) and place.kind(node.this) in (Kind.DECIMAL, None):
        place.remark(
            "AVG of decimals has their number of digits in Trino, and four more in Spark SQL; for "
            "DECIMAL(10, 2) write CAST(AVG(x) AS DECIMAL(10, 2))"
        )
    return node


def quotient_of_decimals(node: exp.Expr, place: Place) -> exp.Expr:
    """`a / b` of decimals, rounded in Trino to the digits of the one that has more of them."""
    if not isinstance(node, exp.Div) or place.write.name == "trino":
        return node
    kinds = {place.kind(node.this), place.kind(node.expression)}
    if Kind.DECIMAL not in kinds or not kinds <= {Kind.DECIMAL, Kind.INTEGER, None}:
        return node
    digits = _digits(node, place)
    if digits is not None and place.write.is_spark:
        return exp.cast(node.copy(), f"DECIMAL(38, {digits})")
    place.remark(
        "a quotient of decimals is rounded in Trino to the digits of the one that has more of "
        f"them, and has more in {place.write.title}; for DECIMAL(10, 2) write "
        "CAST(a / b AS DECIMAL(10, 2))"
    )
    return node


def _digits(node: exp.Expr, place: Place) -> int | None:
    """How many digits after the point a number has in Trino, None where that is not known."""
    match node:
        case exp.Literal() if not node.is_string:
            return len(node.name.partition(".")[2])
        case exp.Cast() if place.kind(node) is Kind.DECIMAL:
            parameters = node.to.expressions
            return int(parameters[1].name) if len(parameters) == 2 else 0
        case exp.Paren() | exp.Neg() | exp.Abs() | exp.Min() | exp.Max() | exp.Sum():
            return _digits(node.this, place)
        case exp.Mul() | exp.Add() | exp.Sub() | exp.Div() | exp.Mod():
            found = [_digits(one, place) for one in (node.this, node.expression)]
            known = [one for one in found if one is not None]
            if len(known) < len(found):
                return None
            return sum(known) if isinstance(node, exp.Mul) else max(known)
    return 0 if place.kind(node) is Kind.INTEGER else None


def extremes(node: exp.Expr, place: Place) -> exp.Expr:
    """`GREATEST(a, b)` and `LEAST(a, b)`, NULL where one is NULL but in Spark and Databricks."""
    if not isinstance(node, exp.Greatest | exp.Least):
        return node
    read, write = place.read, place.write
    is_named = read.name == "snowflake" and node.args.get("ignore_nulls")
    ignores = bool(is_named) or not read.extremes_of_nulls
    node.set("ignore_nulls", ignores)
    unsure = [one for one in (node.this, *node.expressions) if not isinstance(one, exp.Literal)]
    if not unsure or ignores is not write.extremes_of_nulls or write.name == "snowflake":
        return node
    if ignores:
        place.remark(f"{node.key.upper()} of values and a NULL is NULL in {write.title}")
        return node
    known = [exp.Not(this=exp.Is(this=one.copy(), expression=exp.null())) for one in unsure]
    return exp.Case(ifs=[exp.If(this=exp.and_(*known), true=node.copy())])


def exact_percentile(node: exp.Expr, place: Place) -> exp.Expr:
    """`PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)`, which sqlglot would approximate."""
    write = place.write
    if write.name == "trino" and isinstance(node, (*_PERCENTILES, exp.Median)):
        raise UnsupportedError("no exact percentile: write approx_percentile(x, 0.5)")
    if isinstance(node, exp.Quantile) and write.name in ("oracle", "snowflake"):
        keys = exp.Order(expressions=[exp.Ordered(this=node.this.copy())])
        share = exp.PercentileCont(this=node.args["quantile"].copy())
        return exp.WithinGroup(this=share, expression=keys)
    if isinstance(node, _PERCENTILES) and write.is_spark:
        if isinstance(node.parent, exp.WithinGroup):
            for key in node.parent.expression.expressions:
                key.set("nulls_first", not key.args.get("desc"))  # NULLs are left out
            return plain_call(node.sql_name(), node.this)
        if isinstance(node, exp.PercentileCont) and node.expression:
            return plain_call("PERCENTILE", node.this, node.expression)
    return node


def cut_number(node: exp.Expr, place: Place) -> exp.Expr:
    """`TRUNC(x, n)`, without the digits after the nth."""
    places = node.args.get("decimals") if isinstance(node, exp.Trunc) else None
    if places is None or not place.write.is_spark:
        return node
    return truncated_number(node.this.copy(), places)


def truncated_number(number: exp.Expr, places: exp.Expr | None) -> exp.Expr:
    """A number without its fraction, or without the digits after so many places."""
    if places is None:
        return exp.cast(number, "bigint")
    power = exp.Pow(this=exp.Literal.number(10), expression=places.copy())
    product = exp.Mul(this=exp.paren(number), expression=power)
    return exp.paren(exp.Div(this=exp.cast(product, "bigint"), expression=power.copy()))
