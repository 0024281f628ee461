"""Rules for aggregates over the rows of a match: arrays and texts keep their order and NULLs.

ARRAY_AGG(x ORDER BY y DESC LIMIT 2)     an array of structs of x and y, sorted, cut, and its x
STRING_AGG(x, '-' ORDER BY y)            such an array without NULLs, joined
ANY_VALUE(x HAVING MAX y)                MAX_BY(x, y)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import called, name_of
from matchrec.frontends.dialects.rules.place import Place
from matchrec.frontends.lexing.function_names import SEMANTICS

_ITEM, _KEY = "item", "key_"


def count_of_rows(node: exp.Expr, _: Place) -> exp.Expr:
    """`count()` counts rows."""
    if isinstance(node, exp.Count) and node.this is None and not node.expressions:
        return exp.Count(this=exp.Star())
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
    items = _known_items if without_nulls else _all_items
    return _or_null(items(_collection(array.this)))


def texts(node: exp.Expr, place: Place) -> exp.Expr:
    """`STRING_AGG(x, separator)`, which is a comma if nothing is said."""
    is_here = place.is_measure and place.write.is_spark
    if not is_here or not isinstance(node, exp.GroupConcat) or node.find(exp.Distinct):
        return node
    separator = node.args.get("separator") or exp.Literal.string(",")
    known = _or_null(_known_items(_collection(node.this)))
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


@dataclass(frozen=True, slots=True)
class _Collection:
    """What an aggregate collects: `x`, `x ORDER BY y` or `x ORDER BY y LIMIT n`."""

    value: exp.Expr
    keys: tuple[exp.Expr, ...]
    limit: exp.Expr | None

    @property
    def is_plain(self) -> bool:
        """Whether it is all values, as they come."""
        return not self.keys and self.limit is None

    @property
    def rows(self) -> exp.Expr:
        """An array of structs, of the value and the keys of each row."""
        keys = {f"{_KEY}{at}": key.this for at, key in enumerate(self.keys)}
        return exp.ArrayAgg(this=_struct({_ITEM: self.value, **keys}))


def _collection(argument: exp.Expr) -> _Collection:
    """What stands between the parentheses of an aggregate."""
    limit = argument.expression if isinstance(argument, exp.Limit) else None
    ordered = argument.this if isinstance(argument, exp.Limit) else argument
    keys = tuple(ordered.expressions) if isinstance(ordered, exp.Order) else ()
    value = ordered.this if isinstance(ordered, exp.Order) else ordered
    if isinstance(value, exp.Distinct):
        raise UnsupportedError("an array of distinct values with ORDER BY or LIMIT")
    return _Collection(value, keys, limit)


def _all_items(found: _Collection) -> exp.Expr:
    """An array of the values, with NULLs."""
    if found.is_plain and isinstance(found.value, exp.Struct):
        return exp.ArrayAgg(this=found.value.copy())
    return _items(found, found.rows)


def _known_items(found: _Collection) -> exp.Expr:
    """An array of the values, without NULLs, which Spark's ARRAY_AGG leaves out."""
    if found.is_plain:
        return exp.ArrayAgg(this=found.value.copy())
    return _items(found, exp.ArrayFilter(this=found.rows, expression=_known()))


def _items(found: _Collection, rows: exp.Expr) -> exp.Expr:
    """The values of an array of structs, in their order and no more than asked for."""
    if found.keys:
        rows = exp.Anonymous(this="ARRAY_SORT", expressions=[rows, _comparison(found.keys)])
    if found.limit is not None:
        first = exp.Literal.number(1)
        rows = exp.Anonymous(this="SLICE", expressions=[rows, first, found.limit.copy()])
    return exp.Transform(this=rows, expression=_lambda(_field("row", _ITEM), "row"))


def _struct(fields: dict[str, exp.Expr]) -> exp.Expr:
    return exp.Struct(
        expressions=[
            exp.PropertyEQ(this=exp.to_identifier(name), expression=value.copy())
            for name, value in fields.items()
        ]
    )


def _known() -> exp.Expr:
    """That an item is no NULL."""
    is_null = exp.Is(this=_field("row", _ITEM), expression=exp.null())
    return _lambda(exp.Not(this=is_null), "row")


def _comparison(keys: Sequence[exp.Expr]) -> exp.Expr:
    """Which of two structs comes first: -1 the left one, 1 the right one, 0 if neither has to."""
    case = exp.Case()
    for at, key in enumerate(keys):
        left, right = _field("one", f"{_KEY}{at}"), _field("other", f"{_KEY}{at}")
        null_first, descending = bool(key.args.get("nulls_first")), bool(key.args.get("desc"))
        case = case.when(_only(left, right), _sign(-1 if null_first else 1), copy=False)
        case = case.when(_only(right, left), _sign(1 if null_first else -1), copy=False)
        case = case.when(exp.LT(this=left, expression=right), _sign(1 if descending else -1))
        case = case.when(exp.GT(this=left, expression=right), _sign(-1 if descending else 1))
    return _lambda(case.else_(exp.Literal.number(0)), "one", "other")


def _only(absent: exp.Expr, present: exp.Expr) -> exp.Expr:
    """That only one of two keys is NULL."""
    is_null = exp.Is(this=absent.copy(), expression=exp.null())
    is_known = exp.Not(this=exp.Is(this=present.copy(), expression=exp.null()))
    return exp.And(this=is_null, expression=is_known)


def _sign(number: int) -> exp.Expr:
    one = exp.Literal.number(1)
    return exp.Neg(this=one) if number < 0 else one


def _field(row: str, name: str) -> exp.Expr:
    return exp.Dot(this=exp.to_identifier(row), expression=exp.to_identifier(name))


def _lambda(body: exp.Expr, *names: str) -> exp.Expr:
    return exp.Lambda(this=body, expressions=[exp.to_identifier(name) for name in names])
