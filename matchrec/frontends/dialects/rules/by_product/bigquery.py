"""Rules of BigQuery."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import function, name_of, plain_call
from matchrec.frontends.dialects.rules.kinds import Kind
from matchrec.frontends.dialects.rules.place import Place

_DAYS = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")
_DIFFERENCES = (exp.DateDiff, exp.DatetimeDiff, exp.TimestampDiff)
_FRACTIONS = {"MILLISECOND": "SSS", "MICROSECOND": "SSSSSS"}


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


def array_of_elements(node: exp.Expr, place: Place) -> exp.Expr:
    """`ARRAY(SELECT f(v) FROM UNNEST(a) AS v WHERE c)`: a filtered, transformed array."""
    query = node.expressions[0] if isinstance(node, exp.Array) and node.expressions else None
    if not isinstance(query, exp.Select) or not place.write.is_spark:
        return node
    source = query.args["from_"].this if query.args.get("from_") else None
    names = _names_of_element(source) if isinstance(source, exp.Unnest) else []
    if not isinstance(source, exp.Unnest) or not names or not _is_of_elements(query, names):
        raise UnsupportedError("no ARRAY(SELECT ...) but of UNNEST(x) AS y: write ARRAY_AGG")
    found = source.expressions[0].copy()
    where, order, limit = (query.args.get(one) for one in ("where", "order", "limit"))
    if where is not None:
        found = plain_call("FILTER", found, function(where.this.copy(), *names))
    if order is not None and order.expressions[0].this.name == names[0]:
        ascends = exp.false() if order.expressions[0].args.get("desc") else exp.true()
        found = plain_call("SORT_ARRAY", found, ascends)
    if limit is not None:
        found = plain_call("SLICE", found, exp.Literal.number(1), limit.expression.copy())
    is_struct = query.args.get("kind") == "STRUCT"
    items = [one.copy() for one in query.expressions]
    item = exp.Struct(expressions=items) if is_struct else items[0].unalias()
    found = plain_call("TRANSFORM", found, function(item.copy(), *names))
    found = plain_call("ARRAY_DISTINCT", found) if query.args.get("distinct") else found
    return exp.Coalesce(this=found, expressions=[exp.Array(expressions=[])])


def _names_of_element(source: exp.Unnest) -> list[str]:
    """What `UNNEST(x) AS v WITH OFFSET AS o` calls an element and its place."""
    names, offset = source.alias_column_names, source.args.get("offset")
    if len(names) != 1 or len(source.expressions) != 1 or offset is True:
        return []
    return [*names, offset.name] if offset else names


def _is_of_elements(query: exp.Select, names: list[str]) -> bool:
    """Whether a query of an array's elements takes each by itself; their places while they stay."""
    others = ("joins", "group", "having", "qualify", "offset", "laterals")
    is_cut = query.args.get("distinct") and query.args.get("limit")
    keys = [(one.this.name, one.args.get("desc")) for one in _keys(query)]
    if any(map(query.args.get, others)) or len(keys) > 1 or is_cut:
        return False
    if len(names) > 1:
        return keys in ([], [(names[1], False)], [(names[1], None)]) and not query.args.get("where")
    return not keys or keys[0][0] == names[0]


def _keys(query: exp.Select) -> list[exp.Expr]:
    order = query.args.get("order")
    return [] if order is None else order.expressions


def dates_of_texts(node: exp.Expr, _: Place) -> exp.Expr:
    """`GENERATE_DATE_ARRAY('2024-01-01', '2024-01-31')`, whose texts are dates."""
    if not isinstance(node, exp.GenerateDateArray):
        return node
    for side in ("start", "end"):
        if isinstance(node.args.get(side), exp.Literal):
            node.set(side, exp.cast(node.args[side].copy(), "date"))
    return node


def weeks_from_any_day(node: exp.Expr, place: Place) -> exp.Expr:
    """`DATE_TRUNC(d, WEEK)`, which begins on Sunday, and `WEEK(TUESDAY)`: days later, and back."""
    unit = node.args.get("unit")
    if not place.write.is_spark or not isinstance(unit, exp.WeekStart):
        return node
    days = -_DAYS.index(unit.this.name.upper()) % 7
    later = exp.Interval(this=exp.Literal.string(str(days)), unit=exp.var("DAY"))
    for side in ("this", "expression") if isinstance(node, _DIFFERENCES) else ("this",):
        if days:
            moved = exp.Add(this=node.args[side].copy(), expression=later.copy())
            node.set(side, exp.paren(moved, copy=False))
    node.set("unit", exp.var("WEEK"))
    if isinstance(node, _DIFFERENCES) or not days:
        return node
    return exp.paren(exp.Sub(this=node.copy(), expression=later))


def parts_of_time(node: exp.Expr, place: Place) -> exp.Expr:
    """`EXTRACT(WEEK FROM d)`, of weeks from Sunday, ISOYEAR and parts of a second."""
    if not isinstance(node, exp.Extract) or not place.write.is_spark:
        return node
    unit, time = node.this.name.upper(), node.expression
    if unit == "ISOYEAR":
        return exp.Extract(this=exp.var("YEAROFWEEK"), expression=time.copy())
    if unit in _FRACTIONS:
        digits = plain_call("DATE_FORMAT", time, exp.Literal.string(_FRACTIONS[unit]))
        return exp.cast(digits, "int")
    if unit == "WEEK":
        days = exp.Add(this=plain_call("DAYOFYEAR", time), expression=exp.Literal.number(7))
        since = exp.paren(exp.Sub(this=days, expression=plain_call("DAYOFWEEK", time)))
        return exp.paren(exp.IntDiv(this=since, expression=exp.Literal.number(7)))
    return node


def time_in_zone(node: exp.Expr, place: Place) -> exp.Expr:
    """`DATE(t, 'Europe/Berlin')`, `DATETIME(t, zone)` and `DATETIME_TRUNC(t, HOUR)`."""
    if not place.write.is_spark:
        return node
    if isinstance(node, exp.DatetimeTrunc):
        return exp.TimestampTrunc(this=node.this.copy(), unit=node.args["unit"].copy())
    is_day = isinstance(node, exp.Date)
    zone = node.args.get("zone" if is_day else "expression")
    if zone is None or not isinstance(node, exp.Date | exp.Datetime):
        return node
    shown = plain_call("CONVERT_TIMEZONE", zone, exp.cast(node.this, "timestamp_ntz"))
    return exp.cast(shown, "date") if is_day else shown


def numbers_in_format(node: exp.Expr, place: Place) -> exp.Expr:
    """`FORMAT('%.2f', 1.5)`, where 1.5 is a double, and a decimal in Spark."""
    if isinstance(node, exp.Format) and place.write.is_spark:
        for one in list(node.expressions):
            if place.kind(one) is Kind.DECIMAL:
                one.replace(exp.cast(one.copy(), "double"))
    return node
