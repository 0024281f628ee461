"""Rules of Trino.

In Trino, navigation finds other rows than in the standard, and an expression in it is computed also
if there is no row:

    FIRST(x, 1)              the second row of the match, even on the first row, where RUNNING FIRST
                             finds none elsewhere: so it becomes FINAL FIRST(x, 1)
    PREV(coalesce(x, 7))     7 if there is no row before: so it becomes coalesce(PREV(x), 7)
"""

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


def add_final_to_first(node: exp.Anonymous, context: RuleContext) -> exp.Expr:
    """Rewrite `FIRST(x, n)` and `RUNNING FIRST(x, n)` to `FINAL FIRST(x, n)`.

    In Trino, both also find rows after the current one.
    """
    if not context.is_measure_of_rows or has_semantics(node):
        return node
    is_running = find_pattern_function(node) == "RUNNING"
    call = node.expressions[0] if is_running else node
    if find_pattern_function(call) == "FIRST":
        return call_pattern_function("FINAL", call.copy())
    return node


def note_first_of_later_rows(node: exp.Anonymous, context: RuleContext) -> exp.Expr:
    """Add a note on `FIRST(A.x)` and `FIRST(x, n)` that are written for Trino without FINAL.

    Trino also finds rows after the current one. For `FIRST(x)` this makes no difference, because
    the first row of the match is never after the current one.
    """
    is_running = node.parent is None or find_pattern_function(node.parent) != "FINAL"
    is_first = find_pattern_function(node) == "FIRST"
    if not is_first or not context.is_measure_of_rows or not is_running:
        return node
    names_variable = any(column.table for column in node.find_all(exp.Column))
    has_offset = len(node.expressions) > 1
    if names_variable or has_offset:
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
    add_final_to_first,
    times.rewrite_elapsed_time,
    numbers.note_average_of_decimals,
    numbers.round_decimal_quotient,
)
