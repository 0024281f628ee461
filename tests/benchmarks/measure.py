"""Measure the seconds that Spark queries take, and open the sessions that run them."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import isnan
from typing import TypeVar

from pyspark.sql import DataFrame, SparkSession

from tests.benchmarks.processes import count_cpu_seconds

Query = Callable[[], DataFrame]
T = TypeVar("T")


@contextmanager
def open_session(cores: int = 2, memory: str = "4g", **settings: str) -> Iterator[SparkSession]:
    """Open a local Spark session and stop it at the end. Spark chooses the shuffle partitions.

    Args:
        cores: number of cores that Spark may use.
        memory: heap of the driver. Only the first session of a process can set it.
        settings: further settings of Spark, with `_` for `.`.
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
class RunTime:
    """The seconds that one run takes."""

    clock: float  # elapsed seconds
    cpu: float = float("nan")  # CPU seconds of Spark and its Python workers together


@dataclass(frozen=True)
class Times:
    """All runs of a contender, in the order of the rounds."""

    runs: tuple[RunTime, ...]

    @property
    def clock(self) -> list[float]:
        """Return the elapsed seconds of each run."""
        return [run.clock for run in self.runs]

    @property
    def median(self) -> float:
        """Return the median of the elapsed seconds."""
        return statistics.median(self.clock)

    @property
    def median_cpu(self) -> float:
        """Return the median of the CPU seconds."""
        return statistics.median(run.cpu for run in self.runs)

    def ratio(self, floor: Times) -> float:
        """Return the elapsed time divided by that of another contender.

        This is the median of the ratios of each round. If the two have different numbers of runs,
        it is the ratio of the medians.
        """
        if len(self.runs) != len(floor.runs):
            return self.median / floor.median
        pairs = zip(self.clock, floor.clock, strict=True)
        return statistics.median(seconds / floor_seconds for seconds, floor_seconds in pairs)

    def format_cells(self) -> list[str]:
        """Return the median, least and most elapsed seconds and the median CPU seconds as text.

        A figure that is not known (NaN) gives an empty cell.
        """
        figures = (self.median, min(self.clock), max(self.clock), self.median_cpu)
        return ["" if isnan(figure) else f"{figure:.2f}" for figure in figures]


def run_query(query: Query) -> RunTime:
    """Plan and run a query, drop its rows, and return the time."""
    return time_action(lambda: query().write.format("noop").mode("overwrite").save())


def run_to_arrow(query: Query) -> RunTime:
    """Plan and run a query, fetch its rows as an Arrow table, and return the time."""
    return time_action(lambda: query().toArrow())


def time_action(action: Callable[[], object]) -> RunTime:
    """Run an action and return the elapsed and the CPU seconds that it takes."""
    start = time.perf_counter()
    start_cpu = count_cpu_seconds()
    action()
    elapsed = time.perf_counter() - start
    return RunTime(elapsed, count_cpu_seconds() - start_cpu)


def measure_queries(
    queries: Mapping[T, Query],
    rounds: int,
    warm: bool = False,
    run: Callable[[Query], RunTime] = run_query,
) -> dict[T, Times]:
    """Run all contenders in every round and return their times.

    Each round runs all of them, so that a change of the machine's speed affects all alike.

    Args:
        queries: the contenders by name.
        rounds: how many rounds are measured.
        warm: whether all have run before. If not, a round before the first one is not counted.
        run: how a query is run and timed.
    """
    if not warm:
        for query in queries.values():
            run(query)
    runs: dict[T, list[RunTime]] = {name: [] for name in queries}
    for _ in range(rounds):
        for name, query in queries.items():
            runs[name].append(run(query))
    return {name: Times(tuple(times)) for name, times in runs.items()}


def find_least_seconds(action: Callable[[], object], times: int) -> float:
    """Run an action several times and return the elapsed seconds of the fastest run."""
    return min(count_seconds(action) for _ in range(times))


def count_seconds(action: Callable[[], object]) -> float:
    """Run an action and return the elapsed seconds."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def median(figures: Sequence[float]) -> float:
    """Return the median of some figures."""
    return statistics.median(figures)
