"""The types of a relation's columns, and the time zone in which the hour of an instant is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from pyspark.sql import SparkSession
from pyspark.sql.types import StructField, TimestampType

from matchrec.conditions.functions.calendar import has_one_offset
from matchrec.conditions.functions.function import Settings
from matchrec.conditions.row_column import OrderType
from matchrec.conditions.types import Family
from matchrec.plan.clauses import RowExpression
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import MICROSECONDS, Amount, Template, quoted, template
from matchrec.spark.relation import Relation
from matchrec.spark.sail.probes import adds_hours_for_days, casts_in_utc, keeps_zones
from matchrec.spark.types import parts_of, sql_type, with_nulls


def as_spark_has_it(relation: Relation, alias: str | None) -> Relation:
    """The relation with columns as Spark has them: of the type that their values have, and each
    TIMESTAMP in the session's time zone. Some sessions give a UNION the types of its first query.
    In some a column has a zone of its own, such as UTC in a file of Parquet, and `hour` tells the
    hour there. alias: the name that qualifies the relation's columns.
    """
    runner = relation.runner
    fields = runner.fields(relation.rows)
    schema = with_nulls(relation.rows.schema.fields)
    others = [one != told for one, told in zip(fields, schema, strict=True)]
    has_zones = any(map(has_instants, fields)) and keeps_zones(runner.spark)
    if not (has_zones or any(others)):
        return relation
    names = [quoted(field.name) for field in fields]
    renamed = ""
    if len({name.lower() for name in names}) < len(names):
        # Only positions tell columns of one name apart. Otherwise names are safer: the view below
        # may be replaced by one with its columns in another order before the query runs.
        names = [f"__{place}" for place in range(len(fields))]
        renamed = f"({', '.join(names)})"
    items = (
        f"CAST({name} AS {sql_type(field.dataType)}) AS {quoted(field.name)}"
        if is_other or (has_zones and has_instants(field))
        else f"{name} AS {quoted(field.name)}"
        for name, field, is_other in zip(names, fields, others, strict=True)
    )
    rows = template("SELECT ", ", ".join(items), " FROM (", relation.query(["*"]))
    name = "" if alias is None else f" AS {quoted(alias)}"
    whole = template("(", rows, f") AS __rows{renamed}){name}")

    def select_from(select_list: Template) -> Template:
        return runner.in_scope(template("SELECT ", select_list, " FROM ", whole))

    return Relation(runner, select_from, None if any(others) else lambda: relation.rows)


def with_zone(settings: Settings, relation: Relation) -> Settings:
    """The settings, with whether a CAST takes instants for local times of UTC, if that matters."""
    if has_one_offset(settings.time_zone) or not any(map(has_instants, relation.rows.schema)):
        return settings
    return replace(settings, casts_in_utc=casts_in_utc(relation.runner.spark))


def windows_in_hours(
    plan: MatchPlan, spark: SparkSession, type_of_order: Callable[[str], OrderType]
) -> Iterator[RowExpression]:
    """The windows of a day or more that the session counts in hours, and Spark by its clocks. In a
    time zone without summer time both are the same. type_of_order: see `Question`.
    """
    intervals = [one for one in plan.lengths if one.text and not is_short(one.amount)]
    if not (intervals and plan.order_by):
        return
    order = type_of_order(plan.order_by[0].expression.text)
    if order.type.family is not Family.TIMESTAMP or order.has_one_offset:
        return
    if adds_hours_for_days(spark):
        yield from intervals


def is_short(length: Amount | None) -> bool:
    """Whether a length is known to be less than a day."""
    return length is not None and length.is_time and abs(length.value) < MICROSECONDS["DAY"]


def has_instants(field: StructField) -> bool:
    """Whether values of a column are TIMESTAMPs, or hold them.

    >>> has_instants(StructField("at", TimestampType()))
    True
    """
    return any(isinstance(part, TimestampType) for part in parts_of(field.dataType))
