"""Double quotes are for strings by default, and for names if the session's settings say so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec import Pattern
from tests.properties.test_queries import settings

NAMES_IN_DOUBLE_QUOTES = {"ansi__enabled": "true", "ansi__doubleQuotedIdentifiers": "true"}
CLAUSE = """PARTITION BY "sym" ORDER BY "t s" DESC
  MEASURES A."my price" AS "My P", sum("B"."my price") AS "s", PREV("sym") AS p
  PATTERN (A "B") DEFINE "B" AS "B"."my price" > LAST(A."my price") AND "my price" < 9"""


@pytest.fixture
def ticks(spark: SparkSession) -> Iterator[DataFrame]:
    """Create the view `ticks`, and return it, in a session where double quotes are for names."""
    rows = [("X", 1, 9), ("X", 2, 8), ("X", 3, 5), ("Y", 1, 5), ("Y", 2, 6)]
    frame = spark.createDataFrame(rows, "sym string, `t s` int, `my price` int")
    frame.createOrReplaceTempView("ticks")
    with settings(spark, **NAMES_IN_DOUBLE_QUOTES):
        yield frame


def list_rows(frame: DataFrame) -> list[tuple[object, ...]]:
    """Return the rows of a DataFrame, sorted."""
    return sorted(tuple(row) for row in frame.collect())


@pytest.mark.parametrize("algorithm", ["backtracking", "breadth_first"])
def test_names_in_a_query(spark: SparkSession, ticks: DataFrame, algorithm: str) -> None:
    query = f'SELECT "m"."My P", "s", p FROM "ticks" "q" MATCH_RECOGNIZE ({CLAUSE}) AS "m"'
    assert list_rows(matchrec.sql(spark, query, options=matchrec.Options(algorithm=algorithm))) == [
        (5, 8, "X")
    ]
    assert list_rows(
        matchrec.match_recognize(ticks, CLAUSE, options=matchrec.Options(algorithm=algorithm))
    ) == [("X", 5, 8, "X")]


def test_a_column_in_double_quotes_is_output_once(spark: SparkSession, ticks: DataFrame) -> None:
    query = """SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY "sym" ORDER BY "t s"
      MEASURES 1 AS "one" ALL ROWS PER MATCH PATTERN (A) DEFINE A AS "my price" = 6)"""
    matches = matchrec.sql(spark, query)
    assert matches.columns == ["sym", "t s", "one", "my price"]
    assert list_rows(matches) == [("Y", 2, 1, 6)]


def test_names_after_enable(spark: SparkSession, ticks: DataFrame) -> None:
    matchrec.enable(spark)
    try:
        matches = spark.sql(f'SELECT "My P" FROM ticks MATCH_RECOGNIZE ({CLAUSE}) "m"')
    finally:
        matchrec.disable(spark)
    assert list_rows(matches) == [(5,)]


def test_names_in_events(ticks: DataFrame) -> None:
    pattern = Pattern.begin("a").where('"my price" > 5').next("b").where('last(a."my price") > 8')
    matches = matchrec.match_pattern(ticks, pattern, order_by='"t s"', partition_by='"sym"')
    assert [row["sym"] for row in matches.collect()] == ["X"]


def test_strings_of_sase_are_strings_in_each_session(ticks: DataFrame) -> None:
    text = 'PATTERN SEQ("X" a, ANY b) WHERE skip_till_any_match { b.sym = "Y" } RETURN b.sym AS s'
    matches = matchrec.match_sase(ticks, text, order_by='"t s"', type_column="sym")
    assert set(list_rows(matches)) == {("Y",)}


def test_the_setting_alone_does_nothing(spark: SparkSession, ticks: DataFrame) -> None:
    query = f"SELECT * FROM ticks MATCH_RECOGNIZE ({CLAUSE})"
    raises = pytest.raises(matchrec.MatchRecognizeError, match="double quotes are for strings")
    with settings(spark, ansi__enabled="false"), raises:
        matchrec.sql(spark, query)
