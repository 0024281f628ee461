"""Rules for what only expressions of a clause have: navigation, row numbers, pattern variables.

`aggregates` has the rules for aggregates over the rows of a match.
"""

from __future__ import annotations

from sqlglot import exp

from matchrec.dialects.rules.context import RuleContext
from matchrec.dialects.rules.function_calls import call_pattern_function, find_pattern_function

# The functions to which products without PREV and NEXT give other names.
_OFFSET_FUNCTIONS = {"PREV": "LAG", "NEXT": "LEAD"}


def rewrite_navigation_default(node: exp.Anonymous, _: RuleContext) -> exp.Expr:
    """Rewrite the default of `PREV(x, n, default)` and NEXT, which Spark does not have.

        PREV(x, 2, 0)   IF(PREV((x) IS NULL, 2) IS NULL, 0, PREV(x, 2))

    The default is for a missing row, and not for a row whose x is NULL. `(x) IS NULL` is true or
    false on every row, so its PREV is NULL only if the row is missing.
    """
    name = find_pattern_function(node)
    if name not in _OFFSET_FUNCTIONS or len(node.expressions) < 3:
        return node
    value, offset, default = node.expressions
    is_null = exp.Is(this=exp.paren(value.copy()), expression=exp.null())
    navigated = call_pattern_function(name, is_null, offset.copy())
    is_missing = exp.Is(this=navigated, expression=exp.null())
    return exp.If(this=is_missing, true=default, false=call_pattern_function(name, value, offset))


def rename_prev_and_next(node: exp.Anonymous, context: RuleContext) -> exp.Expr:
    """Rename `PREV` and `NEXT` to `LAG` and `LEAD`.

    In MEASURES, a note says that these read only rows of the match.
    """
    name = _OFFSET_FUNCTIONS.get(find_pattern_function(node) or "")
    if name is None:
        return node
    if context.is_measure:
        context.add_note(
            f"{name} in MEASURES reads only rows of the match in {context.write.title}"
        )
    return call_pattern_function(name, *node.expressions)


def rewrite_first_and_last_value(
    node: exp.FirstValue | exp.LastValue, context: RuleContext
) -> exp.Expr:
    """Rewrite `FIRST_VALUE(x)` and `LAST_VALUE(x)` of a clause to `FIRST(x)` and `LAST(x)`.

    In a row pattern window they stay.
    """
    if context.clause is None or context.clause.frame is not None:
        return node
    name = "FIRST" if isinstance(node, exp.FirstValue) else "LAST"
    return call_pattern_function(name, node.this.copy())


def rewrite_row_number(node: exp.Anonymous, _: RuleContext) -> exp.Expr:
    """Rewrite the number of the current row in its match, which counts from 1.

    Inside of an aggregate it becomes `MATCH_ROW_NUMBER()`, because aggregates cannot be nested, and
    elsewhere `RUNNING COUNT(*)`. Products spell the function differently, such as
    `MATCH_SEQUENCE_NUMBER()`. Rules know it as ROW_NUMBER.
    """
    if find_pattern_function(node) != "ROW_NUMBER":
        return node
    if node.find_ancestor(exp.AggFunc):
        return call_pattern_function("MATCH_ROW_NUMBER")
    return call_pattern_function("RUNNING", exp.Count(this=exp.Star()))


def quote_variable(node: exp.Identifier, context: RuleContext) -> exp.Expr:
    """Quote a pattern variable that loses its case without quotes.

        a.price          "a".price
        CLASSIFIER(a)    CLASSIFIER("a")

    `context.quoted_variables` has these variables.
    """
    column = node.parent
    if not isinstance(column, exp.Column):
        return node
    qualifies_column = node.arg_key == "table"
    call = column.parent or column
    is_argument = node.arg_key == "this" and find_pattern_function(call) == "CLASSIFIER"
    text = context.quoted_variables.get(node.name.upper())
    if text and (qualifies_column or is_argument):
        return exp.to_identifier(text, quoted=True)
    return node
