"""Rules for what only expressions of a clause have: navigation, row numbers, pattern variables.

`aggregates` has the rules for aggregates over the rows of a match.
"""

from __future__ import annotations

from sqlglot import exp

from matchrec.dialects.reserved_names import choose_quoted_name
from matchrec.dialects.rules.context import RuleContext
from matchrec.dialects.rules.function_calls import call_pattern_function, find_pattern_function
from matchrec.plan.words import CURRENT_VALUES
from matchrec.syntax.function_names import PHYSICAL

# The names of PREV and NEXT in products that call them otherwise.
_NAMES_OF_PREV_AND_NEXT = {"PREV": "LAG", "NEXT": "LEAD"}


def rewrite_navigation_default(node: exp.Anonymous, _: RuleContext) -> exp.Expr:
    """Rewrite `PREV(x, n, default)` and `NEXT(x, n, default)`. Spark's have no default.

        PREV(x, 2, 0)   IF(PREV((x) IS NULL, 2) IS NULL, 0, PREV(x, 2))

    The default is for a missing row, and not for a row whose x is NULL. `(x) IS NULL` is true or
    false on every row, so its PREV is NULL only if the row is missing.
    """
    name = find_pattern_function(node)
    if name not in PHYSICAL or len(node.expressions) < 3:
        return node
    value, offset, default = node.expressions
    value_is_null = exp.Is(this=exp.paren(value.copy()), expression=exp.null())
    value_is_null_there = call_pattern_function(name, value_is_null, offset.copy())
    row_is_missing = exp.Is(this=value_is_null_there, expression=exp.null())
    navigation = call_pattern_function(name, value, offset)
    return exp.If(this=row_is_missing, true=default, false=navigation)


def rename_prev_and_next(node: exp.Anonymous, context: RuleContext) -> exp.Expr:
    """Rename `PREV` and `NEXT` to `LAG` and `LEAD`.

    In MEASURES, a note says that these read only rows of the match.
    """
    name = _NAMES_OF_PREV_AND_NEXT.get(find_pattern_function(node) or "")
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
    """Rewrite the number of the current row in its match, from 1, which rules know as ROW_NUMBER.

        MATCH_SEQUENCE_NUMBER()         RUNNING COUNT(*)                 Snowflake
        MAX(MATCH_ROW_NUMBER() * x)     MAX(MATCH_ROW_NUMBER() * x)      BigQuery

    In an aggregate, the call is kept by its name in matchrec, because aggregates cannot be nested.
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
    text = context.quoted_variables.get(node.name.upper())
    if text and _is_variable(node):
        return exp.to_identifier(text, quoted=True)
    return node


def quote_reserved_name(node: exp.Identifier, context: RuleContext) -> exp.Expr:
    """Quote a name that the product that is written reads only in quotes: see `reserved_names`.

    A quoted name is in the case in which the product reads the word without quotes:

        date        "DATE"        Oracle
        `date`      "DATE"        Oracle
    """
    is_exact_variable = node.name.upper() in context.quoted_variables and _is_variable(node)
    if is_exact_variable or _may_be_current_value(node):
        return node
    name = choose_quoted_name(
        node.name, is_quoted=bool(node.quoted), read=context.read, write=context.write
    )
    return node if name is None else exp.to_identifier(name, quoted=True)


def _may_be_current_value(identifier: exp.Identifier) -> bool:
    """Return whether a name may be a value of the session, as USER is if no column has the name."""
    column = identifier.parent
    is_alone = isinstance(column, exp.Column) and not column.table and not identifier.quoted
    return is_alone and identifier.name.upper() in CURRENT_VALUES


def _is_variable(identifier: exp.Identifier) -> bool:
    """Return whether a name is a pattern variable: A in `A.price` and in `CLASSIFIER(A)`."""
    column = identifier.parent
    if not isinstance(column, exp.Column):
        return False
    if identifier.arg_key == "table":
        return True
    # sqlglot takes the A of `CLASSIFIER(A)` for a column.
    call = column.parent
    is_column_name = identifier.arg_key == "this"
    return is_column_name and call is not None and find_pattern_function(call) == "CLASSIFIER"
