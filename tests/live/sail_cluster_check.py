"""Check queries on Sail's cluster mode: a driver and workers that talk to each other by RPC.

    python -m tests.live.sail_cluster_check [--workers 4]

This needs the extra `sail`. Sail's mode `local-cluster` has plans, tasks and a shuffle as a cluster
has them, but its workers are threads of one program. Workers in separate processes run only on
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

CLAUSE = """PARTITION BY sym ORDER BY at MEASURES LAST(price) AS low
  PATTERN (A D) DEFINE A AS price = 2, D AS price = 0"""
COUNT_QUERY = f"SELECT count(*) FROM {{ticks}} MATCH_RECOGNIZE ({CLAUSE})"
# A clause whose search takes more than one step.
LONG_CLAUSE = "PARTITION BY sym ORDER BY at PATTERN (A B+) DEFINE B AS B.price >= FIRST(A.price)"
# Queries over Sail's own tables: the number of workers of a session, and whether tasks have run.
WORKERS_QUERY = "SELECT CAST(count(*) AS INT) FROM system.cluster.workers WHERE session_id = '{}'"
TASKS_QUERY = "SELECT count(*) > 0 FROM system.execution.tasks WHERE status = 'SUCCEEDED'"


class CheckResult(NamedTuple):
    """A result, and the result that is expected."""

    name: str
    actual: object
    expected: object


def make_ticks(spark: SparkSession) -> DataFrame:
    """Return rows of 40 keys, each with the prices 0, 1, 2, 0, 1, 2, ... in 100 rows.

    So each key has 33 falls from 2 to 0.
    """
    rows = spark.range(0, 4000, 1, 8)
    return rows.selectExpr("id % 40 AS sym", "id AS at", "id div 40 % 3 AS price")


def read_value(frame: DataFrame) -> Any:
    """Return the only value of a result."""
    return frame.collect()[0][0]


def find_error_class(frame: DataFrame) -> str | None:
    """Return the name of matchrec's class for the error of a query; None if it does not fail."""
    try:
        frame.collect()
    except PySparkException as error:
        return type(matchrec.MatchRecognizeRunError.from_exception(error)).__name__
    return None


def run_checks(spark: SparkSession, worker_count: int) -> Iterator[CheckResult]:
    """Run queries, and yield their results.

    Args:
        spark: the session of Sail.
        worker_count: the number of workers that it should have.
    """
    ticks = make_ticks(spark)
    counts = matchrec.match_recognize(ticks, CLAUSE).groupBy("low").count()
    yield CheckResult("rows", [tuple(row) for row in counts.collect()], [(0, 1320)])
    total = read_value(matchrec.sql(spark, COUNT_QUERY, ticks=ticks))
    yield CheckResult("an aggregate", total, 1320)
    one_step = matchrec.Options(max_steps=1)
    failing = matchrec.match_recognize(ticks, LONG_CLAUSE, options=one_step)
    yield CheckResult("an error", find_error_class(failing), "MatchRecognizeRunError")
    workers = read_value(spark.sql(WORKERS_QUERY.format(spark.session_id)))
    yield CheckResult("workers", workers, worker_count)
    yield CheckResult("tasks of workers", read_value(spark.sql(TASKS_QUERY)), True)


def main() -> int:
    """Run all checks, print a line for each, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--workers", type=int, default=4)
    worker_count = parser.parse_args().workers
    os.environ["SAIL_MODE"] = "local-cluster"
    for bound in ("INITIAL", "MAX"):
        os.environ[f"SAIL_CLUSTER__WORKER_{bound}_COUNT"] = str(worker_count)
    failures = 0
    for result in run_checks(matchrec.session("sail"), worker_count):
        is_right = result.actual == result.expected
        failures += not is_right
        verdict = "right" if is_right else f"WRONG, expected {result.expected}"
        print(result.name, result.actual, verdict)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
