"""Rules for navigation and row numbers, which products know by other names."""

from __future__ import annotations

from sqlglot import exp

from matchrec.frontends.dialects.marks import called, name_of
from matchrec.frontends.dialects.rules.place import Place


def navigation_with_default(node: exp.Expr, _: Place) -> exp.Expr:
    """`LAG(x, n, default)`: the default counts only where there is no such row, not for NULL."""
    name = name_of(node)
    if name not in ("PREV", "NEXT") or len(node.expressions) < 3:
        return node
    value, offset, default = node.expressions
    exists = exp.Is(this=exp.paren(value.copy()), expression=exp.null())
    absent = exp.Is(this=called(name, exists, offset.copy()), expression=exp.null())
    return exp.If(this=absent, true=default, false=called(name, value, offset))


def lag_and_lead(node: exp.Expr, place: Place) -> exp.Expr:
    """`PREV` and `NEXT` under the names of the window functions."""
    name = {"PREV": "LAG", "NEXT": "LEAD"}.get(name_of(node) or "")
    if name and place.is_measure:
        place.remark(f"{name} of MEASURES sees rows of the match alone in {place.write.title}")
    return called(name, *node.expressions) if name else node


def row_number_in_match(node: exp.Expr, _: Place) -> exp.Expr:
    """`MATCH_SEQUENCE_NUMBER()`: the rows of the match up to the current one are counted."""
    if name_of(node) != "ROW_NUMBER":
        return node
    if node.find_ancestor(exp.AggFunc):
        return called("MATCH_ROW_NUMBER")
    return called("RUNNING", exp.Count(this=exp.Star()))
