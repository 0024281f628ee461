"""What of BigQuery's SQL is refused."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import matchrec


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("SUM(x HAVING MAX y)", "HAVING MAX"),
        ("ARRAY_AGG(DISTINCT x ORDER BY x)", "distinct values with ORDER BY or LIMIT"),
        ("DATE_DIFF(MAX(x), MIN(x), WEEK)", "a difference in units of SUNDAY"),
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
