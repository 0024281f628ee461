"""A query in slices where the first attempt of every task fails, in a session of its own."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import SparkSession

import matchrec
from matchrec.spark.before import slices

CLAUSE = """PARTITION BY k ORDER BY t, v MEASURES A.t AS a, LAST(v) AS b, count(*) AS n
    PATTERN (A B{0,3} C) DEFINE A AS v > 2, B AS v > 4, C AS v < 5"""


def failing_at_first(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same batches, but for the first attempt, which fails behind them."""
    yield from batches
    context = TaskContext.get()
    if context is not None and context.attemptNumber() == 0:
        raise RuntimeError("the first attempt fails")


def main() -> None:
    """Ends with an error where the rows are not those of the whole, or nothing was cut."""
    options = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.pyspark.python": sys.executable,
    }
    builder = SparkSession.builder.master("local[2,2]")
    for name, value in options.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    slices.A_SAMPLED_ROW, slices.SAFETY = 1, 2
    chance = random.Random(3)
    rows = [("x", chance.randrange(400), chance.randrange(10)) for _ in range(1000)]
    frame = spark.createDataFrame(rows, "k string, t int, v int").repartition(2)
    counters = matchrec.Counters()
    expected = matchrec.match_recognize(frame, CLAUSE)
    retried = frame.mapInArrow(failing_at_first, frame.schema)
    found = matchrec.match_recognize(retried, CLAUSE, slices=3, counters=counters)
    again = found.mapInArrow(failing_at_first, found.schema)
    assert sorted(map(str, again.collect())) == sorted(map(str, expected.collect()))
    assert counters.values()["partitions"] == 3
    spark.stop()


if __name__ == "__main__":
    main()
