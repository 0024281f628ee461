"""Run workloads on other engines, each in a Python interpreter of its own.

Their dependencies conflict with ours, so each engine has a small script in `elsewhere`, which runs
in a virtual environment. The script reads the workload's rows from CSV or Parquet files and writes
its result to such files, which are compared with matchrec's.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from math import nan
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tests.benchmarks import by_hand
from tests.benchmarks.measure import RunTime, Times

SCRIPTS = Path(__file__).parent / "elsewhere"
TIMESTAMPS = "yyyy-MM-dd HH:mm:ss"
PARQUET = "parquet"
MAX_ROUNDS = 3  # one run of such an engine may take minutes


@dataclass(frozen=True)
class Question:
    """A workload as a query for another engine."""

    text: str
    ours: str | None = None  # matchrec's query with the same rows, if the workload's are different
    why: str = ""  # what differs from the workload then


@dataclass(frozen=True)
class Job:
    """The input of a script, which gets it as JSON."""

    table: str
    columns: list[tuple[str, str]]  # names and types of Spark
    folder: str  # the table's files; CSV files have no header
    query: str
    rounds: int
    output: str  # the folder that the script creates for its rows
    threads: int = 2  # if the engine has such a setting


@dataclass(frozen=True)
class Answer:
    """What a script has measured, and where its rows are."""

    version: str
    times: Times
    reading: float  # seconds that reading the input takes by itself
    output: Path

    def read_rows(self, spark: SparkSession, reference: DataFrame, suffix: str) -> DataFrame:
        """Return the rows of the engine.

        Args:
            reference: the frame whose types the columns of CSV files get.
            suffix: of the engine's files.
        """
        if suffix == PARQUET:
            return spark.read.parquet(str(self.output))
        reader = spark.read.schema(reference.schema).option("enforceSchema", True)
        return reader.csv(str(self.output))


class QueryRefused(Exception):  # noqa: N818 -- not an error if the engine may lack the clause
    """An engine does not accept a query."""

    def __init__(self, version: str, reason: str) -> None:
        super().__init__(f"{version}: {reason}")
        self.version = version
        self.reason = reason


@dataclass(frozen=True)
class OtherEngine:
    """Another engine and the script that runs it."""

    name: str
    script: str  # in `elsewhere`
    note: str  # how it runs, for the note below the table
    suffix: str = "csv"  # of the files that it reads and writes
    may_refuse: bool = False  # whether it is not an error if the engine refuses a query

    def answer(self, python: str, job: Job) -> Answer:
        """Run the job in an interpreter that has the engine.

        Raises:
            CalledProcessError: the engine fails.
            QueryRefused: the engine does not accept the query.
        """
        figures = run_script(python, self.script, asdict(job))
        if "refused" in figures:
            raise QueryRefused(figures["version"], figures["refused"])
        cpu_times = figures.get("processor", [nan] * len(figures["seconds"]))
        times = Times(tuple(map(RunTime, figures["seconds"], cpu_times)))
        return Answer(figures["version"], times, figures["reading"], Path(job.output))


def run_script(python: str, script: str, job: Mapping[str, Any]) -> dict[str, Any]:
    """Run a script and return the figures that it prints as JSON.

    Raises:
        CalledProcessError: the script fails.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    result = subprocess.run(
        [python, str(SCRIPTS / script)],
        input=json.dumps(job),
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    figures: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return figures


FLINK = OtherEngine("Flink SQL", "run_flink.py", "batch mode, parallelism 2, reads CSV")
PANDAS = OtherEngine(
    "pandas-match-recognize", "run_pandas.py", "one process, the frame is in memory"
)
DUCKDB = OtherEngine(
    "window SQL in DuckDB", "run_duckdb.py", "one process, two threads, reads Parquet", PARQUET
)
# DuckDB's main branch has the clause. Its wheels did not have it in November 2026.
CLAUSE_IN_DUCKDB = replace(DUCKDB, name="MATCH_RECOGNIZE in DuckDB", may_refuse=True)
OTHER_ENGINES = (FLINK, PANDAS, DUCKDB, CLAUSE_IN_DUCKDB)

# The smallest query that shows whether DuckDB has the clause.
SMALLEST = """SELECT * FROM (VALUES (1)) AS t(i) MATCH_RECOGNIZE (
  ORDER BY i MEASURES A.i AS first_i PATTERN (A) DEFINE A AS i > 0)"""


@cache
def ask_for_clause(python: str) -> Mapping[str, str]:
    """Return the version of DuckDB and, if it does not have MATCH_RECOGNIZE, its reason."""
    return run_script(python, "ask_duckdb.py", {"query": SMALLEST})


def prepare_job(
    table: DataFrame, question: Question, rounds: int, source: Path, folder: Path
) -> Job:
    """Return the job of a question, after writing the rows of its table unless they exist.

    Args:
        source: the folder of the table's files, whose suffix is their format.
        folder: where the job gets a new folder for its result.
    """
    name, suffix = source.stem, source.suffix.removeprefix(".")
    if not source.exists():
        table.write.format(suffix).option("timestampFormat", TIMESTAMPS).save(str(source))
    output = folder / f"rows{len(list(folder.iterdir()))}"
    columns = [(field.name, field.dataType.simpleString()) for field in table.schema.fields]
    rounds = min(rounds, MAX_ROUNDS)
    return Job(name, columns, str(source), question.text, rounds, str(output))


# Flink refuses a greedy quantifier at the end of a pattern, and has no PREV.
VSHAPE_MEASURES = """PARTITION BY symbol ORDER BY ts
  MEASURES STRT.ts AS start_ts, LAST(DOWN.ts) AS bottom_ts, LAST(UP.ts) AS end_ts,
    LAST(DOWN.price) AS bottom
  ONE ROW PER MATCH"""
VSHAPE_OF_FLINK = f"""SELECT * FROM ticks MATCH_RECOGNIZE ({VSHAPE_MEASURES}
  AFTER MATCH SKIP TO FIRST STOP PATTERN (STRT DOWN+ UP+ STOP)
  DEFINE
    DOWN AS DOWN.price < LAST(DOWN.price, 1)
      OR LAST(DOWN.price, 1) IS NULL AND DOWN.price < STRT.price,
    UP AS UP.price > LAST(UP.price, 1)
      OR LAST(UP.price, 1) IS NULL AND UP.price > LAST(DOWN.price),
    STOP AS NOT STOP.price > LAST(UP.price))"""
VSHAPE_WITH_STOP = f"""SELECT * FROM ticks MATCH_RECOGNIZE ({VSHAPE_MEASURES}
  AFTER MATCH SKIP TO FIRST STOP PATTERN (STRT DOWN+ UP+ STOP)
  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price), STOP AS NOT price > PREV(price))"""
VSHAPE_OF_PANDAS = f"""SELECT * FROM ticks MATCH_RECOGNIZE ({VSHAPE_MEASURES}
  AFTER MATCH SKIP PAST LAST ROW PATTERN (STRT DOWN+ UP+)
  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price))"""
SCAN_OF_BOTH = """SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts
  MEASURES A.ts AS ts, B.ts AS b, C.ts AS c
  ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW PATTERN (A B C)
  DEFINE A AS {a}price > 195, B AS {b}volume < 50, C AS {c}price < 105)"""
LONG_OF_PANDAS = """SELECT * FROM half MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts
  MEASURES FIRST(A.ts) AS s, B.ts AS e
  ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A{1,50} B)
  DEFINE A AS volume < 950, B AS price > 190)"""
FUNNEL_OF_FLINK = """SELECT * FROM visits MATCH_RECOGNIZE (PARTITION BY `user` ORDER BY ts
  MEASURES V.ts AS view_ts, C.ts AS cart_ts, P.ts AS purchase_ts
  ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
  PATTERN (V X*? C Y*? P) WITHIN INTERVAL '1' HOUR
  DEFINE V AS V.event = 'view', C AS C.event = 'cart', P AS P.event = 'purchase')"""
PREFIXES = {"a": "A.", "b": "B.", "c": "C."}
NO_PREFIXES = {"a": "", "b": "", "c": ""}

TICK_WORDS = {"table": "ticks", "key": "symbol", "time": "ts", "value": "price"}
VSHAPE: Mapping[str, Question] = {
    DUCKDB.name: Question(by_hand.VSHAPE.format(**TICK_WORDS)),
    FLINK.name: Question(
        VSHAPE_OF_FLINK,
        VSHAPE_WITH_STOP,
        "Flink takes no greedy quantifier at the end of a pattern: a row after the match ends it, "
        "so a shape that ends with its symbol is no match",
    ),
    PANDAS.name: Question(VSHAPE_OF_PANDAS),
}
SCAN: Mapping[str, Question] = {
    DUCKDB.name: Question(by_hand.SCAN),
    FLINK.name: Question(SCAN_OF_BOTH.format(**PREFIXES)),
    PANDAS.name: Question(SCAN_OF_BOTH.format(**NO_PREFIXES)),
}
# Not for Flink: its greedy loop takes every row that it can, and does not give any back to B.
LONG: Mapping[str, Question] = {PANDAS.name: Question(LONG_OF_PANDAS)}
FUNNEL: Mapping[str, Question] = {FLINK.name: Question(FUNNEL_OF_FLINK)}
