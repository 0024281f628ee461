"""What the pages of Databricks say of MATCH_RECOGNIZE (Beta); rows derived by hand from them.

Sources: "MATCH_RECOGNIZE clause", its DEFINE, MEASURES and PATTERN clauses, and its functions.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

import matchrec
from tests.spark.dialects.printed import answer, table


@pytest.fixture(scope="module", autouse=True)
def ticker(spark: SparkSession) -> Iterator[None]:
    """Prices with one V, 12 10 9 11 13, and a fall."""
    prices = [12, 10, 9, 11, 13, 8]
    rows = [("ACME", day, price) for day, price in enumerate(prices, 1)]
    frame = spark.createDataFrame(rows, "symbol string, tstamp int, price int")
    frame.createOrReplaceTempView("ticker")
    yield
    spark.catalog.dropTempView("ticker")


V_SHAPE = """
SELECT * FROM ticker MATCH_RECOGNIZE (
  PARTITION BY symbol
  ORDER BY tstamp
  MEASURES
    FIRST(strt.tstamp) AS start_tstamp,
    LAST(down.tstamp) AS bottom_tstamp,
    LAST(up.tstamp) AS end_tstamp,
    count(down.price) AS falls,
    match_number() AS m
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (strt down+ up+)
  DEFINE
    down AS down.price < PREV(down.price),
    up AS up.price > PREV(up.price)
)
"""


def test_one_row_per_match(spark: SparkSession) -> None:
    assert answer(spark, V_SHAPE, "databricks") == table("""
        symbol | start_tstamp | bottom_tstamp | end_tstamp | falls | m
        ACME   | 1            | 3             | 5          | 2     | 1
        """)


ALL_ROWS = """
SELECT * FROM ticker MATCH_RECOGNIZE (
  PARTITION BY symbol
  ORDER BY tstamp
  MEASURES
    classifier() AS role,
    LAST(down.tstamp) AS last_down,
    FIRST(price, 1) AS second,
    NEXT(price) AS next_price,
    avg(price) AS mean,
    count(*) AS n
  ALL ROWS PER MATCH SHOW EMPTY MATCHES
  PATTERN (strt down+ up+)
  DEFINE
    down AS price < match_recognize_prev(price),
    up AS price > match_recognize_last(price, 1)
)
"""


def test_navigation_is_of_the_row_and_aggregates_are_of_the_match(spark: SparkSession) -> None:
    # columns of the table, then measures; "Aggregate functions compute over the rows that
    # participate in the match"
    assert answer(spark, ALL_ROWS, "databricks") == table("""
        symbol | tstamp | price | role | last_down | second | next_price | mean | n
        ACME   | 1      | 12    | STRT | NULL      | NULL   | 10         | 11.0 | 5
        ACME   | 2      | 10    | DOWN | 2         | 10     | 9          | 11.0 | 5
        ACME   | 3      | 9     | DOWN | 3         | 10     | 11         | 11.0 | 5
        ACME   | 4      | 11    | UP   | 3         | 10     | 13         | 11.0 | 5
        ACME   | 5      | 13    | UP   | 3         | 10     | 8          | 11.0 | 5
        """)


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("^ low high", ["1 2"]),
        ("high low $", ["5 6"]),
        ("PERMUTE(low, high) low", ["1 3", "4 6"]),
        ("low{2} | high{2,}", ["3 4"]),
        ("high{,1} low low", ["2 4"]),
        ("( high | low low )+", ["2 5"]),
    ],
)
def test_patterns(spark: SparkSession, pattern: str, found: list[str]) -> None:
    # the rows are low, high, low, low, high, low
    query = f"""SELECT f, l FROM (SELECT tstamp, price IN (12, 9, 11, 8) AS is_low FROM ticker)
        MATCH_RECOGNIZE (ORDER BY tstamp MEASURES FIRST(tstamp) AS f, LAST(tstamp) AS l
        PATTERN ({pattern}) DEFINE low AS is_low, high AS NOT is_low)"""
    assert [" ".join(row) for row in answer(spark, query, "databricks")[1:]] == found


def test_empty_matches_are_named(spark: SparkSession) -> None:
    query = V_SHAPE.replace("strt down+ up+", "(strt down+ up+)?")
    with pytest.warns(UserWarning, match="Spark SQL finds empty matches, Databricks does not"):
        matchrec.sql(spark, query, dialect="databricks")
