"""Rules of Flink SQL."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import called, function_name, plain_call
from matchrec.frontends.dialects.rules.place import Place

_MOMENTS = {"0": "TIMESTAMP_SECONDS", "3": "TIMESTAMP_MILLIS"}  # by digits of a second


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
    start = exp.TimestampTrunc(this=node.this.copy(), unit=exp.var(name))
    if isinstance(node, exp.Floor):
        return start
    one = exp.Interval(this=exp.Literal.string("1"), unit=exp.var(name))
    is_start = exp.EQ(this=start, expression=node.this.copy())
    return exp.If(
        this=is_start, true=start.copy(), false=exp.Add(this=start.copy(), expression=one)
    )


def no_hints(node: exp.Expr, _: Place) -> exp.Expr:
    """`/*+ STATE_TTL('t' = '1d') */`, which says how the product is to run a query."""
    if isinstance(node, exp.Select) and node.args.get("hint"):
        node.set("hint", None)
    return node


def no_versions(node: exp.Expr, _: Place) -> exp.Expr:
    """`JOIN t FOR SYSTEM_TIME AS OF o.rowtime`, which joins each row to a version of its own."""
    if isinstance(node, exp.Version) and node.find(exp.Column):
        raise UnsupportedError(
            "no FOR SYSTEM_TIME AS OF: of the time of a row, write a join with the times since and "
            "until which each version is valid"
        )
    return node


def element(node: exp.Expr, place: Place) -> exp.Expr:
    """`x[1]`, the first element of an array, or a map's value of a key; NULL if there is none."""
    if not isinstance(node, exp.Bracket) or not place.write.has_functions_of_spark:
        return node
    key = node.expressions[0]
    name = "GET" if isinstance(key, exp.Literal) and not key.is_string else "TRY_ELEMENT_AT"
    return plain_call(name, node.this, key)  # sqlglot has a number's index from 0 already


def moment_of_number(node: exp.Expr, place: Place) -> exp.Expr:
    """`TO_TIMESTAMP_LTZ(n, 3)`, so many milliseconds after 1970 began."""
    if function_name(node) != "TO_TIMESTAMP_LTZ" or not place.write.is_spark:
        return node
    number, *digits = node.expressions
    name = _MOMENTS.get(digits[0].name if digits else "3")
    if name is None or number.is_string:
        raise UnsupportedError("no TO_TIMESTAMP_LTZ: write TO_TIMESTAMP of a text")
    return plain_call(name, number)


def failing_cast(node: exp.Expr, _: Place) -> exp.Expr:
    """`CAST(x AS t)`, which sqlglot reads as Hive's: NULL where x is no t."""
    if isinstance(node, exp.TryCast) and not node.args.get("safe"):
        return exp.cast(node.this.copy(), node.to.copy())
    return node


def nth_part(node: exp.Expr, place: Place) -> exp.Expr:
    """`SPLIT_INDEX(x, ';', n)`, the part after n separators, NULL where there are fewer."""
    if function_name(node) != "SPLIT_INDEX":
        return node
    if not place.write.is_spark:
        raise UnsupportedError("no SPLIT_INDEX: write SPLIT_PART, which counts from 1")
    text, separator, index = node.expressions
    parts = exp.Split(this=text.copy(), expression=separator.copy())
    return plain_call("GET", parts, index)
