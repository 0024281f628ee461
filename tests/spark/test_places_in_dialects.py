"""Errors point to the right place after a form that only one product has."""

from __future__ import annotations

import warnings

import pytest
from pyspark.sql import SparkSession

import matchrec
from tests.spark.dialects.documented import write_answer

BIGQUERY = """SELECT m.p FROM steps MATCH_RECOGNIZE ( # not )
  ORDER BY ts # '
  MEASURES LAST(price) AS p, LAST(low.price) AS q
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (any_row # it's ( the first | one
    low+ /* # */ -- #
    | # and nothing else )
  )
  DEFINE any_row AS note <> '#', low AS low.price < 100 # more
  OPTIONS (use_longest_match = TRUE)
) AS m WHERE m.q > 0"""
SNOWFLAKE = """SELECT m.p FROM steps MATCH_RECOGNIZE ( // not )
  ORDER BY ts // '
  MEASURES LAST(price) AS p, LAST(low.price) AS q
  PATTERN (any_row // it's ( the first | one
    low+ /* // */ -- //
  )
  DEFINE any_row AS note <> '//', low AS low.price < 100 // more
) AS m WHERE m.q > 0"""
AZURE = """SELECT m.p FROM [steps] TIMESTAMP BY ts MATCH_RECOGNIZE (
  LIMIT DURATION (minute, 5)
  PARTITION BY sym
  MEASURES LAST(price) AS p, LAST([low].[price]) AS q
  AFTER MATCH SKIP TO NEXT ROW
  PATTERN ([any_row] . [low]+)
  DEFINE any_row AS [note] <> '#', low AS low.price < 100
) AS m WHERE m.q > 0"""
FLINK = """SELECT m.p FROM steps MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY $rowtime
  MEASURES LAST(price) AS p, LAST(low.price) AS q
  AFTER MATCH SKIP TO NEXT ROW
  PATTERN (any_row low+ other)
  DEFINE any_row AS note <> '#', low AS low.price < 100
) AS m WHERE m.q > 0"""
QUERIES = {"bigquery": BIGQUERY, "snowflake": SNOWFLAKE, "azure": AZURE, "flink": FLINK}

# The text to replace, a text with a mistake, and the text above the carets.
MISTAKES = [
    ("LAST(price)", "LAST(prise)", "prise"),
    ("low.price < 100", "low.prise < 100", "prise"),
    ("low.price < 100", "high.price < 100", "high"),
    ("low.price < 100", "low.price < MAX(PREV(price))", "PREV"),
    ("m.q > 0", "m.nosuch > 0", "m.nosuch"),
]


@pytest.fixture(autouse=True, scope="module")
def steps(spark: SparkSession) -> None:
    """Create the view `steps`."""
    spark.sql("""
        SELECT 'X' AS sym, ts, ts AS `$rowtime`, price, 'a' AS note FROM VALUES
            (TIMESTAMP'2024-01-01 00:00:01', 120), (TIMESTAMP'2024-01-01 00:00:02', 90),
            (TIMESTAMP'2024-01-01 00:00:03', 80), (TIMESTAMP'2024-01-01 00:00:04', 130)
            AS t(ts, price)
    """).createOrReplaceTempView("steps")


@pytest.mark.parametrize(("original", "mistake", "marked"), MISTAKES)
@pytest.mark.parametrize("dialect", QUERIES)
def test_an_error_has_its_location(
    spark: SparkSession, dialect: str, original: str, mistake: str, marked: str
) -> None:
    query = QUERIES[dialect]
    assert query.count(original) == 1
    query = query.replace(original, mistake)
    offset = query.index(mistake) + mistake.index(marked)
    line_number = query.count("\n", 0, offset) + 1
    line_start = query.rfind("\n", 0, offset) + 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(matchrec.MatchRecognizeError) as caught:
            matchrec.sql(spark, query, dialect=dialect)
    lines = str(caught.value).split("\n")
    location = f"  line {line_number}, column {offset - line_start + 1}"
    assert location in lines, str(caught.value)
    index = lines.index(location)
    line, carets = lines[index + 1 : index + 3]
    assert carets.strip("^ ") == ""
    assert line[carets.index("^") : len(carets)] == marked


@pytest.mark.filterwarnings("ignore::matchrec.warnings.MatchRecognizeWarning")
def test_comments_in_a_row_pattern_are_skipped(spark: SparkSession) -> None:
    """The longest match has all rows; the empty alternative in PATTERN is shorter."""
    assert write_answer(spark, BIGQUERY.replace("price < 100", "price < 500"), "bigquery") == [
        "130"
    ]
    assert write_answer(spark, BIGQUERY.replace("+ /*", "{1,2} /*"), "bigquery") == ["80"]
