"""Rules of Azure Stream Analytics."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import function_name, name_of, plain_call
from matchrec.frontends.dialects.rules.kinds import Kind
from matchrec.frontends.dialects.rules.place import Place

_FUNCTIONS = {"GETARRAYLENGTH": "SIZE", "GETARRAYELEMENT": "GET"}


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


def functions_of_azure(node: exp.Expr, place: Place) -> exp.Expr:
    """`a + 'text'`, `GetArrayLength(x)` and `GetArrayElement(x, 0)`."""
    if isinstance(node, exp.Add) and Kind.TEXT in map(place.kind, (node.this, node.expression)):
        return exp.DPipe(this=node.this.copy(), expression=node.expression.copy())
    name = _FUNCTIONS.get(function_name(node))
    return plain_call(name, *node.expressions) if name and place.write.is_spark else node


def no_into(node: exp.Expr, place: Place) -> exp.Expr:
    """`SELECT * INTO output`: where the rows go is for the caller to say."""
    if isinstance(node, exp.Select) and node.args.get("into"):
        place.remark("INTO is left out: the rows are what the query gives", is_met=True)
        node.set("into", None)
    return node
