"""The rule for QUALIFY, which becomes WHERE of an outer query with DISTINCT, ORDER BY and LIMIT.

    SELECT a, b FROM t QUALIFY RANK() OVER (ORDER BY c) = 1 ORDER BY d LIMIT 3

becomes

    SELECT a, b FROM (SELECT a, b, RANK() OVER (ORDER BY c) = 1 AS qualified, d AS key_1 FROM t)
    WHERE qualified ORDER BY key_1 LIMIT 3

sqlglot's own translation limits before it filters, and adds a column to `*`.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.helper import find_new_name

from matchrec.dialects.rules.context import RuleContext
from matchrec.dialects.rules.visible_columns import Presence

# The parts that the outer query gets: the parts that are computed after QUALIFY, and WITH, which
# must be at the start of the whole query.
_MOVED_PARTS = ("distinct", "order", "limit", "offset", "fetch", "with_")


def rewrite_qualify(node: exp.Select, context: RuleContext) -> exp.Expr:
    """Rewrite a query with QUALIFY to a query with a subquery."""
    if not node.args.get("qualify"):
        return node
    inline_aliases(node.args["qualify"], node, context)
    inner = node.copy()
    condition = inner.args["qualify"].this.pop()
    inner.set("qualify", None)
    outer = _take_out_moved_parts(inner)
    names = _name_items(inner, context.read.sqlglot_dialect)
    qualified = make_unused_name("qualified", node)
    qualified_column = exp.alias_(exp.paren(condition.copy()), qualified)
    # Columns that the inner query computes only for the outer one.
    helper_columns = [qualified_column, *_move_hidden_keys(outer, names, node)]
    if node.is_star:
        # Spark 3.5 has no EXCEPT after `*`, which would leave out the helper columns.
        selected_columns = [_pack_items(inner, make_unused_name("row", node))]
    else:
        selected_columns = [exp.column(name, quoted=not name.isidentifier()) for name in names]
    inner.set("expressions", [*inner.expressions, *helper_columns])
    outer.set("expressions", selected_columns)
    rows = exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier("t_")))
    outer.set("from_", exp.From(this=rows))
    return outer.where(exp.column(qualified), copy=False)


def _take_out_moved_parts(inner: exp.Select) -> exp.Select:
    """Take the parts after QUALIFY out of a query, and return an outer query with them."""
    outer = exp.Select()
    for part in _MOVED_PARTS:
        value = inner.args.get(part)
        outer.set(part, None if value is None else value.copy())
        inner.set(part, None)
    return outer


def _pack_items(inner: exp.Select, row: str) -> exp.Expr:
    """Pack all items of the inner query into one struct, and return the item `row.*` for the outer.

    `SELECT *, a + 1 AS b` becomes `SELECT STRUCT(*, a + 1 AS b) AS row`.

    Args:
        inner: the inner query, which is changed.
        row: the name of the struct.
    """
    struct = exp.Anonymous(this="STRUCT", expressions=inner.expressions)
    inner.set("expressions", [exp.alias_(struct, row)])
    return exp.Column(this=exp.Star(), table=exp.to_identifier(row))


def _move_hidden_keys(outer: exp.Select, names: Sequence[str], query: exp.Select) -> list[exp.Expr]:
    """Sort the outer query by new columns instead of keys that are not selected.

    `ORDER BY d` becomes `ORDER BY key_1`, and the result has `d AS key_1`.

    Args:
        outer: the outer query, whose ORDER BY is changed.
        names: the names of the selected columns.
        query: the query with QUALIFY, in which the new names must be unused.

    Returns:
        The new columns, as items of the inner query.
    """
    columns = []
    for number, key in enumerate(_find_hidden_keys(outer, names), 1):
        name = make_unused_name(f"key_{number}", query)
        columns.append(exp.alias_(key.copy(), name))
        key.replace(exp.column(name))
    return columns


def inline_aliases(part: exp.Expr, query: exp.Select, context: RuleContext) -> None:
    """Replace aliases of SELECT by their expressions, in a part of a query.

    Args:
        part: the part of the query, which is changed.
        query: the query.
        context: looks up the columns, and gets a note on each name that may mean a column.
    """
    items = {item.alias.lower(): item.this.copy() for item in query.expressions if item.alias}
    # An alias may name another one, so that a pass over the columns may reveal new aliases. There
    # are at most as many passes as aliases.
    for _ in items:
        columns = [column for column in part.find_all(exp.Column) if column.parent_select is query]
        for column in columns:
            item = None if column.table else items.get(column.name.lower())
            if item is not None and _means_alias(column, item, query, context):
                column.replace(exp.paren(item.copy()))


def _means_alias(
    column: exp.Column, item: exp.Expr, query: exp.Select, context: RuleContext
) -> bool:
    """Return whether a name means an alias of SELECT, and not a column, which comes first.

    If it is not known whether there is such a column, the name of a window function means the
    alias, because a column would make little sense. Other names get a note.

    Args:
        column: the name.
        item: the expression of the alias.
        query: the query.
        context: looks up the columns.
    """
    name = column.name.lower()
    if name in (inner.name.lower() for inner in item.find_all(exp.Column)):
        return False  # `x + 1 AS x`: the column hides the alias
    presence = context.request_presence(query, name)
    if presence is Presence.UNKNOWN and not item.find(exp.Window):
        alias = f"`{column.name}` is an alias of SELECT in {context.read.title}"
        unknown = "if no table has this column; the columns of these tables are not known"
        context.add_note(f"{alias}, {unknown}")
        return False
    return presence is not Presence.PRESENT


def _name_items(query: exp.Select, dialect: str) -> list[str]:
    """Return the names of the columns that a query selects.

    Items without a name get their text as an alias.

    Args:
        query: the query, which is changed.
        dialect: the name of sqlglot's dialect in which the texts are written.
    """
    for item in list(query.expressions):
        if not item.alias_or_name and not item.is_star:
            item.replace(exp.alias_(item.copy(), item.sql(dialect), quoted=True))
    return [item.alias_or_name for item in query.expressions]


def _find_hidden_keys(query: exp.Select, names: Sequence[str]) -> list[exp.Expr]:
    """Return the keys of ORDER BY that are not among the selected columns.

    Numbers of columns, as in ORDER BY 1, are left out.

    Args:
        query: the query.
        names: the names of the columns that it selects.
    """
    order = query.args.get("order")
    keys = [item.this for item in order.expressions] if order else []
    selected = {name.lower() for name in names}
    hidden_keys = []
    for key in keys:
        is_column = isinstance(key, exp.Column) and not key.table
        is_selected = is_column and key.name.lower() in selected
        if not isinstance(key, exp.Literal) and not is_selected:
            hidden_keys.append(key)
    return hidden_keys


def make_unused_name(name: str, tree: exp.Expr) -> str:
    """Return a name that nothing in a tree has: `name`, with a number if the tree has `name`."""
    names = {identifier.name.lower() for identifier in tree.find_all(exp.Identifier)}
    return find_new_name(names, name)
