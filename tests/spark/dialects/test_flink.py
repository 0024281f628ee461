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
    spark.sql("""CREATE OR REPLACE TEMPORARY VIEW Twenties AS SELECT 'ACME' AS symbol, price,
        TIMESTAMP'2011-04-01 10:00:00' + INTERVAL '20' MINUTE * row AS rowtime
        FROM (SELECT POSEXPLODE(ARRAY(20, 17, 18, 11, 14)) AS (row, price))""")


def test_the_time_of_a_match(spark: SparkSession) -> None:
    query = """SELECT DATE_TRUNC('HOUR', t) AS f, p
        FROM Twenties MATCH_RECOGNIZE (ORDER BY rowtime
        MEASURES MATCH_ROWTIME() AS t, B.price AS p PATTERN (A B) DEFINE B AS B.price = 17)"""
    assert answer(spark, query, "flink") == ["2011-04-01 10:00:00 17"]


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
            """SELECT * FROM TABLE(SESSION(TABLE Ticker PARTITION BY symbol, DESCRIPTOR(rowtime),
            INTERVAL '3' SECOND)) MATCH_RECOGNIZE (ORDER BY tax PATTERN (A) DEFINE A AS TRUE)""",
            r"no table of SESSION windows[^`]*write GROUP BY SESSION\(ts",
        ),
        (
            "SELECT TUMBLE_PROCTIME(rowtime, INTERVAL '3' SECOND) FROM Ticker",
            r"no TUMBLE_PROCTIME, a window of time[^`]*write window\(ts, '10 minutes'\)",
        ),
        (
            "SELECT 1 FROM Hours GROUP BY TUMBLE(rowtime, INTERVAL '1:30' HOUR TO MINUTE)",
            "the length of a window must be an interval of one unit",
        ),
        (
            """SELECT * FROM Ticker MATCH_RECOGNIZE (ORDER BY rowtime
            MEASURES MATCH_PROCTIME() AS t PATTERN (A) DEFINE A AS A.price > 0)""",
            r"no MATCH_PROCTIME, as rows have no time of processing: write now\(\)",
        ),
        (
            """SELECT 1 FROM Ticker o JOIN Ticker FOR SYSTEM_TIME AS OF o.rowtime AS r
            ON o.symbol = r.symbol""",
            "FOR SYSTEM_TIME AS OF",  # which an older sqlglot cannot read
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


SUMS_OF_HALVES = """SELECT symbol, SUM(price) AS price, window_start, window_time
    FROM TABLE(TUMBLE(TABLE Twenties, DESCRIPTOR(rowtime), INTERVAL '30' MINUTES))
    GROUP BY symbol, window_start, window_end, window_time"""


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        (
            f"""SELECT since, prices FROM ({SUMS_OF_HALVES}) MATCH_RECOGNIZE (
            PARTITION BY symbol ORDER BY window_time
            MEASURES FIRST(window_start) AS since, SUM(A.price) AS prices
            AFTER MATCH SKIP PAST LAST ROW PATTERN (A{{2}}) DEFINE A AS A.price > 17)""",
            ["2011-04-01 10:00:00 55"],
        ),
        (
            """SELECT * FROM (SELECT TUMBLE_ROWTIME(rowtime, INTERVAL '1' HOUR) AS t,
                TUMBLE_END(rowtime, INTERVAL '1' HOUR) AS e, MAX(price) AS p
                FROM Twenties GROUP BY TUMBLE(rowtime, INTERVAL '1' HOUR))
            MATCH_RECOGNIZE (ORDER BY t MEASURES A.e AS e, MATCH_ROWTIME() AS t, B.p AS p
            AFTER MATCH SKIP PAST LAST ROW PATTERN (A B) DEFINE B AS B.p < A.p)""",
            ["2011-04-01 11:00:00 2011-04-01 11:59:59.999000 14"],
        ),
        (
            """SELECT HOP_START(t, INTERVAL '1' HOUR, INTERVAL '2' HOUR) AS s, COUNT(*) AS n
            FROM Twenties MATCH_RECOGNIZE (ORDER BY rowtime MEASURES MATCH_ROWTIME() AS t
            AFTER MATCH SKIP PAST LAST ROW PATTERN (A B) DEFINE B AS B.price < A.price)
            GROUP BY HOP(t, INTERVAL '1' HOUR, INTERVAL '2' HOUR)""",
            ["2011-04-01 09:00:00 1", "2011-04-01 10:00:00 2", "2011-04-01 11:00:00 1"],
        ),
        (
            """SELECT SESSION_START(rowtime, INTERVAL '20' MINUTE) AS s, COUNT(*) AS n
            FROM Twenties WHERE price <> 18
            GROUP BY symbol, SESSION(rowtime, INTERVAL '20' MINUTE)""",
            ["2011-04-01 10:00:00 2", "2011-04-01 11:00:00 2"],
        ),
        (
            """SELECT window_end, COUNT(*) AS n FROM TABLE(CUMULATE(DATA => TABLE Twenties,
            TIMECOL => DESCRIPTOR(rowtime), STEP => INTERVAL '30' MINUTES,
            SIZE => INTERVAL '1' HOUR))
            WHERE price > 11 GROUP BY window_start, window_end""",
            [
                f"2011-04-01 {end}:00 {n}"
                for end, n in (("10:30", 2), ("11:00", 3), ("11:30", 1), ("12:00", 1))
            ],
        ),
    ],
)
def test_windows_of_time(spark: SparkSession, query: str, rows: list[str]) -> None:
    assert sorted(answer(spark, query, "flink")) == rows


def test_a_window_of_time_keeps_the_watermark_of_a_stream(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
    stream.createOrReplaceTempView("Seconds")
    query = """SELECT TUMBLE_START(timestamp, INTERVAL '1' MINUTE) AS s, COUNT(*) AS n
        FROM Seconds GROUP BY TUMBLE(timestamp, INTERVAL '1' MINUTE)"""
    writer = matchrec.sql(spark, query, dialect="flink").writeStream.format("noop")
    writer.outputMode("append").start().stop()
    spark.catalog.dropTempView("Seconds")
