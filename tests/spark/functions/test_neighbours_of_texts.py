"""Conditions on strings of two rows of a run hold for the pairs that a self-join finds."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.errors import MatchRecognizeUnsupportedError
from tests.spark.functions.neighbours import check_conditions

ROWS = [
    ("anna", "an", 1, 1.5, "1"),
    ("Anne", "e", 2, 2.25, "12"),
    ("hannah", "", -1, -3.0, " 7 "),
    (None, "nn", 3, 0.0, "x"),
    ("bob", None, None, 7.5, None),
    ("Bobby", "b", 10, None, "2.5"),
    ("robert", "o%", 127, 130.75, "130"),
    ("straße é", "s_ra", 0, 1e6, "-4"),
    ("STRASSE 😀", "😀", 5, -0.5, "0"),
    ("a,b,c", ",", 2, 99.0, "9"),
    ("anna", "an", 1, 1.5, "1"),
]


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    numbered = [(number, *row) for number, row in enumerate(ROWS)]
    return spark.createDataFrame(numbered, "id INT, s STRING, p STRING, i INT, d DOUBLE, n STRING")


TEXTS = (
    "levenshtein(A.s, B.s) < 4",
    "levenshtein(A.s, B.s, 2) = -1",
    "A.s || B.p = 'annae'",
    "concat(A.s, B.i, 'x', A.d > 1) LIKE '%2x%'",
    "upper(A.s) || upper(B.s) = 'ANNAANNE'",
    "B.s LIKE '%' || A.p || '%'",
    "lower(B.s) LIKE left(A.s, 2) || '%'",
    "B.s LIKE A.p || '%'",
    "B.s NOT LIKE '%' || A.p || '%'",
    "lower(B.s) LIKE 'a' || lower(A.p) || '_%'",
    "A.s LIKE B.p || '!%' ESCAPE '!'",
    "CASE WHEN A.s || B.s LIKE 'a%' THEN A.s || 'x' ELSE B.s END = 'annax'",
    "coalesce(A.s || B.p, 'none') = 'none'",
    "greatest(A.s || '', B.s) = B.s",
    "nullif(A.s || '', B.s) IS NULL",
    "A.s || B.p IN ('annae', A.s || 'b', 'zz')",
    "A.s || 'b' BETWEEN 'a' AND B.s",
    "A.s || B.p <=> NULL",
    "(A.s || '') <=> (B.s || '')",
    "NOT (A.s || B.p IS NOT NULL)",
    "A.s || B.p IS NULL OR length(A.p) + length(B.p) > 2",
    "split_part(A.s, ',', 2) || B.s = 'banna' OR A.p || B.p = 'ane'",
)
CASTS = (
    "CAST(A.i + B.i AS STRING) = '3'",
    "TRY_CAST(A.i || B.i AS INT) > 12",
    "(A.i || '.' || nullif(B.i, -1))::DOUBLE > 1.5",
    "CAST(A.d + B.d AS INT) = 3",
    "CAST(A.d * B.d AS DECIMAL(12, 1)) > 3",
    "CAST(A.i - B.i AS BOOLEAN)",
    "TRY_CAST(A.n || B.n AS INT) > 11",
    "TRY_CAST(A.d * B.i AS TINYINT) IS NULL",
    "try_cast(A.n || '' AS DECIMAL(3, 1)) = try_cast(A.n AS DECIMAL(3, 1))",
    "CAST(A.i * 1.5 + B.i AS STRING) = '3.5'",
    "(A.i + B.i) || '' = '3'",
    "CAST(A.i + B.i AS FLOAT) / 2 > 1",
    "CAST(CAST(A.i - B.i AS STRING) || '0' AS SMALLINT) < 0",
)
WITHOUT_ANSI = (
    "CAST(A.n || B.n AS INT) > 11",
    "CAST(A.d * B.i AS TINYINT) < 0",
    "CAST(A.n || '.7' AS BIGINT) = 1",
)


def test_conditions_on_neighbouring_texts_are_as_in_spark(
    spark: SparkSession, rows: DataFrame
) -> None:
    check_conditions(spark, rows, TEXTS)


def test_casts_of_neighbouring_texts_are_as_in_spark(spark: SparkSession, rows: DataFrame) -> None:
    check_conditions(spark, rows, CASTS)


def test_conditions_without_ansi_mode_are_as_in_spark(spark: SparkSession, rows: DataFrame) -> None:
    check_conditions(spark, rows, WITHOUT_ANSI, ansi=False)


def test_explain_names_what_python_computes(spark: SparkSession, rows: DataFrame) -> None:
    text = """SELECT * FROM {t} MATCH_RECOGNIZE (ORDER BY id MEASURES 1 AS m PATTERN (A B)
        DEFINE B AS levenshtein(A.s || B.p, B.s) < 3 AND upper(A.s) = B.s)"""
    explanation = str(matchrec.query(spark, text, t=rows).explain())
    assert "\n  computed in Python, which is slower: levenshtein, ||\n" in explanation


def test_the_text_of_a_floating_point_number_is_refused(
    spark: SparkSession, rows: DataFrame
) -> None:
    text = """SELECT * FROM {t} MATCH_RECOGNIZE (ORDER BY id MEASURES 1 AS m PATTERN (A B)
        DEFINE B AS CAST(A.d + B.d AS STRING) = '1.5')"""
    message = "`CAST` in DEFINE does not take double as STRING"
    with pytest.raises(MatchRecognizeUnsupportedError, match=message):
        matchrec.sql(spark, text, t=rows)
