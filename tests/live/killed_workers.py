"""Kill workers while queries run: a query must return the right rows, or an error that says so.

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
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import NamedTuple

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.shortcuts import use_shortcuts
from tests.live.large_queries import QUERIES, LargeQuery, create_events

# Parts of messages that say that a worker was lost.
CRASH = "Python worker exited unexpectedly (crashed)"
SIGNS_OF_LOSS = (CRASH, "ExecutorLostFailure", "Connection reset")


@dataclass
class Killer:
    """A context manager that kills processes at random times, until its `with` block ends."""

    random: Random
    # Returns the ids of the processes that may be killed.
    list_victims: Callable[[], list[int]]
    # The longest time between two kills, in seconds.
    seconds: float
    # The number of kills after which it stops.
    most_kills: int
    # The number of processes that it has killed.
    kills: int = 0

    def __enter__(self) -> Killer:
        self.block_has_ended = Event()
        self.thread = Thread(target=self.kill_processes)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.block_has_ended.set()
        self.thread.join()

    def kill_processes(self) -> None:
        """Wait and kill one or two processes, again and again until enough have been killed."""
        while self.kills < self.most_kills:
            if self.block_has_ended.wait(self.random.random() * self.seconds):
                return
            victims = self.list_victims()
            count = min(len(victims), self.random.randint(1, 2))
            for process in self.random.sample(victims, count):
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
                    self.kills += 1


class ProcessInfo(NamedTuple):
    """The facts about a process that /proc has."""

    # The id of the process that has started it.
    parent: int
    # The command line, with blanks between the arguments.
    command: str


def read_processes() -> dict[int, ProcessInfo]:
    """Return the facts about each process of this machine, by its id."""
    processes = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                status = (folder / "stat").read_text().rpartition(")")[2].split()
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                info = ProcessInfo(int(status[1]), command.decode(errors="replace"))
                processes[int(folder.name)] = info
    return processes


def find_descendants() -> dict[int, ProcessInfo]:
    """Return the processes that this process has started, and those that they have started."""
    processes = read_processes()
    return {
        process: info
        for process, info in processes.items()
        if os.getpid() in list_ancestors(process, processes)
    }


def list_ancestors(process: int, processes: Mapping[int, ProcessInfo]) -> Iterator[int]:
    """Yield the parent of a process, then the parent's parent, and so on."""
    while process in processes:
        process = processes[process].parent
        yield process


def list_python_workers() -> list[int]:
    """Return the ids of the processes that a daemon of PySpark has forked."""
    processes = find_descendants()
    daemons = {process for process, info in processes.items() if "pyspark.daemon" in info.command}
    return [process for process in daemons if processes[process].parent in daemons]


def list_executors() -> list[int]:
    """Return the ids of the JVMs in which tasks run, on a cluster on this machine."""
    return [
        process
        for process, info in find_descendants().items()
        if "CoarseGrainedExecutorBackend" in info.command
    ]


def open_session(master: str, folder: str) -> SparkSession:
    """Open a session with Spark's own settings, whose files are in a folder."""
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


def count_rows(frame: DataFrame, columns: list[str]) -> Counter[tuple[object, ...]]:
    """Return how often each row occurs, with the columns in this order."""
    return Counter(tuple(row[name] for name in columns) for row in frame.collect())


def count_failed_tasks(spark: SparkSession, group: str) -> int:
    """Return how many tasks of the jobs in a group have failed."""
    tracker = spark.sparkContext.statusTracker()
    jobs = [tracker.getJobInfo(job_id) for job_id in tracker.getJobIdsForGroup(group)]
    stage_ids = {stage_id for job in jobs if job is not None for stage_id in job.stageIds}
    stages = [tracker.getStageInfo(stage_id) for stage_id in stage_ids]
    return sum(stage.numFailedTasks for stage in stages if stage is not None)


@dataclass
class Result:
    """What happened to a query."""

    # The number of processes that were killed.
    kills: int
    failed_tasks: int
    rows: int
    # The number of rows that are missing or too many; one more if the counters are wrong.
    differences: int
    # The message of the error; "" if the query did not fail.
    error: str


def run_query(
    spark: SparkSession,
    query: LargeQuery,
    killer: Killer,
    group: str,
    expected: Counter[tuple[object, ...]],
) -> Result:
    """Run a query while processes are killed, and compare its rows and counters.

    Args:
        spark: the session.
        query: the query.
        killer: kills the processes.
        group: the name of the group of the query's jobs.
        expected: how often each row must be in the result.
    """
    spark.sparkContext.setJobGroup(group, group)
    counters = matchrec.Counters() if query.counts else None
    options = replace(query.options, counters=counters)
    with use_shortcuts(query.shortcuts), killer:
        try:
            frame = query.query(spark.table("events"), options)
            actual = count_rows(frame, frame.columns)
            error = ""
        except (PySparkException, Py4JJavaError) as failure:
            actual = Counter()
            error = str(failure)
    failed_tasks = count_failed_tasks(spark, group)
    if error:
        return Result(killer.kills, failed_tasks, 0, 0, error)
    differences = (actual - expected).total() + (expected - actual).total()
    if counters is not None:
        values = counters.values()
        numbers = tuple(spark.sql(query.counts).collect()[0])
        if (values["rows"], values["matches"]) != numbers:
            print(f"  counters say {values['rows']}, {values['matches']}, not {numbers}")
            differences += 1
    return Result(killer.kills, failed_tasks, actual.total(), differences, "")


def check(spark: SparkSession, arguments: argparse.Namespace) -> Iterator[str]:
    """Run all queries, and yield a description of each wrong result."""
    random = Random(arguments.seed)
    create_events(spark, arguments.rows, arguments.keys)
    list_victims = list_executors if arguments.executors else list_python_workers
    totals: Counter[str] = Counter()
    for name, query in QUERIES.items():
        if arguments.only and arguments.only not in name:
            continue
        columns = query.query(spark.table("events"), query.options).columns
        expected = count_rows(spark.sql(query.expected).toDF(*columns), columns)
        for _ in range(2):  # the first one may compile
            begin = time.monotonic()
            no_killer = Killer(random, list_victims, 1e6, 0)
            result = run_query(spark, query, no_killer, f"{name} without kills", expected)
            seconds = time.monotonic() - begin
        print(f"{name}: {result.rows:,} rows in {seconds:.1f} s", flush=True)
        if result.differences or result.error:
            yield f"{name}, nothing killed: {result}"
            continue
        for number in range(arguments.rounds):
            most_kills = random.randint(1, arguments.most)
            killer = Killer(random, list_victims, seconds / 2, most_kills)
            result = run_query(spark, query, killer, f"{name} {number}", expected)
            text = "right rows"
            if result.error:
                text = f"an error, {'clear' if is_clear(result.error) else 'NOT CLEAR'}"
            print(f"  {result.kills} kills, {result.failed_tasks} failed tasks: {text}", flush=True)
            totals += Counter(
                runs=1, kills=result.kills, failed_tasks=result.failed_tasks, rows=result.rows
            )
            totals["errors"] += bool(result.error)
            if result.differences:
                yield f"{name}: {result}"
            if result.error and not is_clear(result.error):
                yield f"{name}: {result.error}"
    print(dict(totals))


def is_clear(error: str) -> bool:
    """Return whether an error says that workers were lost."""
    return any(sign in error for sign in SIGNS_OF_LOSS)


def main() -> int:
    """Run the queries that the command line asks for, and return the exit code."""
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
        spark = open_session(master, folder)
        wrong = list(check(spark, arguments))
        left = list(Path(folder).rglob("matchrec-*"))
        spark.stop()
    wrong += [f"a spilled file is left: {file}" for file in left]
    print(*wrong, sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
