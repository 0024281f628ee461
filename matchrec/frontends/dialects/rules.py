"""Rules for expressions: what a product writes otherwise and sqlglot does not translate."""

from __future__ import annotations

from sqlglot import exp

from matchrec.frontends.dialects.marks import called, name_of


def navigation_with_default(node: exp.Expr) -> exp.Expr:
    """`LAG(x, n, default)`: the default counts only where there is no such row, not for NULL."""
    name = name_of(node)
    if name not in ("PREV", "NEXT") or len(node.expressions) < 3:
        return node
    value, offset, default = node.expressions
    exists = exp.Is(this=exp.paren(value.copy()), expression=exp.null())
    absent = exp.Is(this=called(name, exists, offset.copy()), expression=exp.null())
    return exp.If(this=absent, true=default, false=called(name, value, offset))


def lag_and_lead(node: exp.Expr) -> exp.Expr:
    """`PREV` and `NEXT` under the names of the window functions."""
    name = {"PREV": "LAG", "NEXT": "LEAD"}.get(name_of(node) or "")
    return called(name, *node.expressions) if name else node


def row_number_in_match(node: exp.Expr) -> exp.Expr:
    """`MATCH_SEQUENCE_NUMBER()`: the rows of the match up to the current one are counted."""
    if name_of(node) != "ROW_NUMBER":
        return node
    if node.find_ancestor(exp.AggFunc):
        return called("MATCH_ROW_NUMBER")
    return called("RUNNING", exp.Count(this=exp.Star()))


def bare_classifier(node: exp.Expr) -> exp.Expr:
    """`CLASSIFIER` without parentheses."""
    is_bare = isinstance(node, exp.Column) and not node.table and not node.this.quoted
    return called("CLASSIFIER") if is_bare and node.name.upper() == "CLASSIFIER" else node


def count_of_rows(node: exp.Expr) -> exp.Expr:
    """`count()` counts rows."""
    if isinstance(node, exp.Count) and node.this is None and not node.expressions:
        return exp.Count(this=exp.Star())
    return node


def named_parameter(node: exp.Expr) -> exp.Expr:
    """`@name` is `:name`."""
    return exp.Placeholder(this=node.name) if isinstance(node, exp.Parameter) else node


def unnested_structs(node: exp.Expr) -> exp.Expr:
    """`UNNEST([STRUCT(1 AS a), ...])` is a table of the structs' fields."""
    array = node.expressions[0] if isinstance(node, exp.Unnest) else None
    structs = array.expressions if isinstance(array, exp.Array) else []
    if not structs or not all(isinstance(one, exp.Struct) for one in structs):
        return node
    names = [
        one.this if isinstance(one, exp.PropertyEQ) else None for one in structs[0].expressions
    ]
    for struct in structs[1:]:
        for name, value in zip(names, list(struct.expressions), strict=False):
            if name is not None and not isinstance(value, exp.PropertyEQ):
                value.replace(exp.PropertyEQ(this=name.copy(), expression=value.copy()))
    table = exp.Table(this=exp.Anonymous(this="INLINE", expressions=[array]))
    table.set("alias", node.args.get("alias"))
    return table


def no_into(node: exp.Expr) -> exp.Expr:
    """`SELECT * INTO output`: where the rows go is for the caller to say."""
    if isinstance(node, exp.Select) and node.args.get("into"):
        node.set("into", None)
    return node


def no_dual(node: exp.Expr) -> exp.Expr:
    """`FROM dual` is nothing: a query without FROM has one row."""
    if not isinstance(node, exp.Select):
        return node
    source = node.find(exp.From)
    if source is None or source.parent is not node or node.args.get("joins"):
        return node
    if source.this.name.lower() == "dual" and source.arg_key:
        node.set(source.arg_key, None)
    return node


def bounded_text(node: exp.Expr) -> exp.Expr:
    """`CAST(x AS VARCHAR(3))` cuts what is longer, which Spark does not."""
    if not isinstance(node, exp.Cast) or not node.is_type(*exp.DataType.TEXT_TYPES):
        return node
    length = node.to.expressions[0].this if node.to.expressions else None
    if length is None:
        return node
    return exp.Anonymous(this="LEFT", expressions=[exp.cast(node.this, "text"), length.copy()])
