"""Rules for expressions on strings that mean something else in Spark, or cannot run on Sail.

CAST(x AS VARCHAR(3))   cuts longer strings; Spark's CAST does not
SPLIT(x, '.')           splits at each dot; in Spark the dot is a regular expression
CAST(x AS VARCHAR)      has other digits for some types: a note says so
"""

from __future__ import annotations

import re

from sqlglot import exp

from matchrec.dialects.rules.context import RuleContext
from matchrec.dialects.rules.value_kinds import TIMESTAMPS, ValueKind

# Products that are written as they are read, because their CAST to VARCHAR(n) cuts longer strings.
_CUTTING_PRODUCTS = frozenset({"oracle", "trino"})


def cut_text_cast(node: exp.Cast, context: RuleContext) -> exp.Expr:
    """Rewrite `CAST(x AS VARCHAR(3))` to `LEFT(CAST(x AS STRING), 3)`.

    CHAR without a length is CHAR(1).
    """
    if context.write.name in _CUTTING_PRODUCTS or not node.is_type(*exp.DataType.TEXT_TYPES):
        return node
    is_char = node.is_type(exp.DType.CHAR, exp.DType.NCHAR)
    length = exp.Literal.number(1) if is_char else None
    if node.to.expressions:
        length = node.to.expressions[0].this.copy()
    if length is None:
        return node
    if is_char:
        context.add_note(f"CHAR(n) is padded with spaces in {context.read.title}, and not here")
    return exp.Anonymous(this="LEFT", expressions=[exp.cast(node.this, "text"), length])


def rewrite_split(node: exp.Split, context: RuleContext) -> exp.Expr:
    """Rewrite `SPLIT(x, '.')`, whose second argument is a regular expression in Spark.

    sqlglot puts it between `\\Q` and `\\E`, which Sail does not support. This rule escapes its
    characters instead.
    """
    is_literal = isinstance(node.expression, exp.Literal)
    if not is_literal or not context.write.is_spark or not node.expression.name:
        return node
    escaped = re.sub(r"[][.{}()*+?$|^\\]", r"\\\g<0>", node.expression.name)
    return exp.RegexpSplit(this=node.this.copy(), expression=exp.Literal.string(escaped))


# The note on casts to text, by product.
_TEXT_CASTS = {
    "snowflake": "Snowflake casts a timestamp to a string with three digits after the second",
    "bigquery": "BigQuery casts a timestamp to a string with +00 at the end",
    "trino": "Trino casts a double to a string such as 1.0E0, and keeps all digits of a timestamp",
}


def note_text_cast(node: exp.Cast, context: RuleContext) -> exp.Expr:
    """Add a note on `CAST(x AS VARCHAR)` of a timestamp, or of a double in Trino.

    The text differs from Spark's.
    """
    is_to_text = node.is_type(*exp.DataType.TEXT_TYPES)
    if not is_to_text or node.args.get("format") or context.read.name == context.write.name:
        return node
    kinds = set(TIMESTAMPS)
    if context.read.name == "trino":
        kinds.add(ValueKind.FRACTION)
    if context.request_kind(node.this) in kinds:
        context.add_note(_TEXT_CASTS[context.read.name])
    return node
