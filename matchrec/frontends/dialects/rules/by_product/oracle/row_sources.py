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
        raise UnsupportedError("no CONNECT BY: only LEVEL <= n of dual; write WITH RECURSIVE")
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


def _combines_rows(query: exp.Expr) -> bool:
    parts = ("group", "having", "order", "distinct", "limit", "qualify")
    computed = (exp.AggFunc, exp.Window)
    return any(map(query.args.get, parts)) or any(one.find(*computed) for one in query.expressions)


def _is_rownum(node: exp.Expr | None) -> bool:
    is_column = isinstance(node, exp.Pseudocolumn | exp.Column) and not node.args.get("table")
    return is_column and node is not None and node.name.upper() == "ROWNUM"


def no_row_order(node: exp.Expr, _: Place) -> exp.Expr:
    """Other `ROWNUM`, and `KEEP (DENSE_RANK FIRST ORDER BY y)`, which Spark SQL has not."""
    if _is_rownum(node):
        raise UnsupportedError("no ROWNUM: write row_number() OVER (ORDER BY ...), or LIMIT")
    if isinstance(node, exp.WithinGroup | exp.Window) and node.args.get("over") == "KEEP":
        raise UnsupportedError("no KEEP: write max_by(x, y) or min_by(x, y)")
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
