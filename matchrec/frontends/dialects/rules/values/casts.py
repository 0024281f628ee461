"""Rules for casts: to integers, which round in some products, to times of day, and of times.

CAST(2.7 AS INTEGER)    3 in Oracle, Snowflake, Trino and BigQuery; 2 in Spark, Databricks and Flink
CAST(t AS STRING)       2024-02-05 13:04:05.120+00 in BigQuery; in Snowflake without the zone
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import plain_call
from matchrec.frontends.dialects.rules.kinds import TIMESTAMPS, Kind
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
    kind = place.kind(node.this)
    if kind is None:
        does, other = ("rounds", "cuts") if rounds else ("cuts", "rounds")
        place.remark(
            f"a cast to an integer {does} in {place.read.title}, and {other} in "
            f"{place.write.title}; the types of these columns are not known"
        )
    if kind not in (Kind.FRACTION, Kind.DECIMAL):
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


def text_of_moment(node: exp.Expr, place: Place) -> exp.Expr:
    """`CAST(t AS STRING)`, with three digits of a second in Snowflake; in BigQuery, six or none."""
    kind = _kind_of_text(node, place)
    if kind not in TIMESTAMPS or not place.write.is_spark:
        return node
    if place.read.name == "snowflake":
        return plain_call("DATE_FORMAT", node.this, _text("yyyy-MM-dd HH:mm:ss.SSS"))
    digits = plain_call("DATE_FORMAT", node.this, _text("yyyy-MM-dd HH:mm:ss.SSSSSS"))
    text = plain_call("REGEXP_REPLACE", digits, _text(r"(\.000)?(000)?$"), _text(""))
    return plain_call("CONCAT", text, _text("+00")) if kind is Kind.TIMESTAMP else text


def text_of_number_or_moment(node: exp.Expr, place: Place) -> exp.Expr:
    """`CAST(x AS VARCHAR)`, in Trino `1.0E0` of a double, and all digits of a timestamp."""
    kind = _kind_of_text(node, place)
    if place.write.name != "trino" and kind in (Kind.FRACTION, *TIMESTAMPS):
        what = "1.0E0 of a double" if kind is Kind.FRACTION else "all digits of a timestamp"
        place.remark(f"a cast to text gives {what} in Trino")
    return node


def _kind_of_text(node: exp.Expr, place: Place) -> Kind | None:
    """The kind of what is cast to a text."""
    is_text = isinstance(node, exp.Cast) and node.is_type(*exp.DataType.TEXT_TYPES)
    return place.kind(node.this) if is_text and not node.args.get("format") else None


def _text(text: str) -> exp.Expr:
    return exp.Literal.string(text)
