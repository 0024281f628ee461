"""Rules of Snowflake: navigation, sorted arrays, columns of VALUES, and formats of TO_CHAR.

The rows that LAG, LEAD, FIRST_VALUE and LAST_VALUE see depend on the part of the clause:

    MEASURES    the rows of the match
    DEFINE      the rows of the partition
"""

from __future__ import annotations

import re

from sqlglot import exp, parse_one
from sqlglot.dialects.snowflake import Snowflake
from sqlglot.errors import UnsupportedError
from sqlglot.time import format_time

from matchrec.dialects.products import SNOWFLAKE
from matchrec.dialects.rules import numbers, row_patterns, texts, times
from matchrec.dialects.rules.collected_arrays import CollectedValues, build_array_without_nulls
from matchrec.dialects.rules.context import RewriteRule, RuleContext
from matchrec.dialects.rules.function_calls import (
    call_function,
    call_pattern_function,
    find_pattern_function,
    has_semantics,
)
from matchrec.syntax.function_names import PHYSICAL, SEMANTICS

# The parts of a format of times that Spark writes as Snowflake does. sqlglot writes FF3 as
# `%f_three`, which is not `%f`.
_COMMON_FORMAT_PARTS = re.compile(r"%[YymBbdaHIMSfp](?!_)")

# What cannot be translated in a format from which these parts were removed: a letter belongs to
# another part, and the other characters have a meaning in formats of Spark or of Snowflake.
_UNSUPPORTED_IN_FORMAT = re.compile(r"""[A-Za-z%"'#\[\]{}]""")


def name_columns_of_values(node: exp.Values, context: RuleContext) -> exp.Expr:
    """Rewrite `FROM VALUES (1, 2)` to `FROM VALUES (1, 2) AS t(column1, column2)`.

    These are Snowflake's names of the columns. A relation that names its columns is not changed.
    """
    is_relation = isinstance(node.parent, exp.From | exp.Join)
    alias = node.args.get("alias")
    has_column_names = alias is not None and alias.columns
    if not is_relation or context.write is SNOWFLAKE or has_column_names:
        return node
    row = node.expressions[0]
    width = len(row.expressions) if isinstance(row, exp.Tuple) else 1
    identifiers = [exp.to_identifier(f"column{number}") for number in range(1, width + 1)]
    table = exp.to_identifier("t") if alias is None else alias.this.copy()
    values_with_alias = node.copy()
    values_with_alias.set("alias", exp.TableAlias(this=table, columns=identifiers))
    return values_with_alias


def rewrite_first_and_last(node: exp.Anonymous, context: RuleContext) -> exp.Expr:
    """Rewrite `FIRST_VALUE(x)` and `LAST_VALUE(x)`.

        in MEASURES    FIRST(x)
        in DEFINE      FIRST_VALUE(x) OVER (ROWS BETWEEN UNBOUNDED PRECEDING
                                            AND UNBOUNDED FOLLOWING)

    A call in DEFINE is over all rows of the partition. The OVER clause makes that explicit.
    """
    name = find_pattern_function(node)
    if name is None or name not in ("FIRST_VALUE", "LAST_VALUE"):
        return node
    if context.is_measure:
        return call_pattern_function(name.removesuffix("_VALUE"), *node.expressions)
    if not context.is_condition or isinstance(node.parent, exp.Window):
        return node
    window = parse_one("f() OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)")
    window.set("this", exp.Anonymous(this=name, expressions=node.expressions))
    return window


def keep_navigation_inside_match(node: exp.Anonymous, context: RuleContext) -> exp.Expr:
    """Rewrite `LAG` and `LEAD` in MEASURES, so that they find only rows of the match.

    Rules see them as PREV and NEXT, which find all rows of the partition:

        LAG(x, 2)           IF(COUNT(*) > 2, PREV(x, 2), NULL)
        LEAD(x, 2, 0)       IF(RUNNING COUNT(*) + 2 <= FINAL COUNT(*), NEXT(x, 2), 0)
        FINAL LAG(x, 2)     IF(FINAL COUNT(*) > 2, PREV(FINAL LAST(x), 2), NULL)
    """
    if not context.is_measure or has_semantics(node):
        return node  # a call after RUNNING or FINAL is rewritten with this word
    name = find_pattern_function(node)
    semantics = None
    call: exp.Expr = node
    if name in SEMANTICS:
        semantics = name
        call = node.expressions[0]
        name = find_pattern_function(call)
    if name is None or name not in PHYSICAL:
        return node
    value, *options = call.expressions
    offset = options[0] if options else exp.Literal.number(1)
    default = options[1] if len(options) > 1 else exp.null()
    row_exists = _build_row_in_match_test(name, offset, semantics)
    if semantics == "FINAL":
        value = call_pattern_function("FINAL", call_pattern_function("LAST", value))
    navigation = call_pattern_function(name, value, offset)
    return exp.If(this=row_exists, true=navigation, false=default)


def _build_row_in_match_test(name: str, offset: exp.Expr, semantics: str | None) -> exp.Expr:
    """Return the condition that the row to which PREV or NEXT goes is in the match.

    Args:
        name: PREV or NEXT.
        offset: the number of rows that it goes.
        semantics: RUNNING or FINAL, if one of them is written: whether it goes from the current row
            or from the last row of the match.
    """
    if name == "PREV":
        return exp.GT(this=_build_row_count(semantics), expression=offset.copy())
    row_number = exp.Add(this=_build_row_count(semantics or "RUNNING"), expression=offset.copy())
    return exp.LTE(this=row_number, expression=_build_row_count("FINAL"))


def _build_row_count(semantics: str | None) -> exp.Expr:
    """Return `COUNT(*)`, after RUNNING or FINAL if `semantics` is one of them."""
    count = exp.Count(this=exp.Star())
    return count if semantics is None else call_pattern_function(semantics, count)


def rewrite_bare_classifier(node: exp.Column, context: RuleContext) -> exp.Expr:
    """Rewrite `CLASSIFIER` without parentheses. Outside of clauses it may be a column."""
    is_bare_word = not node.table and not node.this.quoted
    is_classifier = is_bare_word and node.name.upper() == "CLASSIFIER"
    if is_classifier and context.clause is not None:
        return call_pattern_function("CLASSIFIER")
    return node


def rewrite_within_group(node: exp.WithinGroup, context: RuleContext) -> exp.Expr:
    """Rewrite `ARRAY_AGG(x) WITHIN GROUP (ORDER BY y)` for Spark.

    Snowflake's array has no NULLs, so Spark's array is filtered.

    Raises:
        UnsupportedError: the values are distinct, but sorted by something else.
    """
    array = node.this
    if not isinstance(array, exp.ArrayAgg) or not context.write.is_spark:
        return node
    keys = node.expression.expressions
    if not isinstance(array.this, exp.Distinct):
        return build_array_without_nulls(CollectedValues(array.this, tuple(keys)))
    value = array.this.expressions[0]
    key = keys[0]
    if len(keys) > 1 or key.this != value:
        raise UnsupportedError("an array of distinct values in another order than their own")
    ascends = exp.false() if key.args.get("desc") else exp.true()
    return call_function("SORT_ARRAY", exp.ArrayUniqueAgg(this=value.copy()), ascends)


def rewrite_to_char(node: exp.ToChar, _: RuleContext) -> exp.Expr:
    """Rewrite `TO_CHAR(t, 'YYYY-MM-DD')` to sqlglot's `TimeToStr(t, '%Y-%m-%d')`.

    A call without a format becomes a cast. One with a format of numbers stays as it is.

    Raises:
        UnsupportedError: Spark has no equivalent of a part of the format.
    """
    format_literal = node.args.get("format")
    if not format_literal:
        return exp.cast(node.this.copy(), "text")
    if not isinstance(format_literal, exp.Literal):
        return node
    snowflake_format = format_literal.name
    codes = format_time(snowflake_format, Snowflake.TIME_MAPPING) or ""
    if "%" not in codes:
        return node
    remaining_text = _COMMON_FORMAT_PARTS.sub("", codes)
    if _UNSUPPORTED_IN_FORMAT.search(remaining_text):
        raise UnsupportedError(
            f"the format {snowflake_format} of a time: write its parts one by one"
        )
    return exp.TimeToStr(this=node.this, format=exp.Literal.string(codes))


# The rules for expressions in SQL of this product, in the order in which they are applied.
READ_RULES: tuple[RewriteRule, ...] = (
    name_columns_of_values,
    rewrite_within_group,
    numbers.rewrite_to_number,
    rewrite_first_and_last,
    keep_navigation_inside_match,
    row_patterns.rewrite_navigation_default,
    row_patterns.rewrite_row_number,
    rewrite_bare_classifier,
    rewrite_to_char,
    texts.note_text_cast,
    texts.rewrite_limited_text_cast,
    times.cast_truncated_date,
    times.rewrite_time_addition,
    times.rewrite_date_difference,
    times.rewrite_datediff,
)
