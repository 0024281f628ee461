"""Rules for texts."""

from __future__ import annotations

from sqlglot import exp

from matchrec.frontends.dialects.marks import plain_call
from matchrec.frontends.dialects.rules.place import Place

_CUTTING = frozenset({"oracle", "trino"})


def bounded_text(node: exp.Expr, place: Place) -> exp.Expr:
    """`CAST(x AS VARCHAR(3))` cuts what is longer, which Spark does not."""
    if not isinstance(node, exp.Cast) or not node.is_type(*exp.DataType.TEXT_TYPES):
        return node
    if place.write.name in _CUTTING:
        return node
    length = node.to.expressions[0].this if node.to.expressions else None
    if length is None:
        return node
    return exp.Anonymous(this="LEFT", expressions=[exp.cast(node.this, "text"), length.copy()])


def text_of_subquery(node: exp.Expr, _: Place) -> exp.Expr:
    """`x IN (SELECT 'a')`, where Spark's own parser takes SELECT for the type of a literal."""
    query = node.args.get("query") if isinstance(node, exp.In) else None
    select = query.unnest() if isinstance(query, exp.Subquery) else query
    if not isinstance(select, exp.Select) or select.args.get("from_"):
        return node
    for one in select.expressions:
        if isinstance(one, exp.Literal) and one.is_string:
            one.replace(exp.alias_(one.copy(), "text"))
    return node


def first_match(node: exp.Expr, place: Place) -> exp.Expr:
    """`REGEXP_EXTRACT(x, pattern)`, NULL where nothing matches, or the empty text as in Spark."""
    if not isinstance(node, exp.RegexpExtract):
        return node
    reads_empty, writes_empty = (
        one.is_spark and not one.lacks_dialect for one in (place.read, place.write)
    )
    if writes_empty and not reads_empty:
        node.set("occurrence", node.args.get("occurrence") or exp.Literal.number(1))
    elif reads_empty and not writes_empty:
        place.remark(f"REGEXP_EXTRACT without a match is NULL in {place.write.title}")
    if place.write.lacks_dialect:  # which takes the whole match where no group is written
        group = node.args.get("group") or exp.Literal.number(0)
        return plain_call("REGEXP_EXTRACT", node.this, node.expression, group)
    return node


def nth_match(node: exp.Expr, place: Place) -> exp.Expr:
    """`REGEXP_SUBSTR(x, pattern, 1, n)`, NULL where there are fewer matches."""
    parts = _parts_of_match(node) if place.write.is_spark else {}
    number, position = parts.get("occurrence"), parts.get("position")
    starts_first = position is None or position.name == "1"
    parameters = parts["parameters"].name if parts.get("parameters") else ""
    if number is None or not starts_first or parameters not in ("", "c", "e"):
        return node
    group = parts.get("group") or exp.Literal.number(0)
    if parameters == "e" and group.name == "0":  # which asks for a group
        group = exp.Literal.number(1)
    texts = [parts["this"].copy(), parts["expression"].copy(), group.copy()]
    found = exp.Anonymous(this="REGEXP_EXTRACT_ALL", expressions=texts)
    return exp.Anonymous(this="TRY_ELEMENT_AT", expressions=[found, number.copy()])


def _parts_of_match(node: exp.Expr) -> dict[str, exp.Expr]:
    """The arguments of REGEXP_SUBSTR by name; an older sqlglot knows no names of Oracle's."""
    if node.key in ("regexpsubstr", "regexpextract"):
        return node.args
    if isinstance(node, exp.Anonymous) and node.name.upper() == "REGEXP_SUBSTR":
        return dict(
            zip(("this", "expression", "position", "occurrence"), node.expressions, strict=False)
        )
    return {}
