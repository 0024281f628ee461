"""Compute how long queries take with more cores: with and without a key, cut into ranges or not.

Tasks run alone on one core. Their times are then scheduled on any number of cores: see `event_log`.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import matchrec
from tests.benchmarks.crimes import draw_crimes
from tests.benchmarks.event_log import Task, find_shortest_duration, log_events_to, read_tasks
from tests.benchmarks.markdown import format_table
from tests.benchmarks.measure import open_session, run_query
from tests.benchmarks.options import Options
from tests.benchmarks.published import make_template
from tests.benchmarks.tables import MILLION, ticks

ROWS = 4 * MILLION
# The number of keys, if there is a key.
SYMBOLS = 64
# The numbers of cores for which the time is computed.
CORES = (1, 2, 4, 8)
# The beginnings of the clause, by what they are called in the table.
KEYS = {"no key": "", f"{SYMBOLS} keys": "PARTITION BY symbol "}
CLAUSE = """{keys}ORDER BY ts, symbol
  MEASURES STRT.ts AS start_ts, LAST(DOWN.ts) AS bottom_ts, LAST(UP.ts) AS end_ts
  PATTERN (STRT DOWN+ UP+)
  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)"""

# The numbers of cores, the options and the row patterns of the table of ranges.
RANGE_CORES = (1, 4, 8, 16)
RANGE_OPTIONS = {
    "whole": matchrec.Options(sort="worker"),
    "in ranges": matchrec.Options(sort="ranges"),
}
TEMPLATES = {
    "in a row": "A B C D E F G",
    "others between": "A Z* B Z* C",
    "alternative loops": "A Z* (B+ | C+) Z* D",
}

# By name, functions that return the result of a query over some rows.
Jobs = Mapping[str, Callable[[DataFrame], DataFrame]]


def report(options: Options) -> Iterator[str]:
    """Yield the table with and without keys. Each round is scheduled alone; figures are medians."""
    rows = int(ROWS * options.scale)

    def make_job(keys: str) -> Callable[[DataFrame], DataFrame]:
        """Return the query with these keys."""
        return lambda frame: matchrec.match_recognize(frame, CLAUSE.format(keys=keys))

    jobs = {name: make_job(keys) for name, keys in KEYS.items()}
    tasks = measure_jobs(lambda spark: ticks(spark, rows, SYMBOLS), jobs, options.rounds, CORES)
    yield from format_table(
        [f"{rows:,} rows", *list_headings(CORES)], list_rows(jobs, tasks, options.rounds, CORES)
    )


def report_ranges(options: Options) -> Iterator[str]:
    """Yield the table of ranges: templates of Zhu, Huang and Chaudhuri, without keys."""
    drawn = draw_crimes(options.seed, options.rows)
    jobs: dict[str, Callable[[DataFrame], DataFrame]] = {}

    def make_job(text: str, options_of_cut: matchrec.Options) -> Callable[[DataFrame], DataFrame]:
        """Return a query with these options."""
        return lambda frame: matchrec.sql(
            frame.sparkSession, text, crimes=frame, options=options_of_cut
        )

    for location in ("near", "in a district"):
        for name, pattern in TEMPLATES.items():
            text = (
                make_template(name, pattern, location, drawn)
                .make_workload()
                .query.replace("FROM crimes", "FROM {crimes}")
            )
            for cut, options_of_cut in RANGE_OPTIONS.items():
                jobs[f"{name}, {location}, {cut}"] = make_job(text, options_of_cut)
    tasks = measure_jobs(drawn.tables["crimes"].create_frame, jobs, options.rounds, RANGE_CORES)
    rows = list_rows(jobs, tasks, options.rounds, RANGE_CORES)
    yield from format_table([f"{options.rows:,} rows", *list_headings(RANGE_CORES)], rows)


def list_headings(cores: Sequence[int]) -> list[str]:
    """Return the heading of each number of cores."""
    return [f"{count} core{'s' * (count > 1)}, s" for count in cores]


def list_rows(
    jobs: Jobs, tasks: Sequence[Task], rounds: int, cores: Sequence[int]
) -> list[list[str]]:
    """Return a row for each job: its name and its seconds on each number of cores."""
    rows = []
    for name in jobs:
        rounds_of_job = []
        for number in range(rounds):
            query = f"{name} {number}"
            rounds_of_job.append([task for task in tasks if task.query == query])
        cells = []
        for count in cores:
            seconds = [
                find_shortest_duration(tasks_of_round, count) for tasks_of_round in rounds_of_job
            ]
            cells.append(f"{statistics.median(seconds):.2f}")
        rows.append([name, *cells])
    return rows


def measure_jobs(
    rows: Callable[[SparkSession], DataFrame], jobs: Jobs, rounds: int, cores: Sequence[int]
) -> list[Task]:
    """Run each job in each round and return the tasks of all.

    Tasks run one after the other; there are as many as for the largest number of cores.
    """
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        log.mkdir()
        settings = {
            **log_events_to(log),
            "spark_default_parallelism": str(max(cores)),
            "spark_sql_files_minPartitionNum": str(max(cores)),
        }
        with open_session(1, **settings) as spark:
            path = str(Path(folder) / "rows")
            rows(spark).repartition(max(cores)).write.parquet(path)
            frame = spark.read.parquet(path)
            for number in range(-1, rounds):  # the first one is not counted
                for name, make_result in jobs.items():
                    spark.sparkContext.setJobDescription(f"{name} {number}")
                    run_query(partial(make_result, frame))
        return list(read_tasks(log))
