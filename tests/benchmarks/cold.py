"""What is waited for before anything is fast: import, planning, compilation, a new worker."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.shortcuts import Shortcuts, in_force
from tests.benchmarks.engine_alone import first_searches
from tests.benchmarks.fresh_copy import fresh_copy
from tests.benchmarks.markdown import format_table
from tests.benchmarks.measure import Query, count_seconds, median, open_session, run_query
from tests.benchmarks.options import Options
from tests.benchmarks.tables import ticks
from tests.benchmarks.waiting import waiting_for
from tests.benchmarks.workloads import VSHAPE

ROWS = 2_000
IMPORT = """
import time
import {before}
began = time.perf_counter()
import matchrec
matchrec.sql  # a name is loaded on first use
print(time.perf_counter() - began)
"""
FIRST_QUERY = "from tests.benchmarks.cold import first_query; first_query()"
Batches = Iterator[pa.RecordBatch]


def last_figure(text: str) -> float:
    """The figure at the end of what a process printed."""
    return float(text.rsplit(maxsplit=1)[-1])


def few_ticks(spark: SparkSession) -> DataFrame:
    """Rows that cost nothing, also as a view."""
    rows = ticks(spark, ROWS, 2).coalesce(1).toPandas()
    frame = spark.createDataFrame(rows).coalesce(1)
    frame.createOrReplaceTempView("ticks")
    return frame


def return_batches(batches: Batches) -> Batches:
    """The identity."""
    yield from batches


def first_query() -> None:
    """Prints the seconds of a process's first query, Spark and its workers being warm.

    It is compiled, as one over many rows is.
    """
    with open_session() as spark, in_force(Shortcuts(max_python_steps=0)):
        frame = few_ticks(spark)
        for _ in range(3):
            run_query(lambda: frame.mapInArrow(return_batches, frame.schema))
        print(count_seconds(lambda: matchrec.sql(spark, VSHAPE).collect()))


def of_imports(times: int) -> Iterator[list[str]]:
    """The lines of `import matchrec`."""
    with fresh_copy() as copy:
        for before in ("pyspark.sql", "pyspark.sql, pandas, pyarrow"):
            code = IMPORT.format(before=before)
            seconds = min(last_figure(copy.printed(code)) for _ in range(times))
            yield [f"import matchrec, after {before}", f"{seconds * 1000:,.0f} ms", ""]


def of_first_query(times: int) -> Iterator[list[str]]:
    """The lines of a machine's first query. times: how often with the kernels in the cache."""
    with fresh_copy() as copy:
        compiled = last_figure(copy.printed(FIRST_QUERY))
        cached = min(last_figure(copy.printed(FIRST_QUERY)) for _ in range(times))
    yield ["first query of a process, kernels in the cache", f"{cached:.2f} s", ""]
    yield [
        "first query on a machine: what it waits for the compiler",
        f"{compiled - cached:.2f} s",
        "3 s",
    ]


def of_planning(times: int) -> Iterator[list[str]]:
    """The lines of planning a query, which runs no job."""
    with open_session() as spark:
        few_ticks(spark)
        for _ in range(5):
            matchrec.sql(spark, VSHAPE)
        plans = [planned(spark) for _ in range(10 * times)]
    whole, in_spark = (median(figures) * 1000 for figures in zip(*plans, strict=True))
    yield ["planning a query", f"{whole:.0f} ms", ""]
    yield ["planning a query, without waiting for Spark", f"{whole - in_spark:.0f} ms", "50 ms"]


def planned(spark: SparkSession) -> tuple[float, float]:
    """Seconds of planning, and of those the ones in which Spark has the word."""
    with waiting_for(spark) as waited:
        whole = count_seconds(lambda: matchrec.sql(spark, VSHAPE))
    return whole, sum(waited)


def of_new_workers(times: int) -> Iterator[list[str]]:
    """The line of what the first query of a worker process costs beside one that does nothing."""
    warm, new = (of_workers(times, reuse) for reuse in ("true", "false"))
    cost = {name: new[name] - warm[name] for name in warm}
    spent = max(cost["matchrec"] - cost["identity"], 0)
    yield ["a new worker process, as Spark starts it", f"{cost['identity']:.2f} s", ""]
    yield ["first query of a new worker process, beyond that", f"{spent:.2f} s", "0.3 s"]


def of_workers(times: int, reuse: str) -> dict[str, float]:
    """Seconds of a query, planned before, on few rows in one task."""
    with open_session(1, spark_python_worker_reuse=reuse) as spark:
        frame = few_ticks(spark)
        nothing_done = frame.mapInArrow(return_batches, frame.schema)
        matched = matchrec.sql(spark, VSHAPE)
        queries: dict[str, Query] = {"identity": lambda: nothing_done, "matchrec": lambda: matched}
        for _ in range(5):
            for query in queries.values():
                run_query(query)
        return {
            name: median([run_query(query).clock for _ in range(3 * times)])
            for name, query in queries.items()
        }


def report(options: Options) -> Iterator[str]:
    """The table."""
    times = options.rounds
    rows: list[list[str]] = []
    for part in (of_imports, of_planning, of_first_query, of_new_workers):
        rows += part(times)
    yield from format_table(["what is waited for", "time", "aim"], rows)
    yield ""
    yield from first_searches(options)
