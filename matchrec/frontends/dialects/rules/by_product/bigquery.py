"""Rules of BigQuery."""

from __future__ import annotations

from sqlglot import exp

from matchrec.frontends.dialects.rules.place import Place


def named_parameter(node: exp.Expr, _: Place) -> exp.Expr:
    """`@name` is `:name`."""
    return exp.Placeholder(this=node.name) if isinstance(node, exp.Parameter) else node


def unnested_structs(node: exp.Expr, _: Place) -> exp.Expr:
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
