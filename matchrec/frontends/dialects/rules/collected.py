"""What an aggregate collects, in an order and up to a number of rows, as an array in Spark SQL.

x ORDER BY y DESC LIMIT 2  →  an array of structs of x and y, sorted, cut, and of each its x
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.dataclass import dataclass
from matchrec.frontends.dialects.marks import function

_ITEM, _KEY = "item", "key_"


@dataclass(frozen=True, slots=True)
class Collection:
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
        return exp.ArrayAgg(this=struct({_ITEM: self.value, **keys}))


def collection(argument: exp.Expr) -> Collection:
    """What stands between the parentheses of an aggregate."""
    limit = argument.expression if isinstance(argument, exp.Limit) else None
    ordered = argument.this if isinstance(argument, exp.Limit) else argument
    keys = tuple(ordered.expressions) if isinstance(ordered, exp.Order) else ()
    value = ordered.this if isinstance(ordered, exp.Order) else ordered
    if isinstance(value, exp.Distinct):
        raise UnsupportedError("an array of distinct values with ORDER BY or LIMIT")
    return Collection(value, keys, limit)


def all_items(found: Collection) -> exp.Expr:
    """An array of the values, with NULLs."""
    if found.is_plain and isinstance(found.value, exp.Struct):
        return exp.ArrayAgg(this=found.value.copy())
    return _items(found, found.rows)


def known_items(found: Collection) -> exp.Expr:
    """An array of the values, without NULLs, which Spark's ARRAY_AGG leaves out."""
    if found.is_plain:
        return exp.ArrayAgg(this=found.value.copy())
    return _items(found, exp.ArrayFilter(this=found.rows, expression=_known()))


def _items(found: Collection, rows: exp.Expr) -> exp.Expr:
    """The values of an array of structs, in their order and no more than asked for."""
    if found.keys:
        rows = exp.Anonymous(this="ARRAY_SORT", expressions=[rows, _comparison(found.keys)])
    if found.limit is not None:
        first = exp.Literal.number(1)
        rows = exp.Anonymous(this="SLICE", expressions=[rows, first, found.limit.copy()])
    return exp.Transform(this=rows, expression=function(field("row", _ITEM), "row"))


def struct(fields: dict[str, exp.Expr]) -> exp.Expr:
    """Values by the names of their fields."""
    return exp.Struct(
        expressions=[
            exp.PropertyEQ(this=exp.to_identifier(name), expression=value.copy())
            for name, value in fields.items()
        ]
    )


def _known() -> exp.Expr:
    """That an item is no NULL."""
    is_null = exp.Is(this=field("row", _ITEM), expression=exp.null())
    return function(exp.Not(this=is_null), "row")


def _comparison(keys: Sequence[exp.Expr]) -> exp.Expr:
    """Which of two structs comes first: -1 the left one, 1 the right one, 0 if neither has to."""
    case = exp.Case()
    for at, key in enumerate(keys):
        left, right = field("one", f"{_KEY}{at}"), field("other", f"{_KEY}{at}")
        null_first, descending = bool(key.args.get("nulls_first")), bool(key.args.get("desc"))
        case = case.when(_only(left, right), _sign(-1 if null_first else 1), copy=False)
        case = case.when(_only(right, left), _sign(1 if null_first else -1), copy=False)
        case = case.when(exp.LT(this=left, expression=right), _sign(1 if descending else -1))
        case = case.when(exp.GT(this=left, expression=right), _sign(-1 if descending else 1))
    return function(case.else_(exp.Literal.number(0)), "one", "other")


def _only(absent: exp.Expr, present: exp.Expr) -> exp.Expr:
    """That only one of two keys is NULL."""
    is_null = exp.Is(this=absent.copy(), expression=exp.null())
    is_known = exp.Not(this=exp.Is(this=present.copy(), expression=exp.null()))
    return exp.And(this=is_null, expression=is_known)


def _sign(number: int) -> exp.Expr:
    one = exp.Literal.number(1)
    return exp.Neg(this=one) if number < 0 else one


def field(row: str, name: str) -> exp.Expr:
    """A field of a struct that is passed to a function by this name."""
    return exp.Dot(this=exp.to_identifier(row), expression=exp.to_identifier(name))
