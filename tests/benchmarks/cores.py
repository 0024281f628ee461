"""How long queries take with enough cores: without a key and with one, and cut into ranges or not.

Tasks run alone, on one core, and are then given to as many cores as one likes: see `event_log`.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import matchrec
from tests.benchmarks.crimes import draw_crimes
from tests.benchmarks.event_log import Task, critical_path, logging_to, tasks
from tests.benchmarks.markdown import format_table
from tests.benchmarks.measure import open_session, run_query
from tests.benchmarks.options import Options
from tests.benchmarks.published import template
from tests.benchmarks.tables import MILLION, ticks

ROWS = 4 * MILLION
SYMBOLS = 64
CORES = (1, 2, 4, 8)
KEYS = {"no key": "", f"{SYMBOLS} keys": "PARTITION BY symbol "}
CLAUSE = """{keys}ORDER BY ts, symbol
  MEASURES STRT.ts AS start_ts, LAST(DOWN.ts) AS bottom_ts, LAST(UP.ts) AS end_ts
  PATTERN (STRT DOWN+ UP+)
  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)"""

MANY = (1, 4, 8, 16)
CUT = {"whole": matchrec.Options(sort="worker"), "in ranges": matchrec.Options(sort="ranges")}
TEMPLATES = {
    "in a row": "A B C D E F G",
    "others between": "A Z* B Z* C",
    "alternative loops": "A Z* (B+ | C+) Z* D",
}

Jobs = Mapping[str, Callable[[DataFrame], DataFrame]]


def report(options: Options) -> Iterator[str]:
    """The table of keys. Each round is scheduled on its own; what is shown is the median."""
    rows = int(ROWS * options.scale)

    def ask(keys: str) -> Callable[[DataFrame], DataFrame]:
        return lambda frame: matchrec.match_recognize(frame, CLAUSE.format(keys=keys))

    jobs = {name: ask(keys) for name, keys in KEYS.items()}
    ran = measured(lambda spark: ticks(spark, rows, SYMBOLS), jobs, options.rounds, CORES)
    yield from format_table(
        [f"{rows:,} rows", *heads(CORES)], cells(jobs, ran, options.rounds, CORES)
    )


def report_ranges(options: Options) -> Iterator[str]:
    """The table of ranges: templates of Zhu, Huang and Chaudhuri, without keys."""
    drawn = draw_crimes(options.seed, options.rows)
    jobs: dict[str, Callable[[DataFrame], DataFrame]] = {}

    def ask(text: str, how: matchrec.Options) -> Callable[[DataFrame], DataFrame]:
        return lambda frame: matchrec.sql(frame.sparkSession, text, crimes=frame, options=how)

    for place in ("near", "in a district"):
        for name, pattern in TEMPLATES.items():
            text = (
                template(name, pattern, place, drawn)
                .workload()
                .query.replace("FROM crimes", "FROM {crimes}")
            )
            for cut, how in CUT.items():
                jobs[f"{name}, {place}, {cut}"] = ask(text, how)
    ran = measured(drawn.tables["crimes"].frame, jobs, options.rounds, MANY)
    found = cells(jobs, ran, options.rounds, MANY)
    yield from format_table([f"{options.rows:,} rows", *heads(MANY)], found)


def heads(cores: Sequence[int]) -> list[str]:
    return [f"{count} core{'s' * (count > 1)}, s" for count in cores]


def cells(jobs: Jobs, ran: Sequence[Task], rounds: int, cores: Sequence[int]) -> list[list[str]]:
    """A row for each job: its name, and its seconds on so many cores."""
    found = []
    for name in jobs:
        each = [[one for one in ran if one.query == f"{name} {n}"] for n in range(rounds)]
        paths = (statistics.median(critical_path(one, count) for one in each) for count in cores)
        found.append([name, *(f"{seconds:.2f}" for seconds in paths)])
    return found


def measured(
    rows: Callable[[SparkSession], DataFrame], jobs: Jobs, rounds: int, cores: Sequence[int]
) -> list[Task]:
    """The tasks of each job and round, one after the other, divided as for the most cores."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        log.mkdir()
        settings = {
            **logging_to(log),
            "spark_default_parallelism": str(max(cores)),
            "spark_sql_files_minPartitionNum": str(max(cores)),
        }
        with open_session(1, **settings) as spark:
            path = str(Path(folder) / "rows")
            rows(spark).repartition(max(cores)).write.parquet(path)
            frame = spark.read.parquet(path)
            for number in range(-1, rounds):  # the first one warms up
                for name, ask in jobs.items():
                    spark.sparkContext.setJobDescription(f"{name} {number}")
                    run_query(lambda ask=ask: ask(frame))
        return list(tasks(log))
