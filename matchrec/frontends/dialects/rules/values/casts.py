"""Rules for casts: to integers, which round in some products, and to times of day.

CAST(2.7 AS INTEGER)    3 in Oracle, Snowflake, Trino and BigQuery; 2 in Spark, Databricks and Flink
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import plain_call
from matchrec.frontends.dialects.rules.kinds import Kind
from matchrec.frontends.dialects.rules.place import Place

_ROUNDING = frozenset({"oracle", "snowflake", "trino", "bigquery"})
_CUTTING = {"trino": "TRUNCATE"}  # TRUNC elsewhere
_WHOLE = (exp.Round, exp.Trunc, exp.Ceil, exp.Floor)


def whole_number(node: exp.Expr, place: Place) -> exp.Expr:
    """`CAST(x AS INTEGER)` of a number with a fraction, rounded or cut as where it is read."""
    if not isinstance(node, exp.Cast) or not node.is_type(*exp.DataType.INTEGER_TYPES):
        return node
    rounds, cuts = (one.name in _ROUNDING for one in (place.read, place.write))
    if rounds == cuts or isinstance(node.this, _WHOLE):
        return node
    if place.kind(node.this) not in (Kind.FRACTION, Kind.DECIMAL):
        return node
    name = "ROUND" if rounds else _CUTTING.get(place.write.name, "TRUNC")
    node.set("this", plain_call(name, node.this))
    return node


def no_time_of_day(node: exp.Expr, place: Place) -> exp.Expr:
    """`CAST(x AS TIME)`, which sqlglot would make a time of today."""
    is_cast = isinstance(node, exp.Cast) and node.is_type(exp.DType.TIME)
    if place.write.is_spark and (is_cast or isinstance(node, exp.TsOrDsToTime)):
        raise UnsupportedError("no TIME of day: write its text, with the format 'HH:mm:ss'")
    return node
