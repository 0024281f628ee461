"""Rules for functions that return one of their arguments.

NULL is what the products disagree on, and Sail lacks the long form of DECODE:

    GREATEST(x, NULL)          NULL, except in Spark and Databricks
    DECODE(x, 1, 'a', 'b')     CASE WHEN x <=> 1 THEN 'a' ELSE 'b' END
"""

from __future__ import annotations

from sqlglot import exp

from matchrec.dialects.rules.context import RuleContext


def rewrite_greatest_and_least(node: exp.Greatest | exp.Least, context: RuleContext) -> exp.Expr:
    """Rewrite `GREATEST(a, b)` and `LEAST(a, b)` so that one NULL makes the result NULL.

    Spark and Databricks ignore NULLs, and so does Snowflake's GREATEST_IGNORE_NULLS.
    """
    read = context.read
    write = context.write
    says_ignore = read.name == "snowflake" and bool(node.args.get("ignore_nulls"))
    ignores_nulls = says_ignore or read.has_functions_of_spark
    node.set("ignore_nulls", ignores_nulls)
    operands = (node.this, *node.expressions)
    maybe_null = [operand for operand in operands if not isinstance(operand, exp.Literal)]
    is_alike = ignores_nulls is write.has_functions_of_spark
    if not maybe_null or is_alike or write.name == "snowflake":
        return node
    if ignores_nulls:
        context.add_note(f"{node.key.upper()} of values and a NULL is NULL in {write.title}")
        return node
    are_not_null = [
        exp.Not(this=exp.Is(this=operand.copy(), expression=exp.null())) for operand in maybe_null
    ]
    return exp.Case(ifs=[exp.If(this=exp.and_(*are_not_null), true=node.copy())])


def rewrite_decode(node: exp.DecodeCase, context: RuleContext) -> exp.Expr:
    """Rewrite `DECODE(x, a, b, ..., c)` to CASE, in which NULL is equal to NULL.

    Spark has this DECODE, but Sail's takes only two arguments.
    """
    if not context.write.is_spark:
        return node
    value, *others = node.expressions
    default = others.pop() if len(others) % 2 else None
    branches = [
        exp.If(this=exp.NullSafeEQ(this=value.copy(), expression=key), true=result)
        for key, result in zip(others[::2], others[1::2], strict=True)
    ]
    return exp.Case(ifs=branches, default=default)
