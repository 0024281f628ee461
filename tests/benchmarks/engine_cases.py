"""The cases that are measured on Spark and on Sail: files of ticks, and what is run over them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import matchrec
from tests.benchmarks import by_hand
from tests.benchmarks.cold import return_batches
from tests.benchmarks.tables import MILLION
from tests.benchmarks.workloads import (
    SHAPE,
    TICKS,
    TICKS_IN_ORDER,
    VSHAPE,
    list_workloads,
    write_clause,
)

BEGIN = 1_700_000_000_000_000  # microseconds
FILE_BYTES = 64 << 20
ROW_BYTES = 32

TEXTS = "SELECT max(note) AS note FROM " + write_clause(
    "ticks", f"{TICKS_IN_ORDER} MEASURES LAST(UP.note) AS note {SHAPE}"
).removeprefix("SELECT * FROM ")
QUERIES = {
    workload.name: workload.query.replace("FROM half", "FROM ticks")
    for workload in list_workloads()
}


@dataclass(frozen=True)
class TickFiles:
    """Ticks that are written to Parquet files."""

    number: int  # rows
    keys: int  # distinct symbols
    width: int = 0  # bytes of a text in each row, which compresses well; 0 for no such column

    @property
    def name(self) -> str:
        """Return the name of the folder with the files."""
        return f"{self.number}_{self.keys}_{self.width}"

    def write(self, folder: Path) -> None:
        """Write the files, ordered by time over all keys.

        The folder gets its name when it is complete, so that a broken run leaves no half of it.
        """
        part = folder.with_suffix(".part")
        part.mkdir(exist_ok=True)
        size = max(1, FILE_BYTES // (ROW_BYTES + self.width))
        for index, start in enumerate(range(0, self.number, size)):
            stop = min(start + size, self.number)
            pq.write_table(self.table(start, stop), part / f"{index:04}.parquet")
        part.rename(folder)

    def table(self, start: int, stop: int) -> pa.Table:
        """Return the rows from `start` to before `stop`."""
        random = np.random.default_rng(start)
        ids = np.arange(start, stop)
        symbols = pa.array([f"S{key:06}" for key in range(self.keys)])
        columns = {
            "symbol": symbols.take(pa.array(ids % self.keys)),
            "ts": pa.array(BEGIN + ids // self.keys * MILLION, pa.timestamp("us", "UTC")),
            "price": 100 + random.integers(0, 1000, len(ids)) / 10,
            "volume": random.integers(0, 1000, len(ids)),
        }
        if self.width:
            columns["note"] = pa.array([f"{row_id:0{self.width}}" for row_id in ids])
        return pa.table(columns)

    def scaled(self, scale: float) -> TickFiles:
        """Return a description of `scale` times as many rows.

        If there are several keys, their number is scaled, so that partitions keep their length.
        """
        keys = self.keys if self.keys == 1 else max(1, round(self.keys * scale))
        return TickFiles(max(keys, round(self.number * scale)), keys, self.width)


TimedRows = tuple[float, int]  # elapsed seconds, and the number of rows of the result


def time_count(count: Callable[[], int]) -> TimedRows:
    """Return the seconds that `count` takes, and the number of rows that it returns."""
    start = time.perf_counter()
    rows = count()
    return time.perf_counter() - start, rows


def count_rows(query: str) -> Callable[[SparkSession], TimedRows]:
    """Return a function that runs a query and counts its rows."""
    return lambda spark: time_count(lambda: matchrec.sql(spark, query).count())


def read_as_arrow(query: str) -> Callable[[SparkSession], TimedRows]:
    """Return a function that runs a query and fetches its rows as an Arrow table."""
    return lambda spark: time_count(lambda: int(matchrec.sql(spark, query).toArrow().num_rows))


def hand_rows_to_python(spark: SparkSession) -> TimedRows:
    """Shuffle the ticks and send them to a Python function that returns them unchanged."""
    rows = spark.table("ticks")
    return time_count(
        lambda: rows.repartition("symbol").mapInArrow(return_batches, rows.schema).count()
    )


@dataclass(frozen=True)
class Case:
    """A query or another action over ticks, and how often it is measured."""

    name: str
    rows: TickFiles
    run: Callable[[SparkSession], TimedRows]
    cores: int = 2
    rounds: int = 5  # measured rounds; one before them is not counted
    by_window: str = ""  # window SQL for DuckDB with the same rows, or their number as `n`


TWO_MILLION = TickFiles(2 * MILLION, 2_000)
COMPARED_CASES = (
    Case("shuffle and hand to Python", TWO_MILLION, hand_rows_to_python),
    Case("V-shape, as an Arrow table", TWO_MILLION, read_as_arrow(VSHAPE)),
    Case("V-shape, counted", TWO_MILLION, count_rows(VSHAPE)),
    Case(
        "V-shape, 20,000,000 rows, counted",
        TickFiles(20 * MILLION, 20_000),
        count_rows(VSHAPE),
        rounds=1,
    ),
    Case("three fixed rows", TWO_MILLION, count_rows(QUERIES["scan, few matches"])),
    Case(
        "overlapping matches", TWO_MILLION, count_rows(QUERIES["SKIP TO NEXT ROW, long overlaps"])
    ),
    Case("long quantifier", TWO_MILLION, count_rows(QUERIES["long greedy quantifier"])),
)
MEMORY_CASES = (
    Case(
        "20,000,000 rows of 20,000 keys",
        TickFiles(20 * MILLION, 20_000),
        count_rows(VSHAPE),
        rounds=1,
    ),
    Case(
        "100,000,000 rows of 100,000 keys",
        TickFiles(100 * MILLION, 100_000),
        count_rows(VSHAPE),
        rounds=1,
    ),
    Case("one key of 20,000,000 rows", TickFiles(20 * MILLION, 1), count_rows(VSHAPE), rounds=1),
    Case(
        "10,000 rows of 100 kB each",
        TickFiles(10_000, 100, 100_000),
        read_as_arrow(TEXTS),
        rounds=1,
    ),
    Case("2,000,000 rows on one core", TWO_MILLION, count_rows(VSHAPE), cores=1),
    Case("2,000,000 rows on two cores", TWO_MILLION, count_rows(VSHAPE)),
)


def count_v_shapes(rows: int, keys: int, cores: int = 2) -> Case:
    """Return the case that counts the V-shapes of that many rows."""
    name = f"{rows:,} rows of {keys:,} keys, {cores} cores"
    text = f"SELECT count(*) AS n FROM ({by_hand.VSHAPE.format(**TICKS, table='ticks')})"
    return Case(name, TickFiles(rows, keys), count_rows(VSHAPE), cores, rounds=1, by_window=text)


def return_percent(percent: int) -> Case:
    """Return the case that fetches pairs of rows; `percent` of all rows start one."""
    # With abs(), the minimum and maximum in a file's statistics cannot decide the condition.
    high = f"abs(price) > {199.9 - percent}"
    pairs = f"""{TICKS_IN_ORDER} MEASURES A.ts AS ts, B.price AS next
        AFTER MATCH SKIP TO NEXT ROW PATTERN (A B) DEFINE A AS {high}"""
    text = f"""SELECT symbol, ts, next FROM (
        SELECT symbol, ts, price, lead(price) OVER w AS next, lead(ts) OVER w AS later FROM ticks
        WINDOW w AS (PARTITION BY symbol ORDER BY ts)) WHERE {high} AND later IS NOT NULL"""
    name = f"{percent} % of 5,000,000 rows out"
    rows = TickFiles(5 * MILLION, 5_000)
    return Case(name, rows, read_as_arrow(write_clause("ticks", pairs)), rounds=1, by_window=text)


GROWTH_SERIES: Mapping[str, Mapping[int, Case]] = {
    "rows, 1,000 per key": {
        millions * MILLION: count_v_shapes(millions * MILLION, millions * 1_000)
        for millions in (2, 20, 100)
    },
    "keys, 5,000,000 rows": {
        keys: count_v_shapes(5 * MILLION, keys) for keys in (1, 1_000, MILLION)
    },
    "percent of rows returned, 5,000,000 rows": {
        percent: return_percent(percent) for percent in (0, 10, 30)
    },
    "cores, 5,000,000 rows": {cores: count_v_shapes(5 * MILLION, 5_000, cores) for cores in (1, 2)},
}
GROWTH_CASES = [case for series in GROWTH_SERIES.values() for case in series.values()]
ALL_CASES = (*COMPARED_CASES, *MEMORY_CASES, *GROWTH_CASES)
CASES: Mapping[str, Case] = {case.name: case for case in ALL_CASES}
