"""Check the types of conditions, keys and windows as Spark does.

Spark's analysis rejects a condition that is not boolean and a key that has no order. Another engine
can accept such a query, or compute a key or a window differently. Nobody would notice that the
result is wrong, so the query is rejected before it runs. A probe finds out once per session what
its engine does: see `matchrec.spark.sail.probes`.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import DataFrame
from pyspark.sql.types import DateType, DoubleType, FloatType, StringType

from matchrec.errors import MatchRecognizeError, conditions
from matchrec.errors import type_columns as type_column_errors
from matchrec.errors.machine import hours_added_to_date, signed_zeros_in_key
from matchrec.errors.rules import within_not_positive
from matchrec.errors.run.origins import read_users_text
from matchrec.errors.sql.expression import not_sortable
from matchrec.errors.sql.type_kinds import (
    LENGTHS_OF_TIME,
    TIMES,
    TypedText,
    TypeKind,
    classify_type,
)
from matchrec.errors.within import wrong_within_type
from matchrec.errors.wording import drop_backticks
from matchrec.plan.amounts import MICROSECONDS
from matchrec.plan.clauses import RowExpression
from matchrec.plan.expression import ColumnReference, Operation, Scalar, Term, split_conjuncts
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.templates import join_template
from matchrec.spark.analysis_log import silence_analysis
from matchrec.spark.errors.operand_checks import find_incompatible_operands
from matchrec.spark.errors.row_expressions import find_clause_of_key, list_row_conditions
from matchrec.spark.relation import Relation
from matchrec.spark.sail import probes
from matchrec.spark.session_errors import QUERY_ERRORS
from matchrec.spark.types import is_nested, iterate_types

# The names of the types whose values have no order. These are names, because an older PySpark lacks
# some of the classes.
TYPES_WITHOUT_ORDER = {
    "MapType",
    "VariantType",
    "CalendarIntervalType",
    "GeometryType",
    "GeographyType",
}

# Types of lengths of time that need not be a whole number of days.
TYPES_WITH_HOURS = {
    "interval",
    *(f"interval day to {unit}" for unit in ("hour", "minute", "second")),
    *("interval hour", "interval hour to minute", "interval hour to second"),
    *("interval minute", "interval minute to second", "interval second"),
}


def check_types(plan: MatchPlan, relation: Relation) -> None:
    """Check the types of conditions, keys and windows, as Spark does itself.

    Raises:
        MatchRecognizeError: Spark would reject a type, or the engine computes differently with it.
    """
    for find_errors in (find_type_mistakes, find_incompatible_operands, find_engine_differences):
        error = next(find_errors(plan, relation), None)
        if error is not None:
            raise error


def find_type_mistakes(plan: MatchPlan, relation: Relation) -> Iterator[MatchRecognizeError]:
    """Yield the errors of conditions that are not boolean and of keys without an order."""
    row_conditions = list_row_conditions(plan)
    condition_texts = [condition.text for condition in row_conditions]
    key_texts = [key.text for key in plan.sorted_by]
    # The session analyses all texts at once. After that, `find_type` sends it no more requests.
    relation.find_fields([*condition_texts, *key_texts])
    for condition in row_conditions:
        type_name = relation.find_type(condition.text).simpleString()
        if type_name != "boolean":
            yield conditions.not_boolean(condition.span, type_name=type_name)
    for key in plan.sorted_by:
        key_type = relation.find_type(key.text)
        if any(type(part).__name__ in TYPES_WITHOUT_ORDER for part in iterate_types(key_type)):
            yield not_sortable(
                find_clause_of_key(plan, key),
                key_type.simpleString(),
                key.span,
                text=drop_backticks(key.text),
            )


def find_engine_differences(plan: MatchPlan, relation: Relation) -> Iterator[MatchRecognizeError]:
    """Yield the errors of keys and windows that the engine computes differently from Spark.

    There are two: nested floating-point keys, if the engine takes 0.0 and -0.0 for different keys,
    and windows with hours along dates, if the engine drops the hours.
    """
    spark = relation.runner.spark
    for key in plan.sorted_by:
        key_type = relation.find_type(key.text)
        is_floating = any(
            isinstance(part, FloatType | DoubleType) for part in iterate_types(key_type)
        )
        if is_floating and is_nested(key_type) and probes.tells_zeros_apart(spark):
            yield signed_zeros_in_key(
                key.span, clause=find_clause_of_key(plan, key), type_name=key_type.simpleString()
            )
    order = plan.order_by[0].expression if plan.order_by else None
    if order is None or not isinstance(relation.find_type(order.text), DateType):
        return
    for interval in plan.all_window_lengths:
        if interval.text and probes.drops_hours(spark) and has_hours(interval, relation):
            yield hours_added_to_date(interval.span, interval=interval.text, key=show_key(order))


def has_hours(interval: RowExpression, relation: Relation) -> bool:
    """Return whether the length of a window can have hours besides days.

    For a constant, a query of one row finds out. For other lengths, the type decides: an INTERVAL
    DAY and an INTERVAL MONTH have no hours.
    """
    if interval.amount is None and not interval.is_constant:
        return relation.find_type(interval.text).simpleString() in TYPES_WITH_HOURS
    runner = relation.runner
    length = interval.text
    date = "DATE'2000-01-01'"
    timestamp = "TIMESTAMP'2000-01-01 00:00:00'"
    # The engine drops hours that are added to a date, so the two sums differ if there are any.
    test = runner.find_holes(f"{timestamp} + ({length}) = CAST({date} + ({length}) AS TIMESTAMP)")
    (row,) = runner.sql(join_template("SELECT ", test)).collect()
    has_whole_days = bool(row[0])
    return not has_whole_days


def make_window_type_error(
    plan: MatchPlan, relation: Relation, interval: RowExpression
) -> MatchRecognizeError:
    """Return the error of a window that is not a distance along its key.

    Args:
        plan: the plan, which has ORDER BY.
        relation: the input.
        interval: the length of the window.
    """
    order = plan.order_by[0].expression
    order_type = relation.find_type(order.text).simpleString()
    interval_type = relation.find_type(interval.text).simpleString()
    if interval_type == "void":
        is_time = classify_type(order_type) in TIMES
        return within_not_positive(interval.span, length="NULL", is_time=is_time)
    seconds = None
    if interval.amount is not None and interval.amount.is_time:
        seconds = interval.amount.value / MICROSECONDS["SECOND"]
    return wrong_within_type(
        order.span,
        interval.span,
        order=TypedText(show_key(order), order_type),
        length=TypedText(interval.text, interval_type),
        seconds=seconds,
    )


def show_key(key: RowExpression) -> str:
    """Return a key of ORDER BY as the user wrote it."""
    users_text = None if key.span is None else read_users_text(key.span)
    return users_text or key.text


def check_window_types(plan: MatchPlan, relation: Relation) -> None:
    """Check the types of the lengths of windows that are not literals, such as `WITHIN gap`.

    Spark's analysis accepts `n + name` for a number n and a text, because Spark converts the text
    of each row to a number. A text is not a length, so the query is rejected here.

    Raises:
        MatchRecognizeError: a length is not a distance along the key of ORDER BY.
    """
    for interval in plan.computed_lengths:
        if not can_be_distance(plan, relation, interval):
            raise make_window_type_error(plan, relation, interval)


def can_be_distance(plan: MatchPlan, relation: Relation, interval: RowExpression) -> bool:
    """Return whether any engine can add a length of this type to the key of ORDER BY.

    On Spark, a number along dates is a number of days.
    """
    order_type = relation.find_type(plan.order_by[0].expression.text).simpleString()
    order_kind = classify_type(order_type)
    interval_type = relation.find_type(interval.text).simpleString()
    interval_kind = classify_type(interval_type)
    if order_kind in TIMES:
        is_time = interval_kind in LENGTHS_OF_TIME or interval_type == "interval"
        return is_time or (order_kind is TypeKind.DATE and interval_kind is TypeKind.NUMBER)
    return order_kind is not TypeKind.NUMBER or interval_kind is TypeKind.NUMBER


def is_wrong_window(plan: MatchPlan, relation: Relation, interval: RowExpression) -> bool:
    """Return whether the types show that a window is not a distance along its key.

    This is for a plan that the engine has rejected. So a number along dates is wrong, although
    other engines take it for a number of days.
    """
    order_type = relation.find_type(plan.order_by[0].expression.text).simpleString()
    interval_kind = classify_type(relation.find_type(interval.text).simpleString())
    if classify_type(order_type) in TIMES:
        return interval_kind not in LENGTHS_OF_TIME
    return interval_kind is not TypeKind.NUMBER


# The column with the types of events, which SASE+ patterns test.


def check_type_column(df: DataFrame, name: str, plan: MatchPlan) -> None:
    """Check the column with the types of events, which a SASE+ pattern tests: it must have texts.

    Args:
        df: the events.
        name: the name of the column, or an expression over one row.
        plan: the pattern's plan. If it tests no type, nothing is checked.

    Raises:
        MatchRecognizePlanError: there is no such column, or its values are not texts.
    """
    conjuncts = [
        conjunct
        for definition in plan.definitions
        for conjunct in split_conjuncts(definition.condition)
    ]
    if not any(is_type_test(conjunct, name) for conjunct in conjuncts):
        return
    with silence_analysis():
        try:
            is_column = name in df.columns
            if is_column and not name.replace(".", "_").isidentifier():
                raise make_type_column_error(df, name)
            field = df.schema[name] if is_column else df.selectExpr(name).schema.fields[0]
        except QUERY_ERRORS as error:
            raise make_type_column_error(df, name) from error
    if not isinstance(field.dataType, StringType):
        raise type_column_errors.type_column_without_texts(
            type_name=field.dataType.simpleString(), name=name
        )


def is_type_test(condition: Scalar, column: str) -> bool:
    """Return whether a condition is `column = 'Stock'`, made from a component `Stock a`.

    Both sides of such a comparison have the span of the component's type.
    """
    match condition:
        case Operation("=", (Term((ColumnReference(argument=argument),), left), Term(_, right))):
            return argument == column and left == right
        case _:
            return False


def make_type_column_error(df: DataFrame, name: str) -> MatchRecognizeError:
    """Return the error for events without a column of their types, see `check_type_column`."""
    text_columns = [field.name for field in df.schema if isinstance(field.dataType, StringType)]
    return type_column_errors.unknown_type_column(
        name=name, columns=df.columns, text_columns=text_columns
    )
