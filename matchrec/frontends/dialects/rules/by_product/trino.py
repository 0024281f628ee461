"""Rules of Trino."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import called, function_name, has_semantics, name_of
from matchrec.frontends.dialects.rules.place import Place
from matchrec.frontends.lexing.function_names import NAVIGATION

_ALIKE = re.compile(r"(?:yyyy|MM|dd|HH|mm|ss|SSS|[^A-Za-z'])*")
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


def number_of_day(node: exp.Expr, _: Place) -> exp.Expr:
    """`day_of_week(d)`, 1 on Monday."""
    if not isinstance(node, exp.DayOfWeekIso):
        return node
    weekday = exp.Anonymous(this="WEEKDAY", expressions=[node.this])
    return exp.paren(exp.Add(this=weekday, expression=exp.Literal.number(1)), copy=False)


def seconds_since_1970(node: exp.Expr, _: Place) -> exp.Expr:
    """`to_unixtime(t)`, with a fraction."""
    if not isinstance(node, exp.TimeToUnix):
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


def several_extremes(node: exp.Expr, _: Place) -> exp.Expr:
    """`max(x, n)` is an array of the n greatest values, not the greater one of two."""
    if isinstance(node, exp.Max | exp.Min) and node.expressions:
        name = node.key
        raise UnsupportedError(f"{name} of several values: write slice(array_sort(...), 1, n)")
    return node
