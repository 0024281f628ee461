"""Every workload beside an identity over the same shuffle and sort, and beside other ways.

The floor is mapInPandas with a function that gives back what it gets. Before anything is timed, all
contenders must give the same rows: both engines of matchrec, window SQL, applyInPandas and the
engines from elsewhere.
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
from tests.benchmarks.markdown import table
from tests.benchmarks.measure import Query, Times, measured, session
from tests.benchmarks.options import Options
from tests.benchmarks.other_engines import OTHER_ENGINES, Answer, OtherEngine, QueryRefused, job_of
from tests.benchmarks.tables import TABLES
from tests.benchmarks.workloads import Workload, workloads

FLOOR = "identity"
OURS = "matchrec"
FEW = 50_000  # rows that cross as text


@dataclass(frozen=True)
class Entry:
    """A contender's times, how many rows it has been seen to give, and what is to be said."""

    times: Times
    rows: int
    note: str = ""


@dataclass(frozen=True)
class Compared:
    """A workload's floor, and its contenders by name."""

    workload: Workload
    floor: Times
    entries: dict[str, Entry]
    floor_name: str = FLOOR

    @property
    def ratios(self) -> dict[str, float]:
        """Of every contender's time to the floor's."""
        return {name: one.times.ratio(self.floor) for name, one in self.entries.items()}


def identity(spark: SparkSession, workload: Workload) -> DataFrame:
    """mapInPandas that gives back what it gets, over the shuffle and sort that the query needs."""

    def same(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        yield from frames

    table = spark.table(workload.table).select(*workload.reads or ["*"])
    ordered = table.repartition(*workload.keys or [1])
    ordered = ordered.sortWithinPartitions(*workload.keys, *workload.order)
    return ordered.mapInPandas(same, ordered.schema)


def by_hand(spark: SparkSession, workload: Workload) -> dict[str, Query]:
    """What users would write instead, by name."""
    named: dict[str, Query] = {}
    by_window, by_pandas = workload.by_window, workload.by_pandas
    if by_window is not None:
        named["window SQL"] = lambda: spark.sql(by_window)
    if by_pandas is not None:
        named["applyInPandas"] = lambda: by_pandas(spark.table(workload.table))
    return named


def checked(spark: SparkSession, workload: Workload) -> Reference:
    """The rows of a workload. Raises AssertionError where a contender's differ."""
    first, *others = ALGORITHMS
    reference = Reference.of(
        matchrec.sql(spark, workload.query, options=matchrec.Options(algorithm=first))
    )
    for engine in others:
        found = matchrec.sql(spark, workload.query, options=matchrec.Options(algorithm=engine))
        reference.check(f"{workload.name}, {engine}", found)
    for name, query in by_hand(spark, workload).items():
        reference.check(f"{workload.name}, {name}", query())
    return reference


def compared(spark: SparkSession, workload: Workload, options: Options, folder: Path) -> Compared:
    """A workload, checked and measured; its table is a view. folder: for what others read."""
    reference = checked(spark, workload)
    queries: dict[str, Query] = {
        FLOOR: lambda: identity(spark, workload),
        OURS: lambda: matchrec.sql(spark, workload.query),
        **by_hand(spark, workload),
    }
    times = measured(queries, options.rounds)
    rows = reference.digest.rows
    entries = {name: Entry(taken, rows) for name, taken in times.items() if name != FLOOR}
    entries |= by_others(spark, workload, options, reference, folder)
    if options.trino is not None and "WITHIN" not in workload.query:
        entries[trino.NAME] = by_trino(spark, workload, options, reference)
    return Compared(workload, times[FLOOR], entries)


def by_others(
    spark: SparkSession, workload: Workload, options: Options, reference: Reference, folder: Path
) -> dict[str, Entry]:
    """What the engines from elsewhere need that are asked. folder: where the table's files are.

    If an engine refuses a query, and is allowed to, the reason is printed to standard error.

    Raises:
        AssertionError: an engine returns other rows.
        QueryRefused: an engine must accept the query and does not.
    """
    found = {}
    for engine in OTHER_ENGINES:
        if engine.name in workload.elsewhere and engine.name in options.interpreters:
            frame, question = spark.table(workload.table), workload.elsewhere[engine.name]
            source = folder / f"{workload.table}.{engine.suffix}"
            with tempfile.TemporaryDirectory() as output:
                job = job_of(frame, question, options.rounds, source, Path(output))
                try:
                    answer = engine.answer(options.interpreters[engine.name], job)
                except QueryRefused as refused:
                    if not engine.may_refuse:
                        raise
                    print(f"{workload.name}, {engine.name} {refused}", file=sys.stderr)
                    continue
                found[engine.name] = elsewhere(spark, workload, reference, engine, answer)
    return found


def by_trino(
    spark: SparkSession, workload: Workload, options: Options, reference: Reference
) -> Entry:
    """What a Trino needs. Raises AssertionError where it gives another number of rows.

    If there are few, where it gives other rows.
    """
    assert options.trino is not None
    server = trino.Trino(options.trino)
    server.load(spark.table(workload.table), workload.table)
    taken, rows = server.measured(workload.query, reference.frame.columns, options.rounds)
    assert rows == reference.digest.rows, (workload.name, rows, reference.digest.rows)
    if 0 < rows <= FEW:
        names = reference.frame.columns
        texts = [
            [None if one is None else str(one) for one in row]
            for row in server.run(workload.query).rows
        ]
        found = spark.createDataFrame(texts, ", ".join(f"`{name}` string" for name in names))
        reference.check(f"{workload.name}, {trino.NAME}", found)
    return Entry(taken, rows)


def elsewhere(
    spark: SparkSession,
    workload: Workload,
    reference: Reference,
    engine: OtherEngine,
    answer: Answer,
) -> Entry:
    """What another engine has found and needed. Raises AssertionError where its rows differ."""
    question = workload.elsewhere[engine.name]
    note = f"{engine.name} {answer.version}: {engine.note} ({answer.reading:.1f} s by itself)"
    if question.ours is not None:
        reference = Reference.of(matchrec.sql(spark, question.ours))
        note += f". Not quite the same rows: {question.why}; asked so, matchrec gives the same"
    found = answer.rows(spark, reference.frame, engine.suffix)
    reference.check(f"{workload.name}, {engine.name}", found)
    return Entry(answer.times, reference.digest.rows, note)


def rows_of(one: Compared) -> Iterator[list[str]]:
    """The table's lines of a workload."""
    yield [one.workload.name, one.floor_name, *one.floor.cells(), "", "", ""]
    for name, entry in one.entries.items():
        aim = f"{one.workload.aim:.2f}" if name == OURS else ""
        ratio = f"{one.ratios[name]:.2f}"
        yield ["", name, *entry.times.cells(), ratio, aim, f"{entry.rows:,}"]


HEAD = ["workload", "", "median s", "min", "max", "processor s", "ratio", "aim", "rows"]


def in_short(found: list[Compared]) -> Iterator[str]:
    """A table with one line a workload: seconds on the clock, and of processors, by contender."""
    names = list(dict.fromkeys(name for one in found for name in one.entries))
    lines = []
    for one in found:
        cells = [short(one.floor), *(short_of(one, name) for name in names)]
        lines.append([one.workload.name, *cells, f"{one.ratios[OURS]:.2f}"])
    floor = found[0].floor_name if found else FLOOR
    yield from table(["seconds", floor, *names, "ratio"], lines)


def short_of(one: Compared, name: str) -> str:
    return short(one.entries[name].times) if name in one.entries else ""


def short(times: Times) -> str:
    return f"{times.median:.2f}, {times.processor:.2f}"


def notes_of(found: list[Compared]) -> Iterator[str]:
    """What is to be said of contenders, once each."""
    notes = [f"- {one.workload.name}: {entry.note}." for one in found for entry in noted(one)]
    yield from ["", *notes] if notes else []


def noted(one: Compared) -> list[Entry]:
    return [entry for entry in one.entries.values() if entry.note]


def written_table(spark: SparkSession, name: str, scale: float, folder: Path) -> None:
    """A table of these benchmarks as parquet in four files, which a view of its name reads."""
    view_of_written(spark, name, lambda: TABLES[name].frame(spark, scale), folder)


def view_of_written(
    spark: SparkSession, name: str, frame: Callable[[], DataFrame], folder: Path
) -> None:
    """A view of this name on the frame's rows in a folder, to which they are written once."""
    path = folder / f"{name}.parquet"
    if not any(path.glob("*.parquet")):
        frame().repartition(4).write.mode("overwrite").parquet(str(path))
    spark.read.parquet(str(path)).createOrReplaceTempView(name)


def all_compared(options: Options) -> Iterator[Compared]:
    """Every workload, one after the other."""
    chosen = [one for one in workloads() if options.only in one.name]
    with session(memory=options.memory) as spark, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for table_name in sorted({workload.table for workload in chosen}):
            written_table(spark, table_name, options.scale, folder)
        for workload in chosen:
            yield compared(spark, workload, options, folder)


def shown(all_of_them: Iterable[Compared]) -> Iterator[Compared]:
    """Each as it comes, and all its figures on standard error."""
    for one in all_of_them:
        print(*table(HEAD, rows_of(one), words=2), sep="\n", file=sys.stderr, flush=True)
        yield one


def lines(options: Options) -> Iterator[str]:
    """The table, and what is to be said of it."""
    found = list(shown(all_compared(options)))
    yield from in_short(found)
    yield from notes_of(found)
