"""Window functions beside MATCH_RECOGNIZE in Snowflake's SQL."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import matchrec
from tests.spark.dialects.documented import answer, make_tables


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> None:
    """The tables of the documented examples."""
    make_tables(spark, "snowflake")


def test_window_functions_around_the_clause_stay(spark: SparkSession) -> None:
    query = """SELECT company, LAG(s) OVER (PARTITION BY company ORDER BY s) AS before
        FROM stock_price_history MATCH_RECOGNIZE (PARTITION BY company ORDER BY price_date
        MEASURES SUM(price) AS s
        PATTERN (low up) DEFINE low AS price < 31, up AS price > LAG(price))
        ORDER BY company, s"""
    assert answer(spark, query, "snowflake") == ["ABCD -", "XYZ -", "XYZ 61"]


def test_frames_in_measures_are_refused(spark: SparkSession) -> None:
    query = """SELECT * FROM stock_price_history MATCH_RECOGNIZE (ORDER BY price_date
        MEASURES AVG(price) OVER (ROWS 2 PRECEDING) AS m PATTERN (a) DEFINE a AS TRUE)"""
    with pytest.raises(matchrec.MatchRecognizeError, match="OVER in MEASURES"):
        matchrec.sql(spark, query, dialect="snowflake")
