"""What a million rows cost, by kind of query: for planning past the machine that measures.

    python -m tests.benchmarks.capacity [--sizes N,N] [--seed N] [--only WORD] [--memory 4g]
        [--master local-cluster[2,1,2048]] [--write docs]

Task seconds are what tasks hold their cores for; CPU seconds what all processes use, Spark's
and Python's. Both and the bytes of the shuffle are for each million rows of the input.
`--write docs` puts the table into `docs/how-to/capacity.md`. Needs Linux, as it reads /proc.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.sql import SparkSession

import matchrec
from tests.benchmarks.drawn_tables import Drawn, draw_tables
from tests.benchmarks.event_log import Task, logging_to, tasks
from tests.benchmarks.kinds import list_kinds
from tests.benchmarks.kinds_compared import create_drawn_view
from tests.benchmarks.markdown import format_table, write_section
from tests.benchmarks.measure import RunTime, open_session, run_query
from tests.benchmarks.options import Options
from tests.benchmarks.processes import Peak, watch_peak
from tests.benchmarks.tables import MILLION
from tests.benchmarks.workloads import Workload

KINDS = (
    "A B C, few matches",
    "LOW+ HIGH, count and sum",
    "V-shape",
    "V-shape, few keys",
    "V-shape, tiny partitions",
    "V-shape, key and order in text",
    "V-shape, 21 columns",
    "V-shape, ALL ROWS",
    "funnel, WITHIN",
)
HEAD = ("kind", "rows", "task s", "CPU s", "shuffled MB", "longest task s", "worker MB")


@dataclass(frozen=True)
class Cost:
    """What one query over so many rows has cost. ran: its tasks."""

    name: str
    rows: int
    taken: RunTime
    worker: Peak
    ran: tuple[Task, ...] = ()

    def cells(self) -> list[str]:
        """A line of the table."""
        millions = self.rows / MILLION
        figures = (
            sum(task.seconds for task in self.ran) / millions,
            self.taken.cpu / millions,
            sum(task.shuffled for task in self.ran) / millions / 1e6,
            max(task.seconds for task in self.ran),
        )
        peak = f"{self.worker.bytes / 2**20:.0f}"
        return [self.name, f"{self.rows:,}", *(f"{one:.2f}" for one in figures), peak]


def measured(spark: SparkSession, workload: Workload, rows: int) -> Cost:
    """A query, run once before it is measured."""
    run_query(lambda: matchrec.sql(spark, workload.query))
    name = f"{workload.name}, {rows}"
    spark.sparkContext.setJobDescription(name)
    with watch_peak() as worker:
        taken = run_query(lambda: matchrec.sql(spark, workload.query))
    spark.sparkContext.setJobDescription("")
    return Cost(workload.name, rows, taken, worker)


def costs_of_size(options: Options, master: str, folder: Path) -> Iterator[Cost]:
    """The kinds over tables of one size, in a session whose events go to a folder."""
    drawn = draw_tables(options.seed, options.rows)
    settings = logging_to(folder)
    with open_session(memory=options.memory, spark_master=master, **settings) as spark:
        for workload in chosen(drawn, options.only):
            with tempfile.TemporaryDirectory() as data:
                create_drawn_view(spark, drawn, workload.table, options, Path(data))
                yield measured(spark, workload, options.rows)


def chosen(drawn: Drawn, word: str) -> Iterator[Workload]:
    """The kinds that are measured."""
    for workload in list_kinds(drawn):
        if workload.name in KINDS and word in workload.name:
            yield workload


def with_tasks(costs: list[Cost], ran: list[Task]) -> Iterator[Cost]:
    """Each with its tasks."""
    for cost in costs:
        name = f"{cost.name}, {cost.rows}"
        own = tuple(task for task in ran if task.query == name)
        yield replace(cost, ran=own)


def report(sizes: tuple[int, ...], options: Options, master: str) -> Iterator[str]:
    """The table, by kind and size."""
    found: list[Cost] = []
    with tempfile.TemporaryDirectory() as name:
        for rows in sizes:
            found += costs_of_size(replace(options, rows=rows), master, Path(name))
        costs = list(with_tasks(found, list(tasks(Path(name)))))
    yield f"`{master}`, seed {options.seed}. Per million rows, except the last two columns."
    yield ""
    order = {kind: place for place, kind in enumerate(KINDS)}
    costs.sort(key=lambda cost: (order[cost.name], cost.rows))
    yield from format_table(HEAD, (cost.cells() for cost in costs))


def main() -> None:
    """Parses the arguments, measures, prints, writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", default="2000000,8000000,32000000")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", metavar="WORD", help="kinds with this word")
    parser.add_argument("--memory", default=Options.memory, help="of the driver")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="where docs is")
    given = parser.parse_args()
    options = Options(seed=given.seed, only=given.only, memory=given.memory)
    found = list(report(tuple(map(int, given.sizes.split(","))), options, given.master))
    print("\n".join(found), flush=True)
    if given.write is not None:
        write_section(given.write / "how-to" / "capacity.md", "capacity", ["", *found, ""])


if __name__ == "__main__":
    main()
