"""Rules of Trino.

In Trino, navigation finds other rows than in the standard. An expression inside navigation is
computed even if navigation finds no row:

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
from matchrec.syntax.function_names import NAVIGATION, SEMANTICS

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
    is_final = node.parent is not None and find_pattern_function(node.parent) == "FINAL"
    is_first = find_pattern_function(node) == "FIRST"
    if not is_first or is_final or not context.is_measure_of_rows:
        return node
    names_variable = any(column.table for column in node.find_all(exp.Column))
    has_offset = len(node.expressions) > 1
    if names_variable or has_offset:
        context.add_note("FIRST also reads rows after the current one in Trino")
    return node


def move_navigation_inward(node: exp.Anonymous, _: RuleContext) -> exp.Expr:
    """Move navigation around an expression to the columns and calls of CLASSIFIER in it.

        PREV(coalesce(x, 7))             coalesce(PREV(x), 7)
        FINAL LAST(coalesce(x, 7), 2)    coalesce(FINAL LAST(x, 2), 7)
        PREV(LAST(coalesce(x, 7)), 2)    coalesce(PREV(LAST(x), 2), 7)

    If there is no row to go to, the columns are NULL in Trino, and the expression is computed from
    these NULLs. Elsewhere the whole expression is NULL. Navigation stays if the expression is NULL
    in both cases, because its columns are.
    """
    if node.parent is not None and _is_navigation_or_semantics(node.parent):
        return node  # moved with the function around it
    calls: list[exp.Expr] = []  # from the outermost to the innermost
    value: exp.Expr = node
    while _is_navigation_or_semantics(value):
        calls.append(value)
        value = value.expressions[0]
    if not any(find_pattern_function(call) in NAVIGATION for call in calls):
        return node
    inner_calls = value.find_all(exp.Anonymous)
    has_inner_navigation = any(find_pattern_function(call) in NAVIGATION for call in inner_calls)
    if has_inner_navigation or not value.find(*_NOT_NULL_FOR_NULL):
        return node
    rewritten = value.copy()
    values_of_row = _list_values_of_row(rewritten)
    for value_of_row in values_of_row:
        value_of_row.replace(_repeat_calls(calls, value_of_row))
    return rewritten if values_of_row else node


def _is_navigation_or_semantics(node: exp.Expr) -> bool:
    """Return whether a node is a call of PREV, NEXT, FIRST or LAST, or has RUNNING or FINAL."""
    name = find_pattern_function(node)
    return (name in NAVIGATION or name in SEMANTICS) and bool(node.expressions)


def _list_values_of_row(expression: exp.Expr) -> list[exp.Expr]:
    """Return the parts of an expression that depend on the row: columns and calls of CLASSIFIER.

    In `CLASSIFIER(A)`, sqlglot takes the variable for a column. This column is left out.
    """
    values_of_row: list[exp.Expr] = []
    for node in expression.find_all(exp.Column, exp.Anonymous):
        is_classifier = find_pattern_function(node) == "CLASSIFIER"
        is_variable = node.parent is not None and find_pattern_function(node.parent) == "CLASSIFIER"
        if is_classifier or (isinstance(node, exp.Column) and not is_variable):
            values_of_row.append(node)
    return values_of_row


def _repeat_calls(calls: list[exp.Expr], operand: exp.Expr) -> exp.Expr:
    """Return the same calls around another operand, with the offsets that they have.

    Args:
        calls: the calls, from the outermost to the innermost.
        operand: the operand of the innermost one, which is copied.
    """
    result = operand.copy()
    for call in reversed(calls):
        name = find_pattern_function(call)
        assert name is not None
        offsets = [offset.copy() for offset in call.expressions[1:]]
        result = call_pattern_function(name, result, *offsets)
    return result


# The rules for expressions in SQL of this product, in the order in which they are applied.
READ_RULES: tuple[RewriteRule, ...] = (
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
