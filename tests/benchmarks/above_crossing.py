"""Measure what a query on Spark takes beyond its data transfer: planning, matching, returning rows.

    python -m tests.benchmarks.spark --parts above --seed 1 --rows 2000000 --rounds 2 --only ROWS

Each kind is cut off twice. Before the first cut is the data transfer: the scan, the shuffle and the
way to Python. Between the cuts is the worker, and after the second cut its rows go back through
Spark to an Arrow table. A query that is cut off has been planned before, so planning is
measured alone. All figures are CPU seconds, because these hardly change if other programs run.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import SparkSession

import matchrec
from tests.benchmarks.breakdown import CORES, drop_batches, find_crossing, make_dropping_runner
from tests.benchmarks.drawn_tables import draw_tables
from tests.benchmarks.kinds import list_kinds
from tests.benchmarks.kinds_compared import create_drawn_view
from tests.benchmarks.markdown import format_table
from tests.benchmarks.measure import (
    Query,
    RunTime,
    measure_queries,
    median,
    run_to_arrow,
    time_action,
)
from tests.benchmarks.options import Options

NO_ROWS = "nothing INT"
COLUMNS = ("rows out", "data transfer", "worker", "planning", "way back", "cost")


def cut_query(spark: SparkSession, query: str) -> dict[str, Query]:
    """Return a query that is cut off after each step."""
    crossing = find_crossing(spark, query)
    match = make_dropping_runner(crossing.matching)
    return {
        "crossing": lambda: crossing.prepared.mapInArrow(drop_batches, NO_ROWS),
        "worker": lambda: crossing.prepared.mapInArrow(match, NO_ROWS),
        "whole": lambda: matchrec.sql(spark, query),
    }


def measure_kind(spark: SparkSession, query: str, rounds: int) -> list[str]:
    """Return the cells of a kind, see COLUMNS. The cost is the query over its data transfer."""
    times = measure_queries(cut_query(spark, query), rounds, run=run_to_arrow)
    crossing, with_worker, whole = (times[name].median_cpu for name in times)
    planning = median([measure_planning(spark, query).cpu for _ in range(rounds)])
    worker = with_worker - crossing
    way_back = whole - with_worker - planning
    seconds = [f"{part:.2f}" for part in (crossing, worker, planning, way_back)]
    return [f"{matchrec.sql(spark, query).count():,}", *seconds, f"{whole / crossing:.2f}"]


def measure_planning(spark: SparkSession, query: str) -> RunTime:
    """Plan a query and return the time that this takes."""
    return time_action(lambda: matchrec.sql(spark, query))


def report(options: Options) -> Iterator[str]:
    """Yield the table."""
    drawn = draw_tables(options.seed, options.rows)
    os.environ["PYSPARK_PYTHON"] = sys.executable  # for the workers
    spark = matchrec.session("spark", cores=CORES, memory=options.memory)
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    cells = []
    with tempfile.TemporaryDirectory() as folder:
        for workload in list_kinds(drawn):
            if options.only in workload.name:
                create_drawn_view(spark, drawn, workload.table, options, Path(folder))
                cells.append([workload.name, *measure_kind(spark, workload.query, options.rounds)])
    spark.stop()
    yield f"Seed {options.seed}, {round(options.rows * options.scale):,} rows."
    yield ""
    yield from format_table(["CPU seconds", *COLUMNS], cells)
