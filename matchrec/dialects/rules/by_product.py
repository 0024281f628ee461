"""Rules for a single product, and the list of rules for each product."""

from __future__ import annotations

import re

from sqlglot import exp, parse_one
from sqlglot.dialects.snowflake import Snowflake
from sqlglot.errors import UnsupportedError
from sqlglot.time import format_time

from matchrec.dialects.products import Product
from matchrec.dialects.rules import aggregates, oracle, values
from matchrec.dialects.rules.aggregates import Collection, collect_values_without_nulls
from matchrec.dialects.rules.context import (
    DIFFERS,
    RewriteRule,
    RuleContext,
    ValueKind,
    call_function,
    call_pattern_function,
    find_function_name,
    find_pattern_function,
    has_semantics,
    mark_node,
)
from matchrec.dialects.rules.qualify import rewrite_qualify
from matchrec.syntax.tokens import NAVIGATION, SEMANTICS

# Rules of Flink SQL.


def rewrite_match_rowtime(node: exp.Anonymous, context: RuleContext) -> exp.Expr:
    """Rewrite `MATCH_ROWTIME()` to the time of the last row, by which the clause orders.

    Raises:
        UnsupportedError: the clause has no ORDER BY.
    """
    if find_function_name(node) != "MATCH_ROWTIME":
        return node
    if node.expressions:
        return call_pattern_function("LAST", node.expressions[0].copy())
    if context.order is None:
        raise UnsupportedError("no MATCH_ROWTIME without ORDER BY")
    return call_pattern_function("LAST", exp.column(context.order))


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
    non_null_values = collect_values_without_nulls(Collection(node.this))
    index = exp.Literal.number(1 if isinstance(node, exp.FirstValue) else -1)
    return call_function("TRY_ELEMENT_AT", non_null_values, index)


_FLINK: tuple[RewriteRule, ...] = (
    rewrite_failing_cast,
    drop_type_size,
    add_comma_separator,
    aggregates.rewrite_array_agg,
    aggregates.distribute_over_and_filter,
    ignore_nulls_in_first_and_last,
    values.cut_text_cast,
    rewrite_match_rowtime,
    values.cast_truncated_date,
    values.rewrite_time_addition,
    values.remark_average_of_integers,
    values.rewrite_elapsed_time,
)


# Rules of Azure Stream Analytics.


def collect_classifiers(node: exp.Anonymous, context: RuleContext) -> exp.Expr:
    """Rewrite `CLASSIFIER()` in MEASURES to an array: there it names the variables of all rows."""
    if not context.is_measure or find_pattern_function(node) != "CLASSIFIER":
        return node
    if node.find_ancestor(exp.ArrayAgg):  # rewritten already
        return node
    return exp.ArrayAgg(this=node.copy())


def rewrite_system_timestamp(node: exp.Dot | exp.Column, context: RuleContext) -> exp.Expr:
    """Rewrite `System.Timestamp()` to the column that TIMESTAMP BY names.

    Raises:
        UnsupportedError: it is outside of a clause.
    """
    if node.sql().upper().rstrip("()") != "SYSTEM.TIMESTAMP":
        return node
    if context.order is None:
        raise UnsupportedError("no System.Timestamp outside of a clause: name it in MEASURES")
    return exp.column(context.order)


def rewrite_text_addition(node: exp.Add, context: RuleContext) -> exp.Expr:
    """Rewrite `a + 'text'` to `a || 'text'`."""
    if any(context.find_kind(side) is ValueKind.TEXT for side in (node.this, node.expression)):
        return exp.DPipe(this=node.this.copy(), expression=node.expression.copy())
    return node


def drop_into(node: exp.Select, context: RuleContext) -> exp.Expr:
    """Drop INTO of `SELECT * INTO output`: the caller decides where the rows go."""
    if node.args.get("into"):
        context.remark("INTO is dropped, because the query returns its rows", is_compensated=True)
        node.set("into", None)
    return node


_AZURE: tuple[RewriteRule, ...] = (
    aggregates.quote_variable,
    rewrite_system_timestamp,
    collect_classifiers,
    drop_into,
    rewrite_text_addition,
    values.rewrite_time_addition,
    values.rewrite_datediff,
)


# Rules of BigQuery.


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
    """Rewrite `FIRST(x + MATCH_ROW_NUMBER())`: the number belongs to the row that FIRST finds.

    An array of the values of all rows is made, and its first element is taken. LAST is alike.
    """
    name = find_pattern_function(node)
    is_logical = name in ("FIRST", "LAST") and len(node.expressions) == 1
    if not is_logical or not context.is_measure:
        return node
    calls = {find_pattern_function(call) for call in node.find_all(exp.Anonymous)}
    if calls.isdisjoint({"MATCH_NUMBER", "ROW_NUMBER"}):
        return node
    rows = Collection(node.expressions[0]).rows
    index = exp.Literal.number(1 if name == "FIRST" else -1)
    row = exp.Anonymous(this="TRY_ELEMENT_AT", expressions=[rows, index])
    return exp.Dot(this=row, expression=exp.to_identifier("item"))


_BIGQUERY: tuple[RewriteRule, ...] = (
    aggregates.quote_variable,
    rewrite_numbers_in_first_and_last,
    aggregates.rewrite_array_agg,
    aggregates.rewrite_string_agg,
    aggregates.distribute_over_and_filter,
    aggregates.rewrite_any_value,
    aggregates.rewrite_navigation_default,
    aggregates.rewrite_row_number,
    rewrite_parameter,
    rewrite_in_unnest,
    values.rewrite_safe_divide,
    values.rewrite_time_addition,
    values.remark_text_cast,
    values.rewrite_datediff,
)


# Rules of Snowflake, where the rows that a function sees depend on the part of the clause:
#
#     MEASURES    LAG, LEAD, FIRST_VALUE and LAST_VALUE see the rows of the match
#     DEFINE      they see the rows of the partition

# The parts of a format of times that Spark writes as Snowflake does.
_COMMON_FORMAT_PARTS = re.compile(r"%[YymBbdaHIMSfp](?!_)")


def name_columns_of_values(node: exp.Values, context: RuleContext) -> exp.Expr:
    """Name the columns of `FROM VALUES (1, 2)` column1 and column2, unless they have names."""
    is_relation = isinstance(node.parent, exp.From | exp.Join)
    alias = node.args.get("alias")
    has_column_names = alias is not None and alias.columns
    if not is_relation or context.write.name == "snowflake" or has_column_names:
        return node
    row = node.expressions[0]
    width = len(row.expressions) if isinstance(row, exp.Tuple) else 1
    names = [exp.to_identifier(f"column{number}") for number in range(1, width + 1)]
    table = exp.to_identifier("t") if alias is None else alias.this.copy()
    named = node.copy()
    named.set("alias", exp.TableAlias(this=table, columns=names))
    return named


def rewrite_first_and_last(node: exp.Anonymous, context: RuleContext) -> exp.Expr:
    """Rewrite `FIRST_VALUE(x)` and `LAST_VALUE(x)`.

    In MEASURES they become `FIRST(x)` and `LAST(x)`. In DEFINE they are over all rows of the
    partition, which OVER says.
    """
    name = find_pattern_function(node) or ""
    if name not in ("FIRST_VALUE", "LAST_VALUE"):
        return node
    if context.is_measure:
        return call_pattern_function(name.removesuffix("_VALUE"), *node.expressions)
    if not context.is_condition or isinstance(node.parent, exp.Window):
        return node
    window = parse_one("f() OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)")
    window.set("this", exp.Anonymous(this=name, expressions=node.expressions))
    return window


def keep_navigation_inside_match(node: exp.Anonymous, context: RuleContext) -> exp.Expr:
    """Rewrite `LAG` and `LEAD` of MEASURES, which rules know as PREV and NEXT.

    There they only find rows of the match, whereas PREV and NEXT find rows of the partition:

        LAG(x, 2)    CASE WHEN COUNT(*) > 2 THEN PREV(x, 2) END
        LEAD(x, 2)   CASE WHEN RUNNING COUNT(*) + 2 <= FINAL COUNT(*) THEN NEXT(x, 2) END
    """
    if not context.is_measure:
        return node
    semantics = ""
    call = node
    if find_pattern_function(node) in SEMANTICS:
        semantics = str(find_pattern_function(node))
        call = node.expressions[0]
    elif has_semantics(node):
        return node  # rewritten with its RUNNING or FINAL
    name = find_pattern_function(call)
    if name not in ("PREV", "NEXT"):
        return node
    value, offset, default = (*call.expressions, None, None)[:3]
    offset = offset or exp.Literal.number(1)
    if name == "PREV":
        exists: exp.Expr = exp.GT(this=_count_rows(semantics), expression=offset.copy())
    else:
        position = exp.Add(this=_count_rows(semantics or "RUNNING"), expression=offset.copy())
        exists = exp.LTE(this=position, expression=_count_rows("FINAL"))
    if semantics == "FINAL":
        value = call_pattern_function("FINAL", call_pattern_function("LAST", value))
    navigation = call_pattern_function(name, value, offset)
    return exp.If(this=exists, true=navigation, false=default or exp.null())


def _count_rows(semantics: str) -> exp.Expr:
    """Return `COUNT(*)`, after RUNNING or FINAL if `semantics` is one of them."""
    count = exp.Count(this=exp.Star())
    return call_pattern_function(semantics, count) if semantics else count


def rewrite_bare_classifier(node: exp.Column, context: RuleContext) -> exp.Expr:
    """Rewrite `CLASSIFIER` without parentheses. Outside of clauses it may be a column."""
    is_bare_word = not node.table and not node.this.quoted
    is_classifier = is_bare_word and node.name.upper() == "CLASSIFIER"
    if is_classifier and context.clause is not None:
        return call_pattern_function("CLASSIFIER")
    return node


def rewrite_within_group(node: exp.WithinGroup, context: RuleContext) -> exp.Expr:
    """Rewrite `ARRAY_AGG(x) WITHIN GROUP (ORDER BY y)` for Spark. It drops NULLs.

    Raises:
        UnsupportedError: the values are distinct, but sorted by something else.
    """
    array = node.this
    if not isinstance(array, exp.ArrayAgg) or not context.write.is_spark:
        return node
    keys = node.expression.expressions
    if not isinstance(array.this, exp.Distinct):
        return collect_values_without_nulls(Collection(array.this, tuple(keys)))
    value = array.this.expressions[0]
    key = keys[0]
    if len(keys) > 1 or key.this != value:
        raise UnsupportedError("an array of distinct values in another order than their own")
    ascends = exp.false() if key.args.get("desc") else exp.true()
    return call_function("SORT_ARRAY", exp.ArrayUniqueAgg(this=value.copy()), ascends)


def rewrite_to_char(node: exp.ToChar, _: RuleContext) -> exp.Expr:
    """Rewrite `TO_CHAR(time, 'YYYY-MM-DD')`. Without a format it is a cast.

    A format of numbers stays.

    Raises:
        UnsupportedError: Spark has nothing for a part of the format.
    """
    pattern = node.args.get("format")
    if not pattern:
        return exp.cast(node.this.copy(), "text")
    if not isinstance(pattern, exp.Literal):
        return node
    marks = format_time(pattern.name, Snowflake.TIME_MAPPING) or ""
    if "%" not in marks:
        return node
    unknown_parts = _COMMON_FORMAT_PARTS.sub("", marks)
    if re.search(r"[A-Za-z%]", unknown_parts):
        raise UnsupportedError(f"the format {pattern.name} of a time: write its parts one by one")
    return exp.TimeToStr(this=node.this, format=exp.Literal.string(marks))


_SNOWFLAKE: tuple[RewriteRule, ...] = (
    name_columns_of_values,
    rewrite_within_group,
    values.rewrite_to_number,
    rewrite_first_and_last,
    keep_navigation_inside_match,
    aggregates.rewrite_navigation_default,
    aggregates.rewrite_row_number,
    rewrite_bare_classifier,
    rewrite_to_char,
    values.remark_text_cast,
    values.cast_truncated_date,
    values.rewrite_time_addition,
    values.rewrite_date_difference,
    values.rewrite_datediff,
)


# Rules of Trino.

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


def remark_first_of_later_rows(node: exp.Anonymous, context: RuleContext) -> exp.Expr:
    """Remark on `FIRST(A.x)`, for which Trino also finds rows after the current one."""
    is_running = node.parent is None or find_pattern_function(node.parent) != "FINAL"
    is_first = find_pattern_function(node) == "FIRST"
    if not is_first or not context.is_measure_of_rows or not is_running:
        return node
    names_variable = any(column.table for column in node.find_all(exp.Column))
    if names_variable or len(node.expressions) > 1:
        context.remark("FIRST also reads rows after the current one in Trino")
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


_TRINO: tuple[RewriteRule, ...] = (
    aggregates.rewrite_count,
    values.remark_text_cast,
    move_navigation_inward,
    aggregates.rewrite_array_agg,
    aggregates.distribute_over_and_filter,
    aggregates.distribute_semantics,
    values.rewrite_time_addition,
    values.cast_truncated_date,
    values.cut_text_cast,
    rewrite_first,
    values.rewrite_elapsed_time,
    values.remark_average_of_decimals,
    values.round_decimal_quotient,
)


# The rules of each product, in the order in which they are applied.

# The rules for expressions in the SQL of a product, whichever product is written.
READS: dict[str, tuple[RewriteRule, ...]] = {
    "spark": (rewrite_failing_cast,),
    "databricks": (aggregates.add_final,),
    "snowflake": _SNOWFLAKE,
    "oracle": oracle.READS,
    "trino": _TRINO,
    "flink": _FLINK,
    "bigquery": _BIGQUERY,
    "azure": _AZURE,
}

# The rules for expressions of any product, applied after `READS`.
COMMON: tuple[RewriteRule, ...] = (
    values.drop_fraction_of_second,
    values.rewrite_division,
    values.rewrite_greatest_and_least,
    values.rewrite_recursion,
    values.rewrite_split,
    values.rewrite_decode,
    aggregates.reject_ordered_array,
)

# The rules for expressions that are written for a product, after all others.
WRITES: dict[str, tuple[RewriteRule, ...]] = {
    "snowflake": (aggregates.rename_prev_and_next, aggregates.remark_array_nulls),
    "oracle": (aggregates.rewrite_first_and_last_value, aggregates.reject_distinct_and_filter),
    "trino": (
        values.remark_average_of_decimals,
        aggregates.rewrite_first_and_last_value,
        aggregates.remark_array_nulls,
        remark_first_of_later_rows,
        aggregates.reject_distinct_and_filter,
    ),
    "bigquery": (aggregates.rewrite_first_and_last_value, aggregates.remark_array_nulls),
    "flink": (aggregates.remark_array_nulls,),
    "databricks": (aggregates.remove_final,),
    "spark": (rewrite_qualify,),
}


def find_rules(read: Product, write: Product) -> tuple[RewriteRule, ...]:
    """Return the rules between two products, in the order in which they are applied."""
    return (
        values.round_or_cut_cast,
        *READS.get(read.name, ()),
        *COMMON,
        *WRITES.get(write.name, ()),
    )
