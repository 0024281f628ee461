"""Queries with the same text are planned once, but each one reads the current rows and types."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Thread

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import matchrec

QUERY = """SELECT * FROM changing MATCH_RECOGNIZE (ORDER BY n
    MEASURES A.n AS a, LAST(B.n) + 1 AS b PATTERN (A B+) DEFINE B AS v > PREV(v))"""


@pytest.fixture
def changing(spark: SparkSession) -> Iterator[None]:
    """Drop the view `changing` at the end."""
    yield
    spark.catalog.dropTempView("changing")


def create_view(spark: SparkSession, *values: object, kind: str = "INT") -> None:
    """Create the view `changing` with a row for each value."""
    rows = spark.createDataFrame(list(enumerate(values)), f"n INT, v {kind}")
    rows.createOrReplaceTempView("changing")


def find_matches(spark: SparkSession) -> list[tuple[int, int]]:
    """Return the matches of QUERY, sorted."""
    return sorted(tuple(row) for row in matchrec.sql(spark, QUERY).collect())


@pytest.mark.usefixtures("changing")
def test_each_query_reads_the_rows_of_its_time(spark: SparkSession) -> None:
    create_view(spark, 1, 2, 3)
    assert find_matches(spark) == [(0, 3)]
    create_view(spark, 1, 2, 0, 5, 4)
    assert find_matches(spark) == [(0, 2), (2, 4)]


@pytest.mark.usefixtures("changing")
def test_columns_of_other_types_are_noticed(spark: SparkSession) -> None:
    create_view(spark, 10, 9, 8)
    assert find_matches(spark) == []
    create_view(spark, "10", "9", "8", kind="STRING")
    assert find_matches(spark) == [(0, 2)]
    spark.sql("SELECT 1 AS n, 2 AS w").createOrReplaceTempView("changing")
    with pytest.raises(matchrec.MatchRecognizePlanError, match=r"\bv\b"):
        find_matches(spark)
    create_view(spark, 10, 11)
    assert find_matches(spark) == [(0, 2)]


@pytest.mark.usefixtures("changing")
def test_a_type_that_the_schema_hides_is_noticed(spark: SparkSession) -> None:
    """Some sessions give a CASE the type of its first value, so that both views have an INT."""
    create_view(spark, 0, 0)
    assert find_matches(spark) == []
    case = "CASE WHEN n = 0 THEN 0 ELSE 0.5D END AS v"
    spark.sql(f"SELECT n, {case} FROM VALUES (0), (1) AS t(n)").createOrReplaceTempView("changing")
    assert find_matches(spark) == [(0, 2)]


@pytest.mark.usefixtures("changing")
def test_a_mistake_is_an_error_each_time(spark: SparkSession) -> None:
    create_view(spark, 1, 2)
    for _ in range(3):
        with pytest.raises((PySparkException, matchrec.MatchRecognizeError), match=r"(?i)not"):
            matchrec.sql(
                spark,
                """SELECT * FROM (SELECT n, NOT v AS v FROM changing)
                MATCH_RECOGNIZE (ORDER BY n MEASURES A.n AS a PATTERN (A) DEFINE A AS v)""",
            )


@pytest.mark.usefixtures("changing")
def test_a_mistake_in_another_aggregate_is_found_in_planning(spark: SparkSession) -> None:
    """A query with the same columns and a valid aggregate was planned before."""
    create_view(spark, 1, 2)
    matchrec.sql(spark, QUERY.replace("LAST(B.n) + 1", "sum(B.v)")).collect()
    with pytest.raises((PySparkException, matchrec.MatchRecognizeError), match="sum"):
        matchrec.sql(spark, QUERY.replace("LAST(B.n) + 1", "sum(array(B.v))"))


@pytest.mark.usefixtures("changing")
def test_results_of_one_text_are_independent(spark: SparkSession) -> None:
    create_view(spark, 1, 2, 0, 5)
    first = matchrec.sql(spark, QUERY)
    second = matchrec.sql(spark, QUERY)
    joined = first.join(second, first["a"] < second["a"]).select(first["b"], second["b"])
    assert [tuple(row) for row in joined.collect()] == [(2, 4)]


@pytest.mark.usefixtures("changing")
def test_queries_of_several_threads_keep_their_measures(spark: SparkSession) -> None:
    create_view(spark, *(n % 7 for n in range(700)))
    results: list[DataFrame] = []

    def run_queries(measure: int) -> None:
        """Make four results of a query."""
        text = QUERY.replace("+ 1", f"+ {measure}")
        results.extend(matchrec.sql(spark, text) for _ in range(4))

    threads = [Thread(target=run_queries, args=(number % 3,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [result.count() for result in results] == [100] * 24


@pytest.mark.usefixtures("changing")
def test_a_statement_that_creates_a_view_runs_each_time(spark: SparkSession) -> None:
    """A statement that creates a view does so each time."""
    create_view(spark, 1, 2)
    for times in (1, 2):
        matchrec.sql(
            spark,
            f"CREATE OR REPLACE TEMPORARY VIEW counted AS SELECT {times} AS n, * FROM ({QUERY})",
        )
        assert {row.n for row in spark.table("counted").collect()} == {times}
    spark.catalog.dropTempView("counted")
