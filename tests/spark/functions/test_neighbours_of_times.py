"""Conditions on times of two rows of a run hold for the pairs that a self-join finds."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.quick.scale import some_of
from tests.spark.functions.neighbours import check_conditions

TIMES = (
    "2020-03-07 20:30:00", "2020-03-08 07:30:00.123456", "2020-03-08 23:59:59.999999", None,
    "2020-03-29 01:30:00", "2020-10-25 00:30:00", "2020-10-25 01:30:00", "2020-11-01 05:30:00",
    "2020-12-31 23:00:00", "2021-02-28 12:00:00", "2021-03-31 12:00:00", "2024-02-29 00:00:00",
)  # fmt: skip
INSTANTS = (
    "timestampdiff(HOUR, A.t, B.t) > 20",
    "timestampdiff(MONTH, A.t, B.t) = 1",
    "datediff(DAY, A.t, B.t) > 1",
    "datediff(B.t + INTERVAL '1' HOUR, A.t) = 1",
    "datediff(greatest(A.t, B.t), least(A.t, B.t)) > 60",
    "A.t + (B.t - A.t) = B.t",
    "B.t - A.t > INTERVAL '23' HOUR",
    "greatest(A.t, B.t) - A.t > INTERVAL '23' HOUR",
    "A.t + B.i * INTERVAL '1' DAY > B.t",
    "A.t + INTERVAL '1' MONTH > B.t",
    "date_add(A.d, B.i) >= B.d",
    "date_sub(A.d, B.i) >= B.d",
    "unix_millis(B.t) - unix_millis(A.t) > 86400000",
    "to_date(greatest(A.t, B.t)) = B.d",
    "CAST(greatest(A.t, B.t) AS DATE) = B.d",
    "CAST(greatest(A.d, B.d) AS TIMESTAMP) <= B.t",
    "(B.t - A.t) * 2 > INTERVAL '2' DAY",
    "2 * (B.t - A.t) > INTERVAL '2' DAY",
    "(B.t - A.t) / 2 > INTERVAL '2' DAY",
    "1.5 * (B.t - A.t) > INTERVAL '2' DAY",
    "(A.t - B.t) * 0.007 < INTERVAL '-1.234567' SECOND",
    "(B.t - A.t) * B.i / 7 > INTERVAL '2' DAY",
    "(A.t - B.t) / -0.03 > INTERVAL '2' DAY",
    "abs(A.t - B.t) > INTERVAL '2' DAY",
    "A.d < B.t",
    "B.t = A.d OR B.d <> A.t",
    "A.d BETWEEN A.t AND B.t",
    "A.t BETWEEN A.d AND B.d",
    "B.t IN (A.d, A.t)",
    "coalesce(A.t, B.d) > B.d",
    "greatest(A.d, B.t) > A.t",
    "CASE WHEN B.i > 0 THEN A.d ELSE B.t END >= B.t",
    "nullif(A.d, B.t) IS NULL",
    "to_date(A.t) <=> B.t",
    "B.t - A.d > INTERVAL '10' HOUR",
    "B.d - A.t > INTERVAL '10' HOUR",
    "B.t - A.d = B.t - CAST(A.d AS TIMESTAMP)",
    "B.d - A.t < CAST(B.d AS TIMESTAMP) - A.t",
    "(B.t - A.d) / 2 < INTERVAL '10' DAY",
)
LOCAL_TIMES = (
    "timestampdiff(HOUR, A.l, B.l) > 20",
    "A.l + INTERVAL '1' DAY > B.l",
    "CAST(greatest(A.l, B.l) AS TIMESTAMP) = B.t",
    "datediff(B.l, greatest(A.l, A.l)) > 1",
    "greatest(A.l, B.l) - INTERVAL '1' HOUR > A.l",
    "A.d < B.l",
    "A.l <=> B.d",
    "A.t < B.l",
    "B.l BETWEEN A.t AND B.t",
    "coalesce(A.l, B.t) >= B.d",
    "A.d IN (B.l, B.t)",
    "B.l - A.d > INTERVAL '10' HOUR",
    "B.l - A.t > INTERVAL '10' HOUR",
    "B.t - A.l > INTERVAL '10' HOUR",
    "B.t - A.l = B.t - CAST(A.l AS TIMESTAMP)",
)


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    numbered = [(id_, text, id_ % 4 - 1) for id_, text in enumerate(TIMES)]
    frame = spark.createDataFrame(numbered, "id INT, text STRING, i INT")
    return frame.selectExpr(
        "id", "i", "CAST(text || 'Z' AS TIMESTAMP) AS t", "CAST(text AS TIMESTAMP_NTZ) AS l",
        "CAST(text AS DATE) AS d",
    )  # fmt: skip


@pytest.mark.parametrize("zone", some_of(["America/New_York", "UTC", "Europe/Berlin"]))
def test_conditions_on_neighbouring_instants_are_as_in_spark(
    spark: SparkSession, rows: DataFrame, zone: str
) -> None:
    check_conditions(spark, rows, INSTANTS, zone=zone)


def test_conditions_on_neighbouring_local_times_are_as_in_spark(
    spark: SparkSession, rows: DataFrame
) -> None:
    check_conditions(spark, rows, LOCAL_TIMES, zone="America/New_York")
