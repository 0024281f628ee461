"""Measure a query in DuckDB. Runs in an interpreter that has DuckDB, without matchrec.

It reads a job from standard input as JSON (see `tests.benchmarks.other_engines.Job`), writes the
rows of the query as Parquet, and prints the figures as JSON. A run reads the files with the number
of threads of the job, and ends with an Arrow table. The first run is not counted. If DuckDB does
not accept the query, the figures are only `version`, and `refused` with the reason.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import duckdb


def main() -> None:
    """Run the job, and print its figures."""
    job = json.load(sys.stdin)
    connection = duckdb.connect(config={"threads": job["threads"]})
    connection.execute("SET TimeZone = 'UTC'")
    files = f"read_parquet('{job['folder']}/*.parquet')"
    connection.execute(f"CREATE VIEW {job['table']} AS SELECT * FROM {files}")
    try:
        connection.sql(job["query"])  # parses and plans the query, and does not run it
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        print(json.dumps({"version": duckdb.__version__, "refused": reason}))
        return
    began = time.perf_counter()
    connection.sql(f"SELECT * FROM {job['table']}").to_arrow_table()
    reading = time.perf_counter() - began
    elapsed_seconds = []
    cpu_seconds = []
    for _ in range(1 + job["rounds"]):
        began = time.perf_counter()
        cpu_before = time.process_time()
        connection.sql(job["query"]).to_arrow_table()
        elapsed_seconds.append(time.perf_counter() - began)
        cpu_seconds.append(time.process_time() - cpu_before)
    folder = Path(job["output"])
    folder.mkdir()
    connection.execute(f"COPY ({job['query']}) TO '{folder}/part-0.parquet'")
    figures = {
        "version": duckdb.__version__,
        "seconds": elapsed_seconds[1:],
        "processor": cpu_seconds[1:],
        "reading": reading,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
