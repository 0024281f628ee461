"""What Spark would refuse or compute otherwise, and the session does not: refused before it runs.

Spark's analysis finds a condition that is not boolean and a key that has no order. Another engine
that takes the same calls may not, and may round where Spark does not; then nobody would see that a
result is wrong. Each session is asked once: see `matchrec.spark.sail.probes`.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql.types import DateType, DoubleType, FloatType, MapType

from matchrec.errors import MatchRecognizeError
from matchrec.errors import calls as errors
from matchrec.errors.conditions import not_boolean
from matchrec.errors.sql.expression import not_sortable
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import template
from matchrec.spark.errors.diagnose import conditions_over_one_row, keys
from matchrec.spark.sail.probes import drops_hours, takes_any_condition, tells_zeros_apart
from matchrec.spark.session import Relation
from matchrec.spark.types import is_nested, parts_of


def check_types(plan: MatchPlan, relation: Relation) -> None:
    """Raises MatchRecognizeError for what the session has not found, or would compute otherwise."""
    if not takes_any_condition(relation.runner.spark):
        return
    found = next(mistakes(plan, relation), None) or next(differences(plan, relation), None)
    if found is not None:
        raise found


def mistakes(plan: MatchPlan, relation: Relation) -> Iterator[MatchRecognizeError]:
    """Conditions that are not boolean, and keys without an order."""
    conditions, sorted_by = tuple(conditions_over_one_row(plan)), tuple(keys(plan))
    relation.fields(sql.text for sql in (*conditions, *sorted_by))  # asks for all at once
    for condition in conditions:
        type_ = relation.type_of(condition.text)
        if type_.typeName() != "boolean":
            yield not_boolean(type_.simpleString(), condition.span)
    for key in sorted_by:
        type_ = relation.type_of(key.text)
        if any(isinstance(one, MapType) for one in parts_of(type_)):
            yield not_sortable(key.clause, type_.simpleString(), key.span)


def differences(plan: MatchPlan, relation: Relation) -> Iterator[MatchRecognizeError]:
    """Keys and windows that the session takes for others than Spark does."""
    spark = relation.runner.spark
    for key in keys(plan):
        type_ = relation.type_of(key.text)
        floating = any(isinstance(one, FloatType | DoubleType) for one in parts_of(type_))
        if floating and is_nested(type_) and tells_zeros_apart(spark):
            yield errors.nested_zeros(key.span, clause=key.clause, type_name=type_.simpleString())
    order = plan.order_by[0].expression if plan.order_by else None
    if order is None or not isinstance(relation.type_of(order.text), DateType):
        return
    for interval in plan.intervals:
        if interval.text and drops_hours(spark) and has_hours(interval.text, relation):
            yield errors.hours_along_dates(interval.span, interval=interval.text)


def has_hours(interval: str, relation: Relation) -> bool:
    """Whether an interval is no whole number of days. Runs a query of one row."""
    runner = relation.runner
    day, at = "DATE'2000-01-01'", "TIMESTAMP'2000-01-01 00:00:00'"
    text = runner.written(f"{at} + ({interval}) = CAST({day} + ({interval}) AS TIMESTAMP)")
    return not runner.sql(template("SELECT ", text)).collect()[0][0]
