"""Rules of Azure Stream Analytics."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import name_of
from matchrec.frontends.dialects.rules.place import Place


def names_of_variables(node: exp.Expr, place: Place) -> exp.Expr:
    """`CLASSIFIER()` is the array of the names of all rows."""
    if not place.is_measure or name_of(node) != "CLASSIFIER" or node.find_ancestor(exp.ArrayAgg):
        return node
    return exp.ArrayAgg(this=node.copy())


def time_of_event(node: exp.Expr, place: Place) -> exp.Expr:
    """`System.Timestamp()` is what TIMESTAMP BY names."""
    is_called = isinstance(node, exp.Dot | exp.Column)
    if not is_called or node.sql().upper().rstrip("()") != "SYSTEM.TIMESTAMP":
        return node
    if place.order is None:
        raise UnsupportedError("no System.Timestamp() here: name the time in MEASURES")
    return exp.column(place.order)


def no_into(node: exp.Expr, place: Place) -> exp.Expr:
    """`SELECT * INTO output`: where the rows go is for the caller to say."""
    if isinstance(node, exp.Select) and node.args.get("into"):
        place.remark("INTO is left out: the rows are what the query gives", is_met=True)
        node.set("into", None)
    return node
