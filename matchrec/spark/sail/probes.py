"""What a session does otherwise than Spark: each is asked of it once, by a query of one row.

As another engine that takes PySpark's calls may, an old or a new Sail may differ in each of these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import ArrayType, DataType, DateType, DecimalType, MapType, StructType

from matchrec.spark.types import is_nested, parts_of, with_parts

T = TypeVar("T")

# What a plan of Sail's says of groups, and of the tasks that they are divided among.
DIVIDED = re.compile(r"RepartitionExec: partitioning=Hash\(\[[^]]*\], (\d+)\)")

# What stands in its place where a query cannot run.
NO_PLAN = re.compile(r"^Physical plan error: (?:error in DataFusion: )?(?P<reason>.*)", re.M | re.S)

COLUMNS = re.compile(r"^== Analyzed Logical Plan ==\n(#\d+: .*)$", re.M)
COLUMN = re.compile(r"(?:^|, )#\d+: ")
DECIMAL = re.compile(r"Decimal128\((\d+), (-?\d+)\)")
QUOTED = re.compile(r"""(?s)"(?:\\.|[^"\\])*"|'[^']*'""")
PART = re.compile(
    r"(?:Large|FixedSize)?(List|Struct|Map)\((?:(?<=Map\(): (?:non-null )?Struct\()?"
    r"|([A-Z]\w*(?:\([^()]*\))?)"
)

# What a plan says of the types of its columns: Arrow's names.
NAMES = {"Boolean", "Int8", "Int16", "Int32", "Int64", "Float32", "Float64", "Utf8", "Date32"}
WITHOUT_SIGN = {"UInt8", "UInt16", "UInt32", "UInt64"}  # of a Parquet file

KINDS: dict[type[DataType], str] = {ArrayType: "List", MapType: "Map", StructType: "Struct"}

DAYS = 100 * 365  # from 1970 on, in which some zones have changed their clocks, and do no more


def asked_once(probe: Callable[[SparkSession], T]) -> Callable[[SparkSession], T]:
    """The probe, whose answer is kept as long as the session."""
    known: WeakKeyDictionary[SparkSession, T] = WeakKeyDictionary()

    @wraps(probe)
    def answer(spark: SparkSession) -> T:
        if spark not in known:
            known[spark] = probe(spark)
        return known[spark]

    return answer


def of_a_row(spark: SparkSession, expression: str) -> DataFrame:
    return spark.range(1).selectExpr(expression)


def accepts(frame: Callable[[], DataFrame]) -> bool:
    """Whether the session makes a DataFrame of it, as far as it looks before it runs."""
    try:
        _ = frame().schema
    except PySparkException:
        return False
    return True


@asked_once
def version_spoken(spark: SparkSession) -> tuple[int, ...]:
    """The version of Spark that the session speaks, without what comes after a second point."""
    return tuple(map(int, spark.version.split(".")[:2]))


def accepting(expression: str) -> Callable[[SparkSession], bool]:
    return asked_once(lambda spark: accepts(lambda: of_a_row(spark, expression)))


def telling(condition: str) -> Callable[[SparkSession], bool]:
    return asked_once(lambda spark: bool(of_a_row(spark, condition).collect()[0][0]))


# Whether CASE takes a number for a condition, which Spark's analysis refuses; whether a query that
# cannot run has a schema all the same; whether `try_add` takes what `+` takes.
takes_any_condition = accepting("CASE WHEN 1 THEN 1 END")
analyses_late = accepting("NOT 1")
tries_to_add = accepting("try_add(TIMESTAMP'2000-01-01', INTERVAL 1 MONTH)")

# Whether a double and a decimal are compared as decimals, which Spark compares as doubles; whether
# 0.0 and -0.0 in a struct are two values, which are one to Spark: id is 0.
compares_as_decimals = telling("0.1D + 0.2D = 0.3")
tells_zeros_apart = telling("NOT (named_struct('x', 0D * id) = named_struct('x', -0D * id))")


def check_plan(plan: str) -> None:
    """Raises AnalysisException where a plan is the reason why there is none."""
    if found := NO_PLAN.search(plan):
        raise AnalysisException(found["reason"])


def types_in(plan: str, told: Sequence[DataType]) -> list[DataType]:
    """The types of a plan's columns. told: those of the schema, of what needs more words.

    >>> types_in('== Analyzed Logical Plan ==\\n#4: List(UInt16), #5: Int32\\n',
    ...          [ArrayType(DataType()), DataType()])
    [ArrayType(IntegerType(), True), IntegerType()]
    """
    found = COLUMNS.search(plan)
    names = COLUMN.split(found[1])[1:] if found else []
    if len(names) != len(told):
        return [*told]
    return [type_in(QUOTED.sub("", name), one) for name, one in zip(names, told, strict=True)]


def type_in(name: str, told: DataType) -> DataType:
    """The type that a plan calls so, with what is `told` of arrays, maps, structs and their fields,
    where these are in the same places.
    """
    found = PART.findall(name)
    if [kind for kind, _ in found] != [KINDS.get(type(part), "") for part in parts_of(told)]:
        return type_named(name) or told
    leaves = iter([leaf for _, leaf in found if leaf])

    def changed(type_: DataType) -> DataType:
        return with_parts(type_, changed) if is_nested(type_) else type_named(next(leaves)) or type_

    return changed(told)


def type_named(name: str) -> DataType | None:
    """The type that a plan calls so, None of what has parts or needs more words."""
    from pyarrow import type_for_alias
    from pyspark.sql.pandas.types import from_arrow_type

    from matchrec.worker.arrays import read_as

    if digits := DECIMAL.fullmatch(name):
        return DecimalType(int(digits[1]), int(digits[2]))
    if name not in NAMES | WITHOUT_SIGN:
        return None
    return from_arrow_type(read_as(type_for_alias(name.lower())))


@asked_once
def asks_every_part(spark: SparkSession) -> bool:
    """Whether the right side of OR is computed of rows of which the left side is true, too."""
    fails_first = "if(id = 0, raise_error(concat('', id)), '') IS NOT NULL"
    try:
        spark.range(2).selectExpr(f"id = 0 OR {fails_first}").collect()
    except PySparkException:
        return True
    return False


@asked_once
def has_times_of_day(spark: SparkSession) -> bool:
    """Whether it takes times of day from Arrow, as Spark since version 4.1."""
    import pyarrow as pa

    return accepts(lambda: spark.createDataFrame(pa.table({"at": pa.nulls(1, pa.time64("us"))})))


@asked_once
def can_observe(spark: SparkSession) -> bool:
    """Whether a query tells what an Observation has seen."""
    from pyspark.sql.functions import count, lit

    return accepts(lambda: spark.range(1).observe("seen", count(lit(1)).alias("n")))


@asked_once
def has_watermarks(spark: SparkSession) -> bool:
    rows = spark.readStream.format("rate").load
    return accepts(lambda: rows().withWatermark("timestamp", "1 second"))


@asked_once
def drops_hours(spark: SparkSession) -> bool:
    """Whether a date and an interval of hours make a date; Spark makes a timestamp of them."""
    found = of_a_row(spark, "DATE'2000-01-01' + INTERVAL 1 HOUR AS at")
    return isinstance(found.schema["at"].dataType, DateType)


@asked_once
def tasks_at_once(spark: SparkSession) -> int | None:
    """How many tasks of a query run at once, all in one process. None of Spark, which has a process
    for each, and knows by itself how to divide what it shuffles; else a `repartition` without a
    number keeps the tasks of what comes before it.
    """
    groups: Any = spark.range(0, 1000, 1, 1).groupBy("id").count()
    plan = groups._explain_string()
    if "AggregateExec" not in plan:
        return None
    divided = DIVIDED.search(plan)
    return int(divided[1]) if divided else 1


@asked_once
def keeps_zones(spark: SparkSession) -> bool:
    """Whether a TIMESTAMP has a time zone of its own, in which its hour is told. Spark leaves out a
    cast to the type that a value has; here it is a cast to the session's zone.
    """
    instant: Any = of_a_row(spark, "timestamp_seconds(id) AS at")
    return "AS Timestamp(" in instant.selectExpr("CAST(at AS TIMESTAMP)")._explain_string()


def casts_in_utc(spark: SparkSession) -> bool:
    """Whether a CAST to a local time tells that in UTC, and not that in the session's time zone.
    Asked each time, as the session may have another zone by then.
    """
    return has_day(spark, "hour(at) <> hour(CAST(at AS TIMESTAMP_NTZ))")


def negates_to_scale_ten(spark: SparkSession) -> bool:
    """Return whether the digits of a negated decimal are kept, and its scale becomes 10.

    Asked each time, as it depends on ANSI mode.
    """
    negated = "CAST(- CAST(id + 1 AS DECIMAL(2, 1)) AS DOUBLE)"
    return bool(of_a_row(spark, f"{negated} > -0.5D").collect()[0][0])


def adds_hours_for_days(spark: SparkSession) -> bool:
    """Whether a day after an instant is 24 hours later, also where the zone's clocks change. Asked
    each time, as the session may have another zone by then.
    """
    return has_day(spark, "hour(at + INTERVAL 1 DAY) <> hour(at)")


def has_day(spark: SparkSession, condition: str) -> bool:
    """Whether a condition holds of an instant on some day, `at`."""
    days = spark.range(DAYS).selectExpr("CAST(timestamp_seconds(86400 * id) AS TIMESTAMP) AS at")
    return bool(days.where(condition).limit(1).count())
