"""A query whose text was parsed before uses the current input, values and settings."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import matchrec

FALLS = """
    SELECT * FROM {rows} MATCH_RECOGNIZE (
        ORDER BY day MEASURES LAST(price) AS lowest
        PATTERN (DOWN+) DEFINE DOWN AS price < PREV(price))"""


def test_the_input_has_another_type(spark: SparkSession) -> None:
    results = []
    for values in ("(1, 10), (2, 9)", "(1, '10'), (2, '9'), (3, '8')"):
        rows = spark.sql(f"SELECT * FROM VALUES {values} AS t(day, price)")
        result = matchrec.sql(spark, FALLS, rows=rows)
        results.append((result.schema["lowest"].dataType.typeName(), result.collect()))
    assert results == [("integer", [(9,)]), ("string", [("8",)])]


def test_a_view_is_replaced(spark: SparkSession) -> None:
    text = FALLS.replace("{rows}", "replaced_view")
    lowest = []
    for values in ("(1, 10), (2, 9)", "(1D, 5.5), (2D, 4.5)"):
        rows = spark.sql(f"SELECT * FROM VALUES {values} AS t(day, price)")
        rows.createOrReplaceTempView("replaced_view")
        lowest.append(str(matchrec.sql(spark, text).collect()[0][0]))
    assert lowest == ["9", "4.5"]


def test_a_column_is_missing(spark: SparkSession) -> None:
    rows = spark.sql("SELECT * FROM VALUES (1, 10), (2, 9) AS t(day, price)")
    assert matchrec.sql(spark, FALLS, rows=rows).count() == 1
    for _ in range(2):  # the second error also has its location
        with pytest.raises(matchrec.MatchRecognizeError, match=r"line 4, column 40"):
            matchrec.sql(spark, FALLS, rows=rows.drop("price"))


def test_values_differ(spark: SparkSession) -> None:
    rows = spark.sql("SELECT * FROM VALUES (1), (2), (3) AS t(day)")
    clause = "ORDER BY day MEASURES COUNT(*) AS n PATTERN (A{:count}) DEFINE A AS day > :least"
    counts = [
        [row.n for row in matchrec.match_recognize(rows, clause, args).collect()]
        for args in ({"count": 1, "least": 1}, {"count": 2, "least": 1}, {"count": 1, "least": 2})
    ]
    assert counts == [[1, 1], [2], [1]]
    with pytest.raises(matchrec.MatchRecognizeError, match="count"):
        matchrec.match_recognize(rows, clause)
