"""SQL of Trino that means something else in Spark SQL is noted or rejected."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import matchrec
from tests.spark.dialects.documented import write_answer

VALUES = "(VALUES (1, 90), (2, 80), (3, 70), (4, 80)) t(id, value)"


def write_query(table: str, clause: str) -> str:
    """Return a query of all columns of a clause."""
    return f"SELECT m.* FROM {table} MATCH_RECOGNIZE (ORDER BY id {clause}) AS m"


def test_order_in_an_aggregate(spark: SparkSession) -> None:
    clause = "MEASURES array_agg(id ORDER BY id DESC) AS x PATTERN (A+) DEFINE A AS true"
    (row,) = matchrec.sql(spark, write_query(VALUES, clause), dialect="trino").collect()
    assert len(row["x"]) > 1
    assert row["x"] == sorted(row["x"], reverse=True)


def test_a_quotient_of_unknown_columns_is_named(spark: SparkSession) -> None:
    query = write_query(VALUES, "MEASURES LAST(value) AS v PATTERN (A+) DEFINE A AS true")
    with pytest.warns(UserWarning, match="the quotient of two integers is an integer in Trino"):
        matchrec.sql(spark, f"SELECT v / n FROM ({query}), (VALUES 2) AS u(n)", dialect="trino")
    query_with_types = f"SELECT v / n FROM ({query}), (SELECT 30 AS n)"
    assert write_answer(spark, query_with_types, "trino") == ["2"]


def test_an_average_of_decimals_is_named(spark: SparkSession) -> None:
    query = write_query(VALUES, "MEASURES avg(value {}) AS x PATTERN (A+) DEFINE A AS true")
    with pytest.warns(UserWarning, match="AVG of decimals keeps their number of digits in Trino"):
        matchrec.sql(spark, query.format("* 1.5"), dialect="trino")
    assert write_answer(spark, query.format("* 1"), "trino") == ["80"]


def test_a_key_that_is_written_twice_is_named(spark: SparkSession) -> None:
    query = write_query(VALUES, "ALL ROWS PER MATCH PATTERN (A+) DEFINE A AS true")
    with pytest.warns(UserWarning, match="gives two columns in Trino, and one in Spark SQL"):
        matchrec.sql(spark, query.replace("ORDER BY id", "ORDER BY id, ID"), dialect="trino")


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("FINAL abs(LAST(value))", "FINAL is not allowed before abs"),
        ("FINAL round(sum(value))", "FINAL is not allowed before round"),
        (
            "FINAL mod(LAST(value), 2)",
            "FINAL is allowed before FIRST, LAST, CLASSIFIER and aggregates",
        ),
    ],
)
def test_final_is_allowed_only_before_functions_of_rows(
    spark: SparkSession, measure: str, message: str
) -> None:
    """FINAL is allowed in the same positions as in Trino."""
    clause = "MEASURES {} AS x ALL ROWS PER MATCH PATTERN (A+) DEFINE A AS true"
    with pytest.raises(matchrec.MatchRecognizeError, match=message):
        matchrec.sql(spark, write_query(VALUES, clause.format(measure)), dialect="trino")


def test_final_before_an_aggregate_that_spark_writes_out(spark: SparkSession) -> None:
    measure = "MEASURES FINAL array_agg(value) AS x"
    clause = f"{measure} ALL ROWS PER MATCH PATTERN (A+) DEFINE A AS true"
    collected = matchrec.sql(spark, write_query(VALUES, clause), dialect="trino")
    assert {tuple(row["x"]) for row in collected.collect()} == {(90, 80, 70, 80)}
