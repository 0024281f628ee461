"""Rules for expressions on strings that mean something else in Spark, or cannot run on Sail.

CAST(x AS VARCHAR(3))   in most products, cuts longer strings, which Spark's CAST does not:
                        LEFT(..., 3)
                        in Snowflake, raises an error for longer strings: a note says so
                        in BigQuery, is not allowed
CAST(x AS CHAR(3))      also pads shorter strings: a note says that the result does not
CAST(x AS VARCHAR)      writes some types with other digits: a note says so
SPLIT(x, '.')           splits at each dot; in Spark, the dot is a regular expression
"""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.dialects.products import SNOWFLAKE, TRINO
from matchrec.dialects.rules.context import RuleContext
from matchrec.dialects.rules.function_calls import call_function
from matchrec.dialects.rules.value_kinds import TIMESTAMPS, ValueKind

# Products whose own CAST to VARCHAR(n) cuts longer strings, so that it stays when it is written.
_CUTTING_PRODUCTS = frozenset({"oracle", "trino"})

# Characters that have a meaning in a regular expression.
_SPECIAL_CHARACTER = re.compile(r"[][.{}()*+?$|^\\]")


def cut_text_cast(node: exp.Cast, context: RuleContext) -> exp.Expr:
    """Rewrite `CAST(x AS VARCHAR(3))` to `LEFT(CAST(x AS STRING), 3)`.

    It is for products that cut longer strings. All of them pad CHAR(n) with spaces.
    """
    if context.write.name in _CUTTING_PRODUCTS or not node.is_type(*exp.DataType.TEXT_TYPES):
        return node
    length = _find_length(node.to)
    if length is None:
        return node
    if _is_char(node.to):
        context.add_note(f"CHAR(n) is padded with spaces in {context.read.title}, and not here")
    return call_function("LEFT", exp.cast(node.this, "text"), length)


def rewrite_limited_text_cast(node: exp.Cast, context: RuleContext) -> exp.Expr:
    """Rewrite Snowflake's casts to VARCHAR(n), which fail for longer strings.

        CAST(x AS VARCHAR(3))       CAST(x AS STRING), with a note that it raises no error
        TRY_CAST(x AS VARCHAR(3))   CASE WHEN LENGTH(x) <= 3 THEN x END

    TRY_CAST accepts only strings in Snowflake, so x needs no cast. CHAR(n) is VARCHAR(n) there, so
    it is not padded.
    """
    is_to_text = node.is_type(*exp.DataType.TEXT_TYPES)
    length = _find_length(node.to) if is_to_text else None
    if length is None or context.write is SNOWFLAKE:
        return node
    if isinstance(node, exp.TryCast):
        fits = exp.LTE(this=exp.Length(this=node.this.copy()), expression=length.copy())
        return exp.Case(ifs=[exp.If(this=fits, true=node.this.copy())])
    context.add_note(
        f"CAST to VARCHAR(n) raises an error for a longer string in {context.read.title}, and not "
        "here"
    )
    if context.write.name in _CUTTING_PRODUCTS:  # a string without a length is a CLOB in Oracle
        return exp.cast(node.this.copy(), f"varchar({length.name})")
    return exp.cast(node.this.copy(), "text")


def reject_length_in_text_cast(node: exp.Cast, _: RuleContext) -> exp.Expr:
    """Reject BigQuery's `CAST(x AS STRING(3))`, which BigQuery itself rejects.

    Raises:
        UnsupportedError: the type is a string with a length.
    """
    if node.is_type(*exp.DataType.TEXT_TYPES) and node.to.expressions:
        raise UnsupportedError("BigQuery allows no length in CAST: write LEFT(x, 3)")
    return node


def _find_length(text_type: exp.DataType) -> exp.Expr | None:
    """Return the length of a type of strings; None if it has no limit. CHAR is CHAR(1)."""
    if text_type.expressions:
        length: exp.Expr = text_type.expressions[0].this
        return length
    return exp.Literal.number(1) if _is_char(text_type) else None


def _is_char(text_type: exp.DataType) -> bool:
    """Return whether a type of strings has a fixed length."""
    return text_type.this in (exp.DType.CHAR, exp.DType.NCHAR)


def rewrite_split(node: exp.Split, context: RuleContext) -> exp.Expr:
    """Rewrite `SPLIT(x, '.')`, whose second argument is a regular expression in Spark, to `'\\.'`.

    sqlglot would put it between `\\Q` and `\\E`, which Sail does not support.
    """
    separator = node.expression
    if not context.write.is_spark or not isinstance(separator, exp.Literal) or not separator.name:
        return node
    escaped = _SPECIAL_CHARACTER.sub(r"\\\g<0>", separator.name)
    return exp.RegexpSplit(this=node.this.copy(), expression=exp.Literal.string(escaped))


# For each product that is read: how its casts to strings differ from Spark's.
_TEXT_CAST_NOTES = {
    "snowflake": "Snowflake casts a timestamp to a string with three digits after the second",
    "bigquery": "BigQuery casts a timestamp to a string with +00 at the end",
    "trino": "Trino casts a double to a string such as 1.0E0, and keeps all digits of a timestamp",
}


def note_text_cast(node: exp.Cast, context: RuleContext) -> exp.Expr:
    """Add a note on `CAST(x AS VARCHAR)` of a timestamp, or of a double in Trino.

    The string differs from Spark's, unless the cast has a FORMAT. The rule is for the products of
    `_TEXT_CAST_NOTES`.
    """
    is_to_text = node.is_type(*exp.DataType.TEXT_TYPES)
    if not is_to_text or node.args.get("format") or context.read is context.write:
        return node
    differing_kinds = set(TIMESTAMPS)
    if context.read is TRINO:
        differing_kinds.add(ValueKind.FRACTION)
    if context.request_kind(node.this) in differing_kinds:
        context.add_note(_TEXT_CAST_NOTES[context.read.name])
    return node
