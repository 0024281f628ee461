"""What a session does otherwise than Spark: each is asked of it once, by a query of one row.

As another engine that takes PySpark's calls may, an old or a new Sail may differ in each of these.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException
from pyspark.sql.types import DateType

from matchrec.spark.session import application, plain_sql, quiet_analysis

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def asked_once(probe: Callable[[SparkSession], bool]) -> Callable[[SparkSession], bool]:
    """The probe, whose answer is kept for all sessions of an application."""
    known: dict[Hashable, bool] = {}

    @wraps(probe)
    def answer(spark: SparkSession) -> bool:
        key = application(spark)
        if key not in known:
            with quiet_analysis():
                known[key] = probe(spark)
        return known[key]

    return answer


def accepts(frame: Callable[[], DataFrame]) -> bool:
    """Whether the session makes a DataFrame of it, as far as it looks before it runs."""
    try:
        _ = frame().schema
    except PySparkException:
        return False
    return True


@asked_once
def takes_any_condition(spark: SparkSession) -> bool:
    """Whether CASE takes a number for a condition, which Spark's analysis refuses."""
    return accepts(lambda: plain_sql(spark)("SELECT CASE WHEN 1 THEN 1 END"))


@asked_once
def analyses_late(spark: SparkSession) -> bool:
    """Whether a query that cannot run has a schema all the same."""
    return accepts(lambda: plain_sql(spark)("SELECT NOT 1"))


@asked_once
def can_observe(spark: SparkSession) -> bool:
    """Whether a query tells what an Observation has seen."""
    from pyspark.sql.functions import count, lit

    return accepts(lambda: spark.range(1).observe("seen", count(lit(1)).alias("n")))


@asked_once
def has_watermarks(spark: SparkSession) -> bool:
    """Whether streams have watermarks."""
    rows = spark.readStream.format("rate").load
    return accepts(lambda: rows().withWatermark("timestamp", "1 second"))


@asked_once
def drops_hours(spark: SparkSession) -> bool:
    """Whether a date and an interval of hours make a date; Spark makes a timestamp of them."""
    found = plain_sql(spark)("SELECT DATE'2000-01-01' + INTERVAL 1 HOUR AS at")
    return isinstance(found.schema["at"].dataType, DateType)


@asked_once
def tells_zeros_apart(spark: SparkSession) -> bool:
    """Whether 0.0 and -0.0 in a struct are two values, which are one to Spark."""
    same = "SELECT named_struct('x', x) = named_struct('x', -x) FROM VALUES (0.0D) AS t(x)"
    return not plain_sql(spark)(same).collect()[0][0]
