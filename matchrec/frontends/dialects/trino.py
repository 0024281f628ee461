"""Rules for expressions of Trino."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import called, name_of
from matchrec.frontends.dialects.typed.context import Context

_UNITS = {
    **{unit: (1, unit) for unit in ("SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "YEAR")},
    "WEEK": (7, "DAY"),
    "QUARTER": (3, "MONTH"),
}
_NAVIGATION = frozenset({"FIRST", "LAST", "PREV", "NEXT"})
_NOT_NULL_FOR_NULL = (exp.Coalesce, exp.Is, exp.Case, exp.If, exp.NullSafeEQ, exp.NullSafeNEQ)


def first_of_match(node: exp.Expr, context: Context) -> exp.Expr:
    """`FIRST(x, n)` finds rows after the current one also with running semantics."""
    above = name_of(node.parent) if node.parent else None
    if not context.of_rows or above in ("RUNNING", "FINAL"):
        return node
    if name_of(node) == "FIRST":
        return called("FINAL", node.copy())
    if name_of(node) == "RUNNING" and name_of(node.expressions[0]) == "FIRST":
        return called("FINAL", node.expressions[0].copy())
    return node


def navigation_inside(node: exp.Expr) -> exp.Expr:
    """`PREV(coalesce(x, 7))` is 7 where there is no such row: it is `coalesce(PREV(x), 7)`."""
    if name_of(node) not in _NAVIGATION or not node.expressions:
        return node
    value = node.expressions[0]
    if not value.find(*_NOT_NULL_FOR_NULL) or any(
        name_of(one) in _NAVIGATION for one in value.find_all(exp.Anonymous)
    ):
        return node
    inside = value.copy()
    for column in list(inside.find_all(exp.Column)):
        column.replace(called(name_of(node) or "", column.copy(), *node.copy().expressions[1:]))
    return inside if inside.find(exp.Anonymous) else node


def collected(node: exp.Expr) -> exp.Expr:
    """`array_agg(x)` keeps NULL, and is NULL itself where there are no rows."""
    if not isinstance(node, exp.ArrayAgg):
        return node
    value = node.this
    if isinstance(value, exp.Order):
        raise UnsupportedError("no ORDER BY in array_agg")
    if isinstance(value, exp.Distinct):
        return node
    name = exp.to_identifier("x")
    struct = exp.Struct(expressions=[exp.PropertyEQ(this=name, expression=value.copy())])
    rows = exp.Anonymous(this="COLLECT_LIST", expressions=[struct])
    row = exp.to_identifier("row")
    field = exp.Lambda(this=exp.column("x", table="row"), expressions=[row])
    values = exp.Anonymous(this="TRANSFORM", expressions=[rows, field])
    return exp.Nullif(this=values, expression=exp.Anonymous(this="ARRAY"))


def later(node: exp.Expr) -> exp.Expr:
    """`date_add('hour', n, t)`, whose unit counts."""
    if not isinstance(node, exp.DateAdd):
        return node
    unit = node.args.get("unit")
    times, name = _UNITS.get(unit.name.upper() if unit else "DAY", (0, ""))
    if not times:
        raise UnsupportedError(f"no date_add by {unit}")
    number = node.expression.unnest()
    if isinstance(number, exp.Literal) and number.name.isdigit():
        count = exp.Literal.string(str(int(number.name) * times))
        return exp.Add(this=node.this, expression=exp.Interval(this=count, unit=exp.var(name)))
    one = exp.Interval(this=exp.Literal.string(str(times)), unit=exp.var(name))
    duration = exp.Mul(this=one, expression=exp.paren(number))
    return exp.Add(this=node.this, expression=duration)


def number_of_day(node: exp.Expr) -> exp.Expr:
    """`day_of_week(d)`, 1 on Monday."""
    if not isinstance(node, exp.DayOfWeekIso):
        return node
    weekday = exp.Anonymous(this="WEEKDAY", expressions=[node.this])
    return exp.paren(exp.Add(this=weekday, expression=exp.Literal.number(1)), copy=False)


def seconds_since_1970(node: exp.Expr) -> exp.Expr:
    """`to_unixtime(t)`, with a fraction."""
    if not isinstance(node, exp.TimeToUnix):
        return node
    micros = exp.Anonymous(this="UNIX_MICROS", expressions=[exp.cast(node.this, "timestamp")])
    return exp.paren(exp.Div(this=micros, expression=exp.Literal.number("1E6")), copy=False)


def matching_elements(node: exp.Expr) -> exp.Expr:
    """`any_match(array, test)`, `all_match` and `none_match`."""
    name = str(node.this).lower() if isinstance(node, exp.Anonymous) else ""
    if name not in ("any_match", "none_match", "all_match"):
        return node
    spark = "FORALL" if name == "all_match" else "EXISTS"
    found = exp.Anonymous(this=spark, expressions=node.expressions)
    return exp.Not(this=found) if name == "none_match" else found


RULES = (navigation_inside, collected, later, number_of_day, seconds_since_1970, matching_elements)
