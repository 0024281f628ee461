"""The workloads of `tests.benchmarks.spark`: data, query, and what users would write instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 -- the name Spark users know

MILLION = 1_000_000


@dataclass(frozen=True)
class Workload:
    """A query over a table, and other ways to the same rows.

    table: the name of the data it reads. keys, order: of the query's partitions. limit: the ratio
    to the identity that is aimed at. by_window: the same as window SQL, by_pandas: as a function
    for applyInPandas, where they are compared.
    """

    name: str
    table: str
    keys: str
    order: str
    query: str
    limit: float
    by_window: str | None = None
    by_pandas: Callable[[DataFrame], DataFrame] | None = None


def hashed(salt: int, bound: int) -> Any:
    """A column of pseudo-random integers below a bound."""
    return F.pmod(F.xxhash64(F.col("id") + salt), F.lit(bound))


def ticks(spark: SparkSession, rows: int, keys: int) -> DataFrame:
    """Shuffled ticks of some symbols."""
    tick = F.floor(F.col("id") / keys)
    return spark.range(rows).select(
        F.format_string("S%06d", F.col("id") % keys).alias("symbol"),
        F.timestamp_seconds(1_700_000_000 + tick).alias("ts"),
        (100 + hashed(0, 1000) / 10.0).alias("price"),
        hashed(7, 1000).alias("volume"),
    )


def orders(spark: SparkSession, rows: int, keys: int) -> DataFrame:
    """Ticks with values of other types."""
    tick = F.floor(F.col("id") / keys)
    return spark.range(rows).select(
        F.format_string("S%06d", F.col("id") % keys).alias("symbol"),
        F.timestamp_seconds(1_700_000_000 + tick).alias("ts"),
        (100 + hashed(0, 1000) / 10.0).alias("price"),
        F.format_string("note %d", hashed(9, 5000)).alias("note"),
        (hashed(11, 100_000) / 100).cast("decimal(12,2)").alias("fee"),
        F.date_add(F.lit("2024-01-01").cast("date"), hashed(13, 365).cast("int")).alias("day"),
    )


def visits(spark: SparkSession, rows: int, keys: int) -> DataFrame:
    """Shuffled page events of some users: view, cart, purchase and others."""
    kinds = F.array(*(F.lit(kind) for kind in ["view"] * 5 + ["search"] * 12 + ["cart", "help"]))
    rare = F.when(hashed(5, 60) == 0, F.lit("purchase"))
    step = F.floor(F.col("id") / keys)
    return spark.range(rows).select(
        F.format_string("U%06d", F.col("id") % keys).alias("user"),
        F.timestamp_seconds(1_700_000_000 + step * 40 + hashed(3, 30)).alias("ts"),
        F.coalesce(rare, F.element_at(kinds, (hashed(1, 19) + 1).cast("int"))).alias("event"),
        hashed(2, 500).alias("page"),
    )


TABLES: dict[str, Callable[[SparkSession, float], DataFrame]] = {
    "ticks": lambda spark, scale: ticks(spark, int(2 * MILLION * scale), 1000),
    "orders": lambda spark, scale: orders(spark, int(2 * MILLION * scale), 1000),
    "tiny": lambda spark, scale: ticks(spark, int(2 * MILLION * scale), int(200_000 * scale)),
    "half": lambda spark, scale: ticks(spark, int(MILLION / 2 * scale), 250),
    "visits": lambda spark, scale: visits(spark, int(MILLION * scale), 10_000),
}

VSHAPE = """PATTERN (STRT DOWN+ UP+)
  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)"""
OF_TICKS = "PARTITION BY symbol ORDER BY ts"

VSHAPE_BY_WINDOW = """
WITH steps AS (
  SELECT symbol, ts, price, lag(price) OVER w AS before, lead(price) OVER w AS after FROM ticks
  WINDOW w AS (PARTITION BY symbol ORDER BY ts)),
turns AS (
  SELECT *, CASE WHEN price < before THEN 'D' WHEN price > before THEN 'U' ELSE '-' END AS step,
    CASE WHEN after < price THEN 'D' WHEN after > price THEN 'U' ELSE '-' END AS next
  FROM steps),
runs AS (
  SELECT *, sum(CASE WHEN next = 'D' AND step <> 'D' THEN 1 ELSE 0 END)
    OVER (PARTITION BY symbol ORDER BY ts) AS starts FROM turns)
SELECT symbol, starts, min(ts) AS start_ts,
  min_by(ts, struct(price, ts)) AS bottom_ts, max(ts) AS end_ts, min(price) AS bottom
FROM runs WHERE starts > 0 GROUP BY symbol, starts"""

SCAN_BY_WINDOW = """
SELECT symbol, ts, ts2 AS b, ts3 AS c FROM (
  SELECT *, lead(volume) OVER w AS v2, lead(price, 2) OVER w AS p3,
    lead(ts) OVER w AS ts2, lead(ts, 2) OVER w AS ts3
  FROM ticks WINDOW w AS (PARTITION BY symbol ORDER BY ts))
WHERE price > 195 AND v2 < 50 AND p3 < 105"""

FUNNEL_BY_WINDOW = """
SELECT user, ts AS view_ts, purchase_ts FROM (
  SELECT *, min(CASE WHEN event = 'cart' THEN ts END) OVER f AS cart_ts,
    min(CASE WHEN event = 'purchase' THEN ts END) OVER f AS purchase_ts
  FROM visits
  WINDOW f AS (PARTITION BY user ORDER BY ts ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING))
WHERE event = 'view' AND cart_ts < purchase_ts AND purchase_ts < ts + INTERVAL 1 HOUR"""


def vshape_loop(frame: pd.DataFrame) -> pd.DataFrame:
    """V-shapes of one symbol, by a loop."""
    frame = frame.sort_values("ts")
    price, ts = frame["price"].to_numpy(), frame["ts"].to_numpy()
    found, start, count = [], 0, len(price)
    while start < count - 2:
        bottom = start
        while bottom + 1 < count and price[bottom + 1] < price[bottom]:
            bottom += 1
        end = bottom
        while bottom > start and end + 1 < count and price[end + 1] > price[end]:
            end += 1
        if end > bottom > start:
            found.append((frame["symbol"].iloc[0], ts[start], ts[bottom], ts[end], price[bottom]))
            start = end + 1
        else:
            start += 1
    return pd.DataFrame(found, columns=["symbol", "start_ts", "bottom_ts", "end_ts", "bottom"])


def vshape_by_pandas(table: DataFrame) -> DataFrame:
    """V-shapes with applyInPandas."""
    schema = (
        "symbol string, start_ts timestamp, bottom_ts timestamp, end_ts timestamp, bottom double"
    )
    narrow = table.select("symbol", "ts", "price")
    return narrow.groupBy("symbol").applyInPandas(vshape_loop, schema)


def clause(table: str, text: str) -> str:
    """A whole query."""
    return f"SELECT * FROM {table} MATCH_RECOGNIZE (\n  {text}\n)"


def workloads() -> Iterator[Workload]:
    """All of them, in the order of the table."""
    yield Workload(
        "V-shape, ONE ROW",
        "ticks",
        "symbol",
        "ts",
        clause(
            "ticks",
            f"""{OF_TICKS}
  MEASURES STRT.ts AS start_ts, LAST(DOWN.ts) AS bottom_ts, LAST(UP.ts) AS end_ts,
    LAST(DOWN.price) AS bottom
  {VSHAPE}""",
        ),
        0.85,
        VSHAPE_BY_WINDOW,
        vshape_by_pandas,
    )
    yield Workload(
        "scan, few matches",
        "ticks",
        "symbol",
        "ts",
        clause(
            "ticks",
            f"""{OF_TICKS} MEASURES A.ts AS ts, B.ts AS b, C.ts AS c
  AFTER MATCH SKIP TO NEXT ROW PATTERN (A B C)
  DEFINE A AS price > 195, B AS volume < 50, C AS price < 105""",
        ),
        0.85,
        SCAN_BY_WINDOW,
    )
    yield Workload(
        "200,000 partitions of ten rows",
        "tiny",
        "symbol",
        "ts",
        clause("tiny", f"{OF_TICKS} MEASURES STRT.ts AS s, LAST(UP.ts) AS e {VSHAPE}"),
        1.0,
    )
    yield Workload(
        "long greedy quantifier",
        "half",
        "symbol",
        "ts",
        clause(
            "half",
            f"""{OF_TICKS} MEASURES FIRST(A.ts) AS s, B.ts AS e
  PATTERN (A{{1,50}} B) DEFINE A AS volume < 950, B AS price > 190""",
        ),
        1.0,
    )
    yield Workload(
        "conditions on the run",
        "half",
        "symbol",
        "ts",
        clause(
            "half",
            f"""{OF_TICKS} MEASURES FIRST(A.ts) AS s, LAST(B.ts) AS e, avg(B.price) AS m
  PATTERN (A B+ C)
  DEFINE B AS B.price > FIRST(A.price) - 40 AND avg(B.price) > 120 AND sum(B.volume) < 9000,
    C AS C.price < min(B.price) AND C.ts - LAST(B.ts) < INTERVAL 1 HOUR""",
        ),
        1.3,
    )
    yield Workload(
        "V-shape, ALL ROWS",
        "ticks",
        "symbol",
        "ts",
        clause(
            "ticks",
            f"""{OF_TICKS}
  MEASURES CLASSIFIER() AS c, MATCH_NUMBER() AS m, sum(volume) AS v, FIRST(price) AS p
  ALL ROWS PER MATCH {VSHAPE}""",
        ),
        1.4,
    )
    yield Workload(
        "funnel",
        "visits",
        "user",
        "ts",
        clause(
            "visits",
            """PARTITION BY user ORDER BY ts
  MEASURES V.ts AS view_ts, C.ts AS cart_ts, P.ts AS purchase_ts
  PATTERN (V X*? C Y*? P) WITHIN INTERVAL 1 HOUR
  DEFINE V AS event = 'view', C AS event = 'cart', P AS event = 'purchase'""",
        ),
        0.75,
        FUNNEL_BY_WINDOW,
    )
    yield Workload(
        "SKIP TO NEXT ROW, long overlaps",
        "half",
        "symbol",
        "ts",
        clause(
            "half",
            f"""{OF_TICKS} MEASURES FIRST(A.ts) AS s, LAST(A.ts) AS e, count(*) AS n
  AFTER MATCH SKIP TO NEXT ROW PATTERN (A+) DEFINE A AS volume < 990""",
        ),
        1.3,
    )
    yield Workload(
        "strings, decimals, dates",
        "orders",
        "symbol",
        "ts",
        clause(
            "orders",
            f"""{OF_TICKS}
  MEASURES STRT.note AS note, LAST(DOWN.fee) AS fee, LAST(UP.day) AS day, LAST(UP.ts) AS end_ts
  {VSHAPE}""",
        ),
        1.2,
    )
