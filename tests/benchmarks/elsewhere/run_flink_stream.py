"""Flink SQL over a stream, in an interpreter that has `apache-flink`; knows nothing of matchrec.

Reads a job from standard input as JSON: the CSV file of the events, a query over `ticks`, folders
for rows and checkpoints. Prints its figures as JSON. The bytes of the state are those of the
largest checkpoint that was seen while the job ran.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from importlib.metadata import version
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment
from run_flink import SETTINGS, into

CHECKPOINTS = {
    "execution.checkpointing.interval": "1 s",
    "execution.checkpointing.max-concurrent-checkpoints": "1",
    "execution.checkpointing.storage": "filesystem",
}
TICKS = """CREATE TABLE ticks (k BIGINT, ts TIMESTAMP(3), price INT,
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
  WITH ('connector' = 'filesystem', 'path' = 'file://{file}', 'format' = 'csv')"""


class Checkpoints:
    """Looks at the checkpoints of a job as long as it runs."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.largest, self.ended = folder, 0, threading.Event()

    def look(self) -> None:
        while not self.ended.wait(0.1):
            for one in self.folder.glob("*/chk-*"):
                self.largest = max(self.largest, size_of(one))


def size_of(checkpoint: Path) -> int:
    """Bytes of a checkpoint that is complete; 0 of one that is not, or that goes meanwhile."""
    try:
        if not (checkpoint / "_metadata").exists():
            return 0
        return sum(file.stat().st_size for file in checkpoint.iterdir())
    except FileNotFoundError:
        return 0


def main() -> None:
    job = json.load(sys.stdin)
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    folder = f"file://{job['checkpoints']}"
    places = {"execution.checkpointing.dir": folder, "state.checkpoints.dir": folder}
    for name, value in {**SETTINGS, **CHECKPOINTS, **places}.items():
        env.get_config().set(name, value)
    env.execute_sql(TICKS.format(file=job["file"]))
    seen = Checkpoints(Path(job["checkpoints"]))
    looking = threading.Thread(target=seen.look)
    looking.start()
    target = f"'connector' = 'filesystem', 'path' = 'file://{job['output']}', 'format' = 'csv'"
    began = time.perf_counter()
    try:
        into(env, "rows_out", target, job["query"])
    finally:
        seen.ended.set()
        looking.join()
    seconds = time.perf_counter() - began
    reading = into(env, "read", "'connector' = 'blackhole'", "SELECT * FROM ticks")
    figures = {"seconds": seconds, "reading": reading, "state": seen.largest}
    print(json.dumps({"version": version("apache-flink"), **figures}))


if __name__ == "__main__":
    main()
