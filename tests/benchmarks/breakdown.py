"""Measure how the time of the V-shape divides into steps: run the query cut off after each step.

The cost of a step is what it adds to the step before in the same round. The time of the worker is
broken down by its own counters. They add up the seconds of all tasks, so they are divided by the
number of cores.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.spark.preparations import preparation
from matchrec.spark.transport import make_task_function, plan_worker_output
from matchrec.worker.query_worker import QueryWorker
from tests.benchmarks.compare import create_table_view
from tests.benchmarks.markdown import format_table
from tests.benchmarks.measure import Query, Times, measure_queries, median, open_session, run_query
from tests.benchmarks.options import Options
from tests.benchmarks.workloads import VSHAPE

CORES = 2
# The name of the step that the worker takes.
WORKER = "worker"
# The counters of the worker's stages, by the names of the stages in the table.
STAGES = {"arrays": "encoding_seconds", "kernel": "matching_seconds", "gather": "gathering_seconds"}
Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True)
class Crossing:
    """The transfer of a query's rows to the Python workers."""

    # The rows that are sent.
    prepared: DataFrame
    # The code that runs over them.
    matching: QueryWorker


def find_crossing(spark: SparkSession, query: str) -> Crossing:
    """Return the transfer of a query's rows. The query is planned and does not run."""
    crossings: list[Crossing] = []

    def keep_crossing(rows: DataFrame, worker: QueryWorker, *rest: Any) -> DataFrame:
        """Plan the output of the workers as usual, and keep what goes to them."""
        crossings.append(Crossing(rows, worker))
        return plan_worker_output(rows, worker, *rest)

    with patch.object(preparation, "plan_worker_output", keep_crossing):
        matchrec.sql(spark, query)
    (crossing,) = crossings
    return crossing


def drop_batches(batches: Batches) -> Batches:
    """Read every batch and return none."""
    for batch in batches:
        assert batch.num_columns
    return iter(())


def make_dropping_runner(matching: QueryWorker) -> Callable[[Batches], Batches]:
    """Return a function that matches the rows as the worker does and drops the result."""
    match_batches = make_task_function(matching)

    def run_and_drop(batches: Batches) -> Batches:
        """Match the rows, read every batch of the result, and return none."""
        for batch in match_batches(batches):
            assert batch.num_columns
        return iter(())

    return run_and_drop


def cut_query_at_steps(spark: SparkSession) -> dict[str, Query]:
    """Return the V-shape query cut off after each step, by the name of the step."""
    crossing = find_crossing(spark, VSHAPE)
    prepared, schema = crossing.prepared, "nothing INT"
    matching = make_dropping_runner(crossing.matching)
    return {
        "scan": lambda: spark.table("ticks").select("symbol", "ts", "price"),
        "shuffle, conditions on one row": lambda: prepared,
        "Arrow in": lambda: prepared.mapInArrow(drop_batches, schema),
        WORKER: lambda: prepared.mapInArrow(matching, schema),
        "Arrow out": lambda: matchrec.sql(spark, VSHAPE),
    }


def measure_worker_stages(spark: SparkSession, rounds: int) -> dict[str, float]:
    """Return the seconds of each stage of the worker, by its counters: medians over the rounds."""
    seconds_by_stage: dict[str, list[float]] = {name: [] for name in STAGES}
    for _ in range(rounds):
        counters = matchrec.Counters()
        run_query(
            lambda c=counters: matchrec.sql(spark, VSHAPE, options=matchrec.Options(counters=c))
        )
        for name, seconds in seconds_by_stage.items():
            seconds.append(counters.values()[STAGES[name]] / CORES)
    return {name: median(seconds) for name, seconds in seconds_by_stage.items()}


def subtract_previous_steps(times: dict[str, Times]) -> dict[str, float]:
    """Return the elapsed seconds that each step adds to the step before: medians of the rounds."""
    previous = [0.0] * len(next(iter(times.values())).runs)
    added = {}
    for name, step in times.items():
        pairs = zip(step.clock, previous, strict=True)
        added[name] = median([seconds - previous_seconds for seconds, previous_seconds in pairs])
        previous = step.clock
    return added


def list_steps(times: dict[str, Times], stages: dict[str, float]) -> Iterator[list[str]]:
    """Yield the cells of each step, and below the worker's those of its stages.

    The cells are the seconds of the step, its share of the whole query, and the elapsed and CPU
    seconds up to its end.
    """
    total = times["Arrow out"].median
    for name, seconds in subtract_previous_steps(times).items():
        step = times[name]
        so_far = [f"{step.median:.2f}", f"{step.median_cpu:.2f}"]
        yield [name, f"{seconds:.2f}", f"{seconds / total:.0%}", *so_far]
        if name == WORKER:
            for stage, stage_seconds in stages.items():
                share = f"{stage_seconds / total:.0%}"
                yield [f"{WORKER}: {stage}", f"{stage_seconds:.2f}", share, "", ""]


def report(options: Options) -> Iterator[str]:
    """Yield the table."""
    with open_session(CORES) as spark, tempfile.TemporaryDirectory() as folder:
        create_table_view(spark, "ticks", options.scale, Path(folder))
        times = measure_queries(cut_query_at_steps(spark), options.rounds)
        stages = measure_worker_stages(spark, options.rounds)
        head = ["step", "seconds", "share", "s so far", "CPU s so far"]
        yield from format_table(head, list_steps(times, stages))
