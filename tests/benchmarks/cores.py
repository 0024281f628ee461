"""One key on one core and on two: whether a single partition is sorted and searched in parallel."""

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
SLICES = 4
KEYS = {"one key": "PARTITION BY symbol ", "no key": ""}
CLAUSE = """{keys}ORDER BY ts
  MEASURES FIRST(A.ts) AS s, C.ts AS e
  AFTER MATCH SKIP TO NEXT ROW PATTERN (A B{{1,20}} C)
  DEFINE A AS price > 190, B AS volume < 800, C AS price < 110"""


def queries(spark: SparkSession, path: str) -> dict[str, Query]:
    """A match reaches 22 rows far. Each question with one task and in slices."""
    frame = spark.read.parquet(path)

    def query(keys: str, slices: int) -> Query:
        clause = CLAUSE.format(keys=keys)
        return lambda: matchrec.match_recognize(frame, clause, slices=slices)

    return {
        f"{name}, {words}": query(keys, slices)
        for name, keys in KEYS.items()
        for words, slices in (("one task", 1), (f"slices={SLICES}", SLICES))
    }


def measured_on(cores: int, path: str, rounds: int) -> dict[str, Times]:
    """Everything in a session with so many cores."""
    with session(cores) as spark:
        return measured(queries(spark, path), rounds)


def lines(options: Options) -> Iterator[str]:
    """The table; how much faster slices are, each round against the same question in one task."""
    rows = int(ROWS * options.scale)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "ticks")
        with session() as spark:
            ticks(spark, rows, 1).repartition(4).write.parquet(path)
        one, two = (measured_on(cores, path, options.rounds) for cores in (1, 2))
    cells = []
    for name in one:
        figures = [f"{times[name].median:.2f}" for times in (one, two)]
        figures += [f"{two[name].processor:.2f}"]
        whole = f"{name.partition(', ')[0]}, one task"
        if name != whole:
            figures += [f"{1 / two[name].ratio(two[whole]):.2f}", f"{AIM:.1f}"]
        cells.append([name, *figures, *[""] * (5 - len(figures))])
    head = ["1 core, s", "2 cores, s", "processor s", "times as fast", "aim"]
    yield from table([f"{rows:,} rows", *head], cells)
