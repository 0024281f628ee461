"""Divide the time from the start of a process to its first rows between Spark and matchrec.

    python -m tests.benchmarks.engines --parts start

Two programs do the same: they start a session on Spark, send three rows to a Python worker in one
sorted partition, and collect the rows that it returns. One program is plain PySpark, and its Python
function returns the rows unchanged. The other one is a query of matchrec. The difference of a step
is what matchrec adds to it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise

from tests.benchmarks.fresh_copy import ROOT
from tests.benchmarks.markdown import format_table
from tests.benchmarks.measure import median

ROUNDS = 5
STEPS = {
    "import": "Python starts, and imports what it needs for a session",
    "session": "Java starts, and the session",
    "plan": "the query is planned",
    "rows": "the first job, with the start of a Python worker",
    "end": "the session stops, and the process ends",
}

# Prints the time of day at the end of each step but the last one.
MARKED = """
import json, time
marks = []
def mark():
    marks.append(time.time())
{program}
print(json.dumps(marks), flush=True)
"""
VALUES = "VALUES (1, 3), (2, 2), (3, 4) AS t(at, price)"
PYSPARK = f"""
from pyspark.sql import SparkSession
mark()
spark = SparkSession.builder.master("local[*]").getOrCreate()
spark.conf.set("spark.sql.shuffle.partitions", "16")
mark()
def pass_on(batches):
    yield from batches
rows = spark.sql("SELECT * FROM {VALUES}").repartition(1).sortWithinPartitions("at")
frame = rows.mapInArrow(pass_on, rows.schema)
mark()
assert len(frame.collect()) == 3
mark()
"""
MATCHREC = f"""
import matchrec
matchrec.session
mark()
spark = matchrec.session("spark")
mark()
frame = matchrec.sql(spark, '''SELECT * FROM {VALUES}
    MATCH_RECOGNIZE (ORDER BY at MEASURES B.price AS low PATTERN (A B)
    DEFINE B AS price < PREV(price))''')
mark()
assert len(frame.collect()) == 1
mark()
"""


def time_steps(program: str) -> list[float]:
    """Return the seconds of each step of a program in a new process."""
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable}  # of Spark's workers
    begin = time.time()
    result = subprocess.run(
        [sys.executable, "-c", MARKED.format(program=program)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    marks = [begin, *json.loads(result.stdout.splitlines()[-1]), time.time()]
    return [after - before for before, after in pairwise(marks)]


def measure_steps(rounds: int = ROUNDS) -> Iterator[list[str]]:
    """Yield a line for each step, and one for their sum.

    The programs take turns, so that a load on the machine affects both of them. A first round is
    not counted.
    """
    pyspark_rounds, matchrec_rounds = [], []
    for _ in range(rounds + 1):
        pyspark_rounds.append(time_steps(PYSPARK))
        matchrec_rounds.append(time_steps(MATCHREC))
    by_pyspark = [median(list(times)) for times in zip(*pyspark_rounds[1:], strict=True)]
    by_matchrec = [median(list(times)) for times in zip(*matchrec_rounds[1:], strict=True)]
    for name, plain, ours in zip(STEPS.values(), by_pyspark, by_matchrec, strict=True):
        yield show_line(name, plain, ours)
    yield show_line("all", sum(by_pyspark), sum(by_matchrec))


def show_line(name: str, plain: float, ours: float) -> list[str]:
    """Return a line of the table."""
    return [name, f"{plain:.2f}", f"{ours:.2f}", f"{ours - plain:.2f}"]


def report() -> Iterator[str]:
    """Yield the table."""
    head = ["seconds", "PySpark alone", "with matchrec", "matchrec adds"]
    yield from format_table(head, measure_steps())
