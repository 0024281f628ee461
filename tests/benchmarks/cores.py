"""How long a V-shape takes with enough cores, without a key and with one: what a key is worth."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

import matchrec
from tests.benchmarks.event_log import Task, critical_path, logging_to, tasks
from tests.benchmarks.markdown import table
from tests.benchmarks.measure import run, session
from tests.benchmarks.options import Options
from tests.benchmarks.tables import MILLION, ticks

ROWS = 4 * MILLION
SYMBOLS = 64
FILES = 8
CORES = (1, 2, 4, 8)
KEYS = {"no key": "", f"{SYMBOLS} keys": "PARTITION BY symbol "}
CLAUSE = """{keys}ORDER BY ts, symbol
  MEASURES STRT.ts AS start_ts, LAST(DOWN.ts) AS bottom_ts, LAST(UP.ts) AS end_ts
  PATTERN (STRT DOWN+ UP+)
  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)"""


def lines(options: Options) -> Iterator[str]:
    """The table. Each round is scheduled on its own; what is shown is the median."""
    rows = int(ROWS * options.scale)
    with tempfile.TemporaryDirectory() as folder:
        ran = list(measured_tasks(Path(folder), rows, options.rounds))
    cells = []
    for name in KEYS:
        rounds = [[one for one in ran if one.query == f"{name} {n}"] for n in range(options.rounds)]
        paths = (
            statistics.median(critical_path(each, cores) for each in rounds) for cores in CORES
        )
        cells.append([name, *(f"{seconds:.2f}" for seconds in paths)])
    head = [f"{count} core{'s' * (count > 1)}, s" for count in CORES]
    yield from table([f"{rows:,} rows", *head], cells)


def measured_tasks(folder: Path, rows: int, rounds: int) -> Iterator[Task]:
    """The tasks of each query and round, one after the other, divided as for eight cores."""
    log = folder / "log"
    log.mkdir()
    settings = {
        **logging_to(log),
        "spark_default_parallelism": str(max(CORES)),
        "spark_sql_files_minPartitionNum": str(FILES),
    }
    with session(1, **settings) as spark:
        path = str(folder / "ticks")
        ticks(spark, rows, SYMBOLS).repartition(FILES).write.parquet(path)
        frame = spark.read.parquet(path)
        for number in range(-1, rounds):  # the first one warms up
            for name, keys in KEYS.items():
                clause = CLAUSE.format(keys=keys)
                spark.sparkContext.setJobDescription(f"{name} {number}")
                run(lambda clause=clause: matchrec.match_recognize(frame, clause))
    yield from tasks(log)
