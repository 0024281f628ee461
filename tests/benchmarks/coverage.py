"""What `coverage` costs beside the query itself: `python -m tests.benchmarks.coverage`.

    python -m tests.benchmarks.coverage [--scale S] [--rounds N] [--only WORD]

Of the workloads of `tests.benchmarks.spark`; at scale 1 the V-shape and the funnel have 2,000,000
rows. Seconds are medians, of the clock and of processors over Spark and its Python workers; ratios
are those to the query in the same round.
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

HEAD = ["workload", "query, s", "coverage, s", "ratio", "query, cpu s", "coverage, cpu s", "ratio"]


def measured(spark: SparkSession, workload: Workload, rounds: int) -> tuple[Times, Times]:
    """The query and its coverage in turn; the first round is not counted."""
    query, covered = [], []
    for _ in range(rounds + 1):
        query.append(run_query(lambda: matchrec.sql(spark, workload.query)))
        covered.append(time_action(lambda: matchrec.query(spark, workload.query).coverage()))
    return Times(tuple(query[1:])), Times(tuple(covered[1:]))


def cells(name: str, query: Times, covered: Times) -> list[str]:
    """A line of the table."""
    pairs = zip(covered.runs, query.runs, strict=True)
    processor = statistics.median(own.cpu / base.cpu for own, base in pairs)
    clock = [f"{query.median:.2f}", f"{covered.median:.2f}", f"{covered.ratio(query):.2f}"]
    return [
        name,
        *clock,
        f"{query.median_cpu:.2f}",
        f"{covered.median_cpu:.2f}",
        f"{processor:.2f}",
    ]


def report(options: Options) -> Iterator[str]:
    """The table."""
    chosen = [one for one in list_workloads() if options.only in one.name]
    rows: list[list[str]] = []
    with open_session() as spark, tempfile.TemporaryDirectory() as folder:
        for name in dict.fromkeys(one.table for one in chosen):
            create_table_view(spark, name, options.scale, Path(folder))
        rows += (cells(one.name, *measured(spark, one, options.rounds)) for one in chosen)
    yield from format_table(HEAD, rows)


def main() -> None:
    """Parses the arguments, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", type=float, default=Options.scale)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", metavar="WORD", help="workloads with this word")
    arguments = parser.parse_args()
    for line in report(Options(arguments.scale, arguments.rounds, arguments.only)):
        print(line)


if __name__ == "__main__":
    main()
