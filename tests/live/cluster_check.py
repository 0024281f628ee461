"""Check `spark-submit` with a packed environment, on a standalone cluster of two workers.

    python -m tests.live.cluster_check --archive environment.tar.gz

This needs Java 17 and PySpark with its scripts. `venv-pack -o environment.tar.gz` makes the archive
from a virtual environment in which matchrec is installed, not in editable mode. The program starts
a master and two workers of one core each, submits a job, and stops them. Its exit code is 1 if a
row is not as expected, or if one of the workers ran no task.
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

SPARK_HOME = Path(pyspark.__file__).parent
# The seconds after which a master or a worker has opened its port.
START_SECONDS = 4
# The job that is submitted. It prints its results in lines that begin with `RESULT `.
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
with urllib.request.urlopen(f"{url}/executors") as response:
    task_counts = {executor["id"]: executor["totalTasks"] for executor in json.load(response)}
busy = sorted(name for name, count in task_counts.items() if name != "driver" and count)
print("RESULT executors with tasks", busy)
spark.stop()
'''
# The expected results. Each of 40 keys has 100 rows with the prices 0, 1, 2, 0, 1, 2, ..., and so
# 33 falls from 2 to 0.
EXPECTED = ["rows [(0, 1320)]", "executors with tasks ['0', '1']"]


def find_free_port() -> int:
    """Return the number of a port that no program uses at this moment."""
    with socket.socket() as free_socket:
        free_socket.bind(("127.0.0.1", 0))
        return int(free_socket.getsockname()[1])


@contextmanager
def start_cluster(folder: Path) -> Iterator[str]:
    """Start a master with two workers, and yield its address. They end with the context.

    Args:
        folder: an empty folder for their files.
    """
    port = find_free_port()
    master = f"spark://127.0.0.1:{port}"
    spark_class = SPARK_HOME / "bin" / "spark-class"
    address = ["--host", "127.0.0.1", "--webui-port", "0"]
    size = ["--cores", "1", "--memory", "1g", "--work-dir", folder / "work"]
    start_master = [
        spark_class,
        "org.apache.spark.deploy.master.Master",
        *address,
        "--port",
        str(port),
    ]
    start_worker = [spark_class, "org.apache.spark.deploy.worker.Worker", *address, *size, master]
    with (folder / "cluster.log").open("w") as log:
        processes = []
        try:
            for command in (start_master, start_worker, start_worker):
                processes.append(subprocess.Popen(command, stdout=log, stderr=log))
                time.sleep(START_SECONDS)
            yield master
        finally:
            for process in reversed(processes):
                process.terminate()
                process.wait()


def submit_job(master: str, archive: str, job: Path) -> list[str]:
    """Run a job with the packed interpreter on the workers, and return the results it prints.

    If the job fails, the end of its log is printed.
    """
    command = [SPARK_HOME / "bin" / "spark-submit", "--master", master]
    command += ["--archives", f"{archive}#environment", "--executor-memory", "600m"]
    # Both workers must be there before the first task, and the job must have a task for each.
    command += ["--conf", "spark.scheduler.minRegisteredResourcesRatio=1.0"]
    command += ["--conf", "spark.sql.adaptive.coalescePartitions.enabled=false"]
    command += ["--conf", "spark.sql.shuffle.partitions=8", job]
    interpreters = {
        "PYSPARK_PYTHON": "./environment/bin/python",
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    process = subprocess.run(
        command, env=os.environ | interpreters, check=False, capture_output=True, text=True
    )
    if process.returncode:
        print(process.stderr[-4000:])
    lines = process.stdout.splitlines()
    return [line.removeprefix("RESULT ") for line in lines if "RESULT" in line]


def main() -> int:
    """Check the archive that the command line names, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archive", required=True, help="a packed environment")
    archive = str(Path(parser.parse_args().archive).resolve())
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder) / "job.py"
        job.write_text(JOB, encoding="utf-8")
        with start_cluster(Path(folder)) as master:
            results = submit_job(master, archive, job)
    is_right = results == EXPECTED
    print("\n".join(results), "right" if is_right else f"WRONG, expected {EXPECTED}", sep="\n")
    return int(not is_right)


if __name__ == "__main__":
    sys.exit(main())
