"""Rules of Trino."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import (
    called,
    function,
    function_name,
    has_semantics,
    name_of,
    plain_call,
)
from matchrec.frontends.dialects.rules.collected import field, struct
from matchrec.frontends.dialects.rules.place import Place
from matchrec.frontends.lexing.function_names import NAVIGATION

_ALIKE = re.compile(r"(?:yyyy|MM|dd|HH|mm|ss|SSS|[^A-Za-z'])*")
_FAILING = (exp.Div, exp.Mod, exp.Cast)
_WITHOUT_NULLS = (exp.Binary, exp.Neg, exp.Paren, exp.Cast, exp.Round, exp.Abs)
_NOT_NULL_FOR_NULL = (exp.Coalesce, exp.Is, exp.Case, exp.If, exp.NullSafeEQ, exp.NullSafeNEQ)


def first_of_match(node: exp.Expr, place: Place) -> exp.Expr:
    """`FIRST(x, n)` finds rows after the current one also with running semantics."""
    if not place.is_seen_from_rows or has_semantics(node):
        return node
    if name_of(node) == "FIRST":
        return called("FINAL", node.copy())
    if name_of(node) == "RUNNING" and name_of(node.expressions[0]) == "FIRST":
        return called("FINAL", node.expressions[0].copy())
    return node


def navigation_inside(node: exp.Expr, _: Place) -> exp.Expr:
    """`PREV(coalesce(x, 7))` is 7 where there is no such row: it is `coalesce(PREV(x), 7)`."""
    if name_of(node) not in NAVIGATION or not node.expressions:
        return node
    value = node.expressions[0]
    if not value.find(*_NOT_NULL_FOR_NULL) or any(
        name_of(one) in NAVIGATION for one in value.find_all(exp.Anonymous)
    ):
        return node
    inside = value.copy()
    for column in list(inside.find_all(exp.Column)):
        column.replace(called(name_of(node) or "", column.copy(), *node.copy().expressions[1:]))
    return inside if inside.find(exp.Anonymous) else node


def nth_part(node: exp.Expr, place: Place) -> exp.Expr:
    """`split_part(x, ',', n)`, NULL where there are fewer parts."""
    if not isinstance(node, exp.SplitPart) or not place.write.is_spark:
        return node
    parts = exp.Split(this=node.this.copy(), expression=node.args["delimiter"].copy())
    return plain_call("TRY_ELEMENT_AT", parts, node.args["part_index"])


def tried(node: exp.Expr, place: Place) -> exp.Expr:
    """`TRY(a / b)` is NULL where b is 0, `TRY(CAST(x AS INTEGER))` where x is no number."""
    if not isinstance(node, exp.Try) or place.write.name == "trino":
        return node
    tree = exp.paren(node.this.copy(), copy=False)
    failing = [*tree.find_all(*_FAILING)]
    outside = all(isinstance(one, _WITHOUT_NULLS) for one in _outside_of_operands(tree))
    if not failing or not outside:
        raise UnsupportedError("no TRY: write TRY_CAST(x AS t), or a / NULLIF(b, 0)")
    for one in failing:
        if isinstance(one, exp.Cast):
            one.replace(exp.TryCast(this=one.this.copy(), to=one.to.copy(), safe=True))
        else:
            divisor = exp.Nullif(this=one.expression.copy(), expression=exp.Literal.number(0))
            one.set("expression", divisor)
    return tree


def _outside_of_operands(tree: exp.Expr) -> Iterator[exp.Expr]:
    """What of an expression is computed of what may fail."""
    return (
        one for one in tree.walk() if any(found is not one for found in one.find_all(*_FAILING))
    )


def seconds_since_1970(node: exp.Expr, place: Place) -> exp.Expr:
    """`to_unixtime(t)`, with a fraction."""
    if not isinstance(node, exp.TimeToUnix) or not place.write.is_spark:
        return node
    micros = exp.Anonymous(this="UNIX_MICROS", expressions=[exp.cast(node.this, "timestamp")])
    return exp.paren(exp.Div(this=micros, expression=exp.Literal.number("1E6")), copy=False)


def matching_elements(node: exp.Expr, _: Place) -> exp.Expr:
    """`any_match(array, test)`, `all_match` and `none_match`."""
    name = function_name(node)
    if name not in ("ANY_MATCH", "NONE_MATCH", "ALL_MATCH"):
        return node
    spark = "FORALL" if name == "ALL_MATCH" else "EXISTS"
    found = exp.Anonymous(this=spark, expressions=node.expressions)
    return exp.Not(this=found) if name == "NONE_MATCH" else found


def joda_format(node: exp.Expr, place: Place) -> exp.Expr:
    """`format_datetime(t, 'yyyy-MM-dd')`, of letters that mean the same in Spark."""
    if function_name(node) != "FORMAT_DATETIME" or not place.write.is_spark:
        return node
    pattern = node.expressions[1].name
    if not _ALIKE.fullmatch(pattern):
        raise UnsupportedError(f"the format {pattern} of a time: write its parts one by one")
    return exp.Anonymous(this="DATE_FORMAT", expressions=node.expressions)


def if_without_else(node: exp.Expr, place: Place) -> exp.Expr:
    """`if(c, x)` is NULL where c is not true; Spark wants to be told."""
    is_call = isinstance(node, exp.If) and not isinstance(node.parent, exp.Case)
    if is_call and place.write.is_spark and node.args.get("false") is None:
        node.set("false", exp.null())
    return node


def several_extremes(node: exp.Expr, _: Place) -> exp.Expr:
    """`max(x, n)` is an array of the n greatest values, not the greater one of two."""
    if isinstance(node, exp.Max | exp.Min) and node.expressions:
        name = node.key
        raise UnsupportedError(f"{name} of several values: write slice(array_sort(...), 1, n)")
    return node


def counted_values(node: exp.Expr, place: Place) -> exp.Expr:
    """`histogram(x)`, a map of each value to how often it occurs."""
    if function_name(node) != "HISTOGRAM":
        return node
    if not place.write.is_spark:
        raise UnsupportedError("no histogram: write COUNT(*) with GROUP BY")
    counted = node.expressions[0]
    one, value = exp.to_identifier("one"), exp.to_identifier("value")
    values = plain_call("COLLECT_LIST", counted)
    equal = plain_call("FILTER", values, function(exp.EQ(this=one, expression=value), "one"))
    entry = plain_call("STRUCT", value, plain_call("SIZE", equal))
    distinct = plain_call("ARRAY_DISTINCT", values)
    entries = plain_call("TRANSFORM", distinct, function(entry, "value"))
    are_any = exp.GT(this=exp.Count(this=counted.copy()), expression=exp.Literal.number(0))
    found = plain_call("MAP_FROM_ENTRIES", entries)
    return exp.If(this=are_any, true=found, false=exp.null())


def mapped_values(node: exp.Expr, place: Place) -> exp.Expr:
    """`map_agg(k, v)`, the first v of each k that is not NULL, and `multimap_agg(k, v)`, all."""
    name = function_name(node)
    if name not in ("MAP_AGG", "MULTIMAP_AGG") or not place.write.is_spark:
        return node
    key, value = node.expressions
    rows = exp.ArrayAgg(this=struct({"key": key, "value": value}))
    known = exp.Not(this=exp.Is(this=field("one", "key"), expression=exp.null()))
    entries = plain_call("FILTER", rows, function(known, "one"))
    is_same = exp.EQ(this=field("one", "key"), expression=exp.to_identifier("own"))
    same = plain_call("FILTER", entries, function(is_same, "one"))
    values = plain_call("TRANSFORM", same, function(field("one", "value"), "one"))
    found = values if name == "MULTIMAP_AGG" else plain_call("GET", values, exp.Literal.number(0))
    keys = plain_call("TRANSFORM", entries, function(field("one", "key"), "one"))
    entry = function(plain_call("STRUCT", exp.to_identifier("own"), found), "own")
    distinct = plain_call("TRANSFORM", plain_call("ARRAY_DISTINCT", keys), entry)
    are_any = exp.GT(this=exp.Count(this=key.copy()), expression=exp.Literal.number(0))
    return exp.If(this=are_any, true=plain_call("MAP_FROM_ENTRIES", distinct), false=exp.null())


def numbered_elements(node: exp.Expr, place: Place) -> exp.Expr:
    """`UNNEST(x) WITH ORDINALITY AS u(value, number)`, whose numbers begin with 1."""
    number = node.args.get("offset") if isinstance(node, exp.Unnest) else None
    if not number or place.write.name == "trino":
        return node
    if not place.write.has_functions_of_spark:
        raise UnsupportedError("no WITH ORDINALITY: have MATCH_NUMBER() or a place in each element")
    names = node.alias_column_names
    if len(node.expressions) != 1 or len(names) != 1 or not isinstance(number, exp.Identifier):
        raise UnsupportedError("no WITH ORDINALITY: only of one array, as u(value, number)")
    place_ = exp.Add(this=exp.to_identifier("place"), expression=exp.Literal.number(1))
    row = plain_call("STRUCT", exp.to_identifier("item"), exp.cast(place_, "bigint"))
    rows = plain_call("TRANSFORM", node.expressions[0], function(row, "item", "place"))
    columns = [exp.to_identifier(names[0]), number.copy()]
    alias = exp.TableAlias(this=exp.to_identifier(node.alias or "unnested"), columns=columns)
    table = exp.Lateral if isinstance(node.parent, exp.Join) else exp.Table
    return table(this=plain_call("INLINE", rows), alias=alias)
