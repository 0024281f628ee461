"""Functions that make JSON of columns, as TO_JSON of a struct or an array, and read it."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import function_name, plain_call
from matchrec.frontends.dialects.rules.place import Place

_JSON = (exp.JSONObject, exp.JSONArrayAgg)


def json_of_columns(node: exp.Expr, place: Place) -> exp.Expr:
    """`JSON_OBJECT('a' VALUE x)` and `JSON_ARRAYAGG(x)`; inside of another it is no text yet."""
    if not isinstance(node, _JSON) or not place.write.is_spark:
        return node
    if node.args.get("order"):
        raise UnsupportedError("no JSON_ARRAYAGG with ORDER BY: order the rows in a subquery")
    is_object = isinstance(node, exp.JSONObject)
    value = _struct(node) if is_object else plain_call("COLLECT_LIST", node.this)
    has_nulls = not (node.args.get("null_handling") or "").startswith("ABSENT")
    if not isinstance(node.parent, (exp.JSONKeyValue, *_JSON)):
        options = map(exp.Literal.string, ("ignoreNullFields", "false"))
        return plain_call("TO_JSON", value, *([plain_call("MAP", *options)] if has_nulls else []))
    if not has_nulls:
        raise UnsupportedError("no ABSENT ON NULL inside of JSON: write to_json(struct(x AS a))")
    return value


def _struct(node: exp.Expr) -> exp.Expr:
    pairs = node.expressions
    if not all(isinstance(one, exp.JSONKeyValue) and one.this.is_string for one in pairs):
        raise UnsupportedError("no JSON_OBJECT of computed keys: write to_json(map(k, v))")
    return plain_call(
        "NAMED_STRUCT", *(part for one in pairs for part in (one.this, one.expression))
    )


def value_of_json(node: exp.Expr, place: Place) -> exp.Expr:
    """`JSON_VALUE(x, '$.a')`; before the path may stand `lax`."""
    if not place.write.is_spark:
        return node
    if function_name(node) == "JSON_VALUE" and len(node.expressions) == 2:
        return plain_call("GET_JSON_OBJECT", *node.expressions)
    if not isinstance(node, exp.JSONValue):
        return node
    path = node.args["path"].sql("spark").strip("'").removeprefix("lax ")
    value = plain_call("GET_JSON_OBJECT", node.this, exp.Literal.string(path))
    returning = node.args.get("returning")
    return exp.cast(value, returning.copy()) if returning else value
