"""Rules of Flink SQL."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.dialects.rules import aggregates, numbers, texts, times
from matchrec.dialects.rules.collected_arrays import CollectedValues, build_array_without_nulls
from matchrec.dialects.rules.context import DIFFERS, RewriteRule, RuleContext, mark_node
from matchrec.dialects.rules.function_calls import (
    call_function,
    call_pattern_function,
    find_unknown_function,
)


def rewrite_match_rowtime(node: exp.Anonymous, context: RuleContext) -> exp.Expr:
    """Rewrite `MATCH_ROWTIME()` to the time of the last row, by which the clause orders.

    Raises:
        UnsupportedError: the clause has no ORDER BY.
    """
    if find_unknown_function(node) != "MATCH_ROWTIME":
        return node
    if node.expressions:
        return call_pattern_function("LAST", node.expressions[0].copy())
    if context.first_sort_key is None:
        raise UnsupportedError("no MATCH_ROWTIME without ORDER BY")
    return call_pattern_function("LAST", exp.column(context.first_sort_key))


def rewrite_failing_cast(node: exp.TryCast, _: RuleContext) -> exp.Expr:
    """Rewrite `CAST(x AS t)` so that it fails if x cannot be converted.

    sqlglot reads it as Hive's CAST, which returns NULL. TRY_CAST stays.
    """
    return node if node.args.get("safe") else exp.cast(node.this.copy(), node.to.copy())


def drop_type_size(node: exp.DataType, _: RuleContext) -> exp.Expr:
    """Drop the sizes of `TIMESTAMP_LTZ(3)` and `VARBINARY(3)`, which Spark's types do not have."""
    types_without_size = (exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPLTZ, exp.DType.VARBINARY)
    if node.expressions and node.this in types_without_size:
        return mark_node(exp.DataType(this=node.this), DIFFERS)
    return node


def add_comma_separator(node: exp.GroupConcat, _: RuleContext) -> exp.Expr:
    """Add the default separator of `LISTAGG(x)`, a comma."""
    if not node.args.get("separator"):
        node.set("separator", exp.Literal.string(","))
        mark_node(node, DIFFERS)
    return node


def ignore_nulls_in_first_and_last(
    node: exp.FirstValue | exp.LastValue, context: RuleContext
) -> exp.Expr:
    """Rewrite `FIRST_VALUE(x)` and `LAST_VALUE(x)` so that they skip NULLs."""
    if isinstance(node.parent, exp.IgnoreNulls | exp.RespectNulls):
        return node
    if not context.is_measure:
        return exp.IgnoreNulls(this=node.copy())
    # An array instead of IGNORE NULLS, which Sail allows only with OVER.
    non_null_values = build_array_without_nulls(CollectedValues(node.this))
    index = exp.Literal.number(1 if isinstance(node, exp.FirstValue) else -1)
    return call_function("TRY_ELEMENT_AT", non_null_values, index)


# The rules for expressions in its SQL, in the order in which they are applied.
READS: tuple[RewriteRule, ...] = (
    rewrite_failing_cast,
    drop_type_size,
    add_comma_separator,
    aggregates.rewrite_array_agg,
    aggregates.distribute_over_and_filter,
    ignore_nulls_in_first_and_last,
    texts.cut_text_cast,
    rewrite_match_rowtime,
    times.cast_truncated_date,
    times.rewrite_time_addition,
    numbers.note_average_of_integers,
    times.rewrite_elapsed_time,
)
