"""Measure queries over 1,000 rows on Sail, in which planning takes most of the time.

    python -m tests.benchmarks.spark --parts small

The rows are in memory. Each query runs often before the clock starts, so that its kernels are
loaded: see the shortcut `max_python_steps`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

import matchrec
from tests.benchmarks.first_queries import ROWS
from tests.benchmarks.markdown import format_table
from tests.benchmarks.measure import median
from tests.benchmarks.options import Options

VSHAPE = """
    SELECT * FROM few_rows MATCH_RECOGNIZE (
        PARTITION BY k ORDER BY t MEASURES FIRST(t) AS started, LAST(t) AS ended
        PATTERN (TOP FALL+ RISE+)
        DEFINE FALL AS x < PREV(x), RISE AS x > PREV(x) + {rise})
"""
FIXED_RISE = VSHAPE.format(rise=0)
RISE_AS_PARAMETER = VSHAPE.format(rise=":rise")

# How often a query runs before it is measured, and how often in a round.
WARM_RUNS = 150
RUNS_PER_ROUND = 10


@dataclass(frozen=True)
class SmallQuery:
    """A query that is measured."""

    name: str
    # Returns the DataFrame of a run. Runs are numbered from 0.
    plan: Callable[[SparkSession, int], DataFrame]
    # How long it should take in all; "" without an aim.
    aim: str = ""


def plan_same_text(spark: SparkSession, _: int) -> DataFrame:
    """Plan a text that has been planned before."""
    return matchrec.sql(spark, FIXED_RISE)


def plan_new_text(spark: SparkSession, run: int) -> DataFrame:
    """Plan a text that has not been planned before."""
    return matchrec.sql(spark, f"{FIXED_RISE} -- {run}")


def plan_new_value(spark: SparkSession, run: int) -> DataFrame:
    """Plan a text that has been planned before, with a value that its parameter has not had."""
    return matchrec.sql(spark, RISE_AS_PARAMETER, {"rise": run})


def plan_group_by(spark: SparkSession, _: int) -> DataFrame:
    """Plan Sail's own GROUP BY over the same rows."""
    return spark.sql("SELECT k, max(x) FROM few_rows GROUP BY k")


QUERIES = (
    SmallQuery("the same text again", plan_same_text, "20 ms"),
    SmallQuery("a new text", plan_new_text, "30 ms"),
    SmallQuery("a new value of a parameter", plan_new_value, "20 ms"),
    SmallQuery("Sail's own GROUP BY", plan_group_by),
)


@dataclass(frozen=True)
class SmallQueryTime:
    """The seconds that a small query takes, in one run or as medians of several."""

    planning: float
    # Planning, running, and fetching the rows as an Arrow table.
    in_all: float


def time_run(spark: SparkSession, query: SmallQuery, run: int) -> SmallQueryTime:
    """Plan and run a query once, and return its times."""
    start = time.perf_counter()
    frame = query.plan(spark, run)
    planned = time.perf_counter()
    frame.toArrow()
    return SmallQueryTime(planned - start, time.perf_counter() - start)


def measure(spark: SparkSession, query: SmallQuery, runs: int) -> SmallQueryTime:
    """Return the medians of a query that has run often before."""
    for run in range(WARM_RUNS):
        time_run(spark, query, run)
    times = [time_run(spark, query, run) for run in range(WARM_RUNS, WARM_RUNS + runs)]
    planning = median([run.planning for run in times])
    return SmallQueryTime(planning, in_all=median([run.in_all for run in times]))


def report(options: Options) -> Iterator[str]:
    """Yield the table of all small queries."""
    spark = matchrec.session("sail")
    spark.createDataFrame(spark.sql(ROWS).toPandas()).createOrReplaceTempView("few_rows")
    table = []
    for query in QUERIES:
        seconds = measure(spark, query, RUNS_PER_ROUND * options.rounds)
        figures = (seconds.planning, seconds.in_all)
        table.append([query.name, *(f"{figure * 1000:.0f} ms" for figure in figures), query.aim])
    yield from format_table(["query over 1,000 rows", "planning", "in all", "aim"], table)
