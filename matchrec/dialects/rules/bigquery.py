"""Rules of BigQuery.

BigQuery differs from Spark SQL in these expressions:

    @name                            a parameter: :name
    x IN UNNEST(array)               ARRAY_CONTAINS(array, x)
    FIRST(x + MATCH_ROW_NUMBER())    an element of an array, see `rewrite_numbers_in_first_and_last`
"""

from __future__ import annotations

from sqlglot import exp

from matchrec.dialects.rules import aggregates, numbers, row_patterns, texts, times
from matchrec.dialects.rules.collected_arrays import (
    VALUE_FIELD,
    CollectedValues,
    build_array_of_structs,
)
from matchrec.dialects.rules.context import RewriteRule, RuleContext
from matchrec.dialects.rules.function_calls import call_function, find_pattern_function
from matchrec.syntax.function_names import LOGICAL


def rewrite_parameter(node: exp.Parameter, _: RuleContext) -> exp.Expr:
    """Rewrite `@name` to `:name`."""
    return exp.Placeholder(this=node.name)


def rewrite_in_unnest(node: exp.In, context: RuleContext) -> exp.Expr:
    """Rewrite `x IN UNNEST(array)`, which sqlglot would turn into a subquery."""
    unnest = node.args.get("unnest")
    if unnest is None or not context.write.is_spark:
        return node
    return call_function("ARRAY_CONTAINS", unnest.expressions[0], node.this)


def rewrite_numbers_in_first_and_last(node: exp.Anonymous, context: RuleContext) -> exp.Expr:
    """Rewrite `FIRST(x)` and `LAST(x)` in MEASURES if x reads the number of a row or match.

        FIRST(y + MATCH_ROW_NUMBER())
        TRY_ELEMENT_AT(ARRAY_AGG(STRUCT(y + MATCH_ROW_NUMBER() AS item)), 1).item

    In BigQuery, the number belongs to the row that FIRST finds. Navigation cannot read such numbers
    in Spark, but an aggregate can, and it computes them for each of its rows.
    """
    name = find_pattern_function(node)
    is_logical = name in LOGICAL and len(node.expressions) == 1
    if not is_logical or not context.is_measure:
        return node
    inner_calls = {find_pattern_function(call) for call in node.find_all(exp.Anonymous)}
    if inner_calls.isdisjoint({"MATCH_NUMBER", "ROW_NUMBER"}):
        return node
    structs = build_array_of_structs(CollectedValues(node.expressions[0]))
    index = exp.Literal.number(1 if name == "FIRST" else -1)
    struct = exp.Anonymous(this="TRY_ELEMENT_AT", expressions=[structs, index])
    return exp.Dot(this=struct, expression=exp.to_identifier(VALUE_FIELD))


# The rules for expressions in SQL of this product, in the order in which they are applied.
READ_RULES: tuple[RewriteRule, ...] = (
    row_patterns.quote_variable,
    rewrite_numbers_in_first_and_last,
    aggregates.rewrite_array_agg,
    aggregates.rewrite_string_agg,
    aggregates.distribute_over_and_filter,
    aggregates.rewrite_any_value,
    row_patterns.rewrite_navigation_default,
    row_patterns.rewrite_row_number,
    rewrite_parameter,
    rewrite_in_unnest,
    times.cast_nullif,
    numbers.rewrite_safe_divide,
    times.rewrite_time_addition,
    texts.note_text_cast,
    texts.reject_length_in_text_cast,
    times.rewrite_datediff,
)
