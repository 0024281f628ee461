"""Seconds of Spark queries, contender by contender, and the sessions that run them."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from pyspark.sql import DataFrame, SparkSession

from tests.benchmarks.processes import processor_seconds

Query = Callable[[], DataFrame]
T = TypeVar("T")


@contextmanager
def session(cores: int = 2, memory: str = "4g", **settings: str) -> Iterator[SparkSession]:
    """A local session of its own, with as many shuffle partitions as Spark chooses.

    memory: of the driver, which the first session of a process decides. settings: of Spark, with
    `_` for `.`.
    """
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = (
        SparkSession.builder.master(f"local[{cores}]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", memory)
        .config("spark.sql.session.timeZone", "UTC")
    )
    for name, value in settings.items():
        builder = builder.config(name.replace("_", "."), value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try:
        yield spark
    finally:
        spark.stop()


@dataclass(frozen=True)
class Taken:
    """Seconds of one run: on the clock, and of processors, over Spark and its Python workers."""

    clock: float
    processor: float = float("nan")


@dataclass(frozen=True)
class Times:
    """All runs of a contender, in the order of the rounds."""

    runs: tuple[Taken, ...]

    @property
    def clock(self) -> list[float]:
        return [one.clock for one in self.runs]

    @property
    def median(self) -> float:
        return statistics.median(self.clock)

    @property
    def processor(self) -> float:
        return statistics.median(one.processor for one in self.runs)

    def ratio(self, floor: Times) -> float:
        """To another contender: the median over the rounds that both have run in."""
        if len(self.runs) != len(floor.runs):
            return self.median / floor.median
        return statistics.median(
            own / base for own, base in zip(self.clock, floor.clock, strict=True)
        )

    def cells(self) -> list[str]:
        """Median, least, most, and the median of processor time."""
        figures = (self.median, min(self.clock), max(self.clock), self.processor)
        return [f"{one:.2f}" if one == one else "" for one in figures]


def run(query: Query) -> Taken:
    """One run, planning included; its rows are dropped."""
    return timed(lambda: query().write.format("noop").mode("overwrite").save())


def run_to_arrow(query: Query) -> Taken:
    """One run, planning included; its rows become a table of Arrow's."""
    return timed(lambda: query().toArrow())


def timed(action: Callable[[], object]) -> Taken:
    """What an action takes."""
    began, processor = time.perf_counter(), processor_seconds()
    action()
    taken = time.perf_counter() - began
    return Taken(taken, processor_seconds() - processor)


def measured(
    queries: Mapping[T, Query], rounds: int, warm: bool = False, run: Callable[[Query], Taken] = run
) -> dict[T, Times]:
    """All contenders in every round, so that a change of the machine's speed meets all of them.

    warm: whether all have run before; if not, a round before the first one is not counted.
    """
    if not warm:
        for query in queries.values():
            run(query)
    runs: dict[T, list[Taken]] = {name: [] for name in queries}
    for _ in range(rounds):
        for name, query in queries.items():
            runs[name].append(run(query))
    return {name: Times(tuple(taken)) for name, taken in runs.items()}


def best_of(action: Callable[[], object], times: int) -> float:
    """Seconds on the clock, the least of several."""
    return min(clocked(action) for _ in range(times))


def clocked(action: Callable[[], object]) -> float:
    """Seconds on the clock."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def median(figures: Sequence[float]) -> float:
    return statistics.median(figures)
