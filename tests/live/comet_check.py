"""Apache DataFusion Comet under matchrec: the same rows, who does what, and the time with it.

    python -m tests.live.comet_check --jar comet-spark-spark3.5_2.12-0.12.0.jar [--rows N]

Needs Java 17 and PySpark 3.5.7, for which Comet 0.12.0 is built; the jar comes from Maven Central
(`org.apache.datafusion`). Prints Spark's plan of a V-shape, and for each contender the least
seconds without and with Comet. The exit code is that of a failure when rows differ, or when the
shuffle of ours is not Comet's.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import pandas as pd
from pyspark.sql import DataFrame, SparkSession

import matchrec
from tests.benchmarks.agreement import Reference
from tests.benchmarks.measure import Query, find_least_seconds, open_session, run_query
from tests.benchmarks.tables import MILLION, ticks
from tests.benchmarks.workloads import VSHAPE

SETTINGS = {
    "spark_plugins": "org.apache.spark.CometPlugin",
    "spark_shuffle_manager": "org.apache.spark.sql.comet.execution.shuffle.CometShuffleManager",
    "spark_comet_exec_shuffle_mode": "auto",
    "spark_memory_offHeap_enabled": "true",
    "spark_memory_offHeap_size": "2g",
}


def comet_session(jar: Path, settings: Mapping[str, str]) -> AbstractContextManager[SparkSession]:
    """A session of its own; the jar is on the class path of Java, which all sessions share."""
    return open_session(spark_driver_extraClassPath=str(jar), **settings)


def contenders(spark: SparkSession) -> dict[str, Query]:
    """The V-shape with either sort, the shuffle alone, and an identity after shuffle and sort."""
    table = spark.table("ticks").select("symbol", "ts", "price")
    shuffled = table.repartition("symbol")

    def identity() -> DataFrame:
        def same(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
            yield from frames

        return shuffled.sortWithinPartitions("symbol", "ts").mapInPandas(same, table.schema)

    return {
        "workers sort": lambda: matchrec.sql(spark, VSHAPE),
        "the engine sorts": lambda: matchrec.sql(
            spark, VSHAPE, options=matchrec.Options(sort="engine")
        ),
        "identity": identity,
        "shuffle": lambda: shuffled,
    }


def plan_of(query: Query) -> str:
    """The physical plan."""
    return str(query()._jdf.queryExecution().executedPlan())


def main() -> None:
    """Parses the arguments, compares, prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--jar", type=Path, required=True, metavar="PATH")
    parser.add_argument("--rows", type=int, default=2 * MILLION)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "ticks")
        with comet_session(given.jar, {}) as spark:
            ticks(spark, given.rows, 1000).repartition(4).write.parquet(path)
        seconds: dict[str, list[float]] = {}
        digests = set()
        for settings in ({}, SETTINGS):
            with comet_session(given.jar, settings) as spark:
                spark.read.parquet(path).createOrReplaceTempView("ticks")
                queries = contenders(spark)
                digests.add(Reference.of(queries["workers sort"]()).digest)
                for name, query in queries.items():
                    run_query(query)
                    best = find_least_seconds(lambda query=query: run_query(query), given.rounds)
                    seconds.setdefault(name, []).append(best)
                plan = plan_of(queries["workers sort"])
    print(plan)
    for name, (plain, comet) in seconds.items():
        print(f"{name}: {plain:.2f} s, with Comet {comet:.2f} s")
    sys.exit(len(digests) != 1 or "CometExchange" not in plan)


if __name__ == "__main__":
    main()
