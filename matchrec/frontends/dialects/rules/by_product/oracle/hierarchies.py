"""Hierarchies of Oracle by CONNECT BY, as recursive queries of Spark.

SELECT LEVEL, name FROM staff          WITH RECURSIVE hierarchy AS (
START WITH boss IS NULL                  SELECT staff.*, 1 AS level, ARRAY(STRUCT(name)) AS place
CONNECT BY PRIOR id = boss               FROM staff WHERE boss IS NULL UNION ALL
ORDER SIBLINGS BY name                   SELECT staff.*, level + 1, CONCAT(above.place, ...)
                                         FROM staff JOIN hierarchy AS above ON above.id = boss)
                                       SELECT level, name FROM hierarchy AS staff ORDER BY place

A row's place is the array of the keys of the rows above it and of its own: each row comes before
those below it, as in Oracle.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.dataclass import dataclass
from matchrec.frontends.dialects.marks import function_name, plain_call
from matchrec.frontends.dialects.rules.by_product.oracle.comparisons import comparison
from matchrec.frontends.dialects.rules.kinds import NUMBERS
from matchrec.frontends.dialects.rules.place import Place
from matchrec.frontends.dialects.rules.queries.qualify import new_name

_NAME, _ABOVE, _LEVEL, _PLACE = "hierarchy", "above", "level", "place_in_hierarchy"
_COLUMNS = (exp.Column, exp.Pseudocolumn)
_NOTHING = exp.Literal.string("")
_REFUSED = "no CONNECT BY: only of one table, without cycles; write WITH RECURSIVE"


@dataclass(frozen=True, slots=True)
class _Carried:
    """A column that each row has from the row above it. first: of a row without one above."""

    name: str
    first: exp.Expr
    next: exp.Expr


def hierarchy(node: exp.Expr, place: Place) -> exp.Expr:
    """A query with CONNECT BY as one of a recursive query."""
    connect = node.args.get("connect")
    if not isinstance(node, exp.Select) or connect is None:
        return node
    source = node.args["from_"].this if node.args.get("from_") else None
    if not isinstance(source, exp.Table | exp.Subquery) or not place.write.is_spark:
        raise UnsupportedError(_REFUSED)
    if node.args.get("joins") or connect.args.get("nocycle") or node.args.get("with_"):
        raise UnsupportedError(_REFUSED)
    _refuse_leaves(node)
    table = source.alias_or_name or "rows_"
    source = exp.alias_(source.copy(), table, table=True) if not source.alias else source.copy()
    order = node.args.get("order")
    siblings = order.expressions if order is not None and order.args.get("siblings") else []
    carried = [
        _Carried(_LEVEL, exp.Literal.number(1), _next_level()),
        _place_of_row(siblings, table, place),
        *_paths_and_roots(node, table),
    ]
    name = new_name(_NAME, node.root())
    if siblings or order is None:
        node.set("order", None if _is_computed(node) else _by_place())
    _read_hierarchy(node, [one.name for one in carried])
    node.set("connect", None)
    node.set("from_", exp.From(this=_hierarchy(name, table)))
    below = _qualified(connect.args["connect"], table)
    first = _rows(source, table, ((one.name, one.first) for one in carried))
    others = _rows(source, table, ((one.name, one.next) for one in carried))
    if connect.args.get("start") is not None:
        first = first.where(connect.args["start"].copy())
    union = exp.Union(
        this=first, expression=others.join(_hierarchy(name, _ABOVE), on=below), distinct=False
    )
    named = exp.CTE(this=union, alias=exp.TableAlias(this=exp.to_identifier(name)))
    node.set("with_", exp.With(expressions=[named], recursive=True))
    return node


def _refuse_leaves(query: exp.Select) -> None:
    """What tells whether rows stand below a row, which no row knows that is found before them."""
    names = {one.name.upper() for one in query.find_all(*_COLUMNS)}
    for name in ("CONNECT_BY_ISLEAF", "CONNECT_BY_ISCYCLE"):
        if name in names:
            raise UnsupportedError(f"no {name}: write EXISTS (SELECT 1 FROM t WHERE boss = id)")


def _read_hierarchy(query: exp.Select, hidden: list[str]) -> None:
    """Numbers rows in the order of the hierarchy, and leaves the columns out that are ours."""
    for counter in _counters(query):
        number = exp.Window(this=exp.RowNumber(), order=_by_place(), over="OVER")
        is_item = counter.parent is query
        counter.replace(exp.alias_(number, "rownum") if is_item else number)
    for star in list(query.expressions):
        if star.is_star:
            star.replace(exp.Star(except_=[exp.to_identifier(one) for one in hidden]))


def _rows(source: exp.Expr, table: str, columns: Iterable[tuple[str, exp.Expr]]) -> exp.Select:
    """All columns of a table, and others by their names."""
    star = exp.Column(this=exp.Star(), table=exp.to_identifier(table))
    items = [star, *(exp.alias_(value.copy(), name) for name, value in columns)]
    return exp.Select(expressions=items, from_=exp.From(this=source.copy()))


def _hierarchy(name: str, alias: str) -> exp.Expr:
    """The rows found so far, or all in the end."""
    return exp.alias_(exp.to_table(name), alias, table=True)


def _above(name: str) -> exp.Expr:
    return exp.column(name, table=_ABOVE)


def _next_level() -> exp.Expr:
    return exp.Add(this=_above(_LEVEL), expression=exp.Literal.number(1))


def _place_of_row(keys: list[exp.Expr], table: str, place: Place) -> _Carried:
    """The keys of a row after those above it, and all of its columns where keys are equal."""
    found = [comparison(key) for key in keys]
    if any(one.is_greatest and place.kind(one.value) not in NUMBERS for one in found):
        raise UnsupportedError("no ORDER SIBLINGS BY: only of numbers if they descend")
    parts = [_qualified(part, table) for one in found for part in one.parts(is_greatest=False)]
    star = exp.Column(this=exp.Star(), table=exp.to_identifier(table))
    own = plain_call("ARRAY", plain_call("STRUCT", *parts, star))
    return _Carried(_PLACE, own, plain_call("CONCAT", _above(_PLACE), own))


def _paths_and_roots(query: exp.Select, table: str) -> list[_Carried]:
    """Columns in place of SYS_CONNECT_BY_PATH(x, '/') and CONNECT_BY_ROOT x, which they replace."""
    carried: list[_Carried] = []
    for call in list(query.find_all(exp.Anonymous, exp.ConnectByRoot)):
        name = f"carried_{len(carried) + 1}"
        if isinstance(call, exp.ConnectByRoot):
            carried.append(_Carried(name, _qualified(call.this, table), _above(name)))
        elif function_name(call) == "SYS_CONNECT_BY_PATH":
            value, separator = call.expressions
            text = exp.Coalesce(
                this=exp.cast(_qualified(value, table), "text"),
                expressions=[exp.Literal.string("")],
            )
            first = plain_call("CONCAT", separator, text)
            carried.append(
                _Carried(name, first, plain_call("CONCAT", _above(name), separator, text))
            )
        else:
            continue
        is_item = call.parent is query
        call.replace(exp.alias_(exp.column(name), call.sql()) if is_item else exp.column(name))
    return carried


def _qualified(condition: exp.Expr, table: str) -> exp.Expr:
    """An expression of a row and, in PRIOR, of the one above it."""
    found = exp.paren(condition.copy(), copy=False)  # so that what is replaced stands in another
    for column in list(found.find_all(exp.Column)):
        if column.name.upper() == "LEVEL":
            column.replace(_next_level())
        elif column.find_ancestor(exp.Prior):
            column.set("table", exp.to_identifier(_ABOVE))
        elif not column.table:
            column.set("table", exp.to_identifier(table))
    for prior in list(found.find_all(exp.Prior)):
        prior.replace(prior.this)
    inner: exp.Expr = found.this
    return inner


def _counters(query: exp.Select) -> list[exp.Expr]:
    """ROWNUM among the items, which counts the rows in the order of the hierarchy."""
    items = [one for item in query.expressions for one in item.find_all(*_COLUMNS)]
    return [one for one in items if one.name.upper() == "ROWNUM" and one.parent_select is query]


def _is_computed(query: exp.Select) -> bool:
    """Whether a query has aggregates, so that its rows have no place of their own."""
    has_aggregate = any(one.find(exp.AggFunc) for one in query.expressions)
    return has_aggregate or bool(query.args.get("group") or query.args.get("distinct"))


def _by_place() -> exp.Order:
    return exp.Order(expressions=[exp.Ordered(this=exp.column(_PLACE), nulls_first=True)])
