"""Rules for texts."""

from __future__ import annotations

from sqlglot import Dialect as SqlglotDialect
from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import function, plain_call
from matchrec.frontends.dialects.product import Product
from matchrec.frontends.dialects.rules.collected import field, struct
from matchrec.frontends.dialects.rules.place import Place

_CUTTING = frozenset({"oracle", "trino"})
_MAY_BE_EMPTY = (exp.Substring, exp.Trim, exp.Replace, exp.Translate, exp.RegexpReplace)
_NOTHING = exp.Literal.string("")
_FROM_THE_END = "no INSTR from the end: write INSTR(REVERSE(x), y)"


def bounded_text(node: exp.Expr, place: Place) -> exp.Expr:
    """`CAST(x AS VARCHAR(3))` cuts what is longer, which Spark does not."""
    if not isinstance(node, exp.Cast) or not node.is_type(*exp.DataType.TEXT_TYPES):
        return node
    if place.write.name in _CUTTING:
        return node
    length = node.to.expressions[0].this if node.to.expressions else None
    if length is None:
        return node
    if node.is_type(exp.DType.CHAR, exp.DType.NCHAR):
        place.remark(f"CHAR(n) is filled with blanks in {place.read.title}, and here it is not")
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


def nth_place(node: exp.Expr, place: Place) -> exp.Expr:
    """`INSTR(x, y, 1, 3)`, where y begins for the third time: each time after the one before."""
    if isinstance(node, exp.StrPosition) and isinstance(node.args.get("position"), exp.Neg):
        raise UnsupportedError(_FROM_THE_END)
    number = node.args.get("occurrence") if isinstance(node, exp.StrPosition) else None
    if number is None or not place.write.has_functions_of_spark:
        return node
    text, part = node.this, node.args["substr"]
    first = plain_call("LOCATE", part, text, node.args.get("position") or exp.Literal.number(1))
    others = exp.Sub(this=number.copy(), expression=exp.Literal.number(1))
    both = plain_call("ARRAY_REPEAT", struct({"text": text, "part": part}), others)
    at, none = exp.to_identifier("at"), exp.Literal.number(0)
    after = exp.Add(this=at.copy(), expression=exp.Literal.number(1))
    later = plain_call("LOCATE", field("both", "part"), field("both", "text"), after)
    found = exp.If(this=exp.EQ(this=at, expression=none), true=none.copy(), false=later)
    return plain_call("REDUCE", both, first, function(found, "at", "both"))


def initial_capitals(node: exp.Expr, place: Place) -> exp.Expr:
    """`INITCAP(x)`, whose words end at blanks alone in Spark, and at other signs elsewhere."""
    if not isinstance(node, exp.Initcap) or not place.write.is_spark:
        return node
    if place.read.has_functions_of_spark:
        return plain_call("INITCAP", node.this)
    first = plain_call("UPPER", plain_call("LEFT", exp.to_identifier("word"), _number(1)))
    rest = plain_call("SUBSTR", exp.to_identifier("word"), _number(2))
    words = plain_call(
        "REGEXP_EXTRACT_ALL",
        plain_call("LOWER", node.this),
        exp.Literal.string(_words(node, place.read)),
        _number(0),
    )
    capital = function(plain_call("CONCAT", first, rest), "word")
    return plain_call("ARRAY_JOIN", plain_call("TRANSFORM", words, capital), _NOTHING)


def _words(node: exp.Expr, read: Product) -> str:
    """The expression of a word, or of what stands between two."""
    if read.name not in ("snowflake", "bigquery"):
        return r"[\p{L}\p{N}]+|[^\p{L}\p{N}]+"
    given = node.args.get("expression")
    usual = SqlglotDialect.get_or_raise(read.sqlglot).INITCAP_DEFAULT_DELIMITER_CHARS
    if given is not None and not isinstance(given, exp.Literal):
        raise UnsupportedError("no INITCAP but with characters that are a literal")
    is_usual = given is None or given.name == usual
    ends = usual if is_usual else "".join(rf"\{one}" for one in given.name if not one.isalnum())
    if (not is_usual and any(map(str.isalnum, given.name))) or not ends:
        raise UnsupportedError("no INITCAP of words that end at letters, or that do not end")
    return f"[^{ends}]+|[{ends}]+"


def nothing_is_null(node: exp.Expr, place: Place) -> exp.Expr:
    """`SUBSTR(x, 9)` and the like in Oracle, NULL where the text that they give is empty."""
    is_inside = isinstance(node.parent, exp.DPipe | exp.Concat)
    if not isinstance(node, _MAY_BE_EMPTY) or is_inside or not place.write.is_spark:
        return node
    return exp.Nullif(this=node.copy(), expression=_NOTHING.copy())


def part_from_zero(node: exp.Expr, place: Place) -> exp.Expr:
    """`substr(x, 0)`, in Trino the empty text; Spark begins with the first character."""
    start = node.args.get("start") if isinstance(node, exp.Substring) else None
    is_safe = isinstance(start, exp.Literal | exp.Neg) and start.sql() != "0"
    if start is None or is_safe or not place.write.is_spark:
        return node
    is_zero = exp.EQ(this=start.copy(), expression=_number(0))
    return exp.If(this=is_zero, true=plain_call("LEFT", node.this, _number(0)), false=node.copy())


def length_without_blanks(node: exp.Expr, _: Place) -> exp.Expr:
    """`LEN(x)` of Azure, which does not count blanks at the end."""
    return exp.Length(this=plain_call("RTRIM", node.this)) if isinstance(node, exp.Length) else node


def _number(number: int) -> exp.Expr:
    return exp.Literal.number(number)
