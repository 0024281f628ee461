"""Compare what `coverage` costs with the query itself.

    python -m tests.benchmarks.coverage [--scale S] [--rounds N] [--only WORD]

It runs the workloads of `tests.benchmarks.spark`. At scale 1, the V-shape and the funnel have
2,000,000 rows. Seconds are medians of the elapsed time and of the CPU time of Spark and its Python
workers. Ratios are relative to the query in the same round.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import SparkSession

import matchrec
from tests.benchmarks.compare import create_table_view
from tests.benchmarks.markdown import format_table
from tests.benchmarks.measure import Times, open_session, run_query, time_action
from tests.benchmarks.options import Options
from tests.benchmarks.workloads import Workload, list_workloads

HEAD = [
    "workload",
    "query s",
    "coverage s",
    "coverage / query",
    "query CPU s",
    "coverage CPU s",
    "coverage / query",
]


def measure_workload(spark: SparkSession, workload: Workload, rounds: int) -> tuple[Times, Times]:
    """Run the query and its coverage in turn, and return their times without the first round."""
    query_runs = []
    coverage_runs = []
    for _ in range(rounds + 1):
        query_runs.append(run_query(lambda: matchrec.sql(spark, workload.query)))
        coverage_runs.append(time_action(lambda: matchrec.query(spark, workload.query).coverage()))
    return Times(tuple(query_runs[1:])), Times(tuple(coverage_runs[1:]))


def format_cells(name: str, query: Times, coverage: Times) -> list[str]:
    """Return the cells of a row: see HEAD."""
    pairs = zip(coverage.runs, query.runs, strict=True)
    cpu_ratio = statistics.median(run.cpu / query_run.cpu for run, query_run in pairs)
    elapsed = [f"{query.median:.2f}", f"{coverage.median:.2f}", f"{coverage.ratio(query):.2f}"]
    return [
        name,
        *elapsed,
        f"{query.median_cpu:.2f}",
        f"{coverage.median_cpu:.2f}",
        f"{cpu_ratio:.2f}",
    ]


def report(options: Options) -> Iterator[str]:
    """Yield the table of all workloads."""
    chosen = [workload for workload in list_workloads() if options.only in workload.name]
    rows: list[list[str]] = []
    with open_session() as spark, tempfile.TemporaryDirectory() as folder:
        for name in dict.fromkeys(workload.table for workload in chosen):
            create_table_view(spark, name, options.scale, Path(folder))
        for workload in chosen:
            query, coverage = measure_workload(spark, workload, options.rounds)
            rows.append(format_cells(workload.name, query, coverage))
    yield from format_table(HEAD, rows)


def main() -> None:
    """Measure what the command line names and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", type=float, default=Options.scale)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", metavar="WORD", help="workloads with this word")
    arguments = parser.parse_args()
    for line in report(Options(arguments.scale, arguments.rounds, arguments.only)):
        print(line)


if __name__ == "__main__":
    main()
