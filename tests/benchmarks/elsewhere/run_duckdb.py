"""DuckDB and its window SQL, in an interpreter that has it; knows nothing of matchrec.

Reads a job from standard input as JSON (see `tests.benchmarks.other_engines.Job`), writes the rows
as CSV without header, prints the figures as JSON. The table is in memory when the clock starts, and
what is found stays there until it stops.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import duckdb


def main() -> None:
    job = json.load(sys.stdin)
    connection = duckdb.connect()
    columns = {name: {"string": "varchar"}.get(type_, type_) for name, type_ in job["columns"]}
    began = time.perf_counter()
    connection.execute(
        f"CREATE TABLE {job['table']} AS "
        f"SELECT * FROM read_csv('{job['folder']}/part-*', header = false, columns = {columns})"
    )
    reading = time.perf_counter() - began
    seconds, processor = [], []
    for _ in range(job["rounds"]):
        began, used = time.perf_counter(), time.process_time()
        connection.execute(f"CREATE OR REPLACE TABLE found AS {job['query']}")
        seconds.append(time.perf_counter() - began)
        processor.append(time.process_time() - used)
    folder = Path(job["output"])
    folder.mkdir()
    connection.execute(f"COPY found TO '{folder}/part-0.csv' (HEADER false)")
    figures = {"version": duckdb.__version__, "seconds": seconds, "processor": processor}
    print(json.dumps(figures | {"reading": reading}))


if __name__ == "__main__":
    main()
