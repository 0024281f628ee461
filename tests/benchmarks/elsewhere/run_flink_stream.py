"""Measure a query over a stream in Flink SQL. Runs in an interpreter that has `apache-flink`.

It does not use matchrec. It reads a job from standard input as JSON: `file`, the CSV file of the
events; `query`, a query over the table `ticks`; `output` and `checkpoints`, folders for the rows
and the checkpoints. It prints the figures as JSON. The bytes of the state are those of the largest
checkpoint that was complete while the job ran.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from importlib.metadata import version
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment
from run_flink import SETTINGS, insert_into_new_table

CHECKPOINTS = {
    "execution.checkpointing.interval": "1 s",
    "execution.checkpointing.max-concurrent-checkpoints": "1",
    "execution.checkpointing.storage": "filesystem",
}
TICKS = """CREATE TABLE ticks (k BIGINT, ts TIMESTAMP(3), price INT,
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
  WITH ('connector' = 'filesystem', 'path' = 'file://{file}', 'format' = 'csv')"""


class CheckpointWatcher:
    """A watcher of the checkpoints of a job, in a thread that runs as long as the job."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # The bytes of the largest checkpoint so far.
        self.largest = 0
        # Is set when the job has ended.
        self.has_ended = threading.Event()

    def watch(self) -> None:
        """Keep the size of the largest checkpoint until the job has ended."""
        while not self.has_ended.wait(0.1):
            for checkpoint in self.folder.glob("*/chk-*"):
                self.largest = max(self.largest, measure_checkpoint(checkpoint))


def measure_checkpoint(checkpoint: Path) -> int:
    """Return the bytes of a checkpoint; 0 if it is not complete, or if Flink deletes it now."""
    try:
        if not (checkpoint / "_metadata").exists():
            return 0
        return sum(file.stat().st_size for file in checkpoint.iterdir())
    except FileNotFoundError:
        return 0


def main() -> None:
    """Run the job, and print its figures."""
    job = json.load(sys.stdin)
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    folder = f"file://{job['checkpoints']}"
    folders = {"execution.checkpointing.dir": folder, "state.checkpoints.dir": folder}
    for name, value in {**SETTINGS, **CHECKPOINTS, **folders}.items():
        env.get_config().set(name, value)
    env.execute_sql(TICKS.format(file=job["file"]))
    watcher = CheckpointWatcher(Path(job["checkpoints"]))
    thread = threading.Thread(target=watcher.watch)
    thread.start()
    target = f"'connector' = 'filesystem', 'path' = 'file://{job['output']}', 'format' = 'csv'"
    began = time.perf_counter()
    try:
        insert_into_new_table(env, "rows_out", target, job["query"])
    finally:
        watcher.has_ended.set()
        thread.join()
    seconds = time.perf_counter() - began
    no_target = "'connector' = 'blackhole'"  # drops the rows
    reading = insert_into_new_table(env, "read", no_target, "SELECT * FROM ticks")
    figures = {"seconds": seconds, "reading": reading, "state": watcher.largest}
    print(json.dumps({"version": version("apache-flink"), **figures}))


if __name__ == "__main__":
    main()
