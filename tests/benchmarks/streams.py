"""MATCH_RECOGNIZE over a stream, events per second and state: `python -m tests.benchmarks.streams`.

    python -m tests.benchmarks.streams [--events N] [--keys N] [--batches N] [--stores N]
        [--only WORD]

Ticks of some keys in turn, one a second each, in files of which each is a micro-batch. The first
half of the files is not counted. Rows of the state are keys; bytes are those of the state store.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import matchrec
from tests.benchmarks.markdown import table
from tests.benchmarks.measure import session

QUERIES = {
    "pairs": "PATTERN (A B) DEFINE B AS price < A.price",
    "V-shape": "PATTERN (A DOWN+ UP+) "
    "DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)",
    "V-shape in a window": "PATTERN (A DOWN+ UP+) WITHIN INTERVAL 1 MINUTE "
    "DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)",
    "long loop in a window": "PATTERN (A B* C) WITHIN INTERVAL 1 MINUTE "
    "DEFINE A AS price > 90, B AS price < A.price, C AS price < 1",
}
HEAD = ["query", "events/s", "rows of state", "bytes of state", "matches"]


@dataclass(frozen=True)
class Sizes:
    """How much is streamed. events: in all. stores: partitions of the state."""

    events: int = 200_000
    keys: int = 1_000
    batches: int = 10
    stores: int = 2


def write_files(spark: SparkSession, sizes: Sizes, folder: Path) -> None:
    """The ticks, a file for each micro-batch, the last one beyond all windows."""
    each = sizes.events // sizes.batches
    for number in range(sizes.batches + 1):
        first, last = number * each, (number + 1) * each if number < sizes.batches else None
        ids = spark.range(first, last, 1, 1) if last else spark.range(first, first + 1, 1, 1)
        seconds = f"id DIV {sizes.keys} + {0 if last else 3600}"
        ids.selectExpr(
            f"id % {sizes.keys} AS k",
            f"timestamp_seconds({seconds}) AS ts",
            "CAST(hash(id) & 127 AS INT) AS price",
        ).write.parquet(str(folder / f"{number:04}"))
        (found,) = (folder / f"{number:04}").glob("*.parquet")
        target = folder / "in" / f"{number:04}.parquet"
        target.parent.mkdir(exist_ok=True)
        found.rename(target)
        os.utime(target, (1e9 + number, 1e9 + number))  # the order in which Spark reads them


def cells(spark: SparkSession, name: str, folder: Path) -> list[str]:
    """A line of the table."""
    files = spark.readStream.schema("k bigint, ts timestamp, price int")
    ticks = files.option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))
    clause = f"PARTITION BY k ORDER BY ts MEASURES count(*) AS n {QUERIES[name]}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", matchrec.UnboundedStateWarning)
        found = matchrec.match_recognize(ticks.withWatermark("ts", "1 second"), clause)
    writer = found.writeStream.format("parquet").trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(folder / f"checkpoint {name}"))
    started = writer.start(str(folder / f"out {name}"))
    started.awaitTermination()
    progress: list[Any] = [one for one in started.recentProgress if one["numInputRows"]]
    counted = progress[len(progress) // 2 : -1]
    seconds = sum(one["durationMs"]["triggerExecution"] for one in counted) / 1000
    state = counted[-1]["stateOperators"][0]
    matches = spark.read.parquet(str(folder / f"out {name}")).count()
    numbers = sum(one["numInputRows"] for one in counted) / seconds, state["numRowsTotal"]
    return [name, *(f"{one:,.0f}" for one in (*numbers, state["memoryUsedBytes"], matches))]


def lines(sizes: Sizes, only: str) -> Iterator[str]:
    """The table."""
    with session() as spark, tempfile.TemporaryDirectory() as folder:
        spark.conf.set("spark.sql.shuffle.partitions", str(sizes.stores))
        write_files(spark, sizes, Path(folder))
        rows = [cells(spark, name, Path(folder)) for name in QUERIES if only in name]
    yield from table(HEAD, rows)


def main() -> None:
    """Parses the arguments, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=Sizes.events)
    parser.add_argument("--keys", type=int, default=Sizes.keys)
    parser.add_argument("--batches", type=int, default=Sizes.batches)
    parser.add_argument("--stores", type=int, default=Sizes.stores)
    parser.add_argument("--only", default="", metavar="WORD", help="queries with this word")
    arguments = parser.parse_args()
    sizes = Sizes(arguments.events, arguments.keys, arguments.batches, arguments.stores)
    for line in lines(sizes, arguments.only):
        print(line)


if __name__ == "__main__":
    main()
