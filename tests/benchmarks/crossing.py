"""Every kind of query on an engine, beside the crossing alone and beside window SQL in DuckDB.

The crossing is what the query sends, shuffled, to a function that does nothing. All read the same
files with two cores and give tables of Arrow's. DuckDB has its rounds in a process of its own,
after those of the others, and must give the same rows. If it has MATCH_RECOGNIZE, it is asked the
query itself, too.
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
from tests.benchmarks.breakdown import CORES, crossing_of, sent_and_dropped
from tests.benchmarks.compare import OURS, Compared, Entry, by_others
from tests.benchmarks.drawn_tables import Drawn, draw_tables
from tests.benchmarks.duckdb_queries import draw_numbers, list_workloads
from tests.benchmarks.kinds import workloads_of_kinds
from tests.benchmarks.kinds_compared import lines_of, view_of_drawn
from tests.benchmarks.measure import Query, measured, run_to_arrow
from tests.benchmarks.options import Options
from tests.benchmarks.other_engines import CLAUSE_IN_DUCKDB, DUCKDB, Question, ask_for_clause
from tests.benchmarks.workloads import Workload

CROSSING = "crossing"


def asked_of_duckdb(workload: Workload) -> Workload:
    """Return the workload with what DuckDB is asked: window SQL, if there is any, and the query."""
    questions = {CLAUSE_IN_DUCKDB.name: Question(workload.query)}
    if workload.by_window is not None:
        (text,) = sqlglot.transpile(workload.by_window, read="spark", write="duckdb")
        questions[DUCKDB.name] = Question(text)
    return replace(workload, elsewhere=questions)


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


def all_compared(
    on: str, options: Options, drawn: Drawn, workloads: Iterable[Workload]
) -> Iterator[Compared]:
    """Measure workloads over drawn tables, one after the other."""
    if not has_clause(options):
        name = CLAUSE_IN_DUCKDB.name
        others = {one: path for one, path in options.interpreters.items() if one != name}
        options = replace(options, interpreters=others)
    os.environ["PYSPARK_PYTHON"] = sys.executable  # of the workers of Spark
    spark = matchrec.session(on, cores=CORES, memory=options.memory)
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    with tempfile.TemporaryDirectory() as name:
        for workload in map(asked_of_duckdb, workloads):
            if options.only in workload.name:
                folder = view_of_drawn(spark, drawn, workload.table, options, Path(name))
                yield compared(spark, workload, options, folder)
    spark.stop()


def lines_on(on: str, options: Options) -> Iterator[str]:
    """Yield the table of all kinds."""
    drawn = draw_tables(options.seed, options.rows)
    yield from lines_of(options, all_compared(on, options, drawn, workloads_of_kinds(drawn)))
    yield from say_whether_duckdb_has_clause(options)


def lines_of_duckdb(options: Options) -> Iterator[str]:
    """Yield the table of the queries of DuckDB's authors, on Sail."""
    drawn = draw_numbers(options.rows)
    yield from lines_of(options, all_compared("sail", options, drawn, list_workloads()))
    yield from say_whether_duckdb_has_clause(options)


def has_clause(options: Options) -> bool:
    """Return whether DuckDB is measured and accepts MATCH_RECOGNIZE."""
    python = options.interpreters.get(CLAUSE_IN_DUCKDB.name)
    return python is not None and "refused" not in ask_for_clause(python)


def say_whether_duckdb_has_clause(options: Options) -> Iterator[str]:
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
