"""Give columns on Sail the types and time zones that they have on Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from pyspark.sql import SparkSession
from pyspark.sql.types import StructField, TimestampType

from matchrec.conditions.functions.calendar import has_fixed_offset
from matchrec.conditions.functions.function import SessionSettings
from matchrec.conditions.types import Family
from matchrec.conditions.window_columns import OrderType
from matchrec.plan.amounts import MICROSECONDS, Amount
from matchrec.plan.clauses import RowExpression
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.templates import Template, join_template
from matchrec.plan.text import quote_name
from matchrec.spark.relation import Relation
from matchrec.spark.sail.probes import adds_hours_for_days, casts_in_utc, keeps_zones
from matchrec.spark.types import allow_inner_nulls, iterate_types, write_type


def correct_columns(relation: Relation, alias: str | None) -> Relation:
    """Return the relation with columns as they are on Spark.

    - Each column has the type of its values. Sail declares the types of the first query of a UNION.
    - Each TIMESTAMP is in the session's time zone. On Sail a column can have a time zone of its
      own, such as UTC in a Parquet file, and `hour` returns the hour in this zone.

    A column that is not as on Spark is cast:

        (SELECT CAST(`at` AS TIMESTAMP) AS `at`, `n` AS `n` FROM (SELECT * FROM t) AS __rows) AS `t`

    Args:
        relation: the relation.
        alias: the name that qualifies its columns; None if it has none.
    """
    runner = relation.runner
    value_fields = runner.find_fields(relation.rows)
    declared_fields = allow_inner_nulls(relation.rows.schema.fields)
    has_wrong_type = [
        field != declared for field, declared in zip(value_fields, declared_fields, strict=True)
    ]
    has_zones = any(map(has_instants, value_fields)) and keeps_zones(runner.spark)
    if not (has_zones or any(has_wrong_type)):
        return relation
    needs_cast = [
        is_wrong or (has_zones and has_instants(field))
        for field, is_wrong in zip(value_fields, has_wrong_type, strict=True)
    ]
    rows_sql = write_cast_columns(relation, value_fields, needs_cast)
    alias_sql = "" if alias is None else f" AS {quote_name(alias)}"
    # If all types are right, the DataFrame of the relation has the schema of the new one.
    return Relation(
        runner,
        join_template(rows_sql, alias_sql),
        None if any(has_wrong_type) else lambda: relation.rows,
    )


def write_cast_columns(
    relation: Relation, fields: Sequence[StructField], needs_cast: Sequence[bool]
) -> Template:
    """Return a subquery of a relation's rows, in which some columns are cast.

    Args:
        relation: the relation.
        fields: the columns of the relation, with the types to cast to.
        needs_cast: whether each column is cast.
    """
    names = [quote_name(field.name) for field in fields]
    column_list = ""
    if len({name.lower() for name in names}) < len(names):
        # Columns with the same name can be distinguished only by position. Otherwise names are
        # safer: before the query runs, a view in the relation can be replaced by one with its
        # columns in another order.
        names = [f"__{index}" for index in range(len(fields))]
        column_list = f"({', '.join(names)})"
    items = []
    for name, field, is_cast in zip(names, fields, needs_cast, strict=True):
        value = f"CAST({name} AS {write_type(field.dataType)})" if is_cast else name
        items.append(f"{value} AS {quote_name(field.name)}")
    rows = join_template("SELECT ", ", ".join(items), " FROM (", relation.write_query(["*"]))
    return join_template("(", rows, f") AS __rows{column_list})")


def add_zone_of_casts(settings: SessionSettings, relation: Relation) -> SessionSettings:
    """Add to the settings whether a CAST converts instants to local times in UTC.

    The session is probed only if the relation has instants and the offset of the time zone changes.
    """
    if has_fixed_offset(settings.time_zone) or not any(map(has_instants, relation.rows.schema)):
        return settings
    return replace(settings, casts_in_utc=casts_in_utc(relation.runner.spark))


def find_windows_in_hours(
    plan: MatchPlan, spark: SparkSession, find_order_type: Callable[[str], OrderType]
) -> Iterator[RowExpression]:
    """Yield the windows of a day or more that Sail measures in hours, and Spark by the clock.

    In a time zone without daylight saving time both measures are the same.

    Args:
        plan: the plan.
        spark: the session.
        find_order_type: returns the type of an ORDER BY expression, see `MatchRequest`.
    """
    long_lengths = [
        length
        for length in plan.all_window_lengths
        if length.text and not is_less_than_a_day(length.amount)
    ]
    if not long_lengths or not plan.order_by:
        return
    order = find_order_type(plan.order_by[0].expression.text)
    if order.type.family is not Family.TIMESTAMP or order.has_fixed_offset:
        return
    if adds_hours_for_days(spark):
        yield from long_lengths


def is_less_than_a_day(length: Amount | None) -> bool:
    """Return whether a length is known to be less than a day."""
    return length is not None and length.is_time and abs(length.value) < MICROSECONDS["DAY"]


def has_instants(field: StructField) -> bool:
    """Return whether a column has TIMESTAMPs, or values that contain them, such as arrays."""
    return any(isinstance(part, TimestampType) for part in iterate_types(field.dataType))
