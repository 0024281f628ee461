"""Rules of single products, and which rules each product has, in their order."""

from __future__ import annotations

import re

from sqlglot import exp, parse_one
from sqlglot.dialects.snowflake import Snowflake
from sqlglot.errors import UnsupportedError
from sqlglot.time import format_time

from matchrec.dialects.products import Product
from matchrec.dialects.rules import aggregates, oracle, values
from matchrec.dialects.rules.aggregates import Collection, known_items
from matchrec.dialects.rules.place import (
    UNLIKE,
    Domain,
    Place,
    Rule,
    called,
    function_name,
    has_semantics,
    marked,
    name_of,
    plain_call,
)
from matchrec.dialects.rules.qualify import qualified_rows
from matchrec.syntax.tokens import NAVIGATION, SEMANTICS

# What is rewritten of the expressions of a product; further ones stand below their rules.
READS: dict[str, tuple[Rule, ...]] = {"oracle": oracle.READS}

# Rules of Flink SQL.


def match_rowtime(node: exp.Anonymous, place: Place) -> exp.Expr:
    """`MATCH_ROWTIME()` is the time of the last row, by which the clause orders."""
    if function_name(node) != "MATCH_ROWTIME":
        return node
    if node.expressions:
        return called("LAST", node.expressions[0].copy())
    if place.order is None:
        raise UnsupportedError("no MATCH_ROWTIME without ORDER BY")
    return called("LAST", exp.column(place.order))


def failing_cast(node: exp.TryCast, _: Place) -> exp.Expr:
    """`CAST(x AS t)`, which sqlglot reads as Hive's: NULL where x is no t."""
    return node if node.args.get("safe") else exp.cast(node.this.copy(), node.to.copy())


def size_of_type(node: exp.DataType, _: Place) -> exp.Expr:
    """`TIMESTAMP(3)` and `VARBINARY(3)`: Spark's have no size."""
    sized = (exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPLTZ, exp.DType.VARBINARY)
    is_sized = node.expressions and node.this in sized
    return marked(exp.DataType(this=node.this), UNLIKE) if is_sized else node


def texts_parted_by_commas(node: exp.GroupConcat, _: Place) -> exp.Expr:
    """`LISTAGG(x)`: what stands between texts is a comma if nothing is said."""
    if not node.args.get("separator"):
        node.set("separator", exp.Literal.string(","))
        marked(node, UNLIKE)
    return node


def known_first_and_last(node: exp.FirstValue | exp.LastValue, place: Place) -> exp.Expr:
    """`FIRST_VALUE(x)` and `LAST_VALUE(x)`, of the values that are not NULL."""
    if isinstance(node.parent, exp.IgnoreNulls | exp.RespectNulls):
        return node
    if not place.is_measure:
        return exp.IgnoreNulls(this=node.copy())
    known = known_items(Collection(node.this))  # IGNORE NULLS needs OVER on Sail
    end = exp.Literal.number(1 if isinstance(node, exp.FirstValue) else -1)
    return plain_call("TRY_ELEMENT_AT", known, end)


READS["flink"] = (
    failing_cast,
    size_of_type,
    texts_parted_by_commas,
    aggregates.arrays,
    aggregates.over_each_aggregate,
    known_first_and_last,
    values.bounded_text,
    match_rowtime,
    values.truncated_date,
    values.added_time,
    values.average_of_integers,
    values.elapsed,
)


# Rules of Azure Stream Analytics.


def names_of_variables(node: exp.Anonymous, place: Place) -> exp.Expr:
    """`CLASSIFIER()` is the array of the names of all rows."""
    if not place.is_measure or name_of(node) != "CLASSIFIER" or node.find_ancestor(exp.ArrayAgg):
        return node
    return exp.ArrayAgg(this=node.copy())


def time_of_event(node: exp.Dot | exp.Column, place: Place) -> exp.Expr:
    """`System.Timestamp()` is what TIMESTAMP BY names."""
    if node.sql().upper().rstrip("()") != "SYSTEM.TIMESTAMP":
        return node
    if place.order is None:
        raise UnsupportedError("no System.Timestamp outside of a clause: name it in MEASURES")
    return exp.column(place.order)


def joined_texts(node: exp.Add, place: Place) -> exp.Expr:
    """`a + 'text'` is `a || 'text'`."""
    if Domain.TEXT in map(place.kind, (node.this, node.expression)):
        return exp.DPipe(this=node.this.copy(), expression=node.expression.copy())
    return node


def no_into(node: exp.Select, place: Place) -> exp.Expr:
    """`SELECT * INTO output`: where the rows go is for the caller to say."""
    if node.args.get("into"):
        place.remark("INTO is left out: the rows are what the query gives", is_met=True)
        node.set("into", None)
    return node


READS["azure"] = (
    aggregates.quoted_variable,
    time_of_event,
    names_of_variables,
    no_into,
    joined_texts,
    values.added_time,
    values.crossed_boundaries,
)


# Rules of BigQuery.


def named_parameter(node: exp.Parameter, _: Place) -> exp.Expr:
    """`@name` is `:name`."""
    return exp.Placeholder(this=node.name)


def in_array(node: exp.In, place: Place) -> exp.Expr:
    """`x IN UNNEST(array)`, of which sqlglot makes a subquery."""
    array = node.args.get("unnest")
    if array is None or not place.write.is_spark:
        return node
    return plain_call("ARRAY_CONTAINS", array.expressions[0], node.this)


def numbers_of_first_and_last(node: exp.Anonymous, place: Place) -> exp.Expr:
    """`FIRST(x + MATCH_ROW_NUMBER())`: numbers are of the row that FIRST and LAST find."""
    name = name_of(node)
    is_found = name in ("FIRST", "LAST") and len(node.expressions) == 1
    if not is_found or not place.is_measure:
        return node
    calls = {name_of(call) for call in node.find_all(exp.Anonymous)}
    if not calls & {"MATCH_NUMBER", "ROW_NUMBER"}:
        return node
    rows = Collection(node.expressions[0]).rows
    number = exp.Literal.number(1 if name == "FIRST" else -1)
    found = exp.Anonymous(this="TRY_ELEMENT_AT", expressions=[rows, number])
    return exp.Dot(this=found, expression=exp.to_identifier("item"))


READS["bigquery"] = (
    aggregates.quoted_variable,
    numbers_of_first_and_last,
    aggregates.arrays,
    aggregates.texts,
    aggregates.over_each_aggregate,
    aggregates.value_at_extreme,
    aggregates.navigation_with_default,
    aggregates.row_number_in_match,
    named_parameter,
    in_array,
    values.safe_quotient,
    values.added_time,
    values.text_of_value,
    values.crossed_boundaries,
)


# Rules of Snowflake, where some functions mean something else in each part of a clause.
#
# MEASURES    LAG and LEAD see the rows of the match, FIRST_VALUE and LAST_VALUE too
# DEFINE      LAG, LEAD, FIRST_VALUE and LAST_VALUE see the rows of the partition

_ALIKE = re.compile(r"%[YymBbdaHIMSfp](?!_)")  # what Spark writes as Snowflake does


def columns_of_values(node: exp.Values, place: Place) -> exp.Expr:
    """`FROM VALUES (1, 2)` has the columns column1 and column2, unless others are named."""
    in_from = isinstance(node.parent, exp.From | exp.Join)
    alias = node.args.get("alias")
    if not in_from or place.write.name == "snowflake" or (alias is not None and alias.columns):
        return node
    row = node.expressions[0]
    width = len(row.expressions) if isinstance(row, exp.Tuple) else 1
    names = [exp.to_identifier(f"column{number}") for number in range(1, width + 1)]
    table = exp.to_identifier("t") if alias is None else alias.this.copy()
    named = node.copy()
    named.set("alias", exp.TableAlias(this=table, columns=names))
    return named


def first_and_last(node: exp.Anonymous, place: Place) -> exp.Expr:
    """`FIRST_VALUE(x)` is `FIRST(x)`; in DEFINE it is of all rows of the partition. So is LAST."""
    name = name_of(node) or ""
    if name not in ("FIRST_VALUE", "LAST_VALUE"):
        return node
    if place.is_measure:
        return called(name.removesuffix("_VALUE"), *node.expressions)
    if not place.is_condition or isinstance(node.parent, exp.Window):
        return node
    window = parse_one("f() OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)")
    window.set("this", exp.Anonymous(this=name, expressions=node.expressions))
    return window


def inside_of_match(node: exp.Anonymous, place: Place) -> exp.Expr:
    """`LAG` and `LEAD`, or `PREV` and `NEXT`, of rows of the match only; else their default."""
    if not place.is_measure:
        return node
    semantics, call = "", node
    if name_of(node) in SEMANTICS:
        semantics, call = str(name_of(node)), node.expressions[0]
    elif has_semantics(node):
        return node
    name = name_of(call)
    if name not in ("PREV", "NEXT"):
        return node
    value, offset, default = (*call.expressions, None, None)[:3]
    offset = offset or exp.Literal.number(1)
    if name == "PREV":
        exists: exp.Expr = exp.GT(this=_rows(semantics), expression=offset.copy())
    else:
        last = exp.Add(this=_rows(semantics or "RUNNING"), expression=offset.copy())
        exists = exp.LTE(this=last, expression=_rows("FINAL"))
    value = called("FINAL", called("LAST", value)) if semantics == "FINAL" else value
    return exp.If(this=exists, true=called(name, value, offset), false=default or exp.null())


def _rows(semantics: str) -> exp.Expr:
    count = exp.Count(this=exp.Star())
    return called(semantics, count) if semantics else count


def bare_classifier(node: exp.Column, place: Place) -> exp.Expr:
    """`CLASSIFIER` without parentheses; around a clause it may be a column."""
    is_bare = not node.table and not node.this.quoted and node.name.upper() == "CLASSIFIER"
    return called("CLASSIFIER") if is_bare and place.clause is not None else node


def listed_values(node: exp.WithinGroup, place: Place) -> exp.Expr:
    """`ARRAY_AGG(x) WITHIN GROUP (ORDER BY y)`, without NULLs."""
    array = node.this
    if not isinstance(array, exp.ArrayAgg) or not place.write.is_spark:
        return node
    keys = node.expression.expressions
    if not isinstance(array.this, exp.Distinct):
        return known_items(Collection(array.this, tuple(keys)))
    value, key = array.this.expressions[0], keys[0]
    if len(keys) > 1 or key.this != value:
        raise UnsupportedError("an array of distinct values in another order than their own")
    ascends = exp.false() if key.args.get("desc") else exp.true()
    return plain_call("SORT_ARRAY", exp.ArrayUniqueAgg(this=value.copy()), ascends)


def formatted_time(node: exp.ToChar, _: Place) -> exp.Expr:
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
    columns_of_values,
    listed_values,
    values.number_of_text,
    first_and_last,
    inside_of_match,
    aggregates.navigation_with_default,
    aggregates.row_number_in_match,
    bare_classifier,
    formatted_time,
    values.text_of_value,
    values.truncated_date,
    values.added_time,
    values.days_between_dates,
    values.crossed_boundaries,
)


# Rules of Trino.

_NOT_NULL_FOR_NULL = (exp.Coalesce, exp.Is, exp.Case, exp.If, exp.NullSafeEQ, exp.NullSafeNEQ)


def first_of_match(node: exp.Anonymous, place: Place) -> exp.Expr:
    """`FIRST(x, n)` finds rows after the current one also with running semantics."""
    if not place.is_seen_from_rows or has_semantics(node):
        return node
    if name_of(node) == "FIRST":
        return called("FINAL", node.copy())
    if name_of(node) == "RUNNING" and name_of(node.expressions[0]) == "FIRST":
        return called("FINAL", node.expressions[0].copy())
    return node


def first_of_later_rows(node: exp.Anonymous, place: Place) -> exp.Expr:
    """`FIRST(A.x)` of a row before all rows of A, which Trino finds."""
    is_running = node.parent is None or name_of(node.parent) != "FINAL"
    if name_of(node) != "FIRST" or not place.is_seen_from_rows or not is_running:
        return node
    names_variable = any(column.table for column in node.find_all(exp.Column))
    if names_variable or len(node.expressions) > 1:
        place.remark("FIRST finds rows after the row of the measure, too, in Trino")
    return node


def navigation_inside(node: exp.Anonymous, _: Place) -> exp.Expr:
    """`PREV(coalesce(x, 7))` is 7 where there is no such row: it is `coalesce(PREV(x), 7)`."""
    if name_of(node) not in NAVIGATION or not node.expressions:
        return node
    value = node.expressions[0]
    is_nested = any(name_of(call) in NAVIGATION for call in value.find_all(exp.Anonymous))
    if is_nested or not value.find(*_NOT_NULL_FOR_NULL):
        return node
    inside = value.copy()
    for column in list(inside.find_all(exp.Column)):
        column.replace(called(name_of(node) or "", column.copy(), *node.copy().expressions[1:]))
    return inside if inside.find(exp.Anonymous) else node


READS["trino"] = (
    aggregates.count_of_rows,
    values.text_of_value,
    navigation_inside,
    aggregates.arrays,
    aggregates.over_each_aggregate,
    aggregates.semantics_of_aggregates,
    values.added_time,
    values.truncated_date,
    values.bounded_text,
    first_of_match,
    values.elapsed,
    values.average_of_decimals,
    values.quotient_of_decimals,
)


READS["spark"] = (failing_cast,)
READS["databricks"] = (aggregates.final_aggregates,)

# What is rewritten of the expressions of any product.
COMMON: tuple[Rule, ...] = (
    values.whole_second,
    values.quotient,
    values.extremes,
    values.recursion,
    values.parts_of_text,
    values.chosen_by_value,
    aggregates.ordered_array,
)

# What is rewritten of the clause's own expressions for a product.
WRITES: dict[str, tuple[Rule, ...]] = {
    "snowflake": (aggregates.lag_and_lead, aggregates.arrays_and_nulls),
    "oracle": (aggregates.first_and_last_of_rows, aggregates.aggregate_of_all_rows),
    "trino": (
        values.average_of_decimals,
        aggregates.first_and_last_of_rows,
        aggregates.arrays_and_nulls,
        first_of_later_rows,
        aggregates.aggregate_of_all_rows,
    ),
    "bigquery": (aggregates.first_and_last_of_rows, aggregates.arrays_and_nulls),
    "flink": (aggregates.arrays_and_nulls,),
    "databricks": (aggregates.running_aggregate,),
    "spark": (qualified_rows,),
}


def rules_between(read: Product, write: Product) -> tuple[Rule, ...]:
    """The rules for expressions of one product that another one will read."""
    return (values.whole_number, *READS.get(read.name, ()), *COMMON, *WRITES.get(write.name, ()))
