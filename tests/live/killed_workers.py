"""Queries whose Python workers are killed while they match: right rows, or an error that says so.

    python -m tests.live.killed_workers --rounds 3 --seed 0
    python -m tests.live.killed_workers --master 'local-cluster[2,1,1024]' --executors
    python -m tests.live.killed_workers --task-failures 1

Spark runs on this machine and tries a failed task again. While a query runs, some of its Python
workers are killed with SIGKILL, or with `--executors` the JVMs that have started them. Each result
is compared with plain Spark SQL, so a row that is missing or doubled is found; counters must have
the numbers of a run without failures. With `--task-failures 1` no task is tried again: the query
must fail. In the end no file that a worker has spilled is left. Needs Linux; not collected by
pytest: on two cores a round of all queries takes two minutes.

On Sail there is no process to kill: its workers are threads of the program.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from threading import Event, Thread

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.shortcuts import use_shortcuts
from tests.live.large_queries import QUERIES, LargeQuery, create_events

CRASH = "Python worker exited unexpectedly (crashed)"


@dataclass
class Killer:
    """A context manager that kills processes at random times.

    victims: lists the processes that may be killed. seconds: the longest time between two kills.
    most: the number of kills after which it stops.
    """

    random: Random
    victims: Callable[[], list[int]]
    seconds: float
    most: int
    kills: int = 0

    def __enter__(self) -> Killer:
        self.done = Event()
        self.thread = Thread(target=self.work)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self.thread.join()

    def work(self) -> None:
        """Wait and kill one or two processes, until enough have been killed."""
        while self.kills < self.most and not self.done.wait(self.random.random() * self.seconds):
            alive = self.victims()
            for process in self.random.sample(alive, min(len(alive), self.random.randint(1, 2))):
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
                    self.kills += 1


def processes() -> dict[int, tuple[int, str]]:
    """Return the parent and the command line of each process."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                status = (folder / "stat").read_text().rpartition(")")[2].split()
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                found[int(folder.name)] = int(status[1]), command.decode(errors="replace")
    return found


def descendants() -> dict[int, tuple[int, str]]:
    """Return the processes below this one."""
    every = processes()

    def is_below(process: int) -> bool:
        while process in every:
            process = every[process][0]
            if process == os.getpid():
                return True
        return False

    return {process: info for process, info in every.items() if is_below(process)}


def python_workers() -> list[int]:
    """Return the processes that a daemon of PySpark has forked."""
    processes = descendants()
    daemons = {pid for pid, (_, command) in processes.items() if "pyspark.daemon" in command}
    return [pid for pid in daemons if processes[pid][0] in daemons]


def executors() -> list[int]:
    """Return the JVMs in which tasks run, on a cluster on this machine."""
    return [
        pid
        for pid, (_, command) in descendants().items()
        if "CoarseGrainedExecutorBackend" in command
    ]


def session(master: str, folder: str) -> SparkSession:
    """Return a session with Spark's own settings, whose files are in this folder."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_DIRS"] = os.environ["TMPDIR"] = folder
    spark = (
        SparkSession.builder.master(master)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.adaptive.coalescePartitions.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    matchrec.tune(spark)
    return spark


def rows_of(frame: DataFrame, columns: list[str]) -> Counter[tuple[object, ...]]:
    """Return how often each row occurs, with the columns in this order."""
    return Counter(tuple(row[name] for name in columns) for row in frame.collect())


def failed_tasks(spark: SparkSession, group: str) -> int:
    """Return how many tasks of the jobs in a group have failed."""
    tracker = spark.sparkContext.statusTracker()
    jobs = filter(None, map(tracker.getJobInfo, tracker.getJobIdsForGroup(group)))
    stages = {stage for job in jobs for stage in job.stageIds}
    return sum(info.numFailedTasks for info in map(tracker.getStageInfo, stages) if info)


@dataclass
class Result:
    """What happened to a query. error: its message, or "" if the query did not fail."""

    kills: int
    failed: int
    rows: int
    differences: int
    error: str


def run_attack(
    spark: SparkSession,
    attack: LargeQuery,
    killer: Killer,
    group: str,
    expected: Counter[tuple[object, ...]],
) -> Result:
    """Run a query while processes are killed, and compare its rows and counters."""
    spark.sparkContext.setJobGroup(group, group)
    counters = matchrec.Counters() if attack.counts else None
    options = replace(attack.options, counters=counters)
    with use_shortcuts(attack.shortcuts), killer:
        try:
            frame = attack.query(spark.table("events"), options)
            found = rows_of(frame, frame.columns)
            error = ""
        except (PySparkException, Py4JJavaError) as failure:
            found, error = Counter(), str(failure)
    failed = failed_tasks(spark, group)
    if error:
        return Result(killer.kills, failed, 0, 0, error)
    differences = (found - expected).total() + (expected - found).total()
    if counters is not None:
        values = counters.values()
        numbers = tuple(spark.sql(attack.counts).collect()[0])
        if (values["rows"], values["matches"]) != numbers:
            print(f"  counters say {values['rows']}, {values['matches']}, not {numbers}")
            differences += 1
    return Result(killer.kills, failed, found.total(), differences, "")


def check(spark: SparkSession, arguments: argparse.Namespace) -> Iterator[str]:
    """Run all attacks and yield a description of each wrong result."""
    random = Random(arguments.seed)
    create_events(spark, arguments.rows, arguments.keys)
    victims = executors if arguments.executors else python_workers
    totals: Counter[str] = Counter()
    for name, attack in QUERIES.items():
        if arguments.only and arguments.only not in name:
            continue
        columns = attack.query(spark.table("events"), attack.options).columns
        expected = rows_of(spark.sql(attack.expected).toDF(*columns), columns)
        for _ in range(2):  # the first one may compile
            begin = time.monotonic()
            sound = Killer(random, victims, 1e6, 0)
            result = run_attack(spark, attack, sound, f"{name} without kills", expected)
            seconds = time.monotonic() - begin
        print(f"{name}: {result.rows:,} rows in {seconds:.1f} s", flush=True)
        if result.differences or result.error:
            yield f"{name}, nothing killed: {result}"
            continue
        for number in range(arguments.rounds):
            most = random.randint(1, arguments.most)
            killer = Killer(random, victims, seconds / 2, most)
            result = run_attack(spark, attack, killer, f"{name} {number}", expected)
            text = "right rows"
            if result.error:
                text = f"an error, {'clear' if is_clear(result.error) else 'NOT CLEAR'}"
            print(f"  {result.kills} kills, {result.failed} failed tasks: {text}", flush=True)
            totals += Counter(
                runs=1, kills=result.kills, failed_tasks=result.failed, rows=result.rows
            )
            totals["errors"] += bool(result.error)
            if result.differences:
                yield f"{name}: {result}"
            if result.error and not is_clear(result.error):
                yield f"{name}: {result.error}"
    print(dict(totals))


def is_clear(error: str) -> bool:
    """Return whether an error says that workers were lost."""
    return CRASH in error or "ExecutorLostFailure" in error or "Connection reset" in error


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--master", default="", help="local[2,8] by default")
    parser.add_argument("--task-failures", type=int, default=8, help="with which a query fails")
    parser.add_argument("--executors", action="store_true", help="kill these, not Python workers")
    parser.add_argument("--rounds", type=int, default=3, help="of each query")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=200)
    parser.add_argument("--most", type=int, default=4, help="kills in a query, about")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="queries with this in their name")
    arguments = parser.parse_args()
    master = arguments.master or f"local[2,{arguments.task_failures}]"
    with tempfile.TemporaryDirectory() as folder:
        spark = session(master, folder)
        wrong = list(check(spark, arguments))
        left = list(Path(folder).rglob("matchrec-*"))
        spark.stop()
    wrong += [f"a spilled file is left: {file}" for file in left]
    print(*wrong, sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
