"""Several clauses over the same rows: `explain` says what Spark does, which its own plan shows."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import matchrec
from tests.properties.test_queries import settings
from tests.spark.test_rule_sets import plan_of

FALL = "PATTERN (A B+) DEFINE B AS price < PREV(price)"
TURN = "PATTERN (A B C) DEFINE B AS price < PREV(price), C AS price > PREV(price)"
ABOVE = "PATTERN (A B) DEFINE B AS price < PREV(price), A AS price > 3"
KEYS = "PARTITION BY sym ORDER BY day"


@pytest.mark.parametrize(("second", "shared"), [(TURN, True), (ABOVE, False)])
def test_clauses_share_a_shuffle_where_explain_says_so(
    spark: SparkSession, second: str, shared: bool
) -> None:
    rows = spark.range(10, numPartitions=2)
    rows = rows.selectExpr("id % 2 AS sym", "id AS day", "id * 7 % 5 AS price")
    rows.createOrReplaceTempView("p")
    one, other = (
        f"p MATCH_RECOGNIZE ({KEYS} MEASURES LAST(price) AS x {text})" for text in (FALL, second)
    )
    query = f"SELECT * FROM {one} AS a CROSS JOIN {other} AS b"
    with settings(spark, adaptive__enabled="false", shuffle__partitions="2"):
        plan = plan_of(matchrec.sql(spark, query))
        explained = str(matchrec.explain(spark, query))
    assert ("ReusedExchange" in plan) is shared
    assert ("with the shuffle of clause 1:" in explained) is shared
    assert ("with a shuffle of its own:" in explained) is not shared
