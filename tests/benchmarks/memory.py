"""Memory of the Python worker that reads a large partition with short matches."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import matchrec
from tests.benchmarks.markdown import table
from tests.benchmarks.measure import clocked, session
from tests.benchmarks.options import Options
from tests.benchmarks.processes import watched_workers
from tests.benchmarks.tables import ticks

AIM = 2 << 30
FORMS = {
    "ONE ROW PER MATCH": "MEASURES STRT.ts AS start_ts, LAST(UP.ts) AS end_ts",
    "ALL ROWS PER MATCH": "MEASURES CLASSIFIER() AS c ALL ROWS PER MATCH",
}
CLAUSE = """ORDER BY ts, symbol {form} PATTERN (STRT DOWN+ UP+)
  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)"""


def measured(path: str, form: str) -> tuple[int, float]:
    """Most bytes of a worker, new for this, and the seconds of the query."""
    with session() as spark:
        frame = spark.read.parquet(path)
        found = matchrec.match_recognize(frame, CLAUSE.format(form=form))
        with watched_workers() as peak:
            seconds = clocked(lambda: found.write.format("noop").mode("overwrite").save())
    return peak.bytes, seconds


def lines(options: Options) -> Iterator[str]:
    """The table."""
    cells = []
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "ticks")
        with session() as spark:
            ticks(spark, options.memory_rows, 1000).repartition(8).write.parquet(path)
        for form, text in FORMS.items():
            peak, seconds = measured(path, text)
            title = f"{options.memory_rows:,} rows, {form}"
            cells.append([title, f"{peak / 2**20:,.0f}", f"{AIM / 2**20:,.0f}", f"{seconds:.1f}"])
    yield from table(["no PARTITION BY", "peak, MB", "aim, MB", "seconds"], cells)
