"""What Spark SQL has not around a clause, refused by name where sqlglot would write it as it is."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.rules.place import Place

_OF_STAR = {
    "replace": "no REPLACE after *: write * EXCEPT (a), x AS a",
    "rename": "no RENAME after *: write * EXCEPT (a), a AS b",
    "ilike": "no ILIKE after *: name the columns",
}


def absent_in_spark(node: exp.Expr, place: Place) -> exp.Expr:
    """`* RENAME (a AS b)`, JSON_TABLE, ASOF JOIN, `x > ALL (SELECT ...)` and the like."""
    if not place.write.is_spark:
        return node
    reason = _reason(node)
    if reason is not None:
        raise UnsupportedError(reason)
    if isinstance(node, exp.EQ) and isinstance(node.expression, exp.Any):
        return _among(node)
    if isinstance(node, exp.Grouping) and len(node.expressions) > 1:
        return exp.Anonymous(this="GROUPING_ID", expressions=node.expressions)
    return node


def _reason(node: exp.Expr) -> str | None:
    match node:
        case exp.Star():
            return next((text for part, text in _OF_STAR.items() if node.args.get(part)), None)
        case exp.JSONTable():
            return "no JSON_TABLE: write JSON_VALUE(x, '$.a') for each column"
        case exp.Join() if (node.args.get("method") or "").upper() == "ASOF":
            return "no ASOF JOIN: join, and keep the last row by QUALIFY ROW_NUMBER() OVER w = 1"
        case exp.All():
            return "no ALL: compare with (SELECT MAX(x) ...) or (SELECT MIN(x) ...)"
        case exp.Any() if not isinstance(node.parent, (exp.EQ, exp.Like, exp.ILike)):
            return "no ANY: compare with (SELECT MIN(x) ...) or (SELECT MAX(x) ...)"
        case exp.SimilarTo():
            return "no SIMILAR TO: write RLIKE"
        case exp.Is() if isinstance(node.expression, exp.JSON):
            return "no IS JSON: write a condition on GET_JSON_OBJECT(x, '$')"
        case exp.Between() if node.args.get("symmetric"):
            return "no BETWEEN SYMMETRIC: write the lesser bound first"
        case exp.Cast() if node.args.get("format"):
            return "no CAST with FORMAT: write TO_CHAR, TO_DATE or FORMAT_DATE"
    return None


def _among(node: exp.EQ) -> exp.Expr:
    """`x = ANY (SELECT ...)` and `x = ANY (1, 2)`, which is IN."""
    values = node.expression.this
    if isinstance(values, exp.Tuple):
        return exp.In(this=node.this.copy(), expressions=[one.copy() for one in values.expressions])
    if isinstance(values, exp.Subquery | exp.Select):
        return exp.In(this=node.this.copy(), query=values.copy())
    raise UnsupportedError("no ANY of an array: write ARRAY_CONTAINS(a, x)")
