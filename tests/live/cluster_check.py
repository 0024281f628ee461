"""`spark-submit` with a packed environment, on a standalone cluster of two workers.

    python -m tests.live.cluster_check --archive environment.tar.gz

Needs Java 17 and PySpark with its scripts. The archive is what `venv-pack -o environment.tar.gz`
makes of a virtual environment in which matchrec is installed, not in editable mode. Starts a
master and two workers of one core each, submits a job, and stops them. The exit code is that of a
failure when a row is not as expected, or one of the workers ran no task.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

HOME = Path(pyspark.__file__).parent
JOB = '''
import json
import urllib.request

import matchrec
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
ticks = spark.range(4000).selectExpr("id % 40 AS sym", "id AS at", "id div 40 % 3 AS price")
falls = matchrec.match_recognize(
    ticks.repartition(8),
    """PARTITION BY sym ORDER BY at MEASURES LAST(price) AS low
       PATTERN (A D) DEFINE A AS price = 2, D AS price = 0""",
)
print("RESULT rows", sorted(map(tuple, falls.groupBy("low").count().collect())))
url = f"{spark.sparkContext.uiWebUrl}/api/v1/applications/{spark.sparkContext.applicationId}"
with urllib.request.urlopen(f"{url}/executors") as answer:
    tasks = {one["id"]: one["totalTasks"] for one in json.load(answer)}
busy = sorted(name for name, count in tasks.items() if name != "driver" and count)
print("RESULT executors with tasks", busy)
spark.stop()
'''
EXPECTED = ["rows [(0, 1320)]", "executors with tasks ['0', '1']"]
"""40 keys have 100 rows each with the prices 0, 1, 2, 0, 1, 2, ...: 33 falls from 2 to 0 a key."""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """The address of a master with two workers, which live as long as the context."""
    port = free_port()
    master = f"spark://127.0.0.1:{port}"
    deploy = [HOME / "bin" / "spark-class", "org.apache.spark.deploy"]
    common = ["--host", "127.0.0.1", "--webui-port", "0"]
    size = ["--cores", "1", "--memory", "1g", "--work-dir", folder / "work"]
    commands = [
        [deploy[0], f"{deploy[1]}.master.Master", *common, "--port", str(port)],
        *([[deploy[0], f"{deploy[1]}.worker.Worker", *common, *size, master]] * 2),
    ]
    with (folder / "cluster.log").open("w") as log:
        started = []
        try:
            for command in commands:
                started.append(subprocess.Popen(command, stdout=log, stderr=log))
                time.sleep(4)  # the master before its workers; each waits for its port
            yield master
        finally:
            for process in reversed(started):
                process.terminate()
                process.wait()


def submit(master: str, archive: str, job: Path) -> list[str]:
    """What the job says, run with the packed interpreter on the workers."""
    command = [HOME / "bin" / "spark-submit", "--master", master]
    command += ["--archives", f"{archive}#environment", "--executor-memory", "600m"]
    command += ["--conf", "spark.scheduler.minRegisteredResourcesRatio=1.0"]
    command += ["--conf", "spark.sql.adaptive.coalescePartitions.enabled=false"]
    command += ["--conf", "spark.sql.shuffle.partitions=8", job]
    python = {"PYSPARK_PYTHON": "./environment/bin/python", "PYSPARK_DRIVER_PYTHON": sys.executable}
    done = subprocess.run(
        command, env=os.environ | python, check=False, capture_output=True, text=True
    )
    if done.returncode:
        print(done.stderr[-4000:])
    return [line.removeprefix("RESULT ") for line in done.stdout.splitlines() if "RESULT" in line]


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--archive", required=True, help="a packed environment")
    archive = str(Path(arguments.parse_args().archive).resolve())
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder) / "job.py"
        job.write_text(JOB, encoding="utf-8")
        with cluster(Path(folder)) as master:
            lines = submit(master, archive, job)
    right = lines == EXPECTED
    print("\n".join(lines), "right" if right else f"WRONG, expected {EXPECTED}", sep="\n")
    return int(not right)


if __name__ == "__main__":
    sys.exit(main())
