"""Flink SQL, in an interpreter that has `apache-flink`; knows nothing of matchrec.

Reads a job from standard input as JSON (see `tests.benchmarks.other_engines.Job`), writes the rows
as CSV without header, prints the figures as JSON. Reading the CSV files is part of every run; the
seconds of reading alone are given beside.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from typing import Any

from pyflink.table import EnvironmentSettings, TableEnvironment

TYPES = {"string": "STRING", "timestamp": "TIMESTAMP(3)", "double": "DOUBLE", "bigint": "BIGINT"}
SETTINGS = {
    "parallelism.default": "2",
    "taskmanager.memory.managed.size": "1gb",
    "taskmanager.memory.network.max": "256mb",
    "table.exec.sink.not-null-enforcer": "drop",
}


def environment(job: dict[str, Any]) -> TableEnvironment:
    """In batch mode, with the table of the job."""
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    for name, value in SETTINGS.items():
        env.get_config().set(name, value)
    columns = ", ".join(f"`{name}` {TYPES[type_]}" for name, type_ in job["columns"])
    env.execute_sql(
        f"CREATE TABLE {job['table']} ({columns}) WITH ('connector' = 'filesystem',"
        f" 'path' = 'file://{job['folder']}', 'format' = 'csv')"
    )
    return env


def into(env: TableEnvironment, name: str, connector: str, query: str) -> float:
    """Seconds of a query whose rows go to a new table."""
    began = time.perf_counter()
    env.execute_sql(f"CREATE TABLE {name} WITH ({connector}) AS {query}").wait()
    return time.perf_counter() - began


def main() -> None:
    job = json.load(sys.stdin)
    env = environment(job)
    target = f"'connector' = 'filesystem', 'path' = 'file://{job['output']}', 'format' = 'csv'"
    into(env, "rows_out", target, job["query"])  # the warm-up gives the rows
    hole = "'connector' = 'blackhole'"
    reading = f"SELECT * FROM {job['table']}"
    figures = {
        "version": version("apache-flink"),
        "seconds": [into(env, f"run{i}", hole, job["query"]) for i in range(job["rounds"])],
        "reading": min(into(env, f"read{i}", hole, reading) for i in range(2)),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
