"""Measure MATCH_RECOGNIZE over a stream: events per second and the size of the state.

    python -m tests.benchmarks.streams [--events N] [--keys N] [--batches N] [--stores N]
        [--only WORD] [--flink-python PATH]

    python -m tests.benchmarks.streams --keys 100 --events 360000 --batches 60    an hour of events

The keys take turns; each has one tick per second. Each file is a micro-batch. The first half of the
files is not counted. Rows of the state are keys, and bytes are those of the state store.

Flink SQL, in an interpreter that has `apache-flink`, reads the same ticks from one CSV file, with
two tasks and a checkpoint each second. Its seconds are those of the whole job, including its start,
so do not compare its events per second with matchrec's. *Reading alone* is a job that only reads
the ticks, also with its start. The state is the largest checkpoint. Flink must find the same number
of matches.
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
from tests.benchmarks.markdown import format_table
from tests.benchmarks.measure import open_session
from tests.benchmarks.other_engines import TIMESTAMPS, run_script


@dataclass(frozen=True)
class PatternTexts:
    """A pattern for matchrec and for Flink, whose windows include rows at exactly their length."""

    ours: str
    flink: str


FALL_RISE = "DEFINE FALL AS price < PREV(price), RISE AS price > PREV(price)"
FALL_RISE_OF_FLINK = """DEFINE
    FALL AS FALL.price < LAST(FALL.price, 1)
      OR LAST(FALL.price, 1) IS NULL AND FALL.price < A.price,
    RISE AS RISE.price > LAST(FALL.price)"""
LOOP = "DEFINE A AS A.price > 90, B AS B.price < A.price AND B.price >= 1, C AS C.price < 1"
QUERIES = {
    "pairs": PatternTexts(
        "PATTERN (A B) DEFINE B AS price < A.price", "PATTERN (A B) DEFINE B AS B.price < A.price"
    ),
    "fall and rise": PatternTexts(
        f"PATTERN (A FALL+ RISE) {FALL_RISE}", f"PATTERN (A FALL+ RISE) {FALL_RISE_OF_FLINK}"
    ),
    "fall and rise in a window": PatternTexts(
        f"PATTERN (A FALL+ RISE) WITHIN INTERVAL 1 MINUTE {FALL_RISE}",
        f"PATTERN (A FALL+ RISE) WITHIN INTERVAL '59' SECOND {FALL_RISE_OF_FLINK}",
    ),
    "long loop in a window": PatternTexts(
        f"PATTERN (A B* C) WITHIN INTERVAL 1 MINUTE {LOOP}",
        f"PATTERN (A B* C) WITHIN INTERVAL '59' SECOND {LOOP}",
    ),
}
BEGIN = 1_700_000_000  # seconds since 1970, where Spark's watermark begins
HEAD = ["query", "events/s", "rows of state", "bytes of state", "matches"]
HEAD_OF_FLINK = ["Flink with its start: events/s", "reading alone", "bytes of checkpoint"]
MEASURES = "PARTITION BY k ORDER BY ts MEASURES count(*) AS n"
MEASURES_OF_FLINK = """PARTITION BY k ORDER BY ts MEASURES LAST(A.ts) AS began
  ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW"""


@dataclass(frozen=True)
class Sizes:
    """How much is streamed."""

    events: int = 200_000  # in all
    keys: int = 1_000
    batches: int = 10
    stores: int = 2  # partitions of the state


@dataclass(frozen=True)
class Benchmark:
    """A session, the files of a stream, and an interpreter of Flink if there is one."""

    spark: SparkSession
    sizes: Sizes
    folder: Path
    flink: str | None

    def write_files(self) -> None:
        """Write the ticks, a file for each micro-batch; the last file is beyond all windows."""
        file_size = self.sizes.events // self.sizes.batches
        for number in range(self.sizes.batches):
            self.write_file(number, number * file_size, (number + 1) * file_size, 0)
        self.write_file(self.sizes.batches, file_size * self.sizes.batches, None, 3600)

    def write_file(self, number: int, first: int, last: int | None, delay: int) -> None:
        """Write the ticks from `first` to before `last`, or `first` alone, some seconds later."""
        ids = self.spark.range(first, last or first + 1, 1, 1)
        ids.selectExpr(
            f"id % {self.sizes.keys} AS k",
            f"timestamp_seconds({BEGIN} + id DIV {self.sizes.keys} + {delay}) AS ts",
            "CAST(hash(id) & 127 AS INT) AS price",
        ).write.parquet(str(self.folder / f"{number:04}"))
        (file,) = (self.folder / f"{number:04}").glob("*.parquet")
        target = self.folder / "in" / f"{number:04}.parquet"
        target.parent.mkdir(exist_ok=True)
        file.rename(target)
        os.utime(target, (1e9 + number, 1e9 + number))  # the order in which Spark reads them

    def measure_query(self, name: str) -> list[str]:
        """Measure a query and return the cells of its row."""
        files = self.spark.readStream.schema("k bigint, ts timestamp, price int")
        ticks = files.option("maxFilesPerTrigger", 1).parquet(str(self.folder / "in"))
        clause = f"{MEASURES} {QUERIES[name].ours}"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", matchrec.warnings.UnboundedStateWarning)
            result = matchrec.match_recognize(ticks.withWatermark("ts", "1 second"), clause)
        writer = result.writeStream.format("parquet").trigger(availableNow=True)
        writer = writer.option("checkpointLocation", str(self.folder / f"checkpoint {name}"))
        started = writer.start(str(self.folder / f"out {name}"))
        started.awaitTermination()
        progress: list[Any] = [batch for batch in started.recentProgress if batch["numInputRows"]]
        counted = progress[len(progress) // 2 : -1]
        seconds = sum(batch["durationMs"]["triggerExecution"] for batch in counted) / 1000
        state = counted[-1]["stateOperators"][0]
        matches = self.spark.read.parquet(str(self.folder / f"out {name}")).count()
        rate = sum(batch["numInputRows"] for batch in counted) / seconds
        ours = format_numbers(rate, state["numRowsTotal"], state["memoryUsedBytes"], matches)
        theirs = self.measure_flink(name, self.flink, matches) if self.flink else []
        return [name, *ours, *theirs]

    def measure_flink(self, name: str, python: str, ours: int) -> list[str]:
        """Measure a query in Flink and return the cells of its row.

        Args:
            python: the interpreter of Flink.
            ours: the number of matches of matchrec.
        """
        output, checkpoints = (self.folder / f"{what} of Flink {name}" for what in ("out", "state"))
        query = f"SELECT * FROM ticks MATCH_RECOGNIZE ({MEASURES_OF_FLINK} {QUERIES[name].flink})"
        job = {"file": str(self.write_csv()), "query": query, "output": str(output)}
        job["checkpoints"] = str(checkpoints)
        figures = run_script(python, "run_flink_stream.py", job)
        matches = self.spark.read.csv(str(output), schema="k bigint, began string").count()
        assert matches == ours, f"{name}: Flink has {matches} matches, we have {ours}"
        rates = (self.sizes.events / figures[what] for what in ("seconds", "reading"))
        return format_numbers(*rates, figures["state"])

    def write_csv(self) -> Path:
        """Write all ticks but the last one, which ends our windows, to one CSV file in order."""
        folder = self.folder / "ticks.csv"
        if not folder.exists():
            files = sorted((self.folder / "in").glob("*.parquet"))[:-1]
            ticks = self.spark.read.parquet(*map(str, files)).coalesce(1)
            ticks = ticks.sortWithinPartitions("ts", "k")
            ticks.write.option("timestampFormat", TIMESTAMPS).csv(str(folder))
        (file,) = folder.glob("*.csv")
        return file


def format_numbers(*numbers: float) -> list[str]:
    """Return the numbers as text without decimals."""
    return [f"{number:,.0f}" for number in numbers]


def report(sizes: Sizes, only: str, flink: str | None) -> Iterator[str]:
    """Yield the table."""
    with open_session() as spark, tempfile.TemporaryDirectory() as folder:
        spark.conf.set("spark.sql.shuffle.partitions", str(sizes.stores))
        benchmark = Benchmark(spark, sizes, Path(folder), flink)
        benchmark.write_files()
        rows = [benchmark.measure_query(name) for name in QUERIES if only in name]
    yield from format_table([*HEAD, *(HEAD_OF_FLINK if flink else ())], rows)


def main() -> None:
    """Measure what the command line names and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=Sizes.events)
    parser.add_argument("--keys", type=int, default=Sizes.keys)
    parser.add_argument("--batches", type=int, default=Sizes.batches)
    parser.add_argument("--stores", type=int, default=Sizes.stores)
    parser.add_argument("--only", default="", metavar="WORD", help="queries with this word")
    parser.add_argument("--flink-python", metavar="PATH", help="a Python with apache-flink")
    arguments = parser.parse_args()
    sizes = Sizes(arguments.events, arguments.keys, arguments.batches, arguments.stores)
    for line in report(sizes, arguments.only, arguments.flink_python):
        print(line)


if __name__ == "__main__":
    main()
