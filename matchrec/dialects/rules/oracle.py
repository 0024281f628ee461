"""Rules of Oracle: its names, DUAL, joined texts, and operators on bits.

`READ_RULES` lists these rules, and those of the other modules for Oracle:

    oracle_times      literals, differences, and shifts by a number of days
    oracle_trunc      TRUNC of a number or of a time
    oracle_to_char    TO_CHAR, whose formats `oracle_formats` converts
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.dialects.rules.aggregates import distribute_over_and_filter
from matchrec.dialects.rules.context import RewriteRule, RuleContext
from matchrec.dialects.rules.function_calls import call_function
from matchrec.dialects.rules.oracle_times import (
    rewrite_compared_durations,
    rewrite_shift,
    rewrite_time_difference,
    rewrite_timestamp_literal,
)
from matchrec.dialects.rules.oracle_to_char import (
    note_number_format,
    rewrite_to_char_with_format,
    rewrite_to_char_without_format,
)
from matchrec.dialects.rules.oracle_trunc import rewrite_trunc
from matchrec.dialects.rules.texts import cut_text_cast
from matchrec.dialects.rules.value_kinds import TIMES


def drop_dual(node: exp.Select, _: RuleContext) -> exp.Expr:
    """Rewrite `SELECT 1 FROM dual` to a SELECT without FROM."""
    from_ = node.args.get("from_")
    if from_ and from_.this.sql().upper() == "DUAL" and not node.args.get("joins"):
        node.set("from_", None)
    return node


def quote_unusual_name(node: exp.Identifier, _: RuleContext) -> exp.Expr:
    """Quote names like `page#`, which Spark does not read without quotes."""
    if "#" in node.name:
        node.set("quoted", True)
    return node


def rewrite_concatenation(node: exp.Concat | exp.DPipe, context: RuleContext) -> exp.Expr:
    """Rewrite `a || b` and `CONCAT(a, b)`.

        a || b         NULLIF(CONCAT_WS('', a, b), '')
        a || '-'       CONCAT_WS('', a, '-')
        d || '-'       CONCAT_WS('', TO_CHAR(d), '-') of a time, whose TO_CHAR a later rule rewrites

    In Oracle, an operand that is NULL counts as the empty string, and an empty result is NULL.
    """
    if isinstance(node.parent, exp.DPipe):
        return node  # rewritten with the outermost `||`
    written_operands = node.expressions if isinstance(node, exp.Concat) else node.flatten()
    operands = [_write_time_as_text(operand, context) for operand in written_operands]
    for operand in operands:
        note_number_format(operand, context)
    text: exp.Expr
    if context.write.is_spark:  # whose CONCAT_WS skips NULL
        text = call_function("CONCAT_WS", exp.Literal.string(""), *operands)
    else:
        texts = [_cast_to_text(operand) for operand in operands]
        text = exp.Concat(expressions=texts, coalesce=True)
    is_never_empty = any(isinstance(operand, exp.Literal) and operand.name for operand in operands)
    if is_never_empty:
        return text
    return exp.Nullif(this=text, expression=exp.Literal.string(""))


def _write_time_as_text(operand: exp.Expr, context: RuleContext) -> exp.Expr:
    """Return a copy of an operand of `||`, in TO_CHAR if it is a time."""
    is_time = context.request_kind(operand) in TIMES
    return exp.ToChar(this=operand.copy()) if is_time else operand.copy()


def _cast_to_text(operand: exp.Expr) -> exp.Expr:
    """Return an operand of `||` in a cast to text, which a string does not need."""
    is_string = isinstance(operand, exp.Literal) and operand.is_string
    return operand if is_string else exp.cast(operand, "text")


# What to write in Oracle instead of each operator on bits, except for `&`.
_HINTS_FOR_BITWISE_OPERATORS: dict[type[exp.Expr], str] = {
    exp.BitwiseOr: "write x + y - BITAND(x, y) for x | y",
    exp.BitwiseXor: "write x + y - 2 * BITAND(x, y) for x ^ y",
    exp.BitwiseNot: "write -1 - x for ~x",
    exp.BitwiseLeftShift: "write x * POWER(2, n) for a shift by n bits to the left",
    exp.BitwiseRightShift: "write FLOOR(x / POWER(2, n)) for a shift by n bits to the right",
}


def write_bitwise_operator(
    node: exp.BitwiseAnd
    | exp.BitwiseOr
    | exp.BitwiseXor
    | exp.BitwiseNot
    | exp.BitwiseLeftShift
    | exp.BitwiseRightShift,
    _: RuleContext,
) -> exp.Expr:
    """Rewrite `a & b` to `BITAND(a, b)`. Oracle has no operators on bits.

    Raises:
        UnsupportedError: it is another operator on bits.
    """
    if isinstance(node, exp.BitwiseAnd):
        return call_function("BITAND", node.this.unnest(), node.expression.unnest())
    raise UnsupportedError(
        f"Oracle has no operators on bits: {_HINTS_FOR_BITWISE_OPERATORS[type(node)]}"
    )


# The rules for expressions in SQL of Oracle, in the order in which they are applied.
READ_RULES: tuple[RewriteRule, ...] = (
    distribute_over_and_filter,
    drop_dual,
    quote_unusual_name,
    rewrite_concatenation,
    rewrite_timestamp_literal,
    rewrite_to_char_with_format,
    cut_text_cast,
    rewrite_compared_durations,
    rewrite_time_difference,
    rewrite_shift,
    rewrite_trunc,
    rewrite_to_char_without_format,
)
