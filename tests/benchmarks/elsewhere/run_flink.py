"""Measure a query in Flink SQL. Runs in an interpreter that has `apache-flink`, without matchrec.

It reads a job from standard input as JSON (see `tests.benchmarks.other_engines.Job`), writes the
rows of the query as CSV without a header, and prints the figures as JSON. Every run reads the CSV
files of the table. `reading` is the time of a query that only reads them.
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


def create_environment(job: dict[str, Any]) -> TableEnvironment:
    """Return an environment in batch mode that has the table of the job."""
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    for name, value in SETTINGS.items():
        env.get_config().set(name, value)
    columns = ", ".join(f"`{name}` {TYPES[type_]}" for name, type_ in job["columns"])
    env.execute_sql(
        f"CREATE TABLE {job['table']} ({columns}) WITH ('connector' = 'filesystem',"
        f" 'path' = 'file://{job['folder']}', 'format' = 'csv')"
    )
    return env


def insert_into_new_table(env: TableEnvironment, name: str, connector: str, query: str) -> float:
    """Run a query whose rows go to a new table, and return the elapsed seconds.

    Args:
        env: the environment.
        name: the name of the new table.
        connector: the options of the table, as SQL.
        query: the query.
    """
    began = time.perf_counter()
    env.execute_sql(f"CREATE TABLE {name} WITH ({connector}) AS {query}").wait()
    return time.perf_counter() - began


def main() -> None:
    """Run the job, and print its figures."""
    job = json.load(sys.stdin)
    env = create_environment(job)
    target = f"'connector' = 'filesystem', 'path' = 'file://{job['output']}', 'format' = 'csv'"
    insert_into_new_table(env, "rows_out", target, job["query"])  # also warms up
    no_target = "'connector' = 'blackhole'"  # drops the rows
    seconds = [
        insert_into_new_table(env, f"run{number}", no_target, job["query"])
        for number in range(job["rounds"])
    ]
    read_table = f"SELECT * FROM {job['table']}"
    reading = min(
        insert_into_new_table(env, f"read{number}", no_target, read_table) for number in range(2)
    )
    print(json.dumps({"version": version("apache-flink"), "seconds": seconds, "reading": reading}))


if __name__ == "__main__":
    main()
