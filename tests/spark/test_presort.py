"""The first sort: its number rises with the order, fails on no value, and changes no result."""

from __future__ import annotations

import random
from itertools import pairwise
from unittest.mock import patch

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.spark.before import columns
from matchrec.spark.before.presort import presorting
from tests.properties.test_queries import settings

pytestmark = pytest.mark.one_of(2)

RISING = {
    "TINYINT": ["-128", "-1", "0", "127"],
    "BIGINT": ["-9223372036854775808", "-1", "0", "1700000000000", "9223372036854775807"],
    "DATE": ["'0001-01-01'", "'1969-12-31'", "'2024-02-29'", "'9999-12-31'"],
    "TIMESTAMP": ["'0001-01-01'", "'2024-02-29 12:00:00'", "'2024-02-29 12:00:00.000001'"],
    "TIMESTAMP_NTZ": ["'0001-01-01'", "'2024-02-29 12:00:00'", "'2024-02-29 12:00:00.000001'"],
    "DECIMAL(38, 3)": ["-5.5", "-5.499", "0", "1700000000.123", "1700000000.124"],
    "DOUBLE": ["-5.5", "-5.499", "0", "1700000000.123", "1700000000.124"],
}
WITHOUT_NUMBER = {
    "DOUBLE": ["'-Infinity'", "'Infinity'", "'NaN'", "1e300", "-1e300", "NULL"],
    "DECIMAL(38, 0)": ["99999999999999999999999999999999999999", "NULL"],
    "TIMESTAMP": ["NULL"],
    "DATE": ["NULL"],
}


def rows_of(spark: SparkSession, kind: str, values: list[str]) -> DataFrame:
    """Columns `k`, `o` of a type, and `other`."""
    listed = ", ".join(f"('k', CAST({value} AS {kind}), {i})" for i, value in enumerate(values))
    return spark.sql(f"SELECT * FROM VALUES {listed} AS t(k, o, other)")


def numbers(rows: DataFrame, keys: list[str], *, descending: bool) -> list[int]:
    """The number of each row."""
    kind = rows.schema["o"].dataType
    text = presorting(keys, ["o", "other"], kind, descending)
    with settings(rows.sparkSession, **{"ansi.enabled": "true"}):
        return [row[0] for row in rows.selectExpr(f"{text} AS n", "other").sort("other").collect()]


@pytest.mark.parametrize("kind", RISING)
def test_the_number_rises_with_the_order(spark: SparkSession, kind: str) -> None:
    rows = rows_of(spark, kind, RISING[kind])
    whole = numbers(rows, [], descending=False)
    assert whole == sorted(set(whole))
    falling = numbers(rows, [], descending=True)
    assert falling == sorted(set(falling), reverse=True)


def test_rows_of_a_key_stay_together(spark: SparkSession) -> None:
    rows = spark.sql("SELECT CAST(id % 50 AS STRING) AS k, id AS o, id AS other FROM range(1000)")
    found = numbers(rows, ["k"], descending=False)
    keys = [number % 50 for _, number in sorted((one, i) for i, one in enumerate(found))]
    changes = sum(1 for before, key in pairwise(keys) if before != key)
    assert changes == 49


@pytest.mark.parametrize("kind", WITHOUT_NUMBER)
def test_no_value_fails(spark: SparkSession, kind: str) -> None:
    rows = rows_of(spark, kind, WITHOUT_NUMBER[kind])
    for keys in ([], ["k"]):
        for descending in (False, True):
            assert None not in numbers(rows, keys, descending=descending)


def test_where_a_first_sort_would_not_help(spark: SparkSession) -> None:
    text = spark.sql("SELECT 'a' AS o").schema["o"].dataType
    number = spark.sql("SELECT 1 AS o").schema["o"].dataType
    assert presorting([], ["o"], number, False) is None
    assert presorting([], ["o", "other"], text, False) is None
    assert presorting(["k"], ["o"], text, False) is not None


ORDERS = ["t", "t DESC", "x, t DESC", "s, t", "ts DESC, t", "date_add(DATE'2020-01-01', t)"]


@pytest.mark.parametrize("order", ORDERS)
def test_the_rows_are_the_same_without_it(spark: SparkSession, order: str) -> None:
    chance = random.Random(7)
    values = [
        (
            chance.choice(["a", "b", None, ""]),
            number,
            chance.choice([None, float("nan"), 1e300, -0.5, 2.5]),
            chance.choice(["x", "y", None]),
            chance.randrange(9),
        )
        for number in chance.sample(range(400), 400)
    ]
    rows = spark.createDataFrame(values, "k string, t int, x double, s string, v int")
    rows = rows.selectExpr("*", "timestamp_seconds(t DIV 3) AS ts").repartition(3)
    clause = f"""PARTITION BY k, v % 2 ORDER BY {order}
        MEASURES FIRST(t) AS a, LAST(t) AS b, count(*) AS n ALL ROWS PER MATCH
        PATTERN (A B+) DEFINE B AS v >= PREV(v)"""
    found = matchrec.match_recognize(rows, clause)
    with patch.object(columns, "presorting", return_value=None):
        expected = matchrec.match_recognize(rows, clause)
    assert sorted(map(str, found.collect())) == sorted(map(str, expected.collect()))
    assert found.count() > 100
