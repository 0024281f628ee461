"""Measure the memory of Python workers.

One part of `tests.benchmarks.spark` measures a worker of Spark that reads a large partition with
short matches. This module's own command

    python -m tests.benchmarks.memory [--write docs]

measures the loop of a worker alone for many kinds of queries, each in a process of its own.
`--write docs` writes the table to `docs/contributing/benchmarks.md`. It needs Linux, because it
reads /proc.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import matchrec
from tests.benchmarks.fresh_copy import ROOT
from tests.benchmarks.markdown import format_table, write_section
from tests.benchmarks.measure import count_seconds, open_session
from tests.benchmarks.options import Options
from tests.benchmarks.processes import watch_peak
from tests.benchmarks.tables import ticks

# The most bytes that a worker should have.
AIM = 2 << 30
# The measures and the option ROWS PER MATCH, by the name of the form.
FORMS = {
    "ONE ROW PER MATCH": "MEASURES STRT.ts AS start_ts, LAST(UP.ts) AS end_ts",
    "ALL ROWS PER MATCH": "MEASURES CLASSIFIER() AS c ALL ROWS PER MATCH",
}
CLAUSE = """ORDER BY ts, symbol {form} PATTERN (STRT DOWN+ UP+)
  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)"""


def measure_peak(path: str, form: str) -> tuple[int, float]:
    """Return the most bytes of a new worker, and the seconds of the query."""
    with open_session() as spark:
        frame = spark.read.parquet(path)
        matches = matchrec.match_recognize(frame, CLAUSE.format(form=form))
        with watch_peak() as peak:
            seconds = count_seconds(lambda: matches.write.format("noop").mode("overwrite").save())
    return peak.bytes, seconds


def report(options: Options) -> Iterator[str]:
    """Yield the table of a worker of Spark."""
    cells = []
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "ticks")
        with open_session() as spark:
            ticks(spark, options.memory_rows, 1000).repartition(8).write.parquet(path)
        for form, text in FORMS.items():
            peak, seconds = measure_peak(path, text)
            title = f"{options.memory_rows:,} rows, {form}"
            cells.append([title, f"{peak / 2**20:,.0f}", f"{AIM / 2**20:,.0f}", f"{seconds:.1f}"])
    yield from format_table(["no PARTITION BY", "peak, MB", "aim, MB", "seconds"], cells)


class WorkerCase(NamedTuple):
    """A query over rows of a size, for a worker alone."""

    # A key of `tests.tasks.worker_memory.KINDS`.
    kind: str
    rows: int
    keys: int
    # The bytes of the string that each row has.
    string_bytes: int


WORKER_CASES = (
    WorkerCase("V-shape", 1_000_000, 1000, 0),
    WorkerCase("V-shape", 10_000_000, 1000, 0),
    WorkerCase("V-shape", 50_000_000, 1000, 0),
    WorkerCase("wide rows", 1_000_000, 1000, 1000),
    WorkerCase("wide rows", 4_000_000, 1000, 1000),
    WorkerCase("wide rows", 200_000, 1000, 10_000),
    WorkerCase("ALL ROWS PER MATCH", 1_000_000, 1000, 1000),
    WorkerCase("ALL ROWS PER MATCH", 200_000, 1000, 10_000),
    WorkerCase("overlapping matches, ALL ROWS", 200_000, 1000, 1000),
    WorkerCase("overlapping matches, ALL ROWS", 200_000, 1000, 4000),
    WorkerCase("arrays", 1_000_000, 1000, 1000),
    WorkerCase("event selection, ALL MATCHES", 10_000_000, 1000, 0),
    WorkerCase("undecided until the end", 10_000_000, 1, 0),
    WorkerCase("one match of all rows", 10_000_000, 1, 0),
    WorkerCase("one match, ALL ROWS", 10_000_000, 1, 0),
)


def measure_alone(case: WorkerCase) -> list[str]:
    """Return a row of the table of a worker alone.

    Its last cell is the memory that the worker takes in addition to its libraries.
    """
    no_limit = "0"
    arguments = [no_limit, *map(str, case)]
    command = [sys.executable, "-m", "tests.tasks.worker_memory", *arguments]
    result = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    output_rows, bytes_before, peak_bytes = map(int, result.stdout.split())
    counts = (case.rows, case.keys, case.string_bytes, output_rows)
    mebibytes = (peak_bytes - bytes_before) // 2**20
    return [case.kind, *(f"{count:,}" for count in counts), f"{mebibytes:,}"]


def report_alone() -> Iterator[str]:
    """Yield the table of a worker alone."""
    head = ("query", "rows", "partitions", "bytes of a string", "output rows", "MiB")
    yield from format_table(head, map(measure_alone, WORKER_CASES))


def main() -> None:
    """Measure a worker alone, print the table, and write it to the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="where docs is")
    folder = parser.parse_args().write
    lines = list(report_alone())
    print("\n".join(lines), flush=True)
    if folder is not None:
        write_section(folder / "contributing" / "benchmarks.md", "worker memory", ["", *lines, ""])


if __name__ == "__main__":
    main()
