"""How long a new user waits, from `pip install` to the first answer of `why`, step by step.

    python -m tests.live.first_why

Makes a virtual environment in a folder of its own, installs this checkout there, and runs the
program of a first notebook in it, with an empty cache of kernels. Needs Java 17 and what pip needs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHECKOUT = Path(__file__).parent.parent.parent
PROGRAM = '''
import time

began = time.monotonic()


def done(what):
    global began
    print(f"{time.monotonic() - began:6.1f} s  {what}", flush=True)
    began = time.monotonic()


import matchrec
from pyspark.sql import SparkSession

done("import")
spark = SparkSession.builder.master("local[2]").config("spark.log.level", "OFF").getOrCreate()
done("session of Spark")
rows = [("X", 1, 90), ("X", 2, 80), ("X", 3, 81)]
spark.createDataFrame(rows, "sym string, day int, price int").createOrReplaceTempView("ticks")
query = """SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY sym ORDER BY day
    MEASURES LAST(price) AS top PATTERN (STRT DOWN+ UP)
    DEFINE DOWN AS price < PREV(price), UP AS price > STRT.price)"""
assert matchrec.sql(spark, query).collect() == []
done("first query")
assert "81 > 90 is false" in matchrec.query(spark, query).why(partition={"sym": "X"}, row=1).text
done("first answer of why")
'''


def main() -> int:
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder, "venv", "bin", "python")
        timed("virtual environment", [sys.executable, "-m", "venv", f"{folder}/venv"], folder)
        timed("pip install", [str(python), "-m", "pip", "install", "-q", str(CHECKOUT)], folder)
        subprocess.run([str(python), "-c", PROGRAM], check=True, cwd=folder, env=settings(folder))
    print(f"{time.monotonic() - began:6.1f} s  in all")
    return 0


def timed(what: str, command: list[str], folder: str) -> None:
    """Run a command, and print how long it took."""
    began = time.monotonic()
    subprocess.run(command, check=True, cwd=folder)
    print(f"{time.monotonic() - began:6.1f} s  {what}", flush=True)


def settings(folder: str) -> dict[str, str]:
    """An environment in which nothing is compiled yet."""
    return os.environ | {"NUMBA_CACHE_DIR": f"{folder}/cache"}


if __name__ == "__main__":
    sys.exit(main())
