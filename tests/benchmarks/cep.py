"""Compare the Pattern API with Flink CEP.

    python -m tests.benchmarks.cep [--flink LIB] [--events N] [--keys K] [--rounds R]

LIB is a folder with Flink's jars, such as `pyflink/lib` of an installed `apache-flink`. Without
`--flink`, only matchrec is measured.

Both run three patterns over the same events with two cores: strict V-shapes for each key; an `a`
followed by a `b` within ten minutes; one or more `a` followed by any `b` within ten minutes. The
events are in memory before the clock starts. A job of Flink is timed from its start to its end, and
a query of matchrec with its planning. The output is Markdown. Spark needs Java 17, and Flink also
needs its compiler `javac`.
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
    """A pattern, which has the same name in the program for Flink."""

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
class Result:
    """The times and the matches of a workload."""

    seconds: tuple[float, ...]  # elapsed, of each run
    matches: int  # their number
    span: int  # the sum of their lengths, in milliseconds


def make_events(count: int, keys: int) -> pd.DataFrame:
    """Return random events ordered by time; the same ones in every call."""
    random = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "key": random.integers(0, keys, count),
            "millis": np.arange(count) * STEP,
            "kind": np.array(list(KINDS))[random.integers(0, len(KINDS), count)],
            "price": random.integers(100, 200, count).astype(float),
        }
    )


def create_ticks(spark: SparkSession, frame: pd.DataFrame) -> DataFrame:
    """Return the events as a DataFrame that Spark keeps in memory."""
    ticks = spark.createDataFrame(frame).repartition(2 * CORES)
    columns = ("key", "timestamp_millis(millis) AS time", "kind", "price")
    return ticks.selectExpr(*columns).localCheckpoint()


def detect(frame: DataFrame, workload: Workload) -> DataFrame:
    """Return the matches of a workload."""
    return matchrec.match_pattern(frame, workload.pattern, order_by="time", partition_by="key")


def measure_matchrec(frame: pd.DataFrame, rounds: int) -> dict[str, Result]:
    """Measure every workload with matchrec; the results are by name."""
    with open_session(CORES) as spark:
        ticks = create_ticks(spark, frame)
        queries = {
            workload.name: (lambda workload=workload: detect(ticks, workload))
            for workload in WORKLOADS
        }
        times: dict[str, Times] = measure_queries(queries, rounds)
        results = {}
        for workload in WORKLOADS:
            matches, span = summarize_matches(ticks, workload)
            results[workload.name] = Result(tuple(times[workload.name].clock), matches, span)
        return results


def summarize_matches(frame: DataFrame, workload: Workload) -> tuple[int, int]:
    """Return the number of matches and the sum of their lengths in milliseconds."""
    span = "sum(unix_millis(end_time) - unix_millis(start_time)) AS span"
    row = detect(frame, workload).selectExpr("count(*) AS matches", span).first()
    assert row is not None
    return row.matches, row.span or 0


def measure_flink(jars: Path, frame: pd.DataFrame, rounds: int) -> dict[str, Result]:
    """Measure every workload with Flink, and `nothing`, a job without a pattern."""
    with tempfile.TemporaryDirectory() as folder:
        frame.to_csv(Path(folder) / "events.csv", index=False, header=False)
        path = ":".join([*(str(jar) for name in JARS for jar in jars.glob(name)), folder])
        compiler = ["javac", "-Xlint:-options", "-cp", path, "-d", folder, str(PROGRAM)]
        subprocess.run(compiler, check=True)
        names = ["nothing", *(workload.name for workload in WORKLOADS)]
        return {name: run_flink(path, folder, name, rounds + 1) for name in names}


def run_flink(path: str, folder: str, name: str, rounds: int) -> Result:
    """Run a workload of the program for Flink; the first run is not counted."""
    arguments = [f"{folder}/events.csv", name, str(rounds), str(CORES)]
    command = ["java", "-Xmx4g", "-cp", path, "CepBenchmark", *arguments]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    lines = [line.split() for line in run.stdout.splitlines()]
    seconds = tuple(float(line[0]) for line in lines[1:])
    return Result(seconds, int(lines[-1][1]), int(lines[-1][2]))


def report(count: int, ours: dict[str, Result], theirs: dict[str, Result]) -> Iterator[str]:
    """Yield the table of seconds and events per second of the best round.

    Args:
        count: how many events there are.
        ours: the results of matchrec.
        theirs: the results of Flink, or nothing if it is not measured.

    Raises:
        AssertionError: the matches are different.
    """

    def list_rows() -> Iterator[Sequence[str]]:
        """Yield the cells of each workload."""
        for workload in WORKLOADS:
            our_result = ours[workload.name]
            their_result = theirs.get(workload.name)
            cells = [workload.title, f"{our_result.matches:,}", *format_rate(count, our_result)]
            if their_result is not None:
                error_text = f"{workload.name}: other matches, {our_result} and {their_result}"
                assert our_result.matches == their_result.matches, error_text
                assert our_result.span == their_result.span, error_text
                ratio = min(their_result.seconds) / min(our_result.seconds)
                cells += [*format_rate(count, their_result), f"{ratio:.1f}"]
            yield cells

    head = ["pattern", "matches", "seconds", "events/s"]
    yield from format_table([*head, "Flink", "events/s", "times"] if theirs else head, list_rows())
    if theirs:
        least = min(theirs["nothing"].seconds)
        yield f"\nOf Flink's seconds, {least:.1f} start the job and read the events."
    else:
        yield "\nFlink is not measured: name the folder of its jars with --flink."


def format_rate(count: int, result: Result) -> list[str]:
    """Return the seconds of the best run and its events per second as text."""
    return [f"{min(result.seconds):.2f}", f"{count / min(result.seconds):,.0f}"]


def main() -> None:
    """Measure what the command line names and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--flink", type=Path)
    parser.add_argument("--events", type=int, default=500_000)
    parser.add_argument("--keys", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    frame = make_events(arguments.events, arguments.keys)
    loads = [read_load_averages()]
    ours = measure_matchrec(frame, arguments.rounds)
    loads.append(read_load_averages())
    theirs = measure_flink(arguments.flink, frame, arguments.rounds) if arguments.flink else {}
    loads.append(read_load_averages())
    print("\n".join(report(arguments.events, ours, theirs)))
    print(f"\n{arguments.events:,} events, {arguments.keys:,} keys. {describe_machine(loads)}")


if __name__ == "__main__":
    main()
