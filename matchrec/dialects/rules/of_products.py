"""Rules of single products, and which rules each product has, in their order."""

from __future__ import annotations

import re

from sqlglot import exp, parse_one
from sqlglot.dialects.snowflake import Snowflake
from sqlglot.errors import UnsupportedError
from sqlglot.time import format_time

from matchrec.dialects.products import Product
from matchrec.dialects.rules import aggregates, oracle, values
from matchrec.dialects.rules.aggregates import Collection, collect_known_values
from matchrec.dialects.rules.place import (
    DIFFERS,
    Domain,
    Rule,
    RuleContext,
    call_function,
    call_pattern_function,
    find_function_name,
    find_pattern_function,
    has_semantics,
    mark_node,
)
from matchrec.dialects.rules.qualify import rewrite_qualify
from matchrec.syntax.tokens import NAVIGATION, SEMANTICS

# What is rewritten of the expressions of a product; further ones stand below their rules.
READS: dict[str, tuple[Rule, ...]] = {"oracle": oracle.READS}

# Rules of Flink SQL.


def rewrite_match_rowtime(node: exp.Anonymous, context: RuleContext) -> exp.Expr:
    """`MATCH_ROWTIME()` is the time of the last row, by which the clause orders."""
    if find_function_name(node) != "MATCH_ROWTIME":
        return node
    if node.expressions:
        return call_pattern_function("LAST", node.expressions[0].copy())
    if context.order is None:
        raise UnsupportedError("no MATCH_ROWTIME without ORDER BY")
    return call_pattern_function("LAST", exp.column(context.order))


def rewrite_failing_cast(node: exp.TryCast, _: RuleContext) -> exp.Expr:
    """`CAST(x AS t)`, which sqlglot reads as Hive's: NULL where x is no t."""
    return node if node.args.get("safe") else exp.cast(node.this.copy(), node.to.copy())


def drop_type_size(node: exp.DataType, _: RuleContext) -> exp.Expr:
    """`TIMESTAMP(3)` and `VARBINARY(3)`: Spark's have no size."""
    sized = (exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPLTZ, exp.DType.VARBINARY)
    is_sized = node.expressions and node.this in sized
    return mark_node(exp.DataType(this=node.this), DIFFERS) if is_sized else node


def add_comma_separator(node: exp.GroupConcat, _: RuleContext) -> exp.Expr:
    """`LISTAGG(x)`: what stands between texts is a comma if nothing is said."""
    if not node.args.get("separator"):
        node.set("separator", exp.Literal.string(","))
        mark_node(node, DIFFERS)
    return node


def ignore_nulls_in_first_and_last(
    node: exp.FirstValue | exp.LastValue, context: RuleContext
) -> exp.Expr:
    """`FIRST_VALUE(x)` and `LAST_VALUE(x)`, of the values that are not NULL."""
    if isinstance(node.parent, exp.IgnoreNulls | exp.RespectNulls):
        return node
    if not context.is_measure:
        return exp.IgnoreNulls(this=node.copy())
    known = collect_known_values(Collection(node.this))  # IGNORE NULLS needs OVER on Sail
    end = exp.Literal.number(1 if isinstance(node, exp.FirstValue) else -1)
    return call_function("TRY_ELEMENT_AT", known, end)


READS["flink"] = (
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
    """`CLASSIFIER()` is the array of the names of all rows."""
    if (
        not context.is_measure
        or find_pattern_function(node) != "CLASSIFIER"
        or node.find_ancestor(exp.ArrayAgg)
    ):
        return node
    return exp.ArrayAgg(this=node.copy())


def rewrite_system_timestamp(node: exp.Dot | exp.Column, context: RuleContext) -> exp.Expr:
    """`System.Timestamp()` is what TIMESTAMP BY names."""
    if node.sql().upper().rstrip("()") != "SYSTEM.TIMESTAMP":
        return node
    if context.order is None:
        raise UnsupportedError("no System.Timestamp outside of a clause: name it in MEASURES")
    return exp.column(context.order)


def rewrite_text_addition(node: exp.Add, context: RuleContext) -> exp.Expr:
    """`a + 'text'` is `a || 'text'`."""
    if Domain.TEXT in map(context.kind, (node.this, node.expression)):
        return exp.DPipe(this=node.this.copy(), expression=node.expression.copy())
    return node


def drop_into(node: exp.Select, context: RuleContext) -> exp.Expr:
    """`SELECT * INTO output`: where the rows go is for the caller to say."""
    if node.args.get("into"):
        context.remark("INTO is left out: the rows are what the query gives", is_met=True)
        node.set("into", None)
    return node


READS["azure"] = (
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
    """`@name` is `:name`."""
    return exp.Placeholder(this=node.name)


def rewrite_in_unnest(node: exp.In, context: RuleContext) -> exp.Expr:
    """`x IN UNNEST(array)`, of which sqlglot makes a subquery."""
    array = node.args.get("unnest")
    if array is None or not context.write.is_spark:
        return node
    return call_function("ARRAY_CONTAINS", array.expressions[0], node.this)


def rewrite_numbers_in_first_and_last(node: exp.Anonymous, context: RuleContext) -> exp.Expr:
    """`FIRST(x + MATCH_ROW_NUMBER())`: numbers are of the row that FIRST and LAST find."""
    name = find_pattern_function(node)
    is_found = name in ("FIRST", "LAST") and len(node.expressions) == 1
    if not is_found or not context.is_measure:
        return node
    calls = {find_pattern_function(call) for call in node.find_all(exp.Anonymous)}
    if not calls & {"MATCH_NUMBER", "ROW_NUMBER"}:
        return node
    rows = Collection(node.expressions[0]).rows
    number = exp.Literal.number(1 if name == "FIRST" else -1)
    found = exp.Anonymous(this="TRY_ELEMENT_AT", expressions=[rows, number])
    return exp.Dot(this=found, expression=exp.to_identifier("item"))


READS["bigquery"] = (
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


# Rules of Snowflake, where some functions mean something else in each part of a clause.
#
# MEASURES    LAG and LEAD see the rows of the match, FIRST_VALUE and LAST_VALUE too
# DEFINE      LAG, LEAD, FIRST_VALUE and LAST_VALUE see the rows of the partition

_ALIKE = re.compile(r"%[YymBbdaHIMSfp](?!_)")  # what Spark writes as Snowflake does


def name_columns_of_values(node: exp.Values, context: RuleContext) -> exp.Expr:
    """`FROM VALUES (1, 2)` has the columns column1 and column2, unless others are named."""
    in_from = isinstance(node.parent, exp.From | exp.Join)
    alias = node.args.get("alias")
    if not in_from or context.write.name == "snowflake" or (alias is not None and alias.columns):
        return node
    row = node.expressions[0]
    width = len(row.expressions) if isinstance(row, exp.Tuple) else 1
    names = [exp.to_identifier(f"column{number}") for number in range(1, width + 1)]
    table = exp.to_identifier("t") if alias is None else alias.this.copy()
    named = node.copy()
    named.set("alias", exp.TableAlias(this=table, columns=names))
    return named


def rewrite_first_and_last(node: exp.Anonymous, context: RuleContext) -> exp.Expr:
    """`FIRST_VALUE(x)` is `FIRST(x)`; in DEFINE it is of all rows of the partition. So is LAST."""
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
    """`LAG` and `LEAD`, or `PREV` and `NEXT`, of rows of the match only; else their default."""
    if not context.is_measure:
        return node
    semantics, call = "", node
    if find_pattern_function(node) in SEMANTICS:
        semantics, call = str(find_pattern_function(node)), node.expressions[0]
    elif has_semantics(node):
        return node
    name = find_pattern_function(call)
    if name not in ("PREV", "NEXT"):
        return node
    value, offset, default = (*call.expressions, None, None)[:3]
    offset = offset or exp.Literal.number(1)
    if name == "PREV":
        exists: exp.Expr = exp.GT(this=_rows(semantics), expression=offset.copy())
    else:
        last = exp.Add(this=_rows(semantics or "RUNNING"), expression=offset.copy())
        exists = exp.LTE(this=last, expression=_rows("FINAL"))
    value = (
        call_pattern_function("FINAL", call_pattern_function("LAST", value))
        if semantics == "FINAL"
        else value
    )
    return exp.If(
        this=exists, true=call_pattern_function(name, value, offset), false=default or exp.null()
    )


def _rows(semantics: str) -> exp.Expr:
    count = exp.Count(this=exp.Star())
    return call_pattern_function(semantics, count) if semantics else count


def rewrite_bare_classifier(node: exp.Column, context: RuleContext) -> exp.Expr:
    """`CLASSIFIER` without parentheses; around a clause it may be a column."""
    is_bare = not node.table and not node.this.quoted and node.name.upper() == "CLASSIFIER"
    return call_pattern_function("CLASSIFIER") if is_bare and context.clause is not None else node


def rewrite_within_group(node: exp.WithinGroup, context: RuleContext) -> exp.Expr:
    """`ARRAY_AGG(x) WITHIN GROUP (ORDER BY y)`, without NULLs."""
    array = node.this
    if not isinstance(array, exp.ArrayAgg) or not context.write.is_spark:
        return node
    keys = node.expression.expressions
    if not isinstance(array.this, exp.Distinct):
        return collect_known_values(Collection(array.this, tuple(keys)))
    value, key = array.this.expressions[0], keys[0]
    if len(keys) > 1 or key.this != value:
        raise UnsupportedError("an array of distinct values in another order than their own")
    ascends = exp.false() if key.args.get("desc") else exp.true()
    return call_function("SORT_ARRAY", exp.ArrayUniqueAgg(this=value.copy()), ascends)


def rewrite_to_char(node: exp.ToChar, _: RuleContext) -> exp.Expr:
    """`TO_CHAR(time, 'YYYY-MM-DD')`, where the format is one of times; a cast without one."""
    if not (pattern := node.args.get("format")):
        return exp.cast(node.this.copy(), "text")
    if not isinstance(pattern, exp.Literal):
        return node
    written = format_time(pattern.name, Snowflake.TIME_MAPPING) or ""
    if "%" not in written:
        return node
    if re.search(r"[A-Za-z%]", _ALIKE.sub("", written)):
        raise UnsupportedError(f"the format {pattern.name} of a time: write its parts one by one")
    return exp.TimeToStr(this=node.this, format=exp.Literal.string(written))


READS["snowflake"] = (
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

_NOT_NULL_FOR_NULL = (exp.Coalesce, exp.Is, exp.Case, exp.If, exp.NullSafeEQ, exp.NullSafeNEQ)


def rewrite_first(node: exp.Anonymous, context: RuleContext) -> exp.Expr:
    """`FIRST(x, n)` finds rows after the current one also with running semantics."""
    if not context.is_measure_of_rows or has_semantics(node):
        return node
    if find_pattern_function(node) == "FIRST":
        return call_pattern_function("FINAL", node.copy())
    if (
        find_pattern_function(node) == "RUNNING"
        and find_pattern_function(node.expressions[0]) == "FIRST"
    ):
        return call_pattern_function("FINAL", node.expressions[0].copy())
    return node


def remark_first_of_later_rows(node: exp.Anonymous, context: RuleContext) -> exp.Expr:
    """`FIRST(A.x)` of a row before all rows of A, which Trino finds."""
    is_running = node.parent is None or find_pattern_function(node.parent) != "FINAL"
    if find_pattern_function(node) != "FIRST" or not context.is_measure_of_rows or not is_running:
        return node
    names_variable = any(column.table for column in node.find_all(exp.Column))
    if names_variable or len(node.expressions) > 1:
        context.remark("FIRST finds rows after the row of the measure, too, in Trino")
    return node


def move_navigation_inward(node: exp.Anonymous, _: RuleContext) -> exp.Expr:
    """`PREV(coalesce(x, 7))` is 7 where there is no such row: it is `coalesce(PREV(x), 7)`."""
    if find_pattern_function(node) not in NAVIGATION or not node.expressions:
        return node
    value = node.expressions[0]
    is_nested = any(
        find_pattern_function(call) in NAVIGATION for call in value.find_all(exp.Anonymous)
    )
    if is_nested or not value.find(*_NOT_NULL_FOR_NULL):
        return node
    inside = value.copy()
    for column in list(inside.find_all(exp.Column)):
        column.replace(
            call_pattern_function(
                find_pattern_function(node) or "", column.copy(), *node.copy().expressions[1:]
            )
        )
    return inside if inside.find(exp.Anonymous) else node


READS["trino"] = (
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


READS["spark"] = (rewrite_failing_cast,)
READS["databricks"] = (aggregates.add_final,)

# What is rewritten of the expressions of any product.
COMMON: tuple[Rule, ...] = (
    values.drop_fraction_of_second,
    values.rewrite_division,
    values.rewrite_greatest_and_least,
    values.rewrite_recursion,
    values.rewrite_split,
    values.rewrite_decode,
    aggregates.reject_ordered_array,
)

# What is rewritten of the clause's own expressions for a product.
WRITES: dict[str, tuple[Rule, ...]] = {
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


def find_rules(read: Product, write: Product) -> tuple[Rule, ...]:
    """The rules for expressions of one product that another one will read."""
    return (
        values.round_or_cut_cast,
        *READS.get(read.name, ()),
        *COMMON,
        *WRITES.get(write.name, ()),
    )
