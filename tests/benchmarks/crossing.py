"""Every kind of query on an engine, beside the crossing alone and beside window SQL in DuckDB.

The crossing is what the query sends, shuffled, to a function that does nothing. All read the same
files with two cores and give tables of Arrow's. DuckDB has its rounds in a process of its own,
after those of the others, and must give the same rows.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import sqlglot
from pyspark.sql import SparkSession

import matchrec
from tests.benchmarks.agreement import Reference
from tests.benchmarks.breakdown import CORES, crossing_of, sent_and_dropped
from tests.benchmarks.compare import OURS, Compared, Entry, by_others
from tests.benchmarks.drawn_tables import draw_tables
from tests.benchmarks.kinds import workloads_of_kinds
from tests.benchmarks.kinds_compared import lines_of, view_of_drawn
from tests.benchmarks.measure import Query, measured, run_to_arrow
from tests.benchmarks.options import Options
from tests.benchmarks.other_engines import DUCKDB, Question
from tests.benchmarks.workloads import Workload

CROSSING = "crossing"


def asked_of_duckdb(workload: Workload) -> Workload:
    """The workload with its window SQL in the words of DuckDB, if it has any."""
    if workload.by_window is None:
        return workload
    (text,) = sqlglot.transpile(workload.by_window, read="spark", write="duckdb")
    return replace(workload, elsewhere={DUCKDB.name: Question(text)})


def contenders(spark: SparkSession, workload: Workload) -> dict[str, Query]:
    """What runs on the engine, by name."""
    sent = crossing_of(spark, workload.query).prepared
    return {
        CROSSING: lambda: sent.mapInArrow(sent_and_dropped, "nothing INT"),
        OURS: lambda: matchrec.sql(spark, workload.query),
    }


def compared(spark: SparkSession, workload: Workload, options: Options, folder: Path) -> Compared:
    """A workload, checked and measured. folder: where the files of its table are."""
    reference = Reference.of(matchrec.sql(spark, workload.query))
    times = measured(contenders(spark, workload), options.rounds, run=run_to_arrow)
    entries = {OURS: Entry(times[OURS], reference.digest.rows)}
    entries |= by_others(spark, workload, options, reference, folder)
    return Compared(workload, times[CROSSING], entries, CROSSING)


def all_compared(on: str, options: Options) -> Iterator[Compared]:
    """All kinds, one after the other."""
    drawn = draw_tables(options.seed, options.rows)
    os.environ["PYSPARK_PYTHON"] = sys.executable  # of the workers of Spark
    spark = matchrec.session(on, cores=CORES, memory=options.memory)
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    with tempfile.TemporaryDirectory() as name:
        for workload in map(asked_of_duckdb, workloads_of_kinds(drawn)):
            if options.only in workload.name:
                folder = view_of_drawn(spark, drawn, workload.table, options, Path(name))
                yield compared(spark, workload, options, folder)
    spark.stop()


def lines_on(on: str, options: Options) -> Iterator[str]:
    """All kinds."""
    yield from lines_of(options, all_compared(on, options))
