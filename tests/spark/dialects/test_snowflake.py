"""Window functions and other functions around the clause in Snowflake's SQL."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import matchrec
from tests.spark.dialects.documented import make_tables, write_answer


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> None:
    """Create the tables of the documented examples."""
    make_tables(spark, "snowflake")


def test_window_functions_around_the_clause_stay(spark: SparkSession) -> None:
    query = """SELECT company, LAG(s) OVER (PARTITION BY company ORDER BY s) AS before
        FROM stock_price_history MATCH_RECOGNIZE (PARTITION BY company ORDER BY price_date
        MEASURES SUM(price) AS s
        PATTERN (low up) DEFINE low AS price < 31, up AS price > LAG(price))
        ORDER BY company, s"""
    assert write_answer(spark, query, "snowflake") == ["ABCD -", "XYZ -", "XYZ 61"]


def test_frames_in_measures_are_refused(spark: SparkSession) -> None:
    query = """SELECT * FROM stock_price_history MATCH_RECOGNIZE (ORDER BY price_date
        MEASURES AVG(price) OVER (ROWS 2 PRECEDING) AS m PATTERN (a) DEFINE a AS TRUE)"""
    with pytest.raises(matchrec.MatchRecognizeError, match="OVER is not allowed in MEASURES"):
        matchrec.sql(spark, query, dialect="snowflake")


def test_a_column_hides_an_alias_of_its_name_in_where(spark: SparkSession) -> None:
    query = """SELECT LEFT(company, 1) AS company, MAX(price) AS price FROM stock_price_history
        WHERE company = 'XYZ' AND price > 80 GROUP BY ALL"""
    assert write_answer(spark, query, "snowflake") == write_answer(
        spark, "SELECT 'X', MAX(price) FROM stock_price_history WHERE company = 'XYZ'", "spark"
    )


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        (
            """SELECT * FROM stock_price_history
            QUALIFY ROW_NUMBER() OVER (PARTITION BY company ORDER BY price DESC) = 1
            ORDER BY price LIMIT 1""",
            ["ABCD 2020-10-08 80"],
        ),
        (
            """SELECT DISTINCT company, RANK() OVER (ORDER BY price) AS r FROM stock_price_history
            QUALIFY r <= 2 ORDER BY r DESC LIMIT 1""",
            ["ABCD 2"],
        ),
        (
            """SELECT UPPER(company) FROM stock_price_history WHERE price > 70
            QUALIFY COUNT(*) OVER (PARTITION BY company) > 1 ORDER BY price LIMIT 2""",
            ["ABCD", "ABCD"],
        ),
    ],
)
def test_qualify_comes_before_distinct_order_and_limit(
    spark: SparkSession, query: str, rows: list[str]
) -> None:
    assert write_answer(spark, query, "snowflake") == rows


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "SELECT CONDITIONAL_CHANGE_EVENT(price) OVER (ORDER BY price_date) AS e FROM {}",
            r"no CONDITIONAL_CHANGE_EVENT\n +help: write LAG",
        ),
        ("SELECT TIME_SLICE(price_date, 2, 'WEEK') AS s FROM {}", "of this TIME_SLICE"),
        ("SELECT ARRAY_SLICE(ARRAY_CONSTRUCT(1), -2, -1) AS a", "of this ARRAY_SLICE"),
    ],
)
def test_functions_that_are_refused(spark: SparkSession, query: str, message: str) -> None:
    with pytest.raises(matchrec.MatchRecognizeError, match=message):
        matchrec.sql(spark, query.format("stock_price_history"), dialect="snowflake")


def test_counts_of_a_pivot_are_noted(spark: SparkSession) -> None:
    query = """SELECT * FROM (SELECT company, price FROM stock_price_history)
        PIVOT (COUNT(price) FOR company IN ('ABCD', 'none'))"""
    with pytest.warns(UserWarning, match="COUNT over no rows is NULL in Spark.s PIVOT, and 0"):
        assert write_answer(spark, query, "snowflake") == ["10 -"]


def test_texts_become_numbers_as_in_snowflake(spark: SparkSession) -> None:
    query = """SELECT TO_NUMBER('12.6') AS a, TO_NUMBER('12.64', 10, 1) AS b,
        TRY_TO_NUMBER('x') AS c"""
    assert write_answer(spark, query, "snowflake") == ["13 12.6 -"]
