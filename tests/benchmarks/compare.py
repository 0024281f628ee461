"""Compare every workload with an identity over the same shuffle and sort, and with alternatives.

The floor is mapInPandas with a function that returns its rows unchanged. Before anything is timed,
all contenders must return the same rows: both algorithms of matchrec, window SQL, applyInPandas and
other engines.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.search.strategies import ALGORITHMS
from tests.benchmarks import trino
from tests.benchmarks.agreement import Reference
from tests.benchmarks.markdown import format_table
from tests.benchmarks.measure import Query, Times, measure_queries, open_session
from tests.benchmarks.options import Options
from tests.benchmarks.other_engines import (
    OTHER_ENGINES,
    Answer,
    OtherEngine,
    QueryRefused,
    prepare_job,
)
from tests.benchmarks.tables import TABLES
from tests.benchmarks.workloads import Workload, list_workloads

# The names of two contenders: the floor that the others are compared with, and matchrec.
FLOOR = "identity"
OURS = "matchrec"
# The most rows of Trino that are compared as text.
MAX_ROWS_AS_TEXT = 50_000


@dataclass(frozen=True)
class Entry:
    """The figures of a contender."""

    times: Times
    # The number of rows of the result, which has been checked.
    rows: int
    # A sentence that is written below the table; "" if there is none.
    note: str = ""


@dataclass(frozen=True)
class Comparison:
    """The times of a workload."""

    workload: Workload
    # The times of the floor, with which the contenders are compared.
    floor: Times
    # The figures of the contenders by their names.
    entries: dict[str, Entry]
    # The name of the floor in tables.
    floor_name: str = FLOOR

    @property
    def costs(self) -> dict[str, float]:
        """Return the elapsed time of each contender divided by the time of the floor."""
        return {name: entry.times.ratio(self.floor) for name, entry in self.entries.items()}


def build_identity(spark: SparkSession, workload: Workload) -> DataFrame:
    """Return a mapInPandas that returns its rows unchanged, over the query's shuffle and sort."""

    def return_frames(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        """Return the frames unchanged."""
        yield from frames

    table = spark.table(workload.table).select(*workload.reads or ["*"])
    ordered = table.repartition(*workload.keys or [1])
    ordered = ordered.sortWithinPartitions(*workload.keys, *workload.order)
    return ordered.mapInPandas(return_frames, ordered.schema)


def list_handwritten_queries(spark: SparkSession, workload: Workload) -> dict[str, Query]:
    """Return what users would write instead of the query, by name."""
    queries: dict[str, Query] = {}
    by_window, by_pandas = workload.by_window, workload.by_pandas
    if by_window is not None:
        queries["window SQL"] = lambda: spark.sql(by_window)
    if by_pandas is not None:
        queries["applyInPandas"] = lambda: by_pandas(spark.table(workload.table))
    return queries


def check_contenders(spark: SparkSession, workload: Workload) -> Reference:
    """Return the rows of a workload.

    Raises:
        AssertionError: a contender returns other rows.
    """
    first, *others = ALGORITHMS
    reference = Reference.read(
        matchrec.sql(spark, workload.query, options=matchrec.Options(algorithm=first))
    )
    for algorithm in others:
        options = matchrec.Options(algorithm=algorithm)
        frame = matchrec.sql(spark, workload.query, options=options)
        reference.check(f"{workload.name}, {algorithm}", frame)
    for name, query in list_handwritten_queries(spark, workload).items():
        reference.check(f"{workload.name}, {name}", query())
    return reference


def compare_workload(
    spark: SparkSession, workload: Workload, options: Options, folder: Path
) -> Comparison:
    """Check and measure a workload, whose table is a view.

    Args:
        folder: where the files of the table are, or are written, for other engines.
    """
    reference = check_contenders(spark, workload)
    queries: dict[str, Query] = {
        FLOOR: lambda: build_identity(spark, workload),
        OURS: lambda: matchrec.sql(spark, workload.query),
        **list_handwritten_queries(spark, workload),
    }
    times_by_name = measure_queries(queries, options.rounds)
    rows = reference.digest.rows
    entries = {name: Entry(times, rows) for name, times in times_by_name.items() if name != FLOOR}
    entries |= measure_other_engines(spark, workload, options, reference, folder)
    if options.trino is not None and "WITHIN" not in workload.query:
        entries[trino.NAME] = measure_trino(spark, workload, options.trino, options, reference)
    return Comparison(workload, times_by_name[FLOOR], entries)


def measure_other_engines(
    spark: SparkSession, workload: Workload, options: Options, reference: Reference, folder: Path
) -> dict[str, Entry]:
    """Run the workload on the other engines whose interpreters are given, and check their rows.

    If an engine refuses a query, and is allowed to, the reason is printed to standard error.

    Args:
        folder: where the files of the table are, or are written.

    Raises:
        AssertionError: an engine returns other rows.
        QueryRefused: an engine must accept the query and does not.
    """
    entries = {}
    for engine in OTHER_ENGINES:
        if engine.name not in workload.elsewhere or engine.name not in options.interpreters:
            continue
        frame = spark.table(workload.table)
        question = workload.elsewhere[engine.name]
        source = folder / f"{workload.table}.{engine.suffix}"
        with tempfile.TemporaryDirectory() as output:
            job = prepare_job(frame, question, options.rounds, source, Path(output))
            try:
                answer = engine.answer(options.interpreters[engine.name], job)
            except QueryRefused as refused:
                if not engine.may_refuse:
                    raise
                print(f"{workload.name}, {engine.name} {refused}", file=sys.stderr)
                continue
            entries[engine.name] = check_answer(spark, workload, reference, engine, answer)
    return entries


def measure_trino(
    spark: SparkSession, workload: Workload, address: str, options: Options, reference: Reference
) -> Entry:
    """Run the workload on a Trino server.

    Raises:
        AssertionError: Trino returns another number of rows, or other rows if there are few.
    """
    server = trino.Trino(address)
    server.load(spark.table(workload.table), workload.table)
    names = reference.frame.columns
    times, rows = server.measure(workload.query, names, options.rounds)
    assert rows == reference.digest.rows, (workload.name, rows, reference.digest.rows)
    if 0 < rows <= MAX_ROWS_AS_TEXT:
        texts = [
            [None if value is None else str(value) for value in row]
            for row in server.run(workload.query).rows
        ]
        frame = spark.createDataFrame(texts, ", ".join(f"`{name}` string" for name in names))
        reference.check(f"{workload.name}, {trino.NAME}", frame)
    return Entry(times, rows)


def check_answer(
    spark: SparkSession,
    workload: Workload,
    reference: Reference,
    engine: OtherEngine,
    answer: Answer,
) -> Entry:
    """Check the rows of another engine and return its figures.

    Raises:
        AssertionError: its rows differ from those of matchrec for the same question.
    """
    question = workload.elsewhere[engine.name]
    note = f"{engine.name} {answer.version}: {engine.note} ({answer.reading:.1f} s by itself)"
    if question.ours is not None:
        reference = Reference.read(matchrec.sql(spark, question.ours))
        note += f". Not quite the same rows: {question.why}; asked so, matchrec gives the same"
    frame = answer.read_rows(spark, reference.frame, engine.suffix)
    reference.check(f"{workload.name}, {engine.name}", frame)
    return Entry(answer.times, reference.digest.rows, note)


def list_figures(comparison: Comparison) -> Iterator[list[str]]:
    """Yield the cells of all figures of a workload, a row for each contender: see HEAD."""
    floor = comparison.floor.format_cells()
    yield [comparison.workload.name, comparison.floor_name, *floor, "", "", ""]
    for name, entry in comparison.entries.items():
        aim = f"{comparison.workload.aim:.2f}" if name == OURS else ""
        cost = f"{comparison.costs[name]:.2f}"
        yield ["", name, *entry.times.format_cells(), cost, aim, f"{entry.rows:,}"]


HEAD = ["workload", "", "median s", "min", "max", "CPU s", "cost", "aim", "rows"]


def summarize(comparisons: list[Comparison]) -> Iterator[str]:
    """Yield the lines of a table: a row for each workload, a column for each contender.

    Its cells are the elapsed seconds and the CPU seconds.
    """
    names = list(dict.fromkeys(name for comparison in comparisons for name in comparison.entries))
    rows = []
    for comparison in comparisons:
        cells = [format_times(comparison.floor)]
        for name in names:
            entry = comparison.entries.get(name)
            cells.append("" if entry is None else format_times(entry.times))
        rows.append([comparison.workload.name, *cells, f"{comparison.costs[OURS]:.2f}"])
    floor_name = comparisons[0].floor_name if comparisons else FLOOR
    yield from format_table(["seconds", floor_name, *names, "cost"], rows)


def format_times(times: Times) -> str:
    """Return the medians of the elapsed seconds and of the CPU seconds as text."""
    return f"{times.median:.2f}, {times.median_cpu:.2f}"


def list_notes(comparisons: list[Comparison]) -> Iterator[str]:
    """Yield the notes on contenders as a list, after an empty line; nothing if there are none."""
    notes = [
        f"- {comparison.workload.name}: {entry.note}."
        for comparison in comparisons
        for entry in comparison.entries.values()
        if entry.note
    ]
    yield from ["", *notes] if notes else []


def create_table_view(spark: SparkSession, name: str, scale: float, folder: Path) -> None:
    """Create the view of a table of `TABLES`: see `create_parquet_view`."""
    create_parquet_view(spark, name, lambda: TABLES[name].frame(spark, scale), folder)


def create_parquet_view(
    spark: SparkSession, name: str, make_frame: Callable[[], DataFrame], folder: Path
) -> None:
    """Write a frame to four Parquet files, unless they exist, and create a view that reads them."""
    path = folder / f"{name}.parquet"
    if not any(path.glob("*.parquet")):
        make_frame().repartition(4).write.mode("overwrite").parquet(str(path))
    spark.read.parquet(str(path)).createOrReplaceTempView(name)


def compare_workloads(options: Options) -> Iterator[Comparison]:
    """Compare every workload, one after the other."""
    chosen = [workload for workload in list_workloads() if options.only in workload.name]
    with open_session(memory=options.memory) as spark, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for table_name in sorted({workload.table for workload in chosen}):
            create_table_view(spark, table_name, options.scale, folder)
        for workload in chosen:
            yield compare_workload(spark, workload, options, folder)


def print_each(comparisons: Iterable[Comparison]) -> list[Comparison]:
    """Print all figures of each workload to standard error once they are known, and return all."""
    printed = []
    for comparison in comparisons:
        lines = format_table(HEAD, list_figures(comparison), text_columns=2)
        print(*lines, sep="\n", file=sys.stderr, flush=True)
        printed.append(comparison)
    return printed


def report(options: Options) -> Iterator[str]:
    """Yield the table of all workloads, and the notes on it."""
    comparisons = print_each(compare_workloads(options))
    yield from summarize(comparisons)
    yield from list_notes(comparisons)
