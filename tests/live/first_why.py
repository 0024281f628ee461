"""Measure how long a new user waits, from `pip install` to the first answer of `why`.

    python -m tests.live.first_why

The program makes a virtual environment in a temporary folder, installs this checkout there, and
runs a first notebook in it as a program, with an empty cache of kernels. It prints the seconds of
each step. It needs Java 17 and the package index of pip.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHECKOUT = Path(__file__).parent.parent.parent
# The cells of a first notebook. Each prints the seconds since the cell before it.
PROGRAM = '''
import time

began = time.monotonic()


def print_seconds(step):
    global began
    print(f"{time.monotonic() - began:6.1f} s  {step}", flush=True)
    began = time.monotonic()


import matchrec
from pyspark.sql import SparkSession

print_seconds("import")
spark = SparkSession.builder.master("local[2]").config("spark.log.level", "OFF").getOrCreate()
print_seconds("session of Spark")
rows = [("X", 1, 90), ("X", 2, 80), ("X", 3, 81)]
spark.createDataFrame(rows, "sym string, day int, price int").createOrReplaceTempView("ticks")
query = """SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY sym ORDER BY day
    MEASURES LAST(price) AS top PATTERN (STRT DOWN+ UP)
    DEFINE DOWN AS price < PREV(price), UP AS price > STRT.price)"""
assert matchrec.sql(spark, query).collect() == []
print_seconds("first query")
assert "81 > 90 is false" in matchrec.query(spark, query).why(partition={"sym": "X"}, row=1).text
print_seconds("first answer of why")
'''


def main() -> None:
    """Run all steps, and print the seconds of each."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        python = str(Path(folder, "venv", "bin", "python"))
        run_step("virtual environment", [sys.executable, "-m", "venv", f"{folder}/venv"], folder)
        run_step("pip install", [python, "-m", "pip", "install", "-q", str(CHECKOUT)], folder)
        environment = os.environ | {"NUMBA_CACHE_DIR": f"{folder}/cache"}
        subprocess.run([python, "-c", PROGRAM], check=True, cwd=folder, env=environment)
    print(f"{time.monotonic() - began:6.1f} s  in all")


def run_step(step: str, command: list[str], folder: str) -> None:
    """Run a command in a folder, and print how long it took.

    Raises:
        subprocess.CalledProcessError: the command fails.
    """
    began = time.monotonic()
    subprocess.run(command, check=True, cwd=folder)
    print(f"{time.monotonic() - began:6.1f} s  {step}", flush=True)


if __name__ == "__main__":
    main()
