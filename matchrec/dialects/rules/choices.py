"""Rules for functions that return one of their arguments.

Products treat NULL differently, and Sail lacks a DECODE with keys and results:

    GREATEST(x, NULL)          NULL, except in Spark and Databricks
    DECODE(x, 1, 'a', 'b')     CASE WHEN x <=> 1 THEN 'a' ELSE 'b' END
"""

from __future__ import annotations

from sqlglot import exp

from matchrec.dialects.products import SNOWFLAKE
from matchrec.dialects.rules.context import RuleContext


def rewrite_greatest_and_least(node: exp.Greatest | exp.Least, context: RuleContext) -> exp.Expr:
    """Rewrite `GREATEST(a, b)` and `LEAST(a, b)` if the two products treat a NULL differently.

    Spark and Databricks ignore NULLs, and so does Snowflake's GREATEST_IGNORE_NULLS. Elsewhere, one
    NULL makes the result NULL:

        Trino to Spark       CASE WHEN NOT a IS NULL AND NOT b IS NULL THEN GREATEST(a, b) END
        Spark to Trino       GREATEST(a, b) with a note
        Spark to Snowflake   GREATEST_IGNORE_NULLS(a, b)
    """
    read = context.read
    write = context.write
    is_call_ignoring_nulls = read is SNOWFLAKE and bool(node.args.get("ignore_nulls"))
    ignores_nulls = is_call_ignoring_nulls or read.has_spark_functions
    # For Snowflake, sqlglot writes GREATEST or GREATEST_IGNORE_NULLS by this argument.
    node.set("ignore_nulls", ignores_nulls)
    operands = (node.this, *node.expressions)
    nullable_operands = [operand for operand in operands if not isinstance(operand, exp.Literal)]
    can_be_written_alike = write is SNOWFLAKE or ignores_nulls is write.has_spark_functions
    if can_be_written_alike or not nullable_operands:
        return node
    if ignores_nulls:
        context.add_note(f"{node.key.upper()} of values and a NULL is NULL in {write.title}")
        return node
    are_not_null = [
        exp.Not(this=exp.Is(this=operand.copy(), expression=exp.null()))
        for operand in nullable_operands
    ]
    return exp.Case(ifs=[exp.If(this=exp.and_(*are_not_null), true=node.copy())])


def rewrite_decode(node: exp.DecodeCase, context: RuleContext) -> exp.Expr:
    """Rewrite `DECODE(x, key, result, ..., default)` to CASE, in which NULL is equal to NULL.

        DECODE(x, 1, 'a', NULL, 'b', 'c')
        CASE WHEN x <=> 1 THEN 'a' WHEN x <=> NULL THEN 'b' ELSE 'c' END

    Spark has this DECODE, but Sail's takes only two arguments.
    """
    if not context.write.is_spark:
        return node
    value, *keys_and_results = node.expressions
    has_default = len(keys_and_results) % 2 == 1
    default = keys_and_results.pop() if has_default else None
    branches = [
        exp.If(this=exp.NullSafeEQ(this=value.copy(), expression=key), true=result)
        for key, result in zip(keys_and_results[::2], keys_and_results[1::2], strict=True)
    ]
    return exp.Case(ifs=branches, default=default)
