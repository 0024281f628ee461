"""Kill streams of clauses and of rule sets: no row must be lost or appear twice.

    python -m tests.live.killed_streams --kills 6 --seed 0 --query 4
    python -m tests.live.killed_streams --kills 6 --seed 0 --query 6 --sink batches

A process of its own runs the query from files to files, from one checkpoint. It is killed with
SIGKILL in the middle of a micro-batch, or between two, or only one of its Python workers is. Then
the next process continues. In the end the files must have the rows of the query over all events at
once. The rules of query 4 change during the stream: each process knows those that are valid soon,
and no later ones. Query 5 aggregates all matches without building them. Queries 6 to 10 wait for
windows to end: their patterns end with NOT, or they list the runs that time out. Some micro-batches
have no events, and some have a late event, which Spark drops. `--sink batches` uses `foreachBatch`
instead of Spark's file sink and writes each micro-batch to a folder named by its number.

It needs Linux. pytest does not collect it, because starting so many processes takes a minute.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from random import Random

from pyspark.sql import DataFrame

import matchrec
from matchrec import Pattern
from tests.conftest import start_small_session
from tests.spark.test_clauses_over_streams import (
    LONGEST,
    PAIRS,
    RISES,
    aggregate_matches,
    build_query,
)
from tests.spark.test_rule_sets_over_streams import RULES, build_query_of_rules
from tests.spark.test_streaming import AND_NO_MORE, SCHEMA, Event, Feed, Query

# The rules that do not match the last rows.
AT_ONCE = ("rises", "rows", "pairs", "same", "soon", "alone", "strict")


def match_rules(events: DataFrame) -> DataFrame:
    """Match a rule set of clauses, SASE+ texts and Patterns."""
    return build_query_of_rules({name: RULES[name] for name in AT_ONCE})(events).matches


# The versions of each rule, by the second from which a version is valid. None ends the rule.
CHANGES: dict[str, dict[int | None, str | Pattern | None]] = {
    "rises": {None: RULES["rises"]},
    "soon": {None: RULES["soon"], 160: None, 200: RULES["alone"]},
    "pairs": {130: RULES["pairs"], 190: RULES["same"], 250: RULES["pairs"]},
    "rows": {150: RULES["rows"], 240: None},
    "strict": {120: RULES["strict"], 143: RULES["strict"], 175: RULES["soon"]},
}
# A second after all versions have begun.
LATER = 10**6
# The number of micro-batches that a process knows the rules for and may run.
AHEAD = 14


def match_changing_rules(events: DataFrame, until: int = LATER) -> DataFrame:
    """Match rules that change.

    Args:
        until: the last second from which a version that is known may be valid.
    """
    known_rules = {}
    for rule, versions in CHANGES.items():
        known_versions = {
            make_time(since): content
            for since, content in versions.items()
            if (since or 0) <= until
        }
        if known_versions:
            known_rules[rule] = known_versions
    return build_query_of_rules(known_rules)(events).matches


def make_time(second: int | None) -> datetime | None:
    """Return the time of the events of a second, or None for None."""
    begin = datetime(2026, 1, 1, tzinfo=timezone.utc)
    return None if second is None else begin + timedelta(seconds=second)


UNANSWERED = """
    SELECT * FROM {events} MATCH_RECOGNIZE (
        PARTITION BY k ORDER BY ts, x MEASURES FIRST(ts) AS since, A.x AS a, LAST(B.x) AS b
        PATTERN (A B+ NOT C) SKIP TILL NEXT MATCH ALL MATCHES WITHIN INTERVAL 12 SECONDS
        DEFINE A AS v = 'a', B AS v = 'b' AND x > A.x, C AS v = 'c' AND x < 9
    )
"""
SILENCE = """
    PATTERN SEQ(a x, b y, ~(c z)) WHERE skip_till_any_match(x, y, z) { [k] AND y.x > x.x }
    WITHIN 11 seconds RETURN x.k AS k, x.ts AS first, x.x AS a, y.x AS b
"""


def match_silence(events: DataFrame) -> DataFrame:
    """Find the matches of a SASE+ text whose last event must not follow."""
    return matchrec.match_sase(events, SILENCE, order_by=["ts", "x"], type_column="v")


def make_pattern_query(pattern: Pattern) -> Query:
    """Return a query for the matches of a Pattern and the runs that time out."""
    return lambda events: matchrec.match_pattern(
        events, pattern, order_by=["ts", "x"], partition_by="k", timeouts=True
    )


STEPS = (
    Pattern.begin("a")
    .where("v = 'a'")
    .followed_by_any("b")
    .where("v = 'b' AND x >= last(a.x)")
    .one_or_more(gap="6 seconds")
    .not_followed_by("c")
    .where("v = 'c' AND x < 5")
    .followed_by("d")
    .where("v = 'a' AND x > first(b.x)")
    .optional()
    .followed_by("e")
    .where("v = 'c'")
    .within("15 seconds")
)
SOON = (
    Pattern.begin("a")
    .where("v = 'a'")
    .followed_by("b")
    .where("v = 'b'")
    .within("4 seconds", "previous_to_current")
)
QUERIES: tuple[Query, ...] = (
    *map(build_query, (RISES, PAIRS, LONGEST)),
    match_rules,
    match_changing_rules,
    aggregate_matches,
    build_query(UNANSWERED),
    match_silence,
    *map(make_pattern_query, (AND_NO_MORE, STEPS, SOON)),
)
BATCHES = 40
# The value `v` of events that arrive after the watermark has passed them.
LATE = "late"
# The time from the start of a micro-batch to the start of the next one.
PAUSE = "1 second"
# The seconds after which a process that is not killed counts as stuck.
PATIENCE = 300


def draw_batches(random: Random) -> Iterator[list[Event]]:
    """Yield micro-batches of events, out of order by as much as the watermark allows.

    One in six has no events, and one in four of the others has a late event.

    No two events have the same time and value, because a table would not say which one is first.
    """
    second = 100
    for batch in range(BATCHES):
        if batch % 6 == 5:
            yield []
            continue
        value = batch % 2
        events = [
            (
                random.choice("pqrs"),
                second + random.randrange(9),
                random.choice("aabbc"),
                2 * number + value,
            )
            for number in random.sample(range(9), 6)
        ]
        if batch > 2 and random.random() < 0.25:
            events.append((random.choice("pqrs"), second - random.randint(20, 90), LATE, 1))
        yield events
        second += 5
    for second in (900, 1800):
        yield [(key, second, "z", 0) for key in "pqrs"]


def write_batch(folder: Path, rows: DataFrame, number: int) -> None:
    """Write the rows of a micro-batch, replacing those of an attempt that was killed."""
    rows.write.mode("overwrite").parquet(str(folder / "out" / f"batch={number}"))


def run_stream(folder: Path, query: Query, sink: str, *, to_the_end: bool) -> None:
    """Run the query from the checkpoint on, in the process that is killed."""
    spark = start_small_session()
    stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    if query is match_changing_rules and not to_the_end:
        last = max(list_batches(folder, "offsets"), default=0) + AHEAD
        files = ",".join(f"{number:03}" for number in range(last + 1))
        stream = stream.option("pathGlobFilter", f"{{{files}}}.json")
        second_after_events = 109 + 5 * last
        query = partial(match_changing_rules, until=second_after_events)
    events = stream.json(str(folder / "in")).withWatermark("ts", "5 seconds")
    writer = query(events).writeStream
    if sink == "files":
        writer = writer.format("parquet").option("path", str(folder / "out"))
    else:
        writer = writer.foreachBatch(partial(write_batch, folder))
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    when = {"availableNow": True} if to_the_end else {"processingTime": PAUSE}
    writer.trigger(**when).start().awaitTermination()  # type: ignore[arg-type]


def list_batches(folder: Path, what: str) -> set[int]:
    """Return the micro-batches that have begun (`offsets`) or ended (`commits`)."""
    names = (file.name for file in (folder / "checkpoint" / what).glob("*"))
    return {int(name) for name in names if name.isdigit()}


def is_in_batch(folder: Path) -> bool:
    """Return whether a micro-batch has begun and not ended."""
    return bool(list_batches(folder, "offsets") - list_batches(folder, "commits"))


def list_workers(process: int) -> list[int]:
    """Return the Python workers of a process, which Spark's worker daemon has forked."""
    lines = subprocess.check_output(["ps", "-eo", "pid=,ppid=,args="], text=True).splitlines()
    processes = {
        int(pid): (int(parent), args) for pid, parent, args in (x.split(None, 2) for x in lines)
    }

    def list_ancestors(child: int) -> Iterator[int]:
        """Yield the parent of a process, then the parent's parent, and so on."""
        while child in processes:
            child = processes[child][0]
            yield child

    def is_daemon(process_id: int) -> bool:
        """Return whether a process is a worker daemon, or was forked from one."""
        return "daemon" in processes.get(process_id, (0, ""))[1]

    return [
        child
        for child, (parent, _) in processes.items()
        if is_daemon(child) and is_daemon(parent) and process in list_ancestors(child)
    ]


def kill_within(folder: Path, process: int, random: Random) -> None:
    """Kill the process if it is in a micro-batch, after a part of its time."""
    if is_in_batch(folder):
        time.sleep(random.choice((0, 0.05, 0.2, 0.5)))
        os.killpg(process, signal.SIGKILL)


def kill_between(folder: Path, process: int, _: Random) -> None:
    """Kill it if no micro-batch is running."""
    if not is_in_batch(folder):
        os.killpg(process, signal.SIGKILL)


def kill_workers(folder: Path, process: int, _: Random) -> None:
    """Kill its Python workers in a micro-batch: the query fails if one of them has a task."""
    for worker in list_workers(process) if is_in_batch(folder) else ():
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)


KILLS: tuple[Callable[[Path, int, Random], None], ...] = (kill_within, kill_between, kill_workers)


def run_until_killed(folder: Path, arguments: list[str], number: int, random: Random) -> str:
    """Start the process, kill it after a few micro-batches, and return a sentence about it."""
    kill = KILLS[number % len(KILLS)]
    target = len(list_batches(folder, "commits")) + random.randint(1, 3)
    with (folder / f"{number}.log").open("w") as log:
        process = subprocess.Popen(arguments, stdout=log, stderr=log, start_new_session=True)
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None:
            assert time.monotonic() < deadline, f"nothing happens: see {log.name}"
            if len(list_batches(folder, "commits")) >= target:
                kill(folder, process.pid, random)
            time.sleep(0.002)
    if kill is not kill_workers:
        assert process.returncode == -signal.SIGKILL, f"it has ended by itself: see {log.name}"
    location = "inside of a micro-batch" if is_in_batch(folder) else "between two micro-batches"
    crashed = "Python worker exited unexpectedly" in (folder / f"{number}.log").read_text()
    assert crashed is (kill is kill_workers), f"see {number}.log"
    return f"{kill.__name__}: exit code {process.returncode}, {location}"


def check(query: Query, sink: str, kills: int, random: Random) -> None:
    """Check that the rows are those of all events at once, without late ones.

    Raises:
        AssertionError: the rows are different.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spark = start_small_session()
        feed = Feed(spark, folder)
        batches = list(draw_batches(random))
        feed.put(*batches)
        late = [event for batch in batches for event in batch if event[2] == LATE]
        command = [sys.executable, "-m", __spec__.name, "--folder", name, "--sink", sink]
        command += ["--query", str(QUERIES.index(query))]
        for number in range(kills):
            print(run_until_killed(folder, command, number, random), flush=True)
        subprocess.run([*command, "--to-the-end"], check=True, stderr=subprocess.DEVNULL)
        written = spark.read.parquet(str(feed.result)).drop("batch")
        rows = sorted(map(repr, written.collect()))
        expected = feed.at_once(query, late)
        assert rows == expected, f"{len(rows)} rows, not {len(expected)}"
        counts = f"{len(rows)} rows, as at once; {len(late)} late events"
        print(f"{counts}; {len(list_batches(folder, 'commits'))} micro-batches")


def main() -> None:
    """Run the check that the command line asks for, or the process that the check kills."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--query", type=int, default=0, help="which of eleven queries")
    parser.add_argument("--sink", choices=("files", "batches"), default="files")
    parser.add_argument("--folder", type=Path, help="of the process that is killed")
    parser.add_argument("--to-the-end", action="store_true", help="it runs until all is done")
    options = parser.parse_args()
    query = QUERIES[options.query]
    if options.folder:
        run_stream(options.folder, query, options.sink, to_the_end=options.to_the_end)
    else:
        check(query, options.sink, options.kills, Random(options.seed))


if __name__ == "__main__":
    main()
