"""DuckDB, in an interpreter that has it; knows nothing of matchrec.

Reads a job from standard input as JSON (see `tests.benchmarks.other_engines.Job`), writes the rows
as Parquet, prints the figures as JSON. Each run reads the files with as many threads as are asked
for and ends with a table of Arrow's; one before the first is not counted. If DuckDB does not accept
the query, the figures are the version and the reason under `refused`.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import duckdb


def main() -> None:
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
    seconds, processor = [], []
    for _ in range(1 + job["rounds"]):
        began, used = time.perf_counter(), time.process_time()
        connection.sql(job["query"]).to_arrow_table()
        seconds.append(time.perf_counter() - began)
        processor.append(time.process_time() - used)
    folder = Path(job["output"])
    folder.mkdir()
    connection.execute(f"COPY ({job['query']}) TO '{folder}/part-0.parquet'")
    figures = {"version": duckdb.__version__, "seconds": seconds[1:], "processor": processor[1:]}
    print(json.dumps(figures | {"reading": reading}))


if __name__ == "__main__":
    main()
