"""One key on one core and on two: whether a single partition is searched in parallel."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import SparkSession

import matchrec
from tests.benchmarks.markdown import table
from tests.benchmarks.measure import Query, Times, measured, session
from tests.benchmarks.options import Options
from tests.benchmarks.tables import MILLION, ticks

AIM = 1.5
ROWS = 4 * MILLION
PATTERN = """PARTITION BY symbol ORDER BY ts
  MEASURES FIRST(A.ts) AS s, C.ts AS e
  AFTER MATCH SKIP TO NEXT ROW PATTERN (A B{1,20} C)
  DEFINE A AS price > 190, B AS volume < 800, C AS price < 110"""


def queries(spark: SparkSession, path: str) -> dict[str, Query]:
    """A match reaches 22 rows far; beside it what Spark needs to get there."""
    frame = spark.read.parquet(path)
    ordered = frame.repartition("symbol").sortWithinPartitions("symbol", "ts")
    return {
        "match_recognize": lambda: matchrec.match_recognize(frame, PATTERN),
        "shuffle and sort alone": lambda: ordered,
    }


def measured_on(cores: int, path: str, rounds: int) -> dict[str, Times]:
    """Everything in a session with so many cores."""
    with session(cores) as spark:
        return measured(queries(spark, path), rounds)


def lines(options: Options) -> Iterator[str]:
    """The table."""
    rows = int(ROWS * options.scale)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "ticks")
        with session() as spark:
            ticks(spark, rows, 1).repartition(4).write.parquet(path)
        one, two = (measured_on(cores, path, options.rounds) for cores in (1, 2))
    cells = []
    for name in one:
        ratio = one[name].median / two[name].median
        aim = f"{AIM:.1f}" if name == "match_recognize" else ""
        seconds = [f"{times[name].median:.2f}" for times in (one, two)]
        cells.append([f"{name}, {rows:,} rows", *seconds, f"{ratio:.2f}", aim])
    yield from table(["one key", "1 core, s", "2 cores, s", "times as fast", "aim"], cells)
