"""QUALIFY as a condition of the query around it, with DISTINCT, ORDER BY and LIMIT after it.

SELECT a, b FROM t QUALIFY RANK() OVER (ORDER BY c) = 1 ORDER BY d LIMIT 3
    →   SELECT a, b FROM (SELECT a, b, RANK() OVER (ORDER BY c) = 1 AS qualified, d AS key_1 FROM t)
        WHERE qualified ORDER BY key_1 LIMIT 3

sqlglot's own translation limits before it filters, and adds a column to `*`.
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.helper import find_new_name

from matchrec.dialects.rules.place import RuleContext

_AFTER = ("distinct", "order", "limit", "offset", "fetch", "with_")


def rewrite_qualify(node: exp.Select, context: RuleContext) -> exp.Expr:
    if not node.args.get("qualify"):
        return node
    inline_aliases(node.args["qualify"], node, context)
    inner = node.copy()
    condition = inner.args["qualify"].this.pop()
    inner.set("qualify", None)
    outer = exp.Select()
    for part in _AFTER:
        outer.set(part, inner.args.get(part) and inner.args[part].copy())
        inner.set(part, None)
    own = [exp.alias_(exp.paren(condition.copy()), make_unused_name("qualified", node))]
    names = _names_of_items(inner, context.read.sqlglot)
    for key in _hidden_keys(outer, names):
        own.append(exp.alias_(key.copy(), make_unused_name(f"key_{len(own)}", node)))
        key.replace(exp.column(own[-1].alias))
    selected = inner.expressions
    columns = [exp.column(name, quoted=not name.isidentifier()) for name in names]
    if node.is_star:  # Spark 3.5 has no EXCEPT after *
        row = make_unused_name("row", node)
        selected = [exp.alias_(exp.Anonymous(this="STRUCT", expressions=selected), row)]
        columns = [exp.Column(this=exp.Star(), table=exp.to_identifier(row))]
    inner.set("expressions", [*selected, *own])
    outer.set("expressions", columns)
    rows = exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier("t_")))
    outer.set("from_", exp.From(this=rows))
    return outer.where(exp.column(own[0].alias), copy=False)


def inline_aliases(part: exp.Expr, query: exp.Select, context: RuleContext) -> None:
    """Puts what an alias of SELECT stands for in its place, in a part of the query.

    Not where it is a column. Where that is not known, it is taken for an alias if a column would
    make little sense: of a window function.
    """
    items = {one.alias.lower(): one.this.copy() for one in query.expressions if one.alias}

    def computed(column: exp.Column) -> exp.Expr:
        """What an alias stands for; in it other aliases are seen to be so by the next step."""
        name = column.name.lower()
        read = (one.name.lower() for one in items.get(name, column).find_all(exp.Column))
        if column.table or name not in items or name in read:  # which hides the alias
            return column
        is_column = context.columns.has(query, name)
        if is_column is None and not items[name].find(exp.Window):
            alias = f"`{column.name}` is the alias of SELECT in {context.read.title}"
            unknown = "if no table has such a column; the columns of these tables are not known"
            context.remark(f"{alias}, {unknown}")
            return column
        return column if is_column else exp.paren(items[name].copy())

    for _ in items:  # each may name another one
        for column in [one for one in part.find_all(exp.Column) if one.parent_select is query]:
            column.replace(computed(column))


def _names_of_items(query: exp.Select, product: str) -> list[str]:
    """The names of what a query selects; what has none is called by its text."""
    for item in list(query.expressions):
        if not item.alias_or_name and not item.is_star:
            item.replace(exp.alias_(item.copy(), item.sql(product), quoted=True))
    return [item.alias_or_name for item in query.expressions]


def _hidden_keys(query: exp.Select, names: list[str]) -> list[exp.Expr]:
    """The keys of ORDER BY that are none of the columns selected."""
    order = query.args.get("order")
    keys = [expression.this for expression in order.expressions] if order else []
    known = {name.lower() for name in names}

    def is_selected(key: exp.Expr) -> bool:
        return isinstance(key, exp.Column) and not key.table and key.name.lower() in known

    return [key for key in keys if not (isinstance(key, exp.Literal) or is_selected(key))]


def make_unused_name(name: str, tree: exp.Expr) -> str:
    """A name that nothing in a query has."""
    taken = {identifier.name.lower() for identifier in tree.find_all(exp.Identifier)}
    return find_new_name(taken, name)
