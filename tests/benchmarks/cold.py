"""Measure what a user waits for at first: import, planning, compilation, a new worker."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.shortcuts import Shortcuts, use_shortcuts
from tests.benchmarks.fresh_copy import make_fresh_copy
from tests.benchmarks.markdown import format_table
from tests.benchmarks.measure import Query, count_seconds, median, open_session, run_query
from tests.benchmarks.options import Options
from tests.benchmarks.search_alone import report_first_searches
from tests.benchmarks.tables import ticks
from tests.benchmarks.waiting import record_waits
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
FIRST_QUERY = "from tests.benchmarks.cold import print_first_query; print_first_query()"
Batches = Iterator[pa.RecordBatch]


def read_last_figure(text: str) -> float:
    """Return the number at the end of what a process printed."""
    return float(text.rsplit(maxsplit=1)[-1])


def make_few_ticks(spark: SparkSession) -> DataFrame:
    """Return a few ticks that cost nothing to read, and create a view of them."""
    rows = ticks(spark, ROWS, 2).coalesce(1).toPandas()
    frame = spark.createDataFrame(rows).coalesce(1)
    frame.createOrReplaceTempView("ticks")
    return frame


def return_batches(batches: Batches) -> Batches:
    """Return the batches unchanged."""
    yield from batches


def print_first_query() -> None:
    """Print the seconds of the first query of a process; Spark and its workers are warm.

    The query is compiled, like one over many rows.
    """
    with open_session() as spark, use_shortcuts(Shortcuts(max_python_steps=0)):
        frame = make_few_ticks(spark)
        for _ in range(3):
            run_query(lambda: frame.mapInArrow(return_batches, frame.schema))
        print(count_seconds(lambda: matchrec.sql(spark, VSHAPE).collect()))


def list_imports(times: int) -> Iterator[list[str]]:
    """Yield the rows of `import matchrec`."""
    with make_fresh_copy() as copy:
        for before in ("pyspark.sql", "pyspark.sql, pandas, pyarrow"):
            code = IMPORT.format(before=before)
            seconds = min(read_last_figure(copy.run_code(code)) for _ in range(times))
            yield [f"import matchrec, after {before}", f"{seconds * 1000:,.0f} ms", ""]


def list_first_query(times: int) -> Iterator[list[str]]:
    """Yield the rows of the first query on a machine and of the first one of a process.

    Args:
        times: how often the query runs with the kernels in the cache.
    """
    with make_fresh_copy() as copy:
        compiled = read_last_figure(copy.run_code(FIRST_QUERY))
        cached = min(read_last_figure(copy.run_code(FIRST_QUERY)) for _ in range(times))
    yield ["first query of a process, kernels in the cache", f"{cached:.2f} s", ""]
    yield [
        "first query on a machine: what it waits for the compiler",
        f"{compiled - cached:.2f} s",
        "3 s",
    ]


def list_planning(times: int) -> Iterator[list[str]]:
    """Yield the rows of planning a query, which runs no job."""
    with open_session() as spark:
        make_few_ticks(spark)
        for _ in range(5):
            matchrec.sql(spark, VSHAPE)
        plans = [measure_planning(spark) for _ in range(10 * times)]
    total, in_spark = (median(figures) * 1000 for figures in zip(*plans, strict=True))
    yield ["planning a query", f"{total:.0f} ms", ""]
    yield ["planning a query, without waiting for Spark", f"{total - in_spark:.0f} ms", "50 ms"]


def measure_planning(spark: SparkSession) -> tuple[float, float]:
    """Return the seconds of planning, and how many of them it waits for Spark."""
    with record_waits(spark) as waits:
        total = count_seconds(lambda: matchrec.sql(spark, VSHAPE))
    return total, sum(waits)


def list_new_workers(times: int) -> Iterator[list[str]]:
    """Yield the rows of a new worker process, and of the first query in it beyond that."""
    warm, new = (measure_workers(times, reuse) for reuse in ("true", "false"))
    cost = {name: new[name] - warm[name] for name in warm}
    spent = max(cost["matchrec"] - cost["identity"], 0)
    yield ["a new worker process, as Spark starts it", f"{cost['identity']:.2f} s", ""]
    yield ["first query of a new worker process, beyond that", f"{spent:.2f} s", "0.3 s"]


def measure_workers(times: int, reuse: str) -> dict[str, float]:
    """Return the seconds of the identity and of a planned query over few rows in one task.

    Args:
        reuse: "true" if the queries share a worker process, "false" if each run starts one.
    """
    with open_session(1, spark_python_worker_reuse=reuse) as spark:
        frame = make_few_ticks(spark)
        unchanged = frame.mapInArrow(return_batches, frame.schema)
        matched = matchrec.sql(spark, VSHAPE)
        queries: dict[str, Query] = {"identity": lambda: unchanged, "matchrec": lambda: matched}
        for _ in range(5):
            for query in queries.values():
                run_query(query)
        return {
            name: median([run_query(query).clock for _ in range(3 * times)])
            for name, query in queries.items()
        }


def report(options: Options) -> Iterator[str]:
    """Yield the tables of what is waited for, and of the first searches."""
    times = options.rounds
    rows: list[list[str]] = []
    for part in (list_imports, list_planning, list_first_query, list_new_workers):
        rows += part(times)
    yield from format_table(["what is waited for", "time", "aim"], rows)
    yield ""
    yield from report_first_searches(options)
