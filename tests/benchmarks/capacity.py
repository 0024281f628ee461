"""Measure what a million rows cost, by kind of query, to estimate the time on other machines.

    python -m tests.benchmarks.capacity [--sizes N,N] [--seed N] [--only WORD] [--memory 4g]
        [--master local-cluster[2,1,2048]] [--write docs]

Task seconds are how long tasks hold their cores. CPU seconds are what all processes of Spark and
Python use. Both and the bytes of the shuffle are per million rows of the input. `--write docs`
writes the table to `docs/contributing/benchmarks.md`. It needs Linux, because it reads /proc.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.sql import SparkSession

import matchrec
from tests.benchmarks.drawn_tables import DrawnTables, draw_tables
from tests.benchmarks.event_log import Task, log_events_to, read_tasks
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
    "V-shape, 30 columns",
    "V-shape, ALL ROWS",
    "funnel, WITHIN",
)
HEAD = ("query", "rows", "task s", "CPU s", "shuffled MB", "longest task s", "worker MB")


@dataclass(frozen=True)
class Cost:
    """What one query over that many rows costs."""

    name: str
    rows: int
    time: RunTime
    worker: Peak
    tasks: tuple[Task, ...] = ()

    def format_cells(self) -> list[str]:
        """Return the cells of a row: see HEAD."""
        millions = self.rows / MILLION
        figures = (
            sum(task.seconds for task in self.tasks) / millions,
            self.time.cpu / millions,
            sum(task.shuffled for task in self.tasks) / millions / 1e6,
            max(task.seconds for task in self.tasks),
        )
        peak = f"{self.worker.bytes / 2**20:.0f}"
        return [self.name, f"{self.rows:,}", *(f"{figure:.2f}" for figure in figures), peak]


def measure_workload(spark: SparkSession, workload: Workload, rows: int) -> Cost:
    """Measure a query after running it once."""
    run_query(lambda: matchrec.sql(spark, workload.query))
    name = f"{workload.name}, {rows}"
    spark.sparkContext.setJobDescription(name)
    with watch_peak() as worker:
        time = run_query(lambda: matchrec.sql(spark, workload.query))
    spark.sparkContext.setJobDescription("")
    return Cost(workload.name, rows, time, worker)


def measure_size(options: Options, master: str, folder: Path) -> Iterator[Cost]:
    """Measure the kinds over tables of one size, and log the events of the session to a folder."""
    drawn = draw_tables(options.seed, options.rows)
    settings = log_events_to(folder)
    with open_session(memory=options.memory, spark_master=master, **settings) as spark:
        for workload in choose_workloads(drawn, options.only):
            with tempfile.TemporaryDirectory() as data:
                create_drawn_view(spark, drawn, workload.table, options, Path(data))
                yield measure_workload(spark, workload, options.rows)


def choose_workloads(drawn: DrawnTables, word: str) -> Iterator[Workload]:
    """Yield the kinds of KINDS whose names contain a word, in this order."""
    workloads = {workload.name: workload for workload in list_kinds(drawn)}
    for name in KINDS:
        if word in name:
            yield workloads[name]


def add_tasks(costs: list[Cost], tasks: list[Task]) -> Iterator[Cost]:
    """Yield each cost with the tasks of its query."""
    for cost in costs:
        name = f"{cost.name}, {cost.rows}"
        tasks_of_query = tuple(task for task in tasks if task.query == name)
        yield replace(cost, tasks=tasks_of_query)


def report(sizes: tuple[int, ...], options: Options, master: str) -> Iterator[str]:
    """Yield the table, by kind and size."""
    costs_without_tasks: list[Cost] = []
    with tempfile.TemporaryDirectory() as name:
        for rows in sizes:
            costs_without_tasks += measure_size(replace(options, rows=rows), master, Path(name))
        costs = list(add_tasks(costs_without_tasks, list(read_tasks(Path(name)))))
    yield f"`{master}`, seed {options.seed}. The last two columns are for all rows."
    yield ""
    order = {kind: index for index, kind in enumerate(KINDS)}
    costs.sort(key=lambda cost: (order[cost.name], cost.rows))
    yield from format_table(HEAD, (cost.format_cells() for cost in costs))


def main() -> None:
    """Measure what the command line names, print the table, and write it to the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", default="2000000,8000000,32000000")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", metavar="WORD", help="kinds with this word")
    parser.add_argument("--memory", default=Options.memory, help="of the driver")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="where docs is")
    arguments = parser.parse_args()
    options = Options(seed=arguments.seed, only=arguments.only, memory=arguments.memory)
    lines = list(report(tuple(map(int, arguments.sizes.split(","))), options, arguments.master))
    print("\n".join(lines), flush=True)
    if arguments.write is not None:
        page = arguments.write / "contributing" / "benchmarks.md"
        write_section(page, "capacity", ["", *lines, ""])


if __name__ == "__main__":
    main()
