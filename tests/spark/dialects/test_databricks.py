"""Row patterns and empty matches as on the pages of Databricks."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import matchrec
from tests.spark.dialects.documented import make_tables, write_answer


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> None:
    """Create the tables of the documented examples."""
    make_tables(spark, "databricks")


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("^ low high", ["1 2"]),
        ("high low $", ["5 6"]),
        ("PERMUTE(low, high) low", ["1 3", "4 6"]),
        ("low{2} | high{2,}", ["3 4"]),
        ("high{,1} low low", ["2 4"]),
        ("( high | low low )+", ["2 5"]),
    ],
)
def test_patterns_give_the_rows_of_databricks(
    spark: SparkSession, pattern: str, expected: list[str]
) -> None:
    # The rows are low, high, low, low, high, low.
    query = f"""SELECT f, l FROM (SELECT tstamp, price IN (12, 9, 11, 8) AS is_low FROM ticker)
        MATCH_RECOGNIZE (ORDER BY tstamp MEASURES FIRST(tstamp) AS f, LAST(tstamp) AS l
        PATTERN ({pattern}) DEFINE low AS is_low, high AS NOT is_low)"""
    assert write_answer(spark, query, "databricks") == expected


def test_empty_matches_are_named(spark: SparkSession) -> None:
    query = """SELECT * FROM ticker MATCH_RECOGNIZE (ORDER BY tstamp
        MEASURES MATCH_NUMBER() AS m PATTERN ((strt down)?)
        DEFINE strt AS price > 12, down AS price < PREV(price))"""
    with pytest.warns(UserWarning, match="Spark SQL finds empty matches, and Databricks does not"):
        matchrec.sql(spark, query, dialect="databricks")
