"""Queries of other products return the rows that their authors expect."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

import matchrec
from tests.quick.embedded import invoke
from tests.spark.dialects.documented import make_tables

pytestmark = pytest.mark.one_of(4)


@pytest.fixture(scope="module")
def prices(spark: SparkSession) -> DataFrame:
    """Return the table of Snowflake's documentation: prices of two companies on ten days."""
    make_tables(spark, "snowflake")
    return spark.table("stock_price_history")


def write_rows(frame: DataFrame) -> list[str]:
    """Return each row as a line of text."""
    return [" ".join(map(str, row)) for row in frame.collect()]


SNOWFLAKE = """
SELECT * FROM stock_price_history
  MATCH_RECOGNIZE(
    PARTITION BY company
    ORDER BY price_date
    MEASURES
      MATCH_NUMBER() AS "Match Number",
      FIRST(price_date)::date AS start_date,
      LAST_VALUE(price_date) AS end_date,
      COUNT(*) AS rows_in_sequence,
      COUNT(decrease.*) AS num_decreases,
      COUNT(increase.*) AS num_increases
    ONE ROW PER MATCH
    AFTER MATCH SKIP TO LAST increase
    PATTERN(before decrease+ increase+)
    DEFINE
      decrease AS price < LAG(price),
      increase AS price > LAG(price, 1, 0)
  )
ORDER BY company, "Match Number";
"""
V_SHAPES = [
    "ABCD 1 2020-10-01 2020-10-04 4 1 2",
    "ABCD 2 2020-10-04 2020-10-08 5 1 3",
    "XYZ 1 2020-10-01 2020-10-05 5 1 3",
    "XYZ 2 2020-10-05 2020-10-08 4 2 1",
    "XYZ 3 2020-10-08 2020-10-10 3 1 1",
]


def test_a_query_of_snowflake_runs(spark: SparkSession, prices: DataFrame) -> None:
    assert write_rows(matchrec.sql(spark, SNOWFLAKE, dialect="snowflake")) == V_SHAPES


def test_the_row_number_in_the_match(prices: DataFrame) -> None:
    clause = """PARTITION BY company ORDER BY price_date
        MEASURES MATCH_NUMBER() AS m, MATCH_SEQUENCE_NUMBER() AS s, CLASSIFIER AS c
        ALL ROWS PER MATCH PATTERN (before low {- increase -} increase)
        DEFINE low AS price < 30, increase AS price > LAG(price)"""
    matches = matchrec.match_recognize(prices, clause, dialect="snowflake")
    assert write_rows(matches.select("m", "s", "c", "price").orderBy("s")) == [
        "1 1 BEFORE 89",
        "1 2 LOW 24",
        "1 4 INCREASE 63",
    ]


def test_a_default_is_for_rows_that_do_not_exist_only(spark: SparkSession) -> None:
    frame = spark.sql("SELECT * FROM VALUES (1, NULL), (2, 5), (3, 7) AS t(n, x)")
    clause = """ORDER BY n MEASURES LAG(x, 1, -1) AS before, LEAD(x, 2, -2) AS after
        ALL ROWS PER MATCH PATTERN (a+)"""
    with pytest.warns(UserWarning, match="has no DEFINE"):
        matches = matchrec.match_recognize(frame, clause, dialect="snowflake")
    assert write_rows(matches.select("n", "before", "after")) == ["1 -1 7", "2 None -2", "3 5 -2"]


# Without the option, the second alternative is never tried.
@pytest.mark.filterwarnings("ignore::matchrec.warnings.NeverTrueWarning")
def test_the_longest_match_of_bigquery(spark: SparkSession, prices: DataFrame) -> None:
    clause = """PARTITION BY company ORDER BY price_date
        MEASURES COUNT(*) AS n PATTERN (low | low high+)
        DEFINE low AS price < 50, high AS price > 60
        OPTIONS (use_longest_match = {})"""
    lengths = []
    for longest in ("TRUE", "FALSE"):
        matches = matchrec.match_recognize(prices, clause.format(longest), dialect="bigquery")
        lengths.append([row.n for row in matches.where("company = 'ABCD'").collect()])
    assert lengths == [[1, 1, 1, 1, 5], [1, 1, 1, 1, 1]]


TRINO = """
SELECT m."Lowest", n FROM stock_price_history MATCH_RECOGNIZE (
  PARTITION BY company ORDER BY price_date
  MEASURES min(price) AS "Lowest", count() AS n
  PATTERN (strt down+ up+)
  DEFINE down AS down.price < PREV(down.price), up AS up.price > PREV(up.price)
) AS m WHERE company <> 'XYZ' ORDER BY 1
"""


def test_an_enabled_session_runs_a_query_of_trino(spark: SparkSession, prices: DataFrame) -> None:
    matchrec.enable(spark, dialect="trino")
    try:
        assert write_rows(spark.sql(TRINO)) == ["36 4"]
        assert write_rows(spark.sql('SELECT "not a name" AS x')) == ["not a name"]
    finally:
        matchrec.disable(spark)


def test_flink_goes_on_at_the_next_row(prices: DataFrame) -> None:
    clause = """PARTITION BY company ORDER BY price_date MEASURES LAST(price) AS p
        PATTERN (high high) DEFINE high AS high.price > 62"""
    matches = matchrec.match_recognize(prices, clause, dialect="flink")
    assert write_rows(matches.orderBy("company", "p")) == [
        "ABCD 63",
        "ABCD 75",
        "ABCD 80",
        "XYZ 65",
    ]
    matches = matchrec.match_recognize(prices, clause)
    assert write_rows(matches.orderBy("company", "p")) == ["ABCD 63", "ABCD 80", "XYZ 65"]


def test_oracle_sorts_null_last(spark: SparkSession) -> None:
    query = """SELECT n FROM (SELECT NULL AS n UNION ALL SELECT 1)
        MATCH_RECOGNIZE (ORDER BY n MEASURES NVL(FIRST(n), 0) AS n PATTERN (A B)
        DEFINE B AS n IS NULL)"""
    assert write_rows(matchrec.sql(spark, query, dialect="oracle")) == ["1"]
    assert write_rows(matchrec.sql(spark, query)) == []


def test_bigquery_names_parameters_with_a_sign(spark: SparkSession, prices: DataFrame) -> None:
    query = """SELECT * FROM stock_price_history MATCH_RECOGNIZE (
        PARTITION BY company ORDER BY price_date MEASURES MAX(top.price) AS top
        PATTERN (top low) DEFINE low AS price < LAG(price) - @fall) ORDER BY top"""
    matches = matchrec.sql(spark, query, {"fall": 20}, dialect="bigquery")
    assert write_rows(matches) == ["XYZ 54", "XYZ 89"]


def test_an_error_points_into_the_text_as_it_was_written(
    spark: SparkSession, prices: DataFrame
) -> None:
    with pytest.raises(matchrec.MatchRecognizeError) as raised:
        matchrec.sql(spark, SNOWFLAKE.replace("LAST increase", "LAST rise"), dialect="snowflake")
    assert "line 14, column 30\n      AFTER MATCH SKIP TO LAST rise\n" in str(raised.value)
    assert raised.value.span is not None
    query = SNOWFLAKE.replace('company, "Match', 'company, "Mach')
    with pytest.raises(AnalysisException) as refused:
        matchrec.sql(spark, query, dialect="snowflake")
    assert 'ORDER BY company, "Mach Number";' in str(refused.value)


def test_explain_reads_a_dialect(spark: SparkSession, prices: DataFrame) -> None:
    assert "PREV" in str(matchrec.query(spark, SNOWFLAKE, dialect="snowflake").explain())


def test_an_unknown_dialect_is_rejected(spark: SparkSession) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError, match="snowflake"):
        matchrec.sql(spark, "SELECT 1", dialect="snow")


def test_the_command_line_translates_a_file(tmp_path: Path) -> None:
    file = tmp_path / "query.sql"
    file.write_text("SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS x > PREV(x))")
    printed = invoke("transpile", str(file), "--write", "snowflake").stdout
    assert printed == "SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS x > LAG(x))\n"


QUERIES_OF_OTHER_PRODUCTS = [
    ("oracle", "spark", "DEFINE b AS at - PREV(at) < 1/24"),
    ("oracle", "trino", "DEFINE b AS at - PREV(at) < 1/24"),
    ("trino", "spark", "DEFINE b AS at < date_add('day', 2, FIRST(at))"),
]


@pytest.mark.parametrize(("product", "dialect", "define"), QUERIES_OF_OTHER_PRODUCTS)
def test_an_error_names_the_dialect_that_reads_the_query(
    spark: SparkSession, product: str, dialect: str, define: str
) -> None:
    frame = spark.sql("SELECT TIMESTAMP'2024-01-31 12:00:00' AS at")
    clause = f"ORDER BY at ALL ROWS PER MATCH PATTERN (a b) {define}"
    query = f"SELECT * FROM {{t}} MATCH_RECOGNIZE ({clause})"
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        matchrec.sql(spark, query, dialect=dialect, t=frame)
    assert str(caught.value).endswith(f'pass dialect="{product}"')
    matchrec.sql(spark, query, dialect=product, t=frame)


def test_an_error_suggests_the_dialect_or_what_to_write(spark: SparkSession) -> None:
    frame = spark.sql("SELECT 1 AS x, 2 AS y")
    with pytest.raises(matchrec.MatchRecognizeError, match='pass dialect="snowflake"'):
        matchrec.match_recognize(
            frame, "ORDER BY x ALL ROWS PER MATCH PATTERN (a b) DEFINE b AS y > IFF(y > 1, 2, x)"
        )
    query = """SELECT * FROM (SELECT 1 AS x FROM dual)
      MATCH_RECOGNIZE (ORDER BY x MEASURES x AS y PATTERN (A) DEFINE A AS x > 0)"""
    with pytest.raises(AnalysisException) as caught:
        matchrec.sql(spark, query)
    hint = "leave FROM dual out: SELECT without FROM gives one row"
    # Between the place and the help, a note may list the tables that other tests have registered.
    assert "\n  line 1, column 35\n" in str(caught.value)
    assert str(caught.value).endswith(f"\n  help: {hint}")
    assert matchrec.sql(spark, query.replace(" FROM dual", "")).columns == ["y"]


def test_a_query_that_no_dialect_reads_names_none(spark: SparkSession) -> None:
    query = """SELECT * FROM (SELECT 1 AS x) MATCH_RECOGNIZE (ORDER BY x PATTERN (A B)
      DEFINE B AS x > TRUNC(y))"""
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        matchrec.sql(spark, query)
    assert "dialect" not in str(caught.value)


@pytest.mark.parametrize("dialect", ["oracle", "trino", "flink"])
def test_a_clause_that_is_not_closed(spark: SparkSession, dialect: str) -> None:
    query = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY x PATTERN (A)"
    with pytest.raises(matchrec.MatchRecognizeParseError, match="of MATCH_RECOGNIZE is not closed"):
        matchrec.sql(spark, query, dialect=dialect)


def test_a_statement_that_writes_is_not_tried_in_another_dialect(spark: SparkSession) -> None:
    query = """WITH d AS (SELECT 1 AS x, current_timestamp() AS at)
      INSERT OVERWRITE DIRECTORY '/none' USING parquet
      SELECT * FROM d MATCH_RECOGNIZE (ORDER BY at ALL ROWS PER MATCH
        PATTERN (a b) DEFINE b AS at - PREV(at) < 1/24)"""
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        matchrec.sql(spark, query)
    assert "dialect" not in str(caught.value)


def test_an_error_of_a_query_without_a_clause_shows_the_text_as_written(
    spark: SparkSession,
) -> None:
    query = "SELECT TO_VARCHAR(d) AS day, wrong FROM (SELECT CURRENT_DATE() AS d)"
    with pytest.raises(AnalysisException) as caught:
        matchrec.sql(spark, query, dialect="snowflake")
    assert "line 1, column 30" in str(caught.value)
    assert "CAST" not in str(caught.value)
