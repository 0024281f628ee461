"""Compare every kind of query on an engine with its data transfer and with window SQL in DuckDB.

The data transfer sends the rows of the query, shuffled, to a Python function that drops them. All
contenders read the same files with two cores and return Arrow tables. DuckDB runs in a process of
its own after the others and must return the same rows. If it has MATCH_RECOGNIZE, the query itself
is measured in DuckDB, too.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import sqlglot
from pyspark.sql import SparkSession

import matchrec
from tests.benchmarks.agreement import Reference
from tests.benchmarks.breakdown import CORES, drop_batches, find_crossing
from tests.benchmarks.compare import OURS, Comparison, Entry, measure_other_engines
from tests.benchmarks.drawn_tables import DrawnTables, draw_tables
from tests.benchmarks.duckdb_queries import draw_numbers, list_duckdb_workloads
from tests.benchmarks.kinds import list_kinds
from tests.benchmarks.kinds_compared import create_drawn_view, report_comparisons
from tests.benchmarks.measure import Query, measure_queries, run_to_arrow
from tests.benchmarks.options import Options
from tests.benchmarks.other_engines import CLAUSE_IN_DUCKDB, DUCKDB, Question, ask_for_clause
from tests.benchmarks.workloads import Workload

CROSSING = "data transfer"


def add_duckdb_queries(workload: Workload) -> Workload:
    """Return the workload with its queries for DuckDB: its own, and window SQL if it has any."""
    questions = {CLAUSE_IN_DUCKDB.name: Question(workload.query)}
    if workload.by_window is not None:
        (text,) = sqlglot.transpile(workload.by_window, read="spark", write="duckdb")
        questions[DUCKDB.name] = Question(text)
    return replace(workload, elsewhere=questions)


def list_contenders(spark: SparkSession, workload: Workload) -> dict[str, Query]:
    """Return what runs on the engine, by name: the crossing and the query."""
    sent = find_crossing(spark, workload.query).prepared
    return {
        CROSSING: lambda: sent.mapInArrow(drop_batches, "nothing INT"),
        OURS: lambda: matchrec.sql(spark, workload.query),
    }


def compare_workload(
    spark: SparkSession, workload: Workload, options: Options, folder: Path
) -> Comparison:
    """Check and measure a workload.

    Args:
        folder: where the files of its table are.
    """
    reference = Reference.read(matchrec.sql(spark, workload.query))
    times = measure_queries(list_contenders(spark, workload), options.rounds, run=run_to_arrow)
    entries = {OURS: Entry(times[OURS], reference.digest.rows)}
    entries |= measure_other_engines(spark, workload, options, reference, folder)
    return Comparison(workload, times[CROSSING], entries, CROSSING)


def compare_workloads(
    on: str, options: Options, drawn: DrawnTables, workloads: Iterable[Workload]
) -> Iterator[Comparison]:
    """Measure workloads over drawn tables, one after the other."""
    if not has_clause(options):
        name = CLAUSE_IN_DUCKDB.name
        interpreters = {**options.interpreters}
        interpreters.pop(name, None)
        options = replace(options, interpreters=interpreters)
    os.environ["PYSPARK_PYTHON"] = sys.executable  # for the workers of Spark
    spark = matchrec.session(on, cores=CORES, memory=options.memory)
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    with tempfile.TemporaryDirectory() as name:
        for workload in map(add_duckdb_queries, workloads):
            if options.only in workload.name:
                folder = create_drawn_view(spark, drawn, workload.table, options, Path(name))
                yield compare_workload(spark, workload, options, folder)
    spark.stop()


def report_engine(on: str, options: Options) -> Iterator[str]:
    """Yield the table of all kinds."""
    drawn = draw_tables(options.seed, options.rows)
    yield from report_comparisons(options, compare_workloads(on, options, drawn, list_kinds(drawn)))
    yield from report_duckdb_clause(options)


def report_duckdb_queries(options: Options) -> Iterator[str]:
    """Yield the table of the queries of DuckDB's authors, on Sail."""
    drawn = draw_numbers(options.rows)
    yield from report_comparisons(
        options, compare_workloads("sail", options, drawn, list_duckdb_workloads())
    )
    yield from report_duckdb_clause(options)


def has_clause(options: Options) -> bool:
    """Return whether DuckDB is measured and accepts MATCH_RECOGNIZE."""
    python = options.interpreters.get(CLAUSE_IN_DUCKDB.name)
    return python is not None and "refused" not in ask_for_clause(python)


def report_duckdb_clause(options: Options) -> Iterator[str]:
    """Yield a line that says whether the DuckDB that is measured accepts MATCH_RECOGNIZE."""
    python = options.interpreters.get(CLAUSE_IN_DUCKDB.name)
    if python is None:
        return
    answer = ask_for_clause(python)
    version = f"DuckDB {answer['version']}"
    yield ""
    if "refused" in answer:
        yield f"{version} does not have MATCH_RECOGNIZE, so only its window SQL is measured."
    else:
        yield f"{version} has MATCH_RECOGNIZE. It is measured for the queries that it accepts."
