"""Rules for what another product means by the same words, where it is not Spark that reads them."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import name_of, plain_call
from matchrec.frontends.dialects.rules.kinds import Kind
from matchrec.frontends.dialects.rules.place import Place
from matchrec.frontends.dialects.rules.values.times import unit_of

_OF_ARRAYS = (
    *(exp.Array, exp.ArrayAgg, exp.ArrayUniqueAgg, exp.ArraySize, exp.ArrayContains, exp.Bracket),
    *(exp.ArrayFilter, exp.Transform, exp.ArrayToString, exp.ArrayConcat),
)
_TRUNCATIONS = (exp.DateTrunc, exp.TimestampTrunc, exp.DatetimeTrunc)
_UNITS_OF_ORACLE = {
    "DAY": "DD",
    "WEEK": "IW",
    "MONTH": "MM",
    "QUARTER": "Q",
    "YEAR": "YYYY",
    "HOUR": "HH24",
    "MINUTE": "MI",
}
_DIFFERENCES = (exp.DateDiff, exp.TimestampDiff, exp.DatetimeDiff)


def arrays_and_nulls(node: exp.Expr, place: Place) -> exp.Expr:
    """`ARRAY_AGG(x)`, which keeps NULLs in some products."""
    read, write = place.read, place.write
    if not isinstance(node, exp.ArrayAgg) or isinstance(node.parent, exp.IgnoreNulls):
        return node
    if read.collects_nulls is not write.collects_nulls and not write.is_spark:
        keeps, drops = (read, write) if read.collects_nulls else (write, read)
        if place.clause is not None:
            node.set("nulls_excluded", None)  # no aggregate has FILTER there
        place.remark(
            f"ARRAY_AGG keeps NULLs in {keeps.title}, and leaves them out in {drops.title}"
        )
    return node


def whole_quotient(node: exp.Expr, _: Place) -> exp.Expr:
    """`a DIV b` without its fraction, which Oracle's CAST AS INT would round."""
    if not isinstance(node, exp.IntDiv):
        return node
    quotient = exp.Div(this=node.this.copy(), expression=node.expression.copy())
    return exp.Anonymous(this="TRUNC", expressions=[quotient])


def no_arrays(node: exp.Expr, _: Place) -> exp.Expr:
    """Arrays, which Oracle's SQL has only as types of a schema."""
    if isinstance(node, _OF_ARRAYS):
        raise UnsupportedError("an array: have a row for each value, with ALL ROWS PER MATCH")
    return node


def aggregate_of_all_rows(node: exp.Expr, place: Place) -> exp.Expr:
    """An aggregate in a clause, where some have neither DISTINCT nor FILTER."""
    if place.clause is None or not isinstance(node, exp.AggFunc):
        return node
    for word, is_there in (
        ("DISTINCT", isinstance(node.this, exp.Distinct)),
        ("FILTER", isinstance(node.parent, exp.Filter)),
    ):
        if is_there:
            raise UnsupportedError(f"no {word}: an aggregate of a clause is over all its rows")
    return node


def named_unit(node: exp.Expr, place: Place) -> exp.Expr:
    """`TRUNC(d, 'MM')` and `date_trunc('MM', t)` of Spark, whose units have short names."""
    unit = node.args.get("unit")
    if not isinstance(node, _TRUNCATIONS) or unit is None or place.write.is_spark:
        return node
    name = unit_of(unit.name)
    if place.write.name == "oracle":
        if name not in _UNITS_OF_ORACLE:
            raise UnsupportedError(f"no TRUNC to a unit of {name}")
        letters = exp.Literal.string(_UNITS_OF_ORACLE[name])
        return exp.Anonymous(this="TRUNC", expressions=[node.this.copy(), letters])
    unit.replace(exp.Literal.string(name) if isinstance(unit, exp.Literal) else exp.var(name))
    return node


def day_without_time(node: exp.Expr, place: Place) -> exp.Expr:
    """`CAST(t AS DATE)` without the time of day, which Oracle's DATE keeps."""
    if not isinstance(node, exp.Cast) or not node.is_type("date"):
        return node
    if isinstance(node.this, exp.Literal) or place.kind(node.this) is Kind.DATE:
        return node
    if isinstance(node.parent, exp.Anonymous) and node.parent.name == "TRUNC":
        return node
    return exp.Anonymous(this="TRUNC", expressions=[exp.cast(node.this.copy(), "date")])


def joined_text(node: exp.Expr, place: Place) -> exp.Expr:
    """`a || b`, where NULL is the empty text in Oracle."""
    if isinstance(node, exp.DPipe) and not isinstance(node.parent, exp.DPipe):
        place.remark(f"`||` of NULL is NULL in {place.read.title}, as of an empty text in Oracle")
    return node


def running_aggregate(node: exp.Expr, place: Place) -> exp.Expr:
    """An aggregate of a row of a match, which Databricks has of the whole match alone."""
    if not place.is_seen_from_rows:
        return node
    if name_of(node) == "FINAL" and isinstance(node.expressions[0], exp.AggFunc):
        return node.expressions[0]
    is_final = node.parent is not None and name_of(node.parent) == "FINAL"
    if isinstance(node, exp.AggFunc) and not is_final:
        place.remark(
            "an aggregate is over the whole match in Databricks, and up to its row in "
            + place.read.title
        )
    return node


def elapsed_time(node: exp.Expr, place: Place) -> exp.Expr:
    """A difference of times, of which some products count the boundaries between them."""
    unit = node.args.get("unit")
    read, write = place.read, place.write
    if not isinstance(node, _DIFFERENCES) or unit is None or read.counts_boundaries:
        return node
    kinds = {place.kind(node.this), place.kind(node.expression)}
    if unit.name.upper() not in ("DAY", "DAYS") or kinds != {Kind.DATE}:
        place.remark(
            f"DATEDIFF counts in {write.title} how often a unit of time begins, not how many "
            f"have passed as in {read.title}"
        )
    return node


def first_of_later_rows(node: exp.Expr, place: Place) -> exp.Expr:
    """`FIRST(A.x)` of a row before all rows of A, which Trino finds."""
    is_running = node.parent is None or name_of(node.parent) != "FINAL"
    if name_of(node) != "FIRST" or not place.is_seen_from_rows or not is_running:
        return node
    names_variable = any(one.table for one in node.find_all(exp.Column))
    if names_variable or len(node.expressions) > 1:
        place.remark("FIRST finds rows after the row of the measure, too, in Trino")
    return node


def match_of_oracle(node: exp.Expr, place: Place) -> exp.Expr:
    """`REGEXP_EXTRACT(x, p, g)` is `REGEXP_SUBSTR(x, p, 1, 1, NULL, g)`."""
    if not isinstance(node, exp.RegexpExtract):
        return node
    usual = exp.Literal.number(int(place.read.has_functions_of_spark))
    group = node.args.get("group") or usual
    one = exp.Literal.number(1)
    rest = [node.args.get("position") or one, node.args.get("occurrence") or one]
    flags = node.args.get("parameters") or exp.null()
    return plain_call("REGEXP_SUBSTR", node.this, node.expression, *rest, flags, group)


def days_between(node: exp.Expr, place: Place) -> exp.Expr:
    """`DATEDIFF(t, s)` of days is a difference in Oracle, which has no other units."""
    if not isinstance(node, _DIFFERENCES):
        return node
    is_elapsed = {place.kind(one) for one in (node.this, node.expression)} != {Kind.DATE}
    unit = node.text("unit").upper() or "DAY"
    if unit not in ("DAY", "DAYS") or (place.read.name in ("trino", "flink") and is_elapsed):
        raise UnsupportedError("no DATEDIFF: write (t - s) * 24 for hours between dates")
    later, earlier = (plain_call("TRUNC", one) for one in (node.this, node.expression))
    return exp.paren(exp.Sub(this=later, expression=earlier), copy=False)


def keys_of_group(node: exp.Expr, _: Place) -> exp.Expr:
    """`GROUP BY ALL`, which has no keys elsewhere."""
    if isinstance(node, exp.Group) and node.args.get("all") and not node.expressions:
        raise UnsupportedError("no GROUP BY ALL: name the keys")
    return node


def json_of_oracle(node: exp.Expr, _: Place) -> exp.Expr:
    """`GET_JSON_OBJECT(x, '$.a')` is `JSON_VALUE(x, '$.a')`; a row has no JSON."""
    if isinstance(node, exp.JSONExtractScalar | exp.JSONExtract):
        path = exp.Literal.string(node.expression.sql("spark").strip("'"))
        return exp.Anonymous(this="JSON_VALUE", expressions=[node.this.copy(), path])
    if isinstance(node, exp.JSONFormat):
        raise UnsupportedError("no TO_JSON: write JSON_OBJECT('name' VALUE x)")
    return node
