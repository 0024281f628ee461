"""Rules for aggregates over the rows of a match: arrays and texts keep their order and NULLs.

ARRAY_AGG(x ORDER BY y DESC LIMIT 2)     an array of structs of x and y, sorted, cut, and its x
STRING_AGG(x, '-' ORDER BY y)            such an array without NULLs, joined
ANY_VALUE(x HAVING MAX y)                MAX_BY(x, y)
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import called, name_of
from matchrec.frontends.dialects.rules.collected import (
    Collection,
    all_items,
    collection,
    known_items,
)
from matchrec.frontends.dialects.rules.place import Place
from matchrec.frontends.lexing.function_names import SEMANTICS


def count_of_rows(node: exp.Expr, _: Place) -> exp.Expr:
    """`count()` counts rows."""
    if isinstance(node, exp.Count) and node.this is None and not node.expressions:
        return exp.Count(this=exp.Star())
    return node


def count_in_pivot(node: exp.Expr, place: Place) -> exp.Expr:
    """`PIVOT (COUNT(x) ...)`, which has no 0 in Spark."""
    read, write = place.read, place.write
    if isinstance(node, exp.Pivot) and node.find(exp.Count) and read.is_spark != write.is_spark:
        lacks, has = (read, write) if read.is_spark else (write, read)
        place.remark(
            f"COUNT in PIVOT of no rows is NULL in {lacks.title}, and 0 in {has.title}: write "
            "COALESCE(x, 0) of its column"
        )
    return node


def arrays(node: exp.Expr, place: Place) -> exp.Expr:
    """`ARRAY_AGG(x)` with its NULLs and in its order; without rows it is NULL."""
    without_nulls = isinstance(node, exp.IgnoreNulls)
    array = node.this if without_nulls else node
    if not place.write.is_spark or not isinstance(array, exp.ArrayAgg):
        return node
    is_inside = not without_nulls and isinstance(array.parent, exp.IgnoreNulls)
    if is_inside or isinstance(array.this, exp.Distinct):
        return node
    collected = collection(array.this)
    if place.is_condition and collected.is_plain:
        return _in_condition(collected, without_nulls)
    items = known_items if without_nulls or _is_known(collected.value) else all_items
    return _or_null(items(collected))


def _in_condition(collected: Collection, without_nulls: bool) -> exp.Expr:
    """An array that a condition can compare: of values that are not NULL, and of some row."""
    if not without_nulls and not _is_known(collected.value):
        raise UnsupportedError("an array in DEFINE with NULLs: write array_agg(coalesce(x, ...))")
    items = known_items(collected)
    return _or_null(items) if _may_have_no_rows(collected.value) else items


def _may_have_no_rows(value: exp.Expr) -> bool:
    """Whether a value is of one variable, which may have no rows yet."""
    calls = (one for one in value.find_all(exp.Anonymous) if name_of(one) == "CLASSIFIER")
    of_variable = any(call.expressions for call in calls)
    return of_variable or any(one.table for one in value.find_all(exp.Column))


def _is_known(value: exp.Expr) -> bool:
    """Whether a value is NULL on no row of a match."""
    if isinstance(value, exp.Lower | exp.Upper | exp.Paren):
        return _is_known(value.this)
    if isinstance(value, exp.Coalesce):
        return any(map(_is_known, (value.this, *value.expressions)))
    return name_of(value) in ("CLASSIFIER", "MATCH_NUMBER") or isinstance(value, exp.Literal)


def texts(node: exp.Expr, place: Place) -> exp.Expr:
    """`STRING_AGG(x, separator)`, which is a comma if nothing is said."""
    is_here = place.is_measure and place.write.is_spark
    if not is_here or not isinstance(node, exp.GroupConcat) or node.find(exp.Distinct):
        return node
    separator = node.args.get("separator") or exp.Literal.string(",")
    known = _or_null(known_items(collection(node.this)))
    return exp.ArrayToString(this=known, expression=separator)


def value_at_extreme(node: exp.Expr, place: Place) -> exp.Expr:
    """`ANY_VALUE(x HAVING MAX y)` is `MAX_BY(x, y)`."""
    if not place.is_measure or not isinstance(node, exp.AnyValue):
        return node
    having = node.this
    if not isinstance(having, exp.HavingMax):
        return node
    extreme = exp.ArgMax if having.args.get("max") else exp.ArgMin
    return extreme(this=having.this, expression=having.expression)


def ordered_aggregates(node: exp.Expr, place: Place) -> exp.Expr:
    """What no rule before this one has said otherwise, and sqlglot would write as it is."""
    if not place.is_measure:
        return node
    if isinstance(node, exp.Order | exp.Limit) and node.find_ancestor(exp.AggFunc):
        raise UnsupportedError("an aggregate over the rows of a match with ORDER BY or LIMIT")
    if isinstance(node, exp.HavingMax):
        raise UnsupportedError("an aggregate with HAVING MAX or HAVING MIN")
    return node


def semantics_of_aggregates(node: exp.Expr, _: Place) -> exp.Expr:
    """RUNNING and FINAL before each aggregate of what an aggregate has become."""
    name = name_of(node)
    if name not in SEMANTICS or len(node.expressions) != 1:
        return node
    argument: exp.Expr = node.expressions[0]
    if isinstance(argument, exp.AggFunc) or name_of(argument):
        return node
    for aggregate in list(argument.find_all(exp.AggFunc)):
        aggregate.replace(called(name, aggregate.copy()))
    return argument


def _or_null(items: exp.Expr) -> exp.Expr:
    """An array, NULL if it is empty."""
    return exp.Nullif(this=items, expression=exp.Array())
