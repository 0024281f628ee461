"""What a query on Spark takes above its crossing: planning, the worker, the way of its rows back.

    python -m tests.benchmarks.spark --parts above --seed 1 --rows 2000000 --rounds 2 --only ROWS

Each kind is cut off twice. Before the first cut are the scan, the shuffle and the way to Python,
which are the crossing. Between the cuts is the worker, and after the second cut its rows go back
through Spark to an Arrow table. A query that is cut off has been planned before, so planning is
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
from tests.benchmarks.breakdown import CORES, crossing_of, matched_and_dropped, sent_and_dropped
from tests.benchmarks.drawn_tables import draw_tables
from tests.benchmarks.kinds import workloads_of_kinds
from tests.benchmarks.kinds_compared import view_of_drawn
from tests.benchmarks.markdown import table
from tests.benchmarks.measure import Query, Taken, measured, median, run_to_arrow, timed
from tests.benchmarks.options import Options

NO_ROWS = "nothing INT"
COLUMNS = ("rows out", "crossing", "worker", "planning", "way back", "ratio")


def cut_query(spark: SparkSession, query: str) -> dict[str, Query]:
    """Return a query that is cut off after each step."""
    crossing = crossing_of(spark, query)
    match = matched_and_dropped(crossing.matching)
    return {
        "crossing": lambda: crossing.prepared.mapInArrow(sent_and_dropped, NO_ROWS),
        "worker": lambda: crossing.prepared.mapInArrow(match, NO_ROWS),
        "whole": lambda: matchrec.sql(spark, query),
    }


def measure_kind(spark: SparkSession, query: str, rounds: int) -> list[str]:
    """Return the cells of a kind: see COLUMNS. The ratio is that of the whole to the crossing."""
    times = measured(cut_query(spark, query), rounds, run=run_to_arrow)
    crossing, with_worker, whole = (times[name].processor for name in times)
    planning = median([plan(spark, query).processor for _ in range(rounds)])
    worker = with_worker - crossing
    way_back = whole - with_worker - planning
    seconds = [f"{part:.2f}" for part in (crossing, worker, planning, way_back)]
    return [f"{matchrec.sql(spark, query).count():,}", *seconds, f"{whole / crossing:.2f}"]


def plan(spark: SparkSession, query: str) -> Taken:
    """Return what planning a query takes."""
    return timed(lambda: matchrec.sql(spark, query))


def lines(options: Options) -> Iterator[str]:
    """Yield the table."""
    drawn = draw_tables(options.seed, options.rows)
    os.environ["PYSPARK_PYTHON"] = sys.executable  # of the workers
    spark = matchrec.session("spark", cores=CORES, memory=options.memory)
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    cells = []
    with tempfile.TemporaryDirectory() as folder:
        for workload in workloads_of_kinds(drawn):
            if options.only in workload.name:
                view_of_drawn(spark, drawn, workload.table, options, Path(folder))
                cells.append([workload.name, *measure_kind(spark, workload.query, options.rounds)])
    spark.stop()
    yield f"Seed {options.seed}, {round(options.rows * options.scale):,} rows."
    yield ""
    yield from table(["CPU seconds", *COLUMNS], cells)
