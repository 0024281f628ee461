"""Where the time of the V-shape goes: the query cut off after each step.

A step's cost is what it adds in the same round to the one before. What the worker does is divided
by its own counters, which are seconds of all tasks and so are divided by the cores.
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
from matchrec.spark.transport import SentRows, make_runner
from matchrec.worker.query_worker import QueryWorker
from tests.benchmarks.compare import written_table
from tests.benchmarks.markdown import table
from tests.benchmarks.measure import Query, Times, measured, median, run, session
from tests.benchmarks.options import Options
from tests.benchmarks.workloads import VSHAPE

CORES = 2
WORKER = "worker"
STAGES = {"arrays": "encoding", "kernel": "seconds", "gather": "gathering"}  # counters by name
Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True)
class Crossing:
    """What a query sends to the Python workers, and what runs there."""

    prepared: DataFrame
    matching: QueryWorker


def crossing_of(spark: SparkSession, query: str) -> Crossing:
    """What the query would send; nothing runs."""
    seen: list[Crossing] = []

    def seeing(sent: SentRows, worker: Callable[[Any], QueryWorker], *rest: Any) -> DataFrame:
        seen.append(Crossing(sent.rows, worker(None)))
        return original(sent, worker, *rest)

    original = SentRows.run
    with patch.object(SentRows, "run", seeing):
        matchrec.sql(spark, query)
    (crossing,) = seen
    return crossing


def sent_and_dropped(batches: Batches) -> Batches:
    """Reads every batch, gives nothing."""
    for batch in batches:
        assert batch.num_columns
    return iter(())


def matched_and_dropped(matching: QueryWorker) -> Callable[[Batches], Batches]:
    """What the worker does, without its rows."""
    matched = make_runner(matching)

    def run_and_drop(batches: Batches) -> Batches:
        for batch in matched(batches):
            assert batch.num_columns
        return iter(())

    return run_and_drop


def steps(spark: SparkSession) -> dict[str, Query]:
    """The query, cut off after each step."""
    crossing = crossing_of(spark, VSHAPE)
    prepared, schema = crossing.prepared, "nothing INT"
    matching = matched_and_dropped(crossing.matching)
    return {
        "scan": lambda: spark.table("ticks").select("symbol", "ts", "price"),
        "shuffle, conditions on one row": lambda: prepared,
        "Arrow in": lambda: prepared.mapInArrow(sent_and_dropped, schema),
        WORKER: lambda: prepared.mapInArrow(matching, schema),
        "Arrow out": lambda: matchrec.sql(spark, VSHAPE),
    }


def stages_of_worker(spark: SparkSession, rounds: int) -> dict[str, float]:
    """Seconds of the worker's stages, as its counters say."""
    found: dict[str, list[float]] = {name: [] for name in STAGES}
    for _ in range(rounds):
        counters = matchrec.Counters()
        run(lambda c=counters: matchrec.sql(spark, VSHAPE, options=matchrec.Options(counters=c)))
        for name, seconds in found.items():
            seconds.append(counters.values()[STAGES[name]] / CORES)
    return {name: median(seconds) for name, seconds in found.items()}


def added(times: dict[str, Times]) -> dict[str, float]:
    """What each step adds to the one before: the median over the rounds."""
    before = [0.0] * len(next(iter(times.values())).runs)
    found = {}
    for name, taken in times.items():
        found[name] = median([now - then for now, then in zip(taken.clock, before, strict=True)])
        before = taken.clock
    return found


def of_steps(times: dict[str, Times], stages: dict[str, float]) -> Iterator[list[str]]:
    """The table's lines: seconds of the step, its share, seconds so far; then the worker's own."""
    whole = times["Arrow out"].median
    for name, seconds in added(times).items():
        taken = times[name]
        so_far = [f"{taken.median:.2f}", f"{taken.processor:.2f}"]
        yield [name, f"{seconds:.2f}", f"{seconds / whole:.0%}", *so_far]
        if name == WORKER:
            for stage, own in stages.items():
                yield [f"of it {stage}", f"{own:.2f}", f"{own / whole:.0%}", "", ""]


def lines(options: Options) -> Iterator[str]:
    """The table."""
    with session(CORES) as spark, tempfile.TemporaryDirectory() as folder:
        written_table(spark, "ticks", options.scale, Path(folder))
        times = measured(steps(spark), options.rounds)
        stages = stages_of_worker(spark, options.rounds)
        head = ["step", "seconds", "share", "all so far", "processor s so far"]
        yield from table(head, of_steps(times, stages))
