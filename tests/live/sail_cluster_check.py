"""Queries on Sail's cluster in one program: a driver and workers that speak to each other by RPC.

    python -m tests.live.sail_cluster_check [--workers 4]

Needs the extra `sail`. Sail's own mode `local-cluster` has plans, tasks and a shuffle as a cluster
has them, and workers that are threads; in a process of its own a worker runs on Kubernetes only.
The exit code is that of a failure where anything is not as expected.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import matchrec

CLAUSE = """PARTITION BY sym ORDER BY at MEASURES LAST(price) AS low
  PATTERN (A D) DEFINE A AS price = 2, D AS price = 0"""
COUNT = f"SELECT count(*) FROM {{ticks}} MATCH_RECOGNIZE ({CLAUSE})"
LONG = "PARTITION BY sym ORDER BY at PATTERN (A B+) DEFINE B AS B.price >= FIRST(A.price)"
WORKERS = "SELECT CAST(count(*) AS INT) FROM system.cluster.workers WHERE session_id = '{}'"
TASKS = "SELECT count(*) > 0 FROM system.execution.tasks WHERE status = 'SUCCEEDED'"


def ticks(spark: SparkSession) -> DataFrame:
    """40 keys have 100 rows each with the prices 0, 1, 2, 0, 1, 2, ...: 33 falls from 2 to 0."""
    rows = spark.range(0, 4000, 1, 8)
    return rows.selectExpr("id % 40 AS sym", "id AS at", "id div 40 % 3 AS price")


def first(frame: DataFrame) -> Any:
    """The one value of a result."""
    return frame.collect()[0][0]


def error_of(frame: DataFrame) -> str | None:
    """Of which class an error of a worker is, as it comes to the program."""
    try:
        frame.collect()
    except PySparkException as error:
        return type(matchrec.MatchRecognizeRunError.from_exception(error)).__name__
    return None


def answers(spark: SparkSession, workers: int) -> Iterator[tuple[str, object, object]]:
    """What is asked, what comes out, and what should."""
    rows = matchrec.match_recognize(ticks(spark), CLAUSE)
    yield "rows", [tuple(row) for row in rows.groupBy("low").count().collect()], [(0, 1320)]
    yield "an aggregate", first(matchrec.sql(spark, COUNT, ticks=ticks(spark))), 1320
    few = matchrec.Options(max_steps=1)
    failing = matchrec.match_recognize(ticks(spark), LONG, options=few)
    yield "an error", error_of(failing), "MatchRecognizeRunError"
    yield "workers", first(spark.sql(WORKERS.format(spark.session_id))), workers
    yield "tasks of workers", first(spark.sql(TASKS)), True


def main() -> int:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--workers", type=int, default=4)
    workers = arguments.parse_args().workers
    os.environ["SAIL_MODE"] = "local-cluster"
    for count in ("INITIAL", "MAX"):
        os.environ[f"SAIL_CLUSTER__WORKER_{count}_COUNT"] = str(workers)
    wrong = 0
    for asked, came_out, expected in answers(matchrec.session("sail"), workers):
        is_right = came_out == expected
        wrong += not is_right
        print(asked, came_out, "right" if is_right else f"WRONG, expected {expected}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
