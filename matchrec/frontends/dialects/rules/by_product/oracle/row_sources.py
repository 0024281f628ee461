"""Row sources of Oracle: dual, its rows by CONNECT BY, and the first rows of a query by ROWNUM."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError
from sqlglot.transforms import eliminate_join_marks

from matchrec.frontends.dialects.marks import function_name, plain_call
from matchrec.frontends.dialects.rules.place import Place

_COUNTERS = frozenset({"LEVEL", "ROWNUM"})
_LISTS = frozenset({"odcinumberlist", "odcivarchar2list", "odcidatelist", "dbms_debug_vc2coll"})


def row_generator(node: exp.Expr, place: Place) -> exp.Expr:
    """`FROM dual CONNECT BY LEVEL <= n` is the numbers from 1 to n, as is ROWNUM in its place."""
    connect = node.args.get("connect") if isinstance(node, exp.Select) else None
    if connect is None:
        return node
    if not place.write.is_spark:
        raise UnsupportedError("no CONNECT BY: write the rows as VALUES")
    end = None if connect.args.get("start") else _end_of_numbers(connect.args["connect"])
    if end is None or not _reads_dual(node):
        return node
    last = exp.cast(exp.paren(end), "bigint")
    end = exp.Add(this=last, expression=exp.Literal.number(1))
    numbers = exp.Anonymous(this="RANGE", expressions=[exp.Literal.number(1), end])
    alias = exp.TableAlias(this=exp.to_identifier("dual"), columns=[exp.to_identifier("level")])
    node.set("connect", None)
    counters = _COUNTERS if node.args.get("where") is None else {"LEVEL"}
    for column in [one for one in node.find_all(exp.Column) if one.name.upper() in counters]:
        name = exp.column("level")
        is_item = isinstance(column.parent, exp.Alias) or column.parent is node
        column.replace(name if is_item else exp.cast(name, "int"))  # tells rules of dates the type
    node.set("from_", exp.From(this=exp.Table(this=numbers, alias=alias)))
    return node


def _end_of_numbers(condition: exp.Expr) -> exp.Expr | None:
    """The last of the numbers for which `LEVEL <= n` holds."""
    if not isinstance(condition, (exp.GT, exp.GTE, exp.LT, exp.LTE)):
        return None
    counter, bound = condition.this, condition.expression
    if isinstance(condition, (exp.GT, exp.GTE)):
        counter, bound = bound, counter
    if not isinstance(counter, exp.Column) or counter.name.upper() not in _COUNTERS:
        return None
    end: exp.Expr = bound.copy()
    if isinstance(condition, (exp.GTE, exp.LTE)):
        return end
    return exp.Sub(this=exp.paren(end), expression=exp.Literal.number(1))


def _reads_dual(query: exp.Expr) -> bool:
    source = query.args.get("from_")
    is_dual = source is None or source.this.name.upper() == "DUAL"
    return is_dual and not query.args.get("joins")


def no_dual(node: exp.Expr, _: Place) -> exp.Expr:
    """`FROM dual` is nothing: a query without FROM has one row."""
    if not isinstance(node, exp.Select):
        return node
    source = node.find(exp.From)
    if source is None or source.parent is not node or node.args.get("joins"):
        return node
    if source.this.name.lower() == "dual" and source.arg_key:
        node.set(source.arg_key, None)
    return node


def first_rows(node: exp.Expr, _: Place) -> exp.Expr:
    """`WHERE ROWNUM <= n` is LIMIT n, where nothing is computed of the rows that are left."""
    where = node.args.get("where")
    if not isinstance(node, exp.Select) or where is None or _combines_rows(node):
        return node
    conditions = list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]
    for one in conditions:
        end = _end_of_numbers(one) if isinstance(one, (exp.LTE, exp.LT)) else None
        if end is not None and _is_rownum(one.this):
            others = [other for other in conditions if other is not one]
            node.set("where", exp.Where(this=exp.and_(*others)) if others else None)
            node.limit(end, copy=False)
            break
    return node


def numbered_rows(node: exp.Expr, _: Place) -> exp.Expr:
    """`SELECT ROWNUM, x FROM (SELECT ... ORDER BY x)` numbers rows in the order of the subquery."""
    rows = _ordered_rows(node) if isinstance(node, exp.Select) else None
    counters = [one for one in node.find_all(exp.Column, exp.Pseudocolumn) if _is_rownum(one)]
    own = [one for one in counters if one.parent_select is node]
    if rows is None or not own:
        return node
    for one in own:
        number = exp.Window(this=exp.RowNumber(), order=rows.copy(), over="OVER")
        one.replace(exp.alias_(number, "rownum") if one.parent is node else number)
    if node.args.get("limit"):
        node.set("order", rows.copy())
    return node


def _ordered_rows(query: exp.Select) -> exp.Order | None:
    """The order of the subquery that is all that a query reads, by columns that it gives."""
    source = query.args["from_"].this if query.args.get("from_") else None
    inner = source.this if isinstance(source, exp.Subquery) else None
    order = inner.args.get("order") if isinstance(inner, exp.Select) else None
    parts = ("joins", "where", "group", "order", "connect")
    if order is None or inner is None or any(map(query.args.get, parts)):
        return None
    found = exp.Order(expressions=[one.copy() for one in order.expressions])
    for key in found.expressions:
        name = _name_of_key(key.this, inner)
        if name is None:  # a column that no one sees outside of the query
            if query.is_star or inner.args.get("distinct") or inner.args.get("group"):
                return None
            name = f"key_{len(inner.expressions)}"
            inner.append("expressions", exp.alias_(key.this.copy(), name))
        key.set("this", exp.column(name))
    return found


def _name_of_key(key: exp.Expr, query: exp.Select) -> str | None:
    """The name of the column that has what a query is ordered by."""
    same = (one.alias_or_name for one in query.expressions if one.unalias() == key)
    is_named = isinstance(key, exp.Column) and (query.is_star or key.name in query.named_selects)
    return next(same, None) or (key.name if is_named else None)


def _combines_rows(query: exp.Expr) -> bool:
    parts = ("group", "having", "order", "distinct", "limit", "qualify")
    computed = (exp.AggFunc, exp.Window)
    return any(map(query.args.get, parts)) or any(one.find(*computed) for one in query.expressions)


def _is_rownum(node: exp.Expr | None) -> bool:
    is_column = isinstance(node, exp.Pseudocolumn | exp.Column) and not node.args.get("table")
    return is_column and node is not None and node.name.upper() == "ROWNUM"


def no_row_order(node: exp.Expr, _: Place) -> exp.Expr:
    """Other `ROWNUM`, which Spark SQL has not."""
    if _is_rownum(node):
        raise UnsupportedError("no ROWNUM: write row_number() OVER (ORDER BY ...), or LIMIT")
    return node


def listed_values(node: exp.Expr, place: Place) -> exp.Expr:
    """`TABLE(sys.odcinumberlist(1, 2))`, rows with a column_value each."""
    calls = node.this.expressions if isinstance(node, exp.Table) and _is_table(node.this) else []
    values = calls[0].find(exp.Anonymous) if calls else None
    if values is None or values.name.lower() not in _LISTS:
        return node
    if not place.write.is_spark:
        raise UnsupportedError("no list as a table: write the rows as VALUES")
    rows = plain_call("EXPLODE", exp.Array(expressions=values.expressions))
    alias = exp.to_identifier(node.alias or "listed_values")
    names = [exp.to_identifier("column_value")]
    return exp.Table(this=rows, alias=exp.TableAlias(this=alias, columns=names))


def _is_table(call: exp.Expr) -> bool:
    return function_name(call) == "TABLE" and len(call.expressions) == 1


def no_join_marks(node: exp.Expr, _: Place) -> exp.Expr:
    """`a.x = b.x(+)` is a LEFT JOIN of b."""
    marked = isinstance(node, exp.Select) and any(
        one.args.get("join_mark") for one in node.find_all(exp.Column) if one.parent_select is node
    )
    return eliminate_join_marks(node.copy()) if marked else node
