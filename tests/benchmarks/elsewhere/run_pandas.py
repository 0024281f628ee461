"""Measure a query in pandas-match-recognize. Runs in an interpreter that has it, without matchrec.

It reads a job from standard input as JSON (see `tests.benchmarks.other_engines.Job`), writes the
rows of the query as CSV without a header, and prints the figures as JSON. The table is in memory
when the clock starts.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
from pandas_match_recognize import match_recognize


def read_job_table(job: dict[str, Any]) -> tuple[pd.DataFrame, float]:
    """Return the table of the job, and the seconds of reading it."""
    began = time.perf_counter()
    names = [name for name, _ in job["columns"]]
    dates = [name for name, type_ in job["columns"] if type_ == "timestamp"]
    parts = sorted(Path(job["folder"]).glob("part-*"))
    frames = [pd.read_csv(part, names=names, parse_dates=dates) for part in parts]
    return pd.concat(frames, ignore_index=True), time.perf_counter() - began


def main() -> None:
    """Run the job, and print its figures."""
    job = json.load(sys.stdin)
    frame, reading = read_job_table(job)
    seconds = []
    for _ in range(job["rounds"]):
        began = time.perf_counter()
        rows = match_recognize(job["query"], frame)
        seconds.append(time.perf_counter() - began)
    folder = Path(job["output"])
    folder.mkdir()
    rows.to_csv(folder / "part-0.csv", header=False, index=False)
    figures = {"version": version("pandas-match-recognize"), "seconds": seconds, "reading": reading}
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
