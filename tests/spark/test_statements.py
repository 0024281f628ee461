"""Statements around a clause run, with parameters in all parts, or are rejected with a hint."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

import matchrec

pytestmark = pytest.mark.one_of(2)

FALLS = """ticks MATCH_RECOGNIZE (PARTITION BY sym ORDER BY ts MEASURES LAST(price) AS low
  PATTERN (A D+) DEFINE D AS price < PREV(price))"""
EXPECTED = [("X", 80), ("Y", 4)]
CONDITION_PREFIX = "MATCH_RECOGNIZE_"


@pytest.fixture(autouse=True)
def tables(spark: SparkSession) -> Iterator[None]:
    """Create the view `ticks`, and drop the table `lows` at the end."""
    rows = [("X", 1, 90), ("X", 2, 80), ("X", 3, 85), ("Y", 1, 10), ("Y", 2, 5), ("Y", 3, 4)]
    frame = spark.createDataFrame(rows, "sym string, ts int, price int")
    frame.createOrReplaceTempView("ticks")
    yield
    spark.sql("DROP TABLE IF EXISTS lows")


def list_rows(spark: SparkSession, query: str) -> list[tuple[object, ...]]:
    """Return the rows of a query, sorted."""
    return sorted(tuple(row) for row in spark.sql(query).collect())


def test_a_clause_can_fill_tables(spark: SparkSession) -> None:
    matchrec.sql(spark, f"CREATE TABLE lows USING parquet AS SELECT * FROM {FALLS}")
    assert list_rows(spark, "SELECT * FROM lows") == EXPECTED
    matchrec.sql(spark, f"INSERT INTO lows SELECT sym, low + 1 FROM {FALLS}")
    assert list_rows(spark, "SELECT * FROM lows") == [("X", 80), ("X", 81), ("Y", 4), ("Y", 5)]
    matchrec.sql(spark, f"INSERT OVERWRITE lows SELECT * FROM {FALLS} WHERE low > 9")
    assert list_rows(spark, "SELECT * FROM lows") == [("X", 80)]


def test_a_result_is_written_by_write_to(spark: SparkSession) -> None:
    falls = matchrec.sql(spark, f"SELECT * FROM {FALLS}")
    falls.writeTo("lows").using("parquet").create()
    assert list_rows(spark, "SELECT * FROM lows") == EXPECTED


def test_insert_can_have_ctes_and_columns(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lows (low int, sym string) USING parquet")
    matchrec.sql(
        spark,
        f"INSERT INTO lows (sym, low) WITH f AS (SELECT * FROM {FALLS}) SELECT sym, low FROM f",
    )
    assert list_rows(spark, "SELECT sym, low FROM lows") == EXPECTED


@pytest.mark.parametrize(
    ("statement", "hint"),
    [
        ("CREATE GLOBAL TEMP VIEW g AS SELECT * FROM {}", "createGlobalTempView"),
        ("BEGIN SELECT * FROM {}; END", "one by one"),
        ('EXECUTE IMMEDIATE "SELECT * FROM {}"', "pass the query itself"),
    ],
)
def test_unsupported_statements_are_rejected_with_a_hint(
    spark: SparkSession, statement: str, hint: str
) -> None:
    with pytest.raises(matchrec.MatchRecognizeUnsupportedError) as caught:
        matchrec.sql(spark, statement.format(FALLS))
    assert hint in str(caught.value.hint)


def test_explain_takes_no_script(spark: SparkSession) -> None:
    with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match="in a script"):
        matchrec.query(spark, f"BEGIN SELECT * FROM {FALLS}; END").explain()


def test_a_result_is_a_global_view(spark: SparkSession) -> None:
    matchrec.sql(spark, f"SELECT * FROM {FALLS}").createGlobalTempView("falls")
    try:
        other = spark.newSession()
        assert sorted(map(tuple, other.table("global_temp.falls").collect())) == EXPECTED
    finally:
        spark.catalog.dropGlobalTempView("falls")


@pytest.mark.parametrize("kind", ["TEMP VIEW", "TEMPORARY VIEW", "OR REPLACE TEMP VIEW"])
def test_a_clause_can_be_a_temporary_view(spark: SparkSession, kind: str) -> None:
    matchrec.sql(spark, f"CREATE {kind} falls AS SELECT * FROM {FALLS}")
    assert list_rows(spark, "SELECT * FROM falls") == EXPECTED
    spark.catalog.dropTempView("falls")


def test_a_clause_can_be_cached(spark: SparkSession) -> None:
    matchrec.sql(spark, f"CACHE TABLE falls AS SELECT * FROM {FALLS}")
    assert list_rows(spark, "SELECT * FROM falls") == EXPECTED
    spark.sql("UNCACHE TABLE falls")
    spark.catalog.dropTempView("falls")


@pytest.mark.parametrize("word", ["EXPLAIN", "EXPLAIN FORMATTED", "EXPLAIN EXTENDED"])
def test_explain_can_be_in_front_of_a_query(spark: SparkSession, word: str) -> None:
    [row] = matchrec.sql(spark, f"{word} SELECT * FROM {FALLS}").collect()
    assert "match_recognize[PATTERN (A D+)]" in row[0] or "MapInArrow" in row[0]


def test_comments_and_a_semicolon_are_skipped(spark: SparkSession) -> None:
    query = f"-- MATCH_RECOGNIZE (\nSELECT /* PATTERN ( */ * FROM {FALLS} -- end;\n;"
    assert sorted(tuple(row) for row in matchrec.sql(spark, query).collect()) == EXPECTED


def test_the_words_of_a_clause_in_a_string_are_no_clause(spark: SparkSession) -> None:
    query = f"SELECT 't MATCH_RECOGNIZE (PATTERN (A' AS s, count(*) AS n FROM {FALLS}"
    assert [tuple(row) for row in matchrec.sql(spark, query).collect()] == [
        ("t MATCH_RECOGNIZE (PATTERN (A", 2)
    ]


def test_every_part_can_have_named_parameters(spark: SparkSession) -> None:
    query = """SELECT p, x, :tag AS tag FROM (SELECT *, concat(sym, :end) AS p FROM ticks
      WHERE price > :least) MATCH_RECOGNIZE (PARTITION BY p ORDER BY ts + :shift
      MEASURES LAST(price) + :more AS x PATTERN (A D+) DEFINE D AS price < PREV(price) - :drop)
      WHERE x > :least"""
    args = {"tag": "t", "end": "!", "least": 4, "shift": 1, "more": 100, "drop": 4}
    expected = [("X!", 180, "t"), ("Y!", 105, "t")]
    assert sorted(tuple(row) for row in matchrec.sql(spark, query, args).collect()) == expected


@pytest.mark.filterwarnings("ignore::matchrec.warnings.ReluctantEndWarning")
def test_every_part_can_have_positional_parameters(spark: SparkSession) -> None:
    query = """SELECT p, x, ? AS tag FROM (SELECT *, concat(sym, ?) AS p FROM ticks
      WHERE price > ?) MATCH_RECOGNIZE (PARTITION BY p ORDER BY ts + ?
      MEASURES LAST(price) + ? AS x PATTERN (A D+?) DEFINE D AS price < PREV(price) - ?)
      WHERE x > ?"""
    args = ["t", "!", 4, 1, 100, 4, 4]
    expected = [("X!", 180, "t"), ("Y!", 105, "t")]
    assert sorted(tuple(row) for row in matchrec.sql(spark, query, args).collect()) == expected


def test_a_missing_table_is_sparks_error(spark: SparkSession) -> None:
    with pytest.raises(AnalysisException, match="no_such_table"):
        matchrec.sql(spark, f"SELECT * FROM {FALLS.replace('ticks', 'no_such_table')}")


@pytest.mark.parametrize(
    ("definitions", "condition"),
    [
        ("A AS TRUE, A AS TRUE", "DUPLICATE_PATTERN_VARIABLE"),
        ("A AS rand() > 0.5", "NONDETERMINISTIC_DEFINE"),
        ("A AS lag(price) > 1", "UNSUPPORTED_WINDOW_FUNCTION"),
        ("A AS sum(price) OVER () > 1", "UNSUPPORTED_WINDOW_FUNCTION"),
        ("A AS prise > 1", None),
    ],
)
def test_condition_names(spark: SparkSession, definitions: str, condition: str | None) -> None:
    clause = f"(ORDER BY ts MEASURES 1 AS x PATTERN (A) DEFINE {definitions})"
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        matchrec.sql(spark, f"SELECT * FROM ticks MATCH_RECOGNIZE {clause}")
    expected = condition and CONDITION_PREFIX + condition
    assert caught.value.condition == expected
    assert pickle.loads(pickle.dumps(caught.value)).condition == expected
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
