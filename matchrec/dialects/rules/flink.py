"""Rules of Flink SQL.

Flink SQL differs from Spark SQL in these functions and types:

    MATCH_ROWTIME()      is the time of the last row: LAST(ts) in a clause with ORDER BY ts
    LISTAGG(x)           joins with commas
    FIRST_VALUE(x)       skips NULLs, and so does LAST_VALUE
    TIMESTAMP_LTZ(3)     has a size, which Spark's type has not
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.dialects.rules import aggregates, casts, numbers, texts, times
from matchrec.dialects.rules.collected_arrays import CollectedValues, build_array_without_nulls
from matchrec.dialects.rules.context import DIFFERS, RewriteRule, RuleContext, mark_node
from matchrec.dialects.rules.function_calls import (
    call_function,
    call_pattern_function,
    find_unknown_function,
)

# Types that have a size in Flink, and none in Spark.
_TYPES_WITHOUT_SIZE = (exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPLTZ, exp.DType.VARBINARY)


def rewrite_match_rowtime(node: exp.Anonymous, context: RuleContext) -> exp.Expr:
    """Rewrite `MATCH_ROWTIME()` to `LAST(ts)`, in which ts is the first key of ORDER BY.

    `MATCH_ROWTIME(other_ts)` names the column of the time, and becomes `LAST(other_ts)`.

    Raises:
        UnsupportedError: neither the call nor ORDER BY names a column.
    """
    if find_unknown_function(node) != "MATCH_ROWTIME":
        return node
    if node.expressions:
        return call_pattern_function("LAST", node.expressions[0].copy())
    if context.first_sort_key is None:
        raise UnsupportedError("no MATCH_ROWTIME without ORDER BY")
    return call_pattern_function("LAST", exp.column(context.first_sort_key))


def drop_type_size(node: exp.DataType, _: RuleContext) -> exp.Expr:
    """Rewrite `TIMESTAMP_LTZ(3)` to `TIMESTAMP_LTZ`, and `VARBINARY(3)` to `VARBINARY`.

    The type is marked as different, because sqlglot would let Spark have a size, too.
    """
    if node.expressions and node.this in _TYPES_WITHOUT_SIZE:
        return mark_node(exp.DataType(this=node.this), DIFFERS)
    return node


def add_comma_separator(node: exp.GroupConcat, _: RuleContext) -> exp.Expr:
    """Rewrite `LISTAGG(x)` to `LISTAGG(x, ',')`.

    The call is marked as different, because Spark has `LISTAGG(x)`, too, but joins without commas.
    """
    if not node.args.get("separator"):
        node.set("separator", exp.Literal.string(","))
        mark_node(node, DIFFERS)
    return node


def ignore_nulls_in_first_and_last(
    node: exp.FirstValue | exp.LastValue, context: RuleContext
) -> exp.Expr:
    """Rewrite `FIRST_VALUE(x)` and `LAST_VALUE(x)` so that they skip NULLs.

        FIRST_VALUE(x) OVER w            FIRST_VALUE(x) IGNORE NULLS OVER w
        MEASURES LAST_VALUE(x) AS y      MEASURES TRY_ELEMENT_AT(ARRAY_AGG(x), -1) AS y

    ARRAY_AGG drops NULLs. It is used in MEASURES because Sail allows IGNORE NULLS only with OVER. A
    call with IGNORE NULLS or RESPECT NULLS stays.
    """
    if isinstance(node.parent, exp.IgnoreNulls | exp.RespectNulls):
        return node
    if not context.is_measure:
        return exp.IgnoreNulls(this=node.copy())
    non_null_values = build_array_without_nulls(CollectedValues(node.this))
    index = exp.Literal.number(1 if isinstance(node, exp.FirstValue) else -1)
    return call_function("TRY_ELEMENT_AT", non_null_values, index)


# The rules for expressions in SQL of this product, in the order in which they are applied.
READ_RULES: tuple[RewriteRule, ...] = (
    casts.restore_cast,
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
