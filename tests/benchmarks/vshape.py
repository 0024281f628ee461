"""V-shape over 2,000,000 ticks of 1,000 symbols, beside an identity over the same shuffle and sort.

    python -m tests.benchmarks.vshape [--rows N] [--symbols N] [--rounds N]

Every round runs every contender once, so that a change of the machine's speed meets all of them;
the table shows medians, and the ratio to the identity in the same rounds. The sink is `noop`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 -- the name Spark users know

import matchrec

QUERY = """
SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY symbol ORDER BY ts
  MEASURES STRT.ts AS start_ts, LAST(DOWN.ts) AS bottom_ts, LAST(UP.ts) AS end_ts,
           LAST(DOWN.price) AS bottom
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (STRT DOWN+ UP+)
  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)
)
"""

Contender = Callable[[], DataFrame]


def session() -> SparkSession:
    """A local session on two cores, with as many shuffle partitions as Spark chooses."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "4g")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def write_ticks(spark: SparkSession, path: Path, rows: int, symbols: int) -> None:
    """Shuffled ticks: symbol, ts, price, volume; the same ones each time."""
    tick = F.floor(F.col("id") / symbols)
    spark.range(rows).select(
        F.format_string("S%04d", F.col("id") % symbols).alias("symbol"),
        F.timestamp_seconds(1_700_000_000 + tick).alias("ts"),
        (100 + F.pmod(F.xxhash64("id"), F.lit(1000)) / 10.0).alias("price"),
        F.pmod(F.xxhash64(F.col("id") + 7), F.lit(1000)).alias("volume"),
    ).orderBy(F.xxhash64("id")).coalesce(4).write.parquet(str(path))


def identity(ticks: DataFrame) -> DataFrame:
    """mapInPandas that gives back what it gets, over the shuffle and sort that the query needs."""

    def same(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        yield from frames

    ordered = ticks.repartition("symbol").sortWithinPartitions("symbol", "ts")
    return ordered.mapInPandas(same, ordered.schema)


def contenders(spark: SparkSession, ticks: DataFrame) -> dict[str, Contender]:
    """What is measured, by name; the identity first."""
    ticks.createOrReplaceTempView("ticks")
    ordered = ticks.repartition("symbol").sortWithinPartitions("symbol", "ts")
    return {
        "identity mapInPandas": lambda: identity(ticks),
        "shuffle and sort alone": lambda: ordered,
        "backtracking": lambda: matchrec.sql(spark, QUERY, engine="backtracking"),
        "breadth_first": lambda: matchrec.sql(spark, QUERY, engine="breadth_first"),
        "auto, transport pandas": lambda: matchrec.sql(spark, QUERY, transport="pandas"),
    }


def seconds(contender: Contender) -> float:
    """How long one run takes, planning included."""
    began = time.perf_counter()
    contender().write.format("noop").mode("overwrite").save()
    return time.perf_counter() - began


def measured(named: dict[str, Contender], rounds: int) -> dict[str, list[float]]:
    """Seconds of every contender in every round, after one round of warm-up."""
    for contender in named.values():
        seconds(contender)
    times: dict[str, list[float]] = {name: [] for name in named}
    for _ in range(rounds):
        for name, contender in named.items():
            times[name].append(seconds(contender))
    return times


def table(times: dict[str, list[float]]) -> Iterator[str]:
    """The figures, a line each."""
    floor = next(iter(times.values()))
    yield f"{'':26}{'median s':>9}{'min':>8}{'max':>8}{'ratio':>8}"
    for name, runs in times.items():
        ratio = statistics.median(run / base for run, base in zip(runs, floor, strict=True))
        median = statistics.median(runs)
        yield f"{name:26}{median:9.2f}{min(runs):8.2f}{max(runs):8.2f}{ratio:8.2f}"


def main() -> None:
    """Parses the arguments, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--symbols", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    spark = session()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ticks"
        write_ticks(spark, path, arguments.rows, arguments.symbols)
        ticks = spark.read.parquet(str(path))
        named = contenders(spark, ticks)
        counts = {matchrec.sql(spark, QUERY, engine=e).count() for e in ENGINES}
        assert len(counts) == 1, f"engines disagree: {counts}"
        print(f"{arguments.rows:,} rows, {arguments.symbols:,} symbols, {counts.pop():,} matches")
        print("\n".join(table(measured(named, arguments.rounds))))
    spark.stop()


ENGINES = ("backtracking", "breadth_first")

if __name__ == "__main__":
    main()
