"""Measure how long a new user waits, from `pip install` to the first answer of `why`.

    python -m tests.live.first_why

The script creates a virtual environment in a temporary folder, installs this checkout into it, and
runs the code of a first notebook there. The cache of compiled kernels is empty. The script prints
how many seconds each step takes, and the total. It needs Java 17 and access to a package index.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHECKOUT = Path(__file__).parent.parent.parent
# The code of a first notebook, run as one program. It prints how many seconds each step takes.
NOTEBOOK_PROGRAM = '''
import time

start_time = time.monotonic()


def print_seconds(step):
    global start_time
    print(f"{time.monotonic() - start_time:6.1f} s  {step}", flush=True)
    start_time = time.monotonic()


import matchrec
from pyspark.sql import SparkSession

print_seconds("import")
spark = SparkSession.builder.master("local[2]").config("spark.log.level", "OFF").getOrCreate()
print_seconds("Spark session")
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
    """Run all steps, and print how long each step and the whole run took.

    Raises:
        subprocess.CalledProcessError: a step fails.
    """
    start_time = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        venv = Path(folder, "venv")
        python = str(venv / "bin" / "python")
        run_step("virtual environment", [sys.executable, "-m", "venv", str(venv)], folder)
        run_step("pip install", [python, "-m", "pip", "install", "-q", str(CHECKOUT)], folder)
        # Not `run_step`: the program prints its own steps.
        environment = os.environ | {"NUMBA_CACHE_DIR": str(Path(folder, "cache"))}
        subprocess.run([python, "-c", NOTEBOOK_PROGRAM], check=True, cwd=folder, env=environment)
    print(f"{time.monotonic() - start_time:6.1f} s  total")


def run_step(step: str, command: list[str], folder: str) -> None:
    """Run a command in a folder, and print how long it took.

    Args:
        step: what the command does, to print after the seconds.
        command: the program and its arguments.
        folder: the folder.

    Raises:
        subprocess.CalledProcessError: the command fails.
    """
    start_time = time.monotonic()
    subprocess.run(command, check=True, cwd=folder)
    print(f"{time.monotonic() - start_time:6.1f} s  {step}", flush=True)


if __name__ == "__main__":
    main()
