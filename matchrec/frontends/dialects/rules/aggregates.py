"""Rules for aggregates over the rows of a match: arrays and texts keep their order and NULLs."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.rules.place import Place


def count_of_rows(node: exp.Expr, _: Place) -> exp.Expr:
    """`count()` counts rows."""
    if isinstance(node, exp.Count) and node.this is None and not node.expressions:
        return exp.Count(this=exp.Star())
    return node


def ordered_aggregates(node: exp.Expr, place: Place) -> exp.Expr:
    """`ARRAY_AGG(x ORDER BY y LIMIT n)`, which sqlglot would write so in any dialect."""
    if not place.is_measure:
        return node
    if isinstance(node, exp.Order | exp.Limit) and node.find_ancestor(exp.AggFunc):
        raise UnsupportedError("an aggregate over the rows of a match with ORDER BY or LIMIT")
    if isinstance(node, exp.HavingMax):
        raise UnsupportedError("an aggregate with HAVING MAX or HAVING MIN")
    return node


def arrays(node: exp.Expr, place: Place) -> exp.Expr:
    """`ARRAY_AGG(x)` with its NULLs; without rows it is NULL."""
    without_nulls = isinstance(node, exp.IgnoreNulls)
    array = node.this if without_nulls else node
    if not place.write.is_spark or not isinstance(array, exp.ArrayAgg):
        return node
    if isinstance(array.this, exp.Order | exp.Limit):
        raise UnsupportedError("no ORDER BY or LIMIT in an array of values")
    if isinstance(array.this, exp.Distinct):
        return node
    if without_nulls or isinstance(array.this, exp.Struct):
        return exp.Nullif(this=array.copy(), expression=exp.Array())
    if isinstance(array.parent, exp.IgnoreNulls):
        return node
    item, row = exp.to_identifier("item"), exp.to_identifier("row")
    struct = exp.Struct(expressions=[exp.PropertyEQ(this=item, expression=array.this)])
    each = exp.Lambda(this=exp.Dot(this=row, expression=item.copy()), expressions=[row.copy()])
    found = exp.Transform(this=exp.ArrayAgg(this=struct), expression=each)
    return exp.Nullif(this=found, expression=exp.Array())


def texts(node: exp.Expr, place: Place) -> exp.Expr:
    """`STRING_AGG(x, separator)`, which is a comma if nothing is said."""
    is_here = place.is_measure and place.write.is_spark
    if not is_here or not isinstance(node, exp.GroupConcat):
        return node
    if isinstance(node.this, exp.Distinct):
        return node
    separator = node.args.get("separator") or exp.Literal.string(",")
    joined = exp.ArrayToString(this=exp.ArrayAgg(this=node.this), expression=separator)
    exists = exp.GT(this=exp.Count(this=node.this.copy()), expression=exp.Literal.number(0))
    return exp.If(this=exists, true=joined, false=exp.null())
