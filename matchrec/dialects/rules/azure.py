"""Rules of Azure Stream Analytics.

Azure differs from Spark SQL in these expressions:

    CLASSIFIER()              an array in MEASURES: the variables of all rows of the match
    System.Timestamp()        the column that TIMESTAMP BY names
    a + 'text'                a || 'text'
    SELECT * INTO output      without INTO
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.dialects.rules import row_patterns, times
from matchrec.dialects.rules.context import RewriteRule, RuleContext
from matchrec.dialects.rules.function_calls import find_pattern_function
from matchrec.dialects.rules.value_kinds import ValueKind


def collect_classifiers(node: exp.Anonymous, context: RuleContext) -> exp.Expr:
    """Rewrite `CLASSIFIER()` in MEASURES to `ARRAY_AGG(CLASSIFIER())`.

    Azure's CLASSIFIER returns the variables of all rows of the match there.
    """
    if not context.is_measure or find_pattern_function(node) != "CLASSIFIER":
        return node
    if node.find_ancestor(exp.ArrayAgg):  # rewritten already
        return node
    return exp.ArrayAgg(this=node.copy())


def rewrite_system_timestamp(node: exp.Dot | exp.Column, context: RuleContext) -> exp.Expr:
    """Rewrite `System.Timestamp()` to the column that TIMESTAMP BY names.

    That is the first key of ORDER BY: `spellings_azure` has written it there.

    Raises:
        UnsupportedError: it is outside of a clause.
    """
    if node.sql().upper().rstrip("()") != "SYSTEM.TIMESTAMP":
        return node
    if context.first_sort_key is None:
        raise UnsupportedError("no System.Timestamp outside of a clause: name it in MEASURES")
    return exp.column(context.first_sort_key)


def rewrite_text_addition(node: exp.Add, context: RuleContext) -> exp.Expr:
    """Rewrite `a + 'text'` to `a || 'text'`."""
    if any(context.request_kind(side) is ValueKind.TEXT for side in (node.this, node.expression)):
        return exp.DPipe(this=node.this.copy(), expression=node.expression.copy())
    return node


def drop_into(node: exp.Select, context: RuleContext) -> exp.Expr:
    """Drop INTO of `SELECT * INTO output`: the caller decides where the rows go."""
    if node.args.get("into"):
        context.add_note("INTO is dropped, because the query returns its rows", is_compensated=True)
        node.set("into", None)
    return node


# The rules for expressions in SQL of this product, in the order in which they are applied.
READ_RULES: tuple[RewriteRule, ...] = (
    row_patterns.quote_variable,
    rewrite_system_timestamp,
    collect_classifiers,
    drop_into,
    rewrite_text_addition,
    times.rewrite_time_addition,
    times.rewrite_datediff,
)
