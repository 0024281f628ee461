"""Rules of Oracle: its names, DUAL, joined texts, and operators on bits.

The rules for its times are in `oracle_times`, those for TO_CHAR and its formats in
`oracle_formats`. `READ_RULES` lists the rules of all three modules.
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.dialects.rules.aggregates import distribute_over_and_filter
from matchrec.dialects.rules.context import RewriteRule, RuleContext
from matchrec.dialects.rules.function_calls import call_function
from matchrec.dialects.rules.oracle_formats import (
    note_fraction,
    rewrite_timestamp_literal,
    rewrite_to_char_with_format,
    rewrite_to_char_without_format,
)
from matchrec.dialects.rules.oracle_times import (
    rewrite_compared_durations,
    rewrite_shift,
    rewrite_time_difference,
    rewrite_trunc,
)
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
    operands = node.expressions if isinstance(node, exp.Concat) else node.flatten()
    operands = [
        exp.ToChar(this=operand.copy())
        if context.request_kind(operand) in TIMES
        else operand.copy()
        for operand in operands
    ]
    for operand in operands:
        note_fraction(operand, context)
    if context.write.is_spark:  # whose CONCAT_WS skips NULL
        text: exp.Expr = call_function("CONCAT_WS", exp.Literal.string(""), *operands)
    else:
        texts = [
            operand
            if isinstance(operand, exp.Literal) and operand.is_string
            else exp.cast(operand, "text")
            for operand in operands
        ]
        text = exp.Concat(expressions=texts, coalesce=True)
    is_never_empty = any(isinstance(operand, exp.Literal) and operand.name for operand in operands)
    if is_never_empty:
        return text
    return exp.Nullif(this=text, expression=exp.Literal.string(""))


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
