"""What is measured on Spark and on Sail: rows in files that both read, and what is done to them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import matchrec
from tests.benchmarks import by_hand
from tests.benchmarks.cold import same
from tests.benchmarks.tables import MILLION
from tests.benchmarks.workloads import OF_TICKS, SHAPE, TICKS, VSHAPE, clause, workloads

BEGIN = 1_700_000_000_000_000  # microseconds
BYTES_OF_A_FILE = 64 << 20
BYTES_OF_A_ROW = 32
WAITING, SECONDS = 32, 1.0  # tasks, more than any engine's threads here, and how long each takes

TEXTS = "SELECT max(note) AS note FROM " + clause(
    "ticks", f"{OF_TICKS} MEASURES LAST(UP.note) AS note {SHAPE}"
).removeprefix("SELECT * FROM ")
QUERIES = {one.name: one.query.replace("FROM half", "FROM ticks") for one in workloads()}


@dataclass(frozen=True)
class Rows:
    """Ticks in files. width: bytes of a text in each row, which compresses well."""

    number: int
    keys: int
    width: int = 0

    @property
    def name(self) -> str:
        """Of the folder."""
        return f"{self.number}_{self.keys}_{self.width}"

    def write(self, folder: Path) -> None:
        """Writes them, in order of time over all keys; the folder has its name once it is whole."""
        part = folder.with_suffix(".part")
        part.mkdir(exist_ok=True)
        size = max(1, BYTES_OF_A_FILE // (BYTES_OF_A_ROW + self.width))
        for place, start in enumerate(range(0, self.number, size)):
            stop = min(start + size, self.number)
            pq.write_table(self.table(start, stop), part / f"{place:04}.parquet")
        part.rename(folder)

    def table(self, start: int, stop: int) -> pa.Table:
        """The rows of a range."""
        random, ids = np.random.default_rng(start), np.arange(start, stop)
        symbols = pa.array([f"S{key:06}" for key in range(self.keys)])
        columns = {
            "symbol": symbols.take(pa.array(ids % self.keys)),
            "ts": pa.array(BEGIN + ids // self.keys * MILLION, pa.timestamp("us", "UTC")),
            "price": 100 + random.integers(0, 1000, len(ids)) / 10,
            "volume": random.integers(0, 1000, len(ids)),
        }
        if self.width:
            columns["note"] = pa.array([f"{one:0{self.width}}" for one in ids])
        return pa.table(columns)

    def scaled(self, scale: float) -> Rows:
        """As many of them; partitions keep their length, if there are several."""
        keys = self.keys if self.keys == 1 else max(1, round(self.keys * scale))
        return Rows(max(keys, round(self.number * scale)), keys, self.width)


Ran = tuple[float, int]  # seconds, and how many rows came out


def timed(count: Callable[[], int]) -> Ran:
    """Seconds of what answers how many rows come out."""
    began = time.perf_counter()
    rows = count()
    return time.perf_counter() - began, rows


def counted(query: str) -> Callable[[SparkSession], Ran]:
    """A query whose result is counted."""
    return lambda spark: timed(lambda: matchrec.sql(spark, query).count())


def as_arrow(query: str) -> Callable[[SparkSession], Ran]:
    """A query whose result is an Arrow table."""
    return lambda spark: timed(lambda: int(matchrec.sql(spark, query).toArrow().num_rows))


def handed_over(spark: SparkSession) -> Ran:
    """A shuffle whose rows are handed to Python."""
    rows = spark.table("ticks")
    return timed(lambda: rows.repartition("symbol").mapInArrow(same, rows.schema).count())


def waiting(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """A task that takes its time."""
    time.sleep(SECONDS)
    yield from batches


def beside_long(spark: SparkSession) -> Ran:
    """A query of three rows that begins while another with many tasks runs."""
    long = spark.range(0, WAITING, 1, WAITING).mapInArrow(waiting, "id bigint")
    running = threading.Thread(target=long.count)
    running.start()
    time.sleep(SECONDS / 2)
    ran = timed(lambda: spark.range(3).count())
    running.join()
    return ran


@dataclass(frozen=True)
class Case:
    """What is done with some rows. rounds: how often, after once that does not count.

    by_window: window SQL that gives the same rows, or how many, in DuckDB.
    """

    name: str
    rows: Rows
    run: Callable[[SparkSession], Ran]
    cores: int = 2
    rounds: int = 5
    by_window: str = ""


TWO_MILLION = Rows(2 * MILLION, 2_000)
COMPARED = (
    Case("shuffle and hand to Python", TWO_MILLION, handed_over),
    Case("V-shape, as an Arrow table", TWO_MILLION, as_arrow(VSHAPE)),
    Case("V-shape, counted", TWO_MILLION, counted(VSHAPE)),
    Case(
        "V-shape, 20,000,000 rows, counted", Rows(20 * MILLION, 20_000), counted(VSHAPE), rounds=1
    ),
    Case("three fixed rows", TWO_MILLION, counted(QUERIES["scan, few matches"])),
    Case("overlapping matches", TWO_MILLION, counted(QUERIES["SKIP TO NEXT ROW, long overlaps"])),
    Case("long quantifier", TWO_MILLION, counted(QUERIES["long greedy quantifier"])),
)
SCALE = (
    Case("20,000,000 rows of 20,000 keys", Rows(20 * MILLION, 20_000), counted(VSHAPE), rounds=1),
    Case(
        "100,000,000 rows of 100,000 keys", Rows(100 * MILLION, 100_000), counted(VSHAPE), rounds=1
    ),
    Case("one key of 20,000,000 rows", Rows(20 * MILLION, 1), counted(VSHAPE), rounds=1),
    Case("100,000 rows of 100 kB", Rows(100_000, 100, 100_000), as_arrow(TEXTS), rounds=1),
    Case("2,000,000 rows on one core", TWO_MILLION, counted(VSHAPE), cores=1),
    Case("2,000,000 rows on two cores", TWO_MILLION, counted(VSHAPE)),
    Case(
        f"a small query during {WAITING} tasks of {SECONDS:.0f} s",
        Rows(1, 1),
        beside_long,
        rounds=1,
    ),
)


def v_shapes(rows: int, keys: int, cores: int = 2) -> Case:
    """The V-shapes of some rows, counted."""
    name = f"{rows:,} rows of {keys:,} keys, {cores} cores"
    text = f"SELECT count(*) AS n FROM ({by_hand.VSHAPE.format(**TICKS, table='ticks')})"
    return Case(name, Rows(rows, keys), counted(VSHAPE), cores, rounds=1, by_window=text)


def some_out(percent: int) -> Case:
    """Pairs of rows, as an Arrow table: as many percent of the rows begin one."""
    high = f"abs(price) > {199.9 - percent}"  # which no statistics of a file decide
    pairs = f"""{OF_TICKS} MEASURES A.ts AS ts, B.price AS next
        AFTER MATCH SKIP TO NEXT ROW PATTERN (A B) DEFINE A AS {high}"""
    text = f"""SELECT symbol, ts, next FROM (
        SELECT symbol, ts, price, lead(price) OVER w AS next, lead(ts) OVER w AS later FROM ticks
        WINDOW w AS (PARTITION BY symbol ORDER BY ts)) WHERE {high} AND later IS NOT NULL"""
    name, rows = f"{percent} % of 5,000,000 rows out", Rows(5 * MILLION, 5_000)
    return Case(name, rows, as_arrow(clause("ticks", pairs)), rounds=1, by_window=text)


GROWTH: Mapping[str, Mapping[int, Case]] = {
    "rows, 1,000 of each key": {
        millions * MILLION: v_shapes(millions * MILLION, millions * 1_000)
        for millions in (2, 20, 100)
    },
    "keys, 5,000,000 rows": {keys: v_shapes(5 * MILLION, keys) for keys in (1, 1_000, MILLION)},
    "percent that come out, 5,000,000 rows": {one: some_out(one) for one in (0, 10, 30)},
    "cores, 5,000,000 rows": {one: v_shapes(5 * MILLION, 5_000, one) for one in (1, 2)},
}
GROWN = [case for series in GROWTH.values() for case in series.values()]
CASES: Mapping[str, Case] = {one.name: one for one in (*COMPARED, *SCALE, *GROWN)}
