"""Find out by small queries how a session differs from Spark.

Each version of Sail differs in other points, and so can another engine that accepts PySpark's
calls. So no version is compared. A probe is a function that gets a session, runs such a query, and
returns the answer. Most probes collect a row, or only let the session analyse a query. Some look
for a word in the text of Sail's plan.

`run_once_per_session` makes a probe run only once per session. The last functions of the module are
probes that run each time, because their answers depend on settings that can change.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DateType

T = TypeVar("T")

# In a plan of Sail: the number of tasks into which rows are divided by a key.
REPARTITION = re.compile(r"RepartitionExec: partitioning=Hash\(\[[^]]*\], (\d+)\)")

# How many days from 1970 on `holds_on_some_day` tries. Among them are changes of clocks that time
# zones no longer have.
DAYS_TO_TRY = 100 * 365


def run_once_per_session(probe: Callable[[SparkSession], T]) -> Callable[[SparkSession], T]:
    """Return a probe that runs only once per session, and later returns the same answer."""
    answers: WeakKeyDictionary[SparkSession, T] = WeakKeyDictionary()

    @wraps(probe)
    def find_answer(spark: SparkSession) -> T:
        """Return the answer of the probe for a session, and run the probe if there is none yet."""
        if spark not in answers:
            answers[spark] = probe(spark)
        return answers[spark]

    return find_answer


def select_one_row(spark: SparkSession, expression: str) -> DataFrame:
    """Return a DataFrame of one row, with the value of an expression.

    The expression can read the column `id`, which is 0. A session that computes constants while it
    plans a query then computes the expression when the query runs.
    """
    return spark.range(1).selectExpr(expression)


def can_analyse(make_frame: Callable[[], DataFrame]) -> bool:
    """Return whether the session analyses a DataFrame without an error. Nothing runs.

    Args:
        make_frame: creates the DataFrame. It can raise the error, too.
    """
    try:
        _ = make_frame().schema
    except PySparkException:
        return False
    return True


@run_once_per_session
def find_spark_version(spark: SparkSession) -> tuple[int, ...]:
    """Return the major and minor version of Spark that the session behaves as: (4, 0)."""
    return tuple(map(int, spark.version.split(".")[:2]))


def probe_acceptance(expression: str) -> Callable[[SparkSession], bool]:
    """Return a probe of whether a session accepts an expression."""
    return run_once_per_session(
        lambda spark: can_analyse(lambda: select_one_row(spark, expression))
    )


def probe_truth(condition: str) -> Callable[[SparkSession], bool]:
    """Return a probe of whether a condition is true in a session."""
    return run_once_per_session(
        lambda spark: bool(select_one_row(spark, condition).collect()[0][0])
    )


# Whether CASE accepts a number as its condition, which Spark's analysis rejects.
takes_any_condition = probe_acceptance("CASE WHEN 1 THEN 1 END")

# Whether the session returns a schema for a query that cannot run.
analyses_late = probe_acceptance("NOT 1")

# Whether the session has `try_add`, and it accepts what `+` accepts.
has_try_add = probe_acceptance("try_add(TIMESTAMP'2000-01-01', INTERVAL 1 MONTH)")

# Whether a double and a decimal are compared as decimals. Spark compares them as doubles.
compares_as_decimals = probe_truth("0.1D + 0.2D = 0.3")

# Whether a negative length of `left` and `right` counts from the other end. On Spark it is 0.
counts_from_other_end = probe_truth("left(concat('ab', id), -1) <> ''")

# Whether `substring` counts from the first character if its start is before the text.
moves_substrings = probe_truth("substring(concat('ab', id), -5, 4) = concat('ab', id)")

# Whether, in `initcap`, a word begins after any sign. On Spark a word begins after a space.
begins_words_after_signs = probe_truth("initcap(concat('a-b', id)) = concat('A-B', id)")

# Whether a DOUBLE as a string has no exponent. Within an array it has one, as always on Spark.
writes_all_digits = probe_truth(
    "CAST(1e7D + id AS STRING) <> '1.0E7' AND CAST(array(1e7D + id) AS STRING) = '[1.0E7]'"
)

# Whether 0.0 and -0.0 in a struct are different values. They are equal on Spark.
tells_zeros_apart = probe_truth("NOT (named_struct('x', 0D * id) = named_struct('x', -0D * id))")


@run_once_per_session
def computes_every_part(spark: SparkSession) -> bool:
    """Return whether the right side of OR is computed even if the left side is true."""
    fails_first = "if(id = 0, raise_error(concat('', id)), '') IS NOT NULL"
    try:
        spark.range(2).selectExpr(f"id = 0 OR {fails_first}").collect()
    except PySparkException:
        return True
    return False


@run_once_per_session
def has_times_of_day(spark: SparkSession) -> bool:
    """Return whether the session accepts times of day from Arrow, as Spark does since 4.1."""
    import pyarrow as pa

    return can_analyse(
        lambda: spark.createDataFrame(pa.table({"at": pa.nulls(1, pa.time64("us"))}))
    )


@run_once_per_session
def can_observe(spark: SparkSession) -> bool:
    """Return whether a query can compute the metrics of an Observation."""
    from pyspark.sql.functions import count, lit

    return can_analyse(lambda: spark.range(1).observe("seen", count(lit(1)).alias("n")))


@run_once_per_session
def has_watermarks(spark: SparkSession) -> bool:
    """Return whether streams can have watermarks."""
    rows = spark.readStream.format("rate").load
    return can_analyse(lambda: rows().withWatermark("timestamp", "1 second"))


@run_once_per_session
def drops_hours(spark: SparkSession) -> bool:
    """Return whether a date plus hours is a date. On Spark it is a timestamp."""
    row = select_one_row(spark, "DATE'2000-01-01' + INTERVAL 1 HOUR AS at")
    return isinstance(row.schema["at"].dataType, DateType)


@run_once_per_session
def count_tasks_at_once(spark: SparkSession) -> int | None:
    """Return how many tasks of a query run at once, all in one process.

    Sail's plan of an aggregate by a key shows the number.

    Returns:
        The number; None for Spark, which has a process for each task, and chooses the number of
        tasks itself.
    """
    groups: Any = spark.range(0, 1000, 1, 1).groupBy("id").count()
    plan = groups._explain_string()
    if "AggregateExec" not in plan:
        return None
    repartition = REPARTITION.search(plan)
    return int(repartition[1]) if repartition else 1


@run_once_per_session
def keeps_zones(spark: SparkSession) -> bool:
    """Return whether a TIMESTAMP includes a time zone, in which `hour` returns the hour.

    Spark leaves out a cast to the type that a value already has. In a session that keeps zones, the
    plan has the cast, because it is a cast to the session's time zone.
    """
    instant: Any = select_one_row(spark, "timestamp_seconds(id) AS at")
    return "AS Timestamp(" in instant.selectExpr("CAST(at AS TIMESTAMP)")._explain_string()


def casts_in_utc(spark: SparkSession) -> bool:
    """Return whether a CAST to a local time gives the time in UTC, not in the session's time zone.

    Runs a query each time, because the session's time zone can change.
    """
    return holds_on_some_day(spark, "hour(at) <> hour(CAST(at AS TIMESTAMP_NTZ))")


def negates_to_scale_ten(spark: SparkSession) -> bool:
    """Return whether a negated decimal keeps its digits but has the scale 10: see `negation`.

    Runs a query each time, because the result depends on ANSI mode.
    """
    negated = "CAST(- CAST(id + 1 AS DECIMAL(2, 1)) AS DOUBLE)"
    return bool(select_one_row(spark, f"{negated} > -0.5D").collect()[0][0])


def adds_hours_for_days(spark: SparkSession) -> bool:
    """Return whether one day later is always 24 hours later, even if the zone's clocks change.

    Runs a query each time, because the session's time zone can change.
    """
    return holds_on_some_day(spark, "hour(at + INTERVAL 1 DAY) <> hour(at)")


def holds_on_some_day(spark: SparkSession, condition: str) -> bool:
    """Return whether a condition holds for some instant `at`: the midnights of many days in UTC."""
    days = spark.range(DAYS_TO_TRY).selectExpr(
        "CAST(timestamp_seconds(86400 * id) AS TIMESTAMP) AS at"
    )
    return bool(days.where(condition).limit(1).count())
