"""The Pattern API beside Flink CEP: `python -m tests.benchmarks.cep --flink LIB`.

    --flink LIB   a folder with Flink's jars: `pyflink/lib` of an installed `apache-flink`
    --events N    --keys K    --rounds R

Three patterns over the same events, both with two cores: strict V-shapes for each key; an a
followed by b within ten minutes; one or more a followed by any b within them. Both have the events
in memory before the clock starts; Flink's batch job over them is timed from its start to its end, a
job of Spark with its planning. Prints Markdown. Without --flink only matchrec runs. Needs Java 17,
for Flink with its compiler.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec import AfterMatch, Pattern
from tests.benchmarks.machine import describe_machine, read_load_averages
from tests.benchmarks.markdown import format_table
from tests.benchmarks.measure import Times, measure_queries, open_session

PROGRAM = Path(__file__).parent / "flink" / "CepBenchmark.java"
JARS = ("flink-cep-*.jar", "flink-dist-*.jar", "log4j-*.jar")
CORES = 2
KINDS = "aabccccccc"
STEP = 100  # milliseconds between two events
A = Pattern.begin("a").where("kind = 'a'")


@dataclass(frozen=True)
class Workload:
    """A pattern; name is also that of the same one in the program for Flink."""

    name: str
    title: str
    pattern: Pattern


WORKLOADS = (
    Workload(
        "vshape",
        "strict V-shapes, past last event",
        Pattern.begin("start")
        .next("down")
        .where("count(down) = 0 AND price < last(start.price) OR price < last(down.price)")
        .one_or_more()
        .consecutive()
        .greedy()
        .next("up")
        .where("price > last(down.price)")
        .after_match(AfterMatch.SKIP_PAST_LAST_EVENT),
    ),
    Workload(
        "relaxed",
        "a followed_by b within 10 minutes",
        A.followed_by("b").where("kind = 'b'").within("10 minutes"),
    ),
    Workload(
        "loop",
        "a+ followed_by_any b within 10 minutes",
        A.one_or_more().followed_by_any("b").where("kind = 'b'").within("10 minutes"),
    ),
)


@dataclass(frozen=True)
class Found:
    """seconds of all runs. matches, span: their number, and the sum of their lengths in time."""

    seconds: tuple[float, ...]
    matches: int
    span: int


def events(count: int, keys: int) -> pd.DataFrame:
    """Events by time: the same each time."""
    random = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "key": random.integers(0, keys, count),
            "millis": np.arange(count) * STEP,
            "kind": np.array(list(KINDS))[random.integers(0, len(KINDS), count)],
            "price": random.integers(100, 200, count).astype(float),
        }
    )


def in_spark(spark: SparkSession, frame: pd.DataFrame) -> DataFrame:
    """The events, held by Spark."""
    made = spark.createDataFrame(frame).repartition(2 * CORES)
    columns = ("key", "timestamp_millis(millis) AS time", "kind", "price")
    return made.selectExpr(*columns).localCheckpoint()


def detected(frame: DataFrame, workload: Workload) -> DataFrame:
    return matchrec.match_pattern(frame, workload.pattern, order_by="time", partition_by="key")


def by_matchrec(frame: pd.DataFrame, rounds: int) -> dict[str, Found]:
    with open_session(CORES) as spark:
        held = in_spark(spark, frame)
        queries = {one.name: (lambda w=one: detected(held, w)) for one in WORKLOADS}
        times: dict[str, Times] = measure_queries(queries, rounds)
        found = {}
        for one in WORKLOADS:
            found[one.name] = Found(tuple(times[one.name].clock), *matches(held, one))
        return found


def matches(frame: DataFrame, workload: Workload) -> tuple[int, int]:
    """Their number, and the sum of their lengths in milliseconds."""
    span = "sum(unix_millis(end_time) - unix_millis(start_time)) AS span"
    row = detected(frame, workload).selectExpr("count(*) AS matches", span).first()
    assert row is not None
    return row.matches, row.span or 0


def by_flink(jars: Path, frame: pd.DataFrame, rounds: int) -> dict[str, Found]:
    """Also for `nothing`, a job without a pattern."""
    with tempfile.TemporaryDirectory() as folder:
        frame.to_csv(Path(folder) / "events.csv", index=False, header=False)
        path = ":".join([*(str(jar) for name in JARS for jar in jars.glob(name)), folder])
        compiler = ["javac", "-Xlint:-options", "-cp", path, "-d", folder, str(PROGRAM)]
        subprocess.run(compiler, check=True)
        names = ["nothing", *(one.name for one in WORKLOADS)]
        return {name: flink_runs(path, folder, name, rounds + 1) for name in names}


def flink_runs(path: str, folder: str, name: str, rounds: int) -> Found:
    """The first run warms up and is not counted."""
    arguments = [f"{folder}/events.csv", name, str(rounds), str(CORES)]
    command = ["java", "-Xmx4g", "-cp", path, "CepBenchmark", *arguments]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    report = [line.split() for line in run.stdout.splitlines()]
    seconds = tuple(float(line[0]) for line in report[1:])
    return Found(seconds, int(report[-1][1]), int(report[-1][2]))


def report(count: int, ours: dict[str, Found], theirs: dict[str, Found]) -> Iterator[str]:
    """A table of events a second, by the best round; theirs may be empty."""

    def rows() -> Iterator[Sequence[str]]:
        for one in WORKLOADS:
            found, other = ours[one.name], theirs.get(one.name)
            cells = [one.title, f"{found.matches:,}", *rate(count, found)]
            if other is not None:
                alike = (found.matches, found.span) == (other.matches, other.span)
                assert alike, f"{one.name}: other matches, {found} and {other}"
                times = min(other.seconds) / min(found.seconds)
                cells += [*rate(count, other), f"{times:.1f}"]
            yield cells

    head = ["pattern", "matches", "seconds", "events/s"]
    yield from format_table([*head, "Flink", "events/s", "times"] if theirs else head, rows())
    if theirs:
        least = min(theirs["nothing"].seconds)
        yield f"\nOf Flink's seconds, {least:.1f} start the job and read the events."
    else:
        yield "\nFlink is not there: give its jars with --flink."


def rate(count: int, found: Found) -> list[str]:
    return [f"{min(found.seconds):.2f}", f"{count / min(found.seconds):,.0f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--flink", type=Path)
    parser.add_argument("--events", type=int, default=500_000)
    parser.add_argument("--keys", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    frame = events(given.events, given.keys)
    loads = [read_load_averages()]
    ours = by_matchrec(frame, given.rounds)
    loads.append(read_load_averages())
    theirs = by_flink(given.flink, frame, given.rounds) if given.flink else {}
    loads.append(read_load_averages())
    print("\n".join(report(given.events, ours, theirs)))
    print(f"\n{given.events:,} events, {given.keys:,} keys. {describe_machine(loads)}")


if __name__ == "__main__":
    main()
