"""What of BigQuery's SQL is refused, and its arrays of queries."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import matchrec
from tests.spark.dialects.documented import answer


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("SUM(x HAVING MAX y)", "HAVING MAX"),
        ("ARRAY_AGG(DISTINCT x ORDER BY x)", "distinct values with ORDER BY or LIMIT"),
        ("CAST(MAX(x) AS STRING FORMAT '9')", "no CAST with FORMAT: write TO_CHAR"),
        ("MAX(x + AVG(z) GROUP BY x)", "cannot read"),
        ("FIRST(MATCH_NUMBER() + x, 1)", r"MATCH_NUMBER\(\) in the argument of FIRST"),
    ],
)
def test_what_is_refused(spark: SparkSession, expression: str, message: str) -> None:
    query = f"""SELECT * FROM (SELECT 1 AS x) MATCH_RECOGNIZE (
        ORDER BY x MEASURES {expression} AS m PATTERN (a) DEFINE a AS TRUE)"""
    with pytest.raises(matchrec.MatchRecognizeError, match=message):
        matchrec.sql(spark, query, dialect="bigquery")


def test_an_error_after_a_pipe_points_at_the_query(spark: SparkSession) -> None:
    query = "FROM (SELECT 1 AS x)\n|> MATCH_RECOGNIZE (ORDER BY x MEASURES MAX(y) AS m\n"
    query += "PATTERN (a ( | a)) DEFINE a AS x > 0)"
    with pytest.raises(
        matchrec.MatchRecognizeError, match=r"unknown column `y`[^\n]*\n *line 2, column 45"
    ):
        matchrec.sql(spark, query, dialect="bigquery")


def test_arrays_of_queries_over_elements(spark: SparkSession) -> None:
    query = """SELECT
          ARRAY(SELECT v * 2 FROM UNNEST(xs) AS v WHERE v > 1 ORDER BY v DESC LIMIT 2) AS twice,
          ARRAY(SELECT AS STRUCT v, o FROM UNNEST(xs) v WITH OFFSET o ORDER BY o) AS places,
          (SELECT SUM(s.x) FROM UNNEST(steps) AS s WHERE s.r < 3) AS first_two
        FROM UNNEST([1, 3, 2]) AS x MATCH_RECOGNIZE (ORDER BY x
          MEASURES ARRAY_AGG(x ORDER BY x DESC) AS xs,
            ARRAY_AGG(STRUCT(x, MATCH_ROW_NUMBER() AS r)) AS steps
          PATTERN (a+) DEFINE a AS x > 0)"""
    assert answer(spark, query, "bigquery") == ["[6,4] [{3,0},{2,1},{1,2}] 3"]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT v FROM UNNEST([1]) AS v, UNNEST([2]) AS w",
        "SELECT o FROM UNNEST([1]) AS v WITH OFFSET AS o WHERE o > 1",
        "SELECT v FROM UNNEST([1]) AS v ORDER BY v + 1",
    ],
)
def test_other_arrays_of_queries_are_refused(spark: SparkSession, query: str) -> None:
    with pytest.raises(matchrec.MatchRecognizeError, match=r"no ARRAY\(SELECT"):
        matchrec.sql(spark, f"SELECT ARRAY({query}) AS a", dialect="bigquery")
