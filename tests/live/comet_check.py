"""Check queries on Spark with Apache DataFusion Comet: the rows, the plan and the time.

    python -m tests.live.comet_check --jar comet-spark-spark3.5_2.12-0.12.0.jar [--rows N]

This needs Java 17 and PySpark 3.5.7, for which Comet 0.12.0 is built. The jar comes from Maven
Central (`org.apache.datafusion`). The program prints Spark's plan of a V-shape, and for each
contender the least seconds without and with Comet. Its exit code is 1 if rows differ, or if Comet
does not run the shuffle of the V-shape.
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

# The name of the contender whose rows and plan are checked: the V-shape, sorted by the workers.
V_SHAPE = "workers sort"
# The settings with which Comet runs parts of a query, with `_` for `.`.
COMET_SETTINGS = {
    "spark_plugins": "org.apache.spark.CometPlugin",
    "spark_shuffle_manager": "org.apache.spark.sql.comet.execution.shuffle.CometShuffleManager",
    "spark_comet_exec_shuffle_mode": "auto",
    "spark_memory_offHeap_enabled": "true",
    "spark_memory_offHeap_size": "2g",
}


def open_comet_session(
    jar: Path, settings: Mapping[str, str]
) -> AbstractContextManager[SparkSession]:
    """Open a new session, with Comet's jar on the class path even if the settings do not use it.

    Only the first session of a process can set the class path, because all sessions share one JVM.
    """
    return open_session(spark_driver_extraClassPath=str(jar), **settings)


def list_contenders(spark: SparkSession) -> dict[str, Query]:
    """Return the queries that are measured, by their names.

    They are the V-shape with either sort, the shuffle alone, and a Python function that returns its
    rows unchanged, after shuffle and sort.
    """
    table = spark.table("ticks").select("symbol", "ts", "price")
    shuffled = table.repartition("symbol")
    engine_sort = matchrec.Options(sort="engine")

    def run_identity() -> DataFrame:
        """Return the shuffled and sorted rows through `return_frames`."""
        ordered = shuffled.sortWithinPartitions("symbol", "ts")
        return ordered.mapInPandas(return_frames, table.schema)

    return {
        V_SHAPE: lambda: matchrec.sql(spark, VSHAPE),
        "the engine sorts": lambda: matchrec.sql(spark, VSHAPE, options=engine_sort),
        "identity": run_identity,
        "shuffle": lambda: shuffled,
    }


def return_frames(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Return the frames unchanged."""
    yield from frames


def show_plan(query: Query) -> str:
    """Return the physical plan of a query."""
    return str(query()._jdf.queryExecution().executedPlan())


def main() -> None:
    """Measure the contenders without and with Comet, print the results, and exit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--jar", type=Path, required=True, metavar="PATH")
    parser.add_argument("--rows", type=int, default=2 * MILLION)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "ticks")
        with open_comet_session(arguments.jar, {}) as spark:
            ticks(spark, arguments.rows, 1000).repartition(4).write.parquet(path)
        seconds: dict[str, list[float]] = {}
        digests = set()
        for settings in ({}, COMET_SETTINGS):
            with open_comet_session(arguments.jar, settings) as spark:
                spark.read.parquet(path).createOrReplaceTempView("ticks")
                queries = list_contenders(spark)
                digests.add(Reference.read(queries[V_SHAPE]()).digest)
                for name, query in queries.items():
                    run_query(query)
                    best = find_least_seconds(
                        lambda query=query: run_query(query), arguments.rounds
                    )
                    seconds.setdefault(name, []).append(best)
                plan = show_plan(queries[V_SHAPE])
    print(plan)
    for name, (plain, comet) in seconds.items():
        print(f"{name}: {plain:.2f} s, with Comet {comet:.2f} s")
    sys.exit(len(digests) != 1 or "CometExchange" not in plan)


if __name__ == "__main__":
    main()
