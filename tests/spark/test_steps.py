"""`max_steps` limits how often conditions are evaluated."""

from __future__ import annotations

import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession

import matchrec

EXPENSIVE = """PARTITION BY k ORDER BY t MEASURES count(*) AS n PATTERN ((A | B)+ C)
    DEFINE A AS sum(v) > 0, B AS sum(v) > -1, C AS sum(v) < 0"""


@pytest.fixture
def rows(spark: SparkSession) -> DataFrame:
    """Return 60 rows with two keys."""
    return spark.range(60).selectExpr("id % 2 AS k", "id AS t", "1 AS v")


@pytest.mark.parametrize("algorithm", ["backtracking", "breadth_first"])
def test_the_error_names_partition_and_row(rows: DataFrame, algorithm: str) -> None:
    one_key = rows.where("k = 1")
    matches = matchrec.match_recognize(
        one_key, EXPENSIVE, options=matchrec.Options(algorithm=algorithm, max_steps=1000)
    )
    with pytest.raises(PythonException) as error:
        matches.collect()
    assert "takes more than 1,000 steps, the limit of `max_steps`" in str(error.value)
    assert "would begin in the partition with `k` = 1, row 1" in str(error.value)
    assert "max_steps" in str(error.value)


@pytest.mark.parametrize("max_steps", [0, -3, True, 1e9, "many"])
def test_an_invalid_number_of_steps_is_rejected(rows: DataFrame, max_steps: object) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError, match="a whole number of 1 or more"):
        matchrec.match_recognize(rows, EXPENSIVE, options=matchrec.Options(max_steps=max_steps))  # type: ignore[arg-type]


def test_event_selection_has_no_steps(rows: DataFrame) -> None:
    clause = """ORDER BY t MEASURES count(*) AS n
        PATTERN (A B) SKIP TILL NEXT MATCH DEFINE B AS v > A.v"""
    with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match="with event selection"):
        matchrec.match_recognize(rows, clause, options=matchrec.Options(max_steps=9))


def test_an_enabled_session_has_the_limit(spark: SparkSession, rows: DataFrame) -> None:
    matchrec.enable(spark, options=matchrec.Options(max_steps=1000))
    try:
        matches = spark.sql(f"SELECT * FROM {{rows}} MATCH_RECOGNIZE ({EXPENSIVE})", rows=rows)
        with pytest.raises(PythonException, match="more than 1,000 steps"):
            matches.collect()
    finally:
        matchrec.disable(spark)


def test_explain_says_how_time_grows(rows: DataFrame) -> None:
    rows.createOrReplaceTempView("steps")
    explanation = str(
        matchrec.query(
            rows.sparkSession, f"SELECT * FROM steps MATCH_RECOGNIZE ({EXPENSIVE})"
        ).explain()
    )
    assert "time: can grow exponentially with W, so max_steps can limit it; W is" in explanation
