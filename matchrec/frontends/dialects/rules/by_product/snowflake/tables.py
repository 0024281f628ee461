"""Tables of Snowflake that are calls, and columns that it names by itself."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import function, function_name, plain_call
from matchrec.frontends.dialects.rules.collected import Collection, known_items
from matchrec.frontends.dialects.rules.kinds import Kind
from matchrec.frontends.dialects.rules.place import Place

_ROW = "generator_row"
_COLUMNS_OF_FLATTEN = ["seq", "key", "path", "index", "value", "this"]
_OBJECTS = (exp.Struct, exp.Array, exp.ArrayAgg, exp.ArrayUniqueAgg)
_SEQUENCES = (exp.Seq1, exp.Seq2, exp.Seq4, exp.Seq8)


def columns_of_values(node: exp.Expr, _: Place) -> exp.Expr:
    """The columns of `VALUES (1, 'a'), ...` are `column1`, `column2`, or `$1`, `$2`."""
    if isinstance(node, exp.Parameter) and node.this.name.isdigit():
        return exp.column(f"column{node.this.name}")
    is_table = isinstance(node, exp.Values) and isinstance(node.parent, (exp.From, exp.Join))
    if not is_table or node.alias_column_names or not isinstance(node.expressions[0], exp.Tuple):
        return node
    width = len(node.expressions[0].expressions)
    names = [exp.to_identifier(f"column{number}") for number in range(1, width + 1)]
    alias = exp.to_identifier(node.alias or "values_")
    node.set("alias", exp.TableAlias(this=alias, columns=names))
    return node


def generated_rows(node: exp.Expr, place: Place) -> exp.Expr:
    """`TABLE(GENERATOR(ROWCOUNT => n))`, whose rows SEQ4() counts from 0."""
    source = node.args["from_"].this if isinstance(node, exp.Select) and _reads(node) else None
    if source is None or not isinstance(source.this, exp.Generator):
        return node
    count = source.this.args.get("rowcount")
    if count is None or not place.write.is_spark:
        raise UnsupportedError("no GENERATOR: only of a ROWCOUNT for Spark; write VALUES")
    for call in list(node.find_all(*_SEQUENCES)):
        call.replace(exp.column(_ROW))
    numbers = exp.Anonymous(this="RANGE", expressions=[count.copy()])
    alias = exp.to_identifier(source.alias or "generator")
    table = exp.Table(
        this=numbers, alias=exp.TableAlias(this=alias, columns=[exp.to_identifier(_ROW)])
    )
    node.set("from_", exp.From(this=table))
    return node


def _reads(query: exp.Expr) -> bool:
    source = query.args.get("from_")
    return source is not None and isinstance(source.this, exp.TableFromRows)


def flattened(node: exp.Expr, place: Place) -> exp.Expr:
    """`LATERAL FLATTEN(input => x) f` or `TABLE(FLATTEN(x)) f`: f.index and f.value."""
    if not isinstance(node, (exp.Lateral, exp.TableFromRows)):
        return node
    call = node.this
    if not isinstance(call, exp.Explode):
        return node
    if not place.write.is_spark:
        raise UnsupportedError("no FLATTEN: write UNNEST")
    named = {
        one.name.lower(): one.expression
        for one in (call.this, *call.expressions)
        if isinstance(one, exp.Kwarg)
    }
    if not set(named) <= {"input", "outer"}:
        raise UnsupportedError("no FLATTEN: only of an array, with INPUT and OUTER")
    outer = named.get("outer")
    name = (
        "POSEXPLODE_OUTER" if outer is not None and outer.name.upper() == "TRUE" else "POSEXPLODE"
    )
    rows = exp.Anonymous(this=name, expressions=[named.get("input", call.this).copy()])
    names = node.alias_column_names or _COLUMNS_OF_FLATTEN
    alias = exp.TableAlias(
        this=exp.to_identifier(node.alias or "flattened"),
        columns=[exp.to_identifier(one) for one in names[3:5]],
    )
    return exp.Lateral(this=rows, alias=alias)


def element(node: exp.Expr, place: Place) -> exp.Expr:
    """`x[0]` and `GET(x, 0)` of an array, NULL where it has no such element."""
    if not isinstance(node, exp.Bracket | exp.GetExtract) or not place.write.is_spark:
        return node
    if isinstance(node, exp.Bracket) and _is_json(node.this, place):
        path = exp.Literal.string("".join(map(_step, node.expressions)))
        return plain_call("GET_JSON_OBJECT", node.this, path)
    keys = node.expressions or [node.args.get("expression")]
    if len(keys) != 1 or not isinstance(keys[0], exp.Literal) or keys[0].is_string:
        return node
    return plain_call("GET", node.this, keys[0])


def _is_json(value: exp.Expr, place: Place) -> bool:
    """Whether brackets ask for a part of JSON, which is a text in Spark."""
    is_parsed = isinstance(value, exp.ParseJSON)
    return is_parsed or (isinstance(value, exp.Column) and place.kind(value) is Kind.TEXT)


def _step(key: exp.Expr) -> str:
    """A step of a path in JSON."""
    if not isinstance(key, exp.Literal):
        raise UnsupportedError("no part of JSON but by a literal")
    return f"$['{key.name}']" if key.is_string else f"$[{key.name}]"


def split_parts(node: exp.Expr, place: Place) -> exp.Expr:
    """`LATERAL SPLIT_TO_TABLE(x, ',') s`: s.index from 1, and s.value."""
    call = node.this if isinstance(node, exp.Lateral | exp.TableFromRows) else None
    if call is None or not _splits(call):
        return node
    if not place.write.is_spark:
        raise UnsupportedError("no SPLIT_TO_TABLE: write UNNEST of SPLIT")
    text, separator = call.expressions or (call.this, call.expression)
    parts = exp.Split(this=text.copy(), expression=separator.copy())
    number = exp.Add(this=exp.to_identifier("place"), expression=exp.Literal.number(1))
    row = plain_call("STRUCT", number, exp.to_identifier("part"))
    rows = plain_call("INLINE", plain_call("TRANSFORM", parts, function(row, "part", "place")))
    names = [exp.to_identifier(one) for one in ("index", "value")]
    alias = exp.TableAlias(this=exp.to_identifier(node.alias or "parts"), columns=names)
    return exp.Lateral(this=rows, alias=alias)


def _splits(call: exp.Expr) -> bool:
    return call.key == "splittotable" or function_name(call) == "SPLIT_TO_TABLE"


def slice_of_array(node: exp.Expr, place: Place) -> exp.Expr:
    """`ARRAY_SLICE(x, 1, 3)`, from the element with index 1 up to that with index 3."""
    if not isinstance(node, exp.ArraySlice) or not place.write.is_spark:
        return node
    ends = node.text("start"), node.text("end")
    if not all(map(str.isdigit, ends)):
        raise UnsupportedError("no ARRAY_SLICE but from and to numbers that are not negative")
    first, last = map(int, ends)
    size = exp.Literal.number(max(last - first, 0))
    return plain_call("SLICE", node.this, exp.Literal.number(first + 1), size)


def place_in_array(node: exp.Expr, place: Place) -> exp.Expr:
    """`ARRAY_POSITION(v, x)`, counted from 0, and NULL where there is none."""
    if not isinstance(node, exp.ArrayPosition) or not place.write.is_spark:
        return node
    found = plain_call("ARRAY_POSITION", node.this, node.expression)
    known = plain_call("NULLIF", found, exp.Literal.number(0))
    return exp.paren(exp.Sub(this=known, expression=exp.Literal.number(1)))


def no_variant(node: exp.Expr, place: Place) -> exp.Expr:
    """`ARRAY_CONTAINS('a'::VARIANT, x)`, where Spark wants the type of the elements."""
    asking = (exp.ArrayContains, exp.ArrayPosition)
    is_asked = isinstance(node.parent, asking) and node.arg_key == "expression"
    if is_asked and place.write.is_spark and isinstance(node, exp.Cast) and node.is_type("variant"):
        value: exp.Expr = node.this.copy()
        return value
    return node


def listed_values(node: exp.Expr, place: Place) -> exp.Expr:
    """`ARRAY_AGG(x) WITHIN GROUP (ORDER BY y)`, without NULLs."""
    array = node.this if isinstance(node, exp.WithinGroup) else None
    if not isinstance(array, exp.ArrayAgg) or not place.write.is_spark:
        return node
    keys = node.expression.expressions
    if not isinstance(array.this, exp.Distinct):
        return known_items(Collection(array.this, tuple(keys), None))
    value, key = array.this.expressions[0], keys[0]
    if len(keys) > 1 or key.this != value:
        raise UnsupportedError("an array of distinct values in another order than their own")
    ascends = exp.false() if key.args.get("desc") else exp.true()
    return plain_call("SORT_ARRAY", exp.ArrayUniqueAgg(this=value.copy()), ascends)


def text_of_object(node: exp.Expr, place: Place) -> exp.Expr:
    """`OBJECT_CONSTRUCT('a', x)::STRING`, `ARRAY_AGG(x)::STRING` and TO_JSON of them: JSON."""
    is_text = isinstance(node, exp.Cast) and node.is_type(*exp.DataType.TEXT_TYPES)
    if not is_text and not isinstance(node, exp.JSONFormat):
        return node
    value = node.this.this if isinstance(node.this, exp.WithinGroup) else node.this
    if not isinstance(value, _OBJECTS) or not place.write.is_spark:
        return node
    if isinstance(value, exp.Struct):
        value.set("expressions", sorted(value.expressions, key=lambda one: str(one.this.name)))
    return plain_call("TO_JSON", node.this)


def number_of_text(node: exp.Expr, _: Place) -> exp.Expr:
    """`TO_NUMBER(x)`, without a format a whole number."""
    if not isinstance(node, exp.ToNumber) or node.args.get("format"):
        return node
    precision, scale = (node.args.get(one) for one in ("precision", "scale"))
    sizes = [exp.DataTypeParam(this=one.copy()) for one in (precision, scale) if one]
    type_ = exp.DataType(this=exp.DType.DECIMAL, expressions=sizes)
    if node.args.get("safe"):
        return exp.TryCast(this=node.this.copy(), to=type_, safe=True)
    return exp.Cast(this=node.this.copy(), to=type_)
