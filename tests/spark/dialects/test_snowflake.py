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


def test_an_alias_of_select_is_known_in_where(spark: SparkSession) -> None:
    query = """WITH highs AS (
            SELECT company, price_date, price, price - 50 AS above, above / 10 AS tens
            FROM stock_price_history WHERE tens > 1 OR price < 31)
        SELECT company, COUNT(*) AS n, UPPER(LEFT(company, 1)) AS initial
        FROM highs MATCH_RECOGNIZE (PARTITION BY company ORDER BY price_date
            MEASURES COUNT(*) AS many PATTERN (a+) DEFINE a AS TRUE)
        WHERE initial = 'A' AND many > 0 GROUP BY company, initial"""
    assert answer(spark, query, "snowflake") == ["ABCD 1 A"]


def test_a_column_hides_an_alias_of_its_name_in_where(spark: SparkSession) -> None:
    query = """SELECT LEFT(company, 1) AS company, MAX(price) AS price FROM stock_price_history
        WHERE company = 'XYZ' AND price > 80 GROUP BY ALL"""
    assert answer(spark, query, "snowflake") == answer(
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
    assert answer(spark, query, "snowflake") == rows


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "SELECT CONDITIONAL_CHANGE_EVENT(price) OVER (ORDER BY price_date) AS e FROM {}",
            "no CONDITIONAL_CHANGE_EVENT: write LAG",
        ),
        ("SELECT TIME_SLICE(price_date, 2, 'WEEK') AS s FROM {}", "no TIME_SLICE of several weeks"),
        ("SELECT ARRAY_SLICE(ARRAY_CONSTRUCT(1), -2, -1) AS a", "no ARRAY_SLICE but"),
    ],
)
def test_functions_that_are_refused(spark: SparkSession, query: str, message: str) -> None:
    with pytest.raises(matchrec.MatchRecognizeError, match=message):
        matchrec.sql(spark, query.format("stock_price_history"), dialect="snowflake")


def test_counts_of_a_pivot_are_noted(spark: SparkSession) -> None:
    query = """SELECT * FROM (SELECT company, price FROM stock_price_history)
        PIVOT (COUNT(price) FOR company IN ('ABCD', 'none'))"""
    with pytest.warns(UserWarning, match="COUNT in PIVOT of no rows is NULL in Spark SQL, and 0"):
        assert answer(spark, query, "snowflake") == ["10 -"]


CLAUSE = """stock_price_history MATCH_RECOGNIZE (PARTITION BY company ORDER BY price_date
    MEASURES ARRAY_AGG(price) AS prices, COUNT(*) AS n, FIRST(price_date) AS since
    PATTERN (low up+) DEFINE low AS price < 31, up AS price > LAG(price))"""


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        (
            f"""SELECT company, f.index AS i, f.value AS p
            FROM {CLAUSE} m, LATERAL FLATTEN(input => m.prices) f WHERE i = 2""",
            ["ABCD 2 71", "XYZ 2 63"],
        ),
        (
            f"""SELECT YEAR(since) AS y, y + 1 AS z, SUM(n) AS s, s / COUNT(*) AS mean
            FROM {CLAUSE} GROUP BY 1, 2""",
            ["2020 2021 10 3.333333333"],
        ),
        (
            f"""SELECT company, since, ROUND(RATIO_TO_REPORT(n) OVER (PARTITION BY company), 1) AS r
            FROM {CLAUSE} WHERE n = 4 OR company = 'ABCD'""",
            ["ABCD 2020-10-05 1", "XYZ 2020-10-02 1"],
        ),
        (
            "SELECT $1 AS a, v.column2 AS b FROM VALUES (1, 'p'), (2, 'q') v WHERE a > 1",
            ["2 q"],
        ),
        (
            """SELECT * FROM (SELECT SEQ4() AS id FROM TABLE(GENERATOR(ROWCOUNT => 7)))
            MATCH_RECOGNIZE (ORDER BY id MEASURES SUM(id) AS s PATTERN (a{3}) DEFINE a AS TRUE)""",
            ["3", "12"],
        ),
        (
            """SELECT TIME_SLICE(since, 2, 'DAY') AS s, TIME_SLICE(since, 1, 'WEEK', 'END') AS e,
            TIME_SLICE(since::TIMESTAMP, 15, 'YEAR') AS y,
            TIME_SLICE('1968-02-28 01:23:45'::TIMESTAMP_NTZ, 15, 'MINUTE') AS m
            FROM (SELECT MAX(since) AS since FROM CLAUSE)""".replace("CLAUSE", CLAUSE),
            ["2020-10-09 2020-10-12 2015-01-01 00:00:00 1968-02-28 01:15:00"],
        ),
        (
            """SELECT ARRAY_AGG(e) WITHIN GROUP (ORDER BY d) AS es FROM (
            SELECT d, CONDITIONAL_TRUE_EVENT(p > 1) OVER (ORDER BY d) AS e
            FROM VALUES (1, 1, 5), (2, 1, 9), (3, 1, 1), (4, 1, NULL), (5, 1, 7) AS t(x, d, p))""",
            ["[1,2,2,2,3]"],
        ),
        (
            """SELECT TO_NUMBER('12.6') AS a, TO_NUMBER('12.64', 10, 1) AS b,
            TRY_TO_NUMBER('x') AS c, REGEXP_SUBSTR('a1b22', '[0-9]+', 1, 2) AS d,
            REGEXP_SUBSTR('a1', '[0-9]+', 1, 2) AS e""",
            ["13 12.6 - 22 -"],
        ),
    ],
)
def test_tables_and_functions_around_the_clause(
    spark: SparkSession, query: str, rows: list[str]
) -> None:
    assert sorted(answer(spark, query, "snowflake"), key=rows.index) == rows
