"""`UNPIVOT (v FOR what IN (low, high))`, whose names are values: in capitals in some products."""

from __future__ import annotations

from sqlglot import exp

from matchrec.frontends.dialects.rules.place import Place


def unpivoted_names(node: exp.Expr, place: Place) -> exp.Expr:
    """The names of columns as values, as Snowflake and Oracle have those without quotes."""
    is_unpivot = isinstance(node, exp.Pivot) and node.args.get("unpivot")
    if not is_unpivot or place.write.name in ("oracle", "snowflake"):
        return node
    for field in node.args.get("fields") or ():
        for column in list(field.expressions):
            if isinstance(column, exp.Column) and not column.this.quoted:
                name = exp.to_identifier(column.name.upper(), quoted=True)
                column.replace(exp.PivotAlias(this=column.copy(), alias=name))
    return node
