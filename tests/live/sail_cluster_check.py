"""Check queries on Sail's cluster mode: a driver and workers that talk to each other by RPC.

    python -m tests.live.sail_cluster_check [--workers 4]

This needs the extra `sail`. In Sail's mode `local-cluster`, plans, tasks and shuffles work as on a
cluster, but the workers are threads of one program. Sail runs workers in separate processes only on
Kubernetes. The exit code is 1 if a result is not as expected.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import matchrec

# A clause that finds the falls from price 2 to price 0 in the rows of `make_ticks`.
FALL_CLAUSE = """PARTITION BY sym ORDER BY at MEASURES LAST(price) AS low
  PATTERN (A D) DEFINE A AS price = 2, D AS price = 0"""
# Each of 40 keys has 33 falls.
FALL_COUNT = 40 * 33
COUNT_QUERY = f"SELECT count(*) FROM {{ticks}} MATCH_RECOGNIZE ({FALL_CLAUSE})"
# A clause whose search takes more than one step.
LONG_CLAUSE = "PARTITION BY sym ORDER BY at PATTERN (A B+) DEFINE B AS B.price >= FIRST(A.price)"
# Queries over Sail's own tables: the number of workers of a session, and whether tasks have run.
WORKERS_QUERY = "SELECT CAST(count(*) AS INT) FROM system.cluster.workers WHERE session_id = '{}'"
TASKS_QUERY = "SELECT count(*) > 0 FROM system.execution.tasks WHERE status = 'SUCCEEDED'"


class CheckResult(NamedTuple):
    """A result of a query, and the result that is expected."""

    # What the query checks, for the printed line.
    name: str
    actual: object
    expected: object


def make_ticks(spark: SparkSession) -> DataFrame:
    """Return rows of 40 keys, each with the prices 0, 1, 2, 0, 1, 2, ... in 100 rows.

    So each key has 33 falls from 2 to 0. The rows come from 8 tasks, so that they must be shuffled.
    """
    rows = spark.range(0, 4000, step=1, numPartitions=8)
    return rows.selectExpr("id % 40 AS sym", "id AS at", "id div 40 % 3 AS price")


def read_value(frame: DataFrame) -> Any:
    """Return the only value of a result."""
    return frame.collect()[0][0]


def collect_error_name(frame: DataFrame) -> str | None:
    """Run a query that should fail, and return the name of the class of matchrec's error.

    None if the query succeeds; "another error" if the error is not from matchrec.
    """
    try:
        frame.collect()
    except PySparkException as error:
        run_error = matchrec.MatchRecognizeRunError.from_exception(error)
        return "another error" if run_error is None else type(run_error).__name__
    return None


def run_checks(spark: SparkSession, worker_count: int) -> Iterator[CheckResult]:
    """Run the queries, and yield each result with the expected one.

    Args:
        spark: a session on Sail.
        worker_count: the expected number of workers.
    """
    ticks = make_ticks(spark)
    counts = matchrec.match_recognize(ticks, FALL_CLAUSE).groupBy("low").count()
    yield CheckResult("rows", [tuple(row) for row in counts.collect()], [(0, FALL_COUNT)])
    total = read_value(matchrec.sql(spark, COUNT_QUERY, ticks=ticks))
    yield CheckResult("an aggregate", total, FALL_COUNT)
    one_step = matchrec.Options(max_steps=1)
    failing = matchrec.match_recognize(ticks, LONG_CLAUSE, options=one_step)
    yield CheckResult("an error", collect_error_name(failing), "MatchRecognizeRunError")
    workers = read_value(spark.sql(WORKERS_QUERY.format(spark.session_id)))
    yield CheckResult("workers", workers, worker_count)
    yield CheckResult("tasks of workers", read_value(spark.sql(TASKS_QUERY)), True)


def main() -> int:
    """Run all checks, print a line for each, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--workers", type=int, default=4)
    worker_count = parser.parse_args().workers
    os.environ["SAIL_MODE"] = "local-cluster"
    for limit in ("INITIAL", "MAX"):
        os.environ[f"SAIL_CLUSTER__WORKER_{limit}_COUNT"] = str(worker_count)
    failure_count = 0
    for result in run_checks(matchrec.session("sail"), worker_count):
        is_right = result.actual == result.expected
        if not is_right:
            failure_count += 1
        verdict = "right" if is_right else f"WRONG, expected {result.expected}"
        print(result.name, result.actual, verdict)
    return int(failure_count > 0)


if __name__ == "__main__":
    sys.exit(main())
