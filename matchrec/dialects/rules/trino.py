"""Rules of Trino."""

from __future__ import annotations

from sqlglot import exp

from matchrec.dialects.rules import aggregates, numbers, texts, times
from matchrec.dialects.rules.context import RewriteRule, RuleContext
from matchrec.dialects.rules.function_calls import (
    call_pattern_function,
    find_pattern_function,
    has_semantics,
)
from matchrec.syntax.function_names import NAVIGATION

# Expressions that may have a value though their operand is NULL.
_NOT_NULL_FOR_NULL = (exp.Coalesce, exp.Is, exp.Case, exp.If, exp.NullSafeEQ, exp.NullSafeNEQ)


def rewrite_first(node: exp.Anonymous, context: RuleContext) -> exp.Expr:
    """Add FINAL to `FIRST(x, n)`: it finds rows after the current one even if it is RUNNING."""
    if not context.is_measure_of_rows or has_semantics(node):
        return node
    if find_pattern_function(node) == "FIRST":
        return call_pattern_function("FINAL", node.copy())
    if find_pattern_function(node) == "RUNNING":
        operand = node.expressions[0]
        if find_pattern_function(operand) == "FIRST":
            return call_pattern_function("FINAL", operand.copy())
    return node


def note_first_of_later_rows(node: exp.Anonymous, context: RuleContext) -> exp.Expr:
    """Add a note on `FIRST(A.x)`, for which Trino also finds rows after the current one."""
    is_running = node.parent is None or find_pattern_function(node.parent) != "FINAL"
    is_first = find_pattern_function(node) == "FIRST"
    if not is_first or not context.is_measure_of_rows or not is_running:
        return node
    names_variable = any(column.table for column in node.find_all(exp.Column))
    if names_variable or len(node.expressions) > 1:
        context.add_note("FIRST also reads rows after the current one in Trino")
    return node


def move_navigation_inward(node: exp.Anonymous, _: RuleContext) -> exp.Expr:
    """Rewrite `PREV(coalesce(x, 7))` to `coalesce(PREV(x), 7)`, which is 7 if there is no row."""
    name = find_pattern_function(node)
    if name not in NAVIGATION or not node.expressions:
        return node
    value = node.expressions[0]
    calls = [find_pattern_function(call) for call in value.find_all(exp.Anonymous)]
    if any(call in NAVIGATION for call in calls) or not value.find(*_NOT_NULL_FOR_NULL):
        return node
    rewritten = value.copy()
    for column in list(rewritten.find_all(exp.Column)):
        offsets = node.copy().expressions[1:]
        column.replace(call_pattern_function(name or "", column.copy(), *offsets))
    return rewritten if rewritten.find(exp.Anonymous) else node


# The rules for expressions in its SQL, in the order in which they are applied.
READS: tuple[RewriteRule, ...] = (
    aggregates.rewrite_count,
    texts.note_text_cast,
    move_navigation_inward,
    aggregates.rewrite_array_agg,
    aggregates.distribute_over_and_filter,
    aggregates.distribute_semantics,
    times.rewrite_time_addition,
    times.cast_truncated_date,
    texts.cut_text_cast,
    rewrite_first,
    times.rewrite_elapsed_time,
    numbers.note_average_of_decimals,
    numbers.round_decimal_quotient,
)
