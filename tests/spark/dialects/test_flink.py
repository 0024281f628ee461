"""What of Flink SQL its documented examples do not show, and what Spark lacks."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import matchrec
from tests.spark.dialects.documented import answer, make_tables


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> None:
    """The tables of the documented examples."""
    make_tables(spark, "flink")


def test_a_cast_to_varchar_cuts(spark: SparkSession) -> None:
    query = """SELECT t, CAST(t AS CHAR(1)) AS c FROM Ticker MATCH_RECOGNIZE (
        PARTITION BY symbol ORDER BY rowtime MEASURES CAST(LAST(symbol) AS VARCHAR(2)) AS t
        AFTER MATCH SKIP PAST LAST ROW
        PATTERN (A) DEFINE A AS CAST(symbol AS VARCHAR(3)) = 'ACM')"""
    assert set(answer(spark, query, "flink")) == {"AC A"}


def test_the_average_of_integers_is_as_printed_and_noted(spark: SparkSession) -> None:
    query = """SELECT * FROM Nulls MATCH_RECOGNIZE (ORDER BY id MEASURES AVG(A.price) AS a
        AFTER MATCH SKIP PAST LAST ROW PATTERN (A{8,9}) DEFINE A AS TRUE)"""
    with pytest.warns(UserWarning, match="AVG of integers keeps its fraction"):
        assert answer(spark, query, "flink") == [f"{34 / 7:.10g}"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            """SELECT TUMBLE_START(t, INTERVAL '3' SECOND) FROM Ticker MATCH_RECOGNIZE (
            ORDER BY rowtime MEASURES MATCH_ROWTIME() AS t PATTERN (A) DEFINE A AS A.price > 0)
            GROUP BY TUMBLE(t, INTERVAL '3' SECOND)""",
            r"no TUMBLE_START, a window of time[^`]*write window\(ts, '10 minutes'\)",
        ),
        (
            """SELECT * FROM TUMBLE(TABLE Ticker, DESCRIPTOR(rowtime), INTERVAL '3' SECOND)
            MATCH_RECOGNIZE (ORDER BY rowtime PATTERN (A) DEFINE A AS A.price > 0)""",
            r"no TUMBLE, a window of time[^`]*write window\(ts, '10 minutes'\)",
        ),
        (
            """SELECT * FROM Ticker MATCH_RECOGNIZE (ORDER BY rowtime
            MEASURES MATCH_PROCTIME() AS t PATTERN (A) DEFINE A AS A.price > 0)""",
            r"no MATCH_PROCTIME, as rows have no time of processing: write now\(\)",
        ),
        (
            """SELECT * FROM Ticker MATCH_RECOGNIZE (
            MEASURES MATCH_ROWTIME() AS t PATTERN (A) DEFINE A AS A.price > 0)""",
            "no MATCH_ROWTIME without ORDER BY",
        ),
    ],
)
def test_what_spark_lacks_is_refused_by_name(spark: SparkSession, query: str, message: str) -> None:
    with pytest.raises(matchrec.MatchRecognizeError, match=message):
        matchrec.sql(spark, query, dialect="flink")
