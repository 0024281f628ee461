"""Rules of Snowflake, where some functions mean something else in each part of a clause.

MEASURES    LAG and LEAD see the rows of the match, FIRST_VALUE and LAST_VALUE too
DEFINE      LAG, LEAD, FIRST_VALUE and LAST_VALUE see the rows of the partition
"""

from __future__ import annotations

from sqlglot import exp

from matchrec.frontends.dialects.marks import called, has_semantics, name_of
from matchrec.frontends.dialects.rules.place import Place
from matchrec.frontends.dialects.rules.queries.qualify import name_by_items
from matchrec.frontends.lexing.function_names import SEMANTICS

_ENDLESS = {
    "kind": "ROWS",
    "start": "UNBOUNDED",
    "start_side": "PRECEDING",
    "end": "UNBOUNDED",
    "end_side": "FOLLOWING",
}


def first_and_last(node: exp.Expr, place: Place) -> exp.Expr:
    """`FIRST_VALUE(x)` is `FIRST(x)`, and `LAST_VALUE(x)` is `LAST(x)`."""
    name = {"FIRST_VALUE": "FIRST", "LAST_VALUE": "LAST"}.get(name_of(node) or "")
    return called(name, *node.expressions) if name and place.is_measure else node


def first_and_last_of_partition(node: exp.Expr, place: Place) -> exp.Expr:
    """`FIRST_VALUE(x)` and `LAST_VALUE(x)` over all rows of the partition."""
    name = name_of(node)
    if not place.is_condition or name not in ("FIRST_VALUE", "LAST_VALUE"):
        return node
    if isinstance(node.parent, exp.Window):
        return node
    value = exp.Anonymous(this=name, expressions=node.expressions)
    return exp.Window(this=value, spec=exp.WindowSpec(**_ENDLESS), over="OVER")


def inside_of_match(node: exp.Expr, place: Place) -> exp.Expr:
    """`LAG` and `LEAD`, or `PREV` and `NEXT`, of rows of the match only; else their default."""
    if not place.is_measure:
        return node
    semantics, call = "", node
    if name_of(node) in SEMANTICS:
        semantics, call = str(name_of(node)), node.expressions[0]
    elif has_semantics(node):
        return node
    name = name_of(call)
    if name not in ("PREV", "NEXT"):
        return node
    value, offset, default = (*call.expressions, None, None)[:3]
    offset = offset or exp.Literal.number(1)
    if name == "PREV":
        exists: exp.Expr = exp.GT(this=_rows(semantics), expression=offset.copy())
    else:
        last = exp.Add(this=_rows(semantics or "RUNNING"), expression=offset.copy())
        exists = exp.LTE(this=last, expression=_rows("FINAL"))
    value = called("FINAL", called("LAST", value)) if semantics == "FINAL" else value
    return exp.If(this=exists, true=called(name, value, offset), false=default or exp.null())


def _rows(semantics: str) -> exp.Expr:
    """How many rows of the match there are."""
    count = exp.Count(this=exp.Star())
    return called(semantics, count) if semantics else count


def bare_classifier(node: exp.Expr, place: Place) -> exp.Expr:
    """`CLASSIFIER` without parentheses; around a clause it may be a column."""
    if place.clause is None:
        return node
    is_bare = isinstance(node, exp.Column) and not node.table and not node.this.quoted
    return called("CLASSIFIER") if is_bare and node.name.upper() == "CLASSIFIER" else node


def alias_in_where(node: exp.Expr, place: Place) -> exp.Expr:
    """`SELECT 2 * x AS y ... WHERE y > 4` is `2 * x > 4`, where no table has a column y."""
    query = node.parent
    if isinstance(node, exp.Where) and isinstance(query, exp.Select):
        name_by_items(node, query, place)
    return node


def alias_in_grouped_item(node: exp.Expr, place: Place) -> exp.Expr:
    """`SELECT 2 * x AS y, y + 1 AS z ... GROUP BY y, z`, of which Spark does not know y in z."""
    if isinstance(node, exp.Select) and node.args.get("group"):
        for item in node.expressions:
            if isinstance(item, exp.Alias) and not item.find(exp.AggFunc, exp.Window):
                name_by_items(item, node, place)
    return node
