"""Expressions of BigQuery that are rejected, and its arrays."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import matchrec
from tests.spark.dialects.documented import write_answer


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("SUM(x HAVING MAX y)", "HAVING MAX"),
        ("ARRAY_AGG(DISTINCT x ORDER BY x)", "distinct values with ORDER BY or LIMIT"),
        ("CAST(MAX(x) AS STRING FORMAT '9')", r"no CAST with FORMAT\n +help: write TO_CHAR"),
        ("MAX(x + AVG(z) GROUP BY x)", "not valid"),
        ("FIRST(MATCH_NUMBER() + x, 1)", r"MATCH_NUMBER\(\) in the argument of FIRST"),
    ],
)
def test_unsupported_expressions_are_rejected(
    spark: SparkSession, expression: str, message: str
) -> None:
    query = f"""SELECT * FROM (SELECT 1 AS x) MATCH_RECOGNIZE (
        ORDER BY x MEASURES {expression} AS m PATTERN (a) DEFINE a AS TRUE)"""
    with pytest.raises(matchrec.MatchRecognizeError, match=message):
        matchrec.sql(spark, query, dialect="bigquery")


def test_arrays_of_rows_and_structs_can_be_unnested(spark: SparkSession) -> None:
    query = """SELECT xs, (SELECT SUM(s.x) FROM UNNEST(steps) AS s WHERE s.r < 3) AS first_two
        FROM UNNEST([1, 3, 2]) AS x MATCH_RECOGNIZE (ORDER BY x
          MEASURES ARRAY_AGG(x ORDER BY x DESC) AS xs,
            ARRAY_AGG(STRUCT(x, MATCH_ROW_NUMBER() AS r)) AS steps
          PATTERN (a+) DEFINE a AS x > 0)"""
    assert write_answer(spark, query, "bigquery") == ["[3,2,1] 3"]
