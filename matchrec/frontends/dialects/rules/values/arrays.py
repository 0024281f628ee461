"""Rules for arrays, of which products have the same functions by other names and with other NULLs.

array_max(x)        NULL in Trino if an element is; Spark leaves it out
repeat(x, 2)        an array in Trino, a text in Spark
split(x, y, 2)      two parts at most
"""

from __future__ import annotations

from sqlglot import exp

from matchrec.frontends.dialects.marks import function, function_name, plain_call
from matchrec.frontends.dialects.rules.place import Place

_NAMES = {"ARRAY_CONCAT": "CONCAT", "ARRAY_REVERSE": "REVERSE", "ROW": "STRUCT"}


def arrays_of_trino(node: exp.Expr, place: Place) -> exp.Expr:
    """`array_max(x)`, `array_min(x)`, `repeat(x, n)` and `split(x, y, n)`."""
    if not place.write.is_spark:
        return node
    if isinstance(node, exp.ArrayMax | exp.ArrayMin):
        is_null = exp.Is(this=exp.to_identifier("item"), expression=exp.null())
        unknown = plain_call("EXISTS", node.this, function(is_null, "item"))
        return exp.If(this=unknown, true=exp.null(), false=plain_call(node.sql_name(), node.this))
    if isinstance(node, exp.Repeat):
        return plain_call("ARRAY_REPEAT", node.this, node.args["times"])
    limit = node.args.get("limit") if isinstance(node, exp.Split) else None
    if limit is not None:
        quotes = (exp.Literal.string(one) for one in ("\\Q", "\\E"))
        literally = plain_call("CONCAT", next(quotes), node.expression, next(quotes))
        return plain_call("SPLIT", node.this, literally, limit)
    return node


def arrays_of_flink(node: exp.Expr, place: Place) -> exp.Expr:
    """`ARRAY_CONCAT(x, y)`, `ARRAY_REVERSE(x)`, `ROW(a, b)`."""
    name = _NAMES.get(function_name(node))
    return plain_call(name, *node.expressions) if name and place.write.is_spark else node


def overlapping_arrays(node: exp.Expr, place: Place) -> exp.Expr:
    """`ARRAYS_OVERLAP(x, y)`, for which sqlglot writes an operator that Spark has not."""
    is_asked = isinstance(node, exp.ArrayOverlaps) and place.write.is_spark
    return plain_call("ARRAYS_OVERLAP", node.this, node.expression) if is_asked else node
