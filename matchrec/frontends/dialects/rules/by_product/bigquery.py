"""Rules of BigQuery."""

from __future__ import annotations

from sqlglot import exp

from matchrec.frontends.dialects.marks import name_of
from matchrec.frontends.dialects.rules.place import Place


def named_parameter(node: exp.Expr, _: Place) -> exp.Expr:
    """`@name` is `:name`."""
    return exp.Placeholder(this=node.name) if isinstance(node, exp.Parameter) else node


def numbers_of_first_and_last(node: exp.Expr, place: Place) -> exp.Expr:
    """`FIRST(x + MATCH_ROW_NUMBER())`: numbers are of the row that FIRST and LAST find."""
    name = name_of(node)
    is_found = name in ("FIRST", "LAST") and len(node.expressions) == 1
    if not is_found or not place.is_measure:
        return node
    calls = {name_of(one) for one in node.find_all(exp.Anonymous)}
    if not calls & {"MATCH_NUMBER", "ROW_NUMBER"}:
        return node
    item = exp.PropertyEQ(this=exp.to_identifier("item"), expression=node.expressions[0].copy())
    rows = exp.ArrayAgg(this=exp.Struct(expressions=[item]))
    number = exp.Literal.number(1 if name == "FIRST" else -1)
    found = exp.Anonymous(this="TRY_ELEMENT_AT", expressions=[rows, number])
    return exp.Dot(this=found, expression=exp.to_identifier("item"))


def unnested_structs(node: exp.Expr, _: Place) -> exp.Expr:
    """`UNNEST([STRUCT(1 AS a), (2), ...])` is a table of the structs' fields."""
    array = node.expressions[0] if isinstance(node, exp.Unnest) else None
    if not isinstance(array, exp.Array):
        return node
    for row in list(array.expressions[1:]):
        if isinstance(row, exp.Tuple):
            row.replace(exp.Struct(expressions=[one.copy() for one in row.expressions]))
    structs = array.expressions
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


def text_of_json(node: exp.Expr, place: Place) -> exp.Expr:
    """`TO_JSON_STRING(x)` writes NULL as `null`, also in the fields of a struct."""
    if not isinstance(node, exp.JSONFormat) or not place.write.is_spark:
        return node
    keeps = [exp.Literal.string("ignoreNullFields"), exp.Literal.string("false")]
    options = exp.Anonymous(this="MAP", expressions=keeps)
    text = exp.Anonymous(this="TO_JSON", expressions=[node.this.copy(), options])
    return exp.Coalesce(this=text, expressions=[exp.Literal.string("null")])


def named_fields(node: exp.Expr, place: Place) -> exp.Expr:
    """`STRUCT(x)` has a field of the name of its column, also where that must be written."""
    if not isinstance(node, exp.Struct) or place.write.is_spark:
        return node
    for field in list(node.expressions):
        if isinstance(field, exp.Column):
            name = exp.to_identifier(field.name)
            field.replace(exp.PropertyEQ(this=name, expression=field.copy()))
    return node
