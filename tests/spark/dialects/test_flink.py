"""Flink SQL that its documented examples do not show, and what Spark lacks."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import matchrec
from tests.spark.dialects.documented import make_tables, write_answer


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> None:
    """Create the tables of the documented examples, and one more."""
    make_tables(spark, "flink")
    spark.sql("""CREATE OR REPLACE TEMPORARY VIEW Twenties AS SELECT 'ACME' AS symbol, price,
        TIMESTAMP'2011-04-01 10:00:00' + INTERVAL '20' MINUTE * row AS rowtime
        FROM (SELECT POSEXPLODE(ARRAY(20, 17, 18, 11, 14)) AS (row, price))""")


def test_the_time_of_a_match(spark: SparkSession) -> None:
    query = """SELECT DATE_TRUNC('HOUR', t) AS f, p
        FROM Twenties MATCH_RECOGNIZE (ORDER BY rowtime
        MEASURES MATCH_ROWTIME() AS t, B.price AS p PATTERN (A B) DEFINE B AS B.price = 17)"""
    assert write_answer(spark, query, "flink") == ["2011-04-01 10:00:00 17"]


def test_a_cast_to_varchar_cuts(spark: SparkSession) -> None:
    query = """SELECT t, CAST(t AS CHAR(1)) AS c FROM Ticker MATCH_RECOGNIZE (
        PARTITION BY symbol ORDER BY rowtime MEASURES CAST(LAST(symbol) AS VARCHAR(2)) AS t
        AFTER MATCH SKIP PAST LAST ROW
        PATTERN (A) DEFINE A AS CAST(symbol AS VARCHAR(3)) = 'ACM')"""
    with pytest.warns(UserWarning, match=r"CHAR\(n\) is padded with spaces in Flink SQL"):
        assert set(write_answer(spark, query, "flink")) == {"AC A"}


def test_the_average_of_integers_is_as_printed_and_noted(spark: SparkSession) -> None:
    query = """SELECT * FROM Nulls MATCH_RECOGNIZE (ORDER BY id MEASURES AVG(A.price) AS a
        AFTER MATCH SKIP PAST LAST ROW PATTERN (A{8,9}) DEFINE A AS TRUE)"""
    with pytest.warns(UserWarning, match="AVG of integers keeps its fraction"):
        assert write_answer(spark, query, "flink") == [f"{34 / 7:.10g}"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            """SELECT * FROM TABLE(SESSION(TABLE Ticker PARTITION BY symbol, DESCRIPTOR(rowtime),
            INTERVAL '3' SECOND)) MATCH_RECOGNIZE (ORDER BY tax PATTERN (A) DEFINE A AS TRUE)""",
            r"no equivalent of this SESSION[^`]*write GROUP BY session_window\(ts",
        ),
        (
            "SELECT 1 FROM Hours GROUP BY TUMBLE(rowtime, INTERVAL '1:30' HOUR TO MINUTE)",
            r"no equivalent of this TUMBLE[^`]*write GROUP BY window\(ts, '10 minutes'\)",
        ),
        (
            """SELECT * FROM Ticker MATCH_RECOGNIZE (ORDER BY rowtime
            MEASURES MATCH_PROCTIME() AS t PATTERN (A) DEFINE A AS A.price > 0)""",
            r"no equivalent of this MATCH_PROCTIME[^`]*write now\(\)",
        ),
        (
            """SELECT 1 FROM Ticker o JOIN Ticker FOR SYSTEM_TIME AS OF o.rowtime AS r
            ON o.symbol = r.symbol""",
            "FOR SYSTEM_TIME AS OF",  # older versions of sqlglot cannot parse it
        ),
        (
            """SELECT * FROM Ticker MATCH_RECOGNIZE (
            MEASURES MATCH_ROWTIME() AS t PATTERN (A) DEFINE A AS A.price > 0)""",
            "no MATCH_ROWTIME without ORDER BY",
        ),
    ],
)
def test_functions_that_spark_lacks_are_rejected(
    spark: SparkSession, query: str, message: str
) -> None:
    with pytest.raises(matchrec.MatchRecognizeError, match=message):
        matchrec.sql(spark, query, dialect="flink")
