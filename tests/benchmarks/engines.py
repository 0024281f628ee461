"""Spark, Sail and DuckDB in one run: what a query takes on each, in a process of its own.

    python -m tests.benchmarks.engines [--parts compared,scale,growth,start] [--on spark,sail]
        [--scale 0.1] [--only WORD] [--memory 4g] [--data FOLDER] [--duckdb-python PATH]
        [--write docs]

`compared`, `growth` and `start` are of docs/contributing/benchmarks.md, `scale` is of
docs/explanation/memory.md; `--write docs` puts them there. Needs a PySpark that Sail takes, Sail
and Java, and Linux, as it reads /proc. `--data` names a folder where the rows stay; without it
they are made anew: 12 GB at full size. DuckDB is asked for `growth`, by an interpreter that has it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, astuple, dataclass
from functools import partial
from importlib.metadata import files
from math import nan
from pathlib import Path

import pyarrow.parquet as pq

import matchrec
from tests.benchmarks.engine_cases import CASES, COMPARED, GROWTH, SCALE, Case
from tests.benchmarks.fresh_copy import ROOT
from tests.benchmarks.growth import flatness
from tests.benchmarks.machine import described, load
from tests.benchmarks.markdown import table, write_section
from tests.benchmarks.measure import clocked, median
from tests.benchmarks.other_engines import DUCKDB, Job, figures_of
from tests.benchmarks.page_charts import write_charts
from tests.benchmarks.processes import processor_seconds, resident, watched
from tests.benchmarks.start_of_spark import start_lines

ENGINES = ("spark", "sail")
FIRST = """
import sys
import matchrec
spark = matchrec.session(sys.argv[1])
matchrec.sql(spark, '''SELECT * FROM VALUES (1, 3), (2, 2), (3, 4) AS t(at, price)
    MATCH_RECOGNIZE (ORDER BY at MEASURES B.price AS low PATTERN (A B)
    DEFINE B AS price < PREV(price))''').collect()
"""
FIGURES = ("clock", "processor", "MB")


@dataclass(frozen=True)
class Cost:
    """Medians of seconds, the most bytes that all processes have had resident, and rows out."""

    clock: float
    processor: float
    peak: int
    found: int

    def cells(self) -> list[str]:
        """Three of a line."""
        return [f"{self.clock:.2f}", f"{self.processor:.2f}", f"{self.peak / 2**20:,.0f}"]


@dataclass(frozen=True)
class Asked:
    """How all cases are measured.

    data: where rows are, and stay. duckdb: an interpreter, or "". docs: where to write, if at all.
    """

    engines: Sequence[str]
    scale: float
    only: str
    memory: str
    data: Path
    duckdb: str = ""
    docs: Path | None = None


def measure(case: Case, engine: str, rows: Path, memory: str) -> Cost:
    """The cost of a case in this process, which has no session yet."""
    spark = matchrec.session(engine, cores=case.cores, memory=memory)
    spark.read.parquet(str(rows)).createOrReplaceTempView("ticks")
    clocks, processors = [], []
    with watched(resident) as peak:
        for _ in range(case.rounds + 1):
            before = processor_seconds()
            seconds, found = case.run(spark)
            clocks.append(seconds)
            processors.append(processor_seconds() - before)
    spark.stop()
    return Cost(median(clocks[1:]), median(processors[1:]), peak.bytes, found)


def rows_in(case: Case, asked: Asked) -> Path:
    """The folder with the rows of a case, which are made if they are not there."""
    rows = case.rows.scaled(asked.scale)
    folder = asked.data / rows.name
    if not folder.exists():
        rows.write(folder)
    return folder


def in_process(case: Case, engine: str, asked: Asked) -> Cost | str:
    """The cost of a case on an engine, or the last line of what went wrong."""
    folder = rows_in(case, asked)
    arguments = ["--measure", case.name, engine, str(folder), "--memory", asked.memory]
    command = [sys.executable, "-m", "tests.benchmarks.engines", *arguments]
    env = {**os.environ, "PYSPARK_PYTHON": sys.executable}  # of Spark's workers
    ran = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        reason = ran.stderr.strip().splitlines() or [f"ended by {-ran.returncode}"]
        return f"fails: {reason[-1][:60]}"
    return Cost(*json.loads(ran.stdout.splitlines()[-1]))


def in_duckdb(case: Case, asked: Asked) -> Cost:
    """The cost of a case's window SQL; without the memory that it takes."""
    with tempfile.TemporaryDirectory() as name:
        output = Path(name) / "rows"
        folder = str(rows_in(case, asked))
        job = Job("ticks", [], folder, case.by_window, case.rounds, str(output), case.cores)
        figures = figures_of(asked.duckdb, DUCKDB.script, asdict(job))
        found = pq.read_table(output)
    rows = found["n"][0].as_py() if found.column_names == ["n"] else found.num_rows
    return Cost(median(figures["seconds"]), median(figures["processor"]), 0, rows)


def of_case(case: Case, asked: Asked) -> list[Cost | str]:
    """What a case takes on each engine, which is told as soon as it is there.

    Raises AssertionError where two engines give different numbers of rows.
    """
    found = [in_process(case, one, asked) for one in asked.engines]
    if case.by_window and asked.duckdb:
        found.append(in_duckdb(case, asked))
    print(case.name, *found, sep="  ", file=sys.stderr)
    assert len({one.found for one in found if isinstance(one, Cost)}) < 2, (case.name, found)
    return found


def cells_of(found: Iterable[Cost | str]) -> Iterator[str]:
    """Of a line: three for each engine."""
    for one in found:
        yield from one.cells() if isinstance(one, Cost) else (one, "", "")


def lines(cases: Iterable[Case], asked: Asked) -> Iterator[str]:
    """The table of some cases."""
    chosen = [case for case in cases if asked.only in case.name]
    cells = [[case.name, *cells_of(of_case(case, asked))] for case in chosen]
    head = [f"{engine} {figure}" for engine in asked.engines for figure in FIGURES]
    size = "" if asked.scale == 1 else f"Rows times {asked.scale}. "
    yield (
        f"{size}*Clock* is the elapsed time in seconds, *processor* is the CPU time in seconds, "
        "and *MB* is the peak memory of all processes."
    )
    yield ""
    yield from table(["", *head], cells)


def compared(asked: Asked) -> Iterator[str]:
    """What queries take, and what comes before any."""
    yield from lines(COMPARED, asked)
    yield from to_begin(asked)


def growth(asked: Asked) -> Iterator[str]:
    """The table of how the time of a row changes."""
    engines = [*asked.engines, *([DUCKDB.name] if asked.duckdb else [])]
    found: dict[str, dict[int, list[float]]] = {}
    for name, series in GROWTH.items():
        found[name] = {}
        for at, case in series.items():
            if asked.only in case.name:
                rows, costs = case.rows.scaled(asked.scale).number, of_case(case, asked)
                found[name][at] = [
                    1e6 * one.clock / rows if isinstance(one, Cost) else nan for one in costs
                ]
    found = {name: times for name, times in found.items() if times}  # what was asked for
    size = "" if asked.scale == 1 else f"Rows times {asked.scale}. "
    yield f"{size}Microseconds a row, by the clock."
    yield ""
    cells = [
        [name, f"{at:,}", *(f"{one:.3f}" for one in times)]
        for name, series in found.items()
        for at, times in series.items()
    ]
    yield from table(["", "", *engines], cells)
    yield ""
    yield from table(["most : least", *engines], flatness(found))


def to_begin(asked: Asked) -> Iterator[str]:
    """The lines of what comes before any rows: a start, and what is installed."""
    head = ["", *asked.engines]
    started = [f"{median([first_query(one) for _ in range(3)]):.1f} s" for one in asked.engines]
    sizes = [f"{installed(engine) / 1e6:,.0f} MB" for engine in asked.engines]
    yield ""
    rows = [["start of a process to its first rows", *started], ["installed", *sizes]]
    yield from table(head, rows)


def first_query(engine: str) -> float:
    """Seconds of a process from its start to its end, with a query of three rows."""
    command = [sys.executable, "-c", FIRST, engine]
    return clocked(lambda: subprocess.run(command, cwd=ROOT, capture_output=True, check=True))


def installed(engine: str) -> int:
    """Bytes of an engine's packages; Sail needs no jars of PySpark's, and Spark needs Java."""
    if engine == "spark":
        return sum(map(bytes_of, ("pyspark", "py4j")))
    return bytes_of("pysail") + bytes_of("pyspark", without="/jars/")


def bytes_of(package: str, without: str = "\0") -> int:
    """Bytes of an installed package's files."""
    found = (file for file in files(package) or () if without not in str(file))
    return sum(Path(str(file.locate())).stat().st_size for file in found if file.locate().exists())


PARTS: dict[str, tuple[str, Callable[[Asked], Iterator[str]]]] = {
    "compared": ("contributing/benchmarks.md", compared),
    "scale": ("explanation/memory.md", partial(lines, SCALE)),
    "growth": ("contributing/benchmarks.md", growth),
    "start": ("contributing/benchmarks.md", lambda _: start_lines()),
}


def print_parts(parts: Sequence[str], asked: Asked) -> None:
    """Measures, prints, writes."""
    loads = [load()]
    for part in parts:
        page, measured = PARTS[part]
        found = [*measured(asked), "", described([*loads, load()])]
        print("\n".join(found), flush=True)
        if asked.docs is not None:
            write_section(asked.docs / page, f"engines {part}", ["", *found, ""])
            write_charts(asked.docs)


def main() -> None:
    """Parses the arguments."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--on", default=",".join(ENGINES))
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--only", default="", metavar="WORD", help="cases with this word")
    parser.add_argument("--memory", default="4g", help="Spark's heap, or of Sail's own operators")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="where the rows stay")
    parser.add_argument("--duckdb-python", default="", metavar="PATH", help="with duckdb")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="where docs is")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        name, engine, rows = given.measure
        print(json.dumps(astuple(measure(CASES[name], engine, Path(rows), given.memory))))
        return
    with tempfile.TemporaryDirectory() if given.data is None else nullcontext(given.data) as data:
        Path(data).mkdir(exist_ok=True)
        engines, duckdb = given.on.split(","), given.duckdb_python
        settings = given.scale, given.only, given.memory, Path(data), duckdb, given.write
        print_parts(given.parts.split(","), Asked(engines, *settings))


if __name__ == "__main__":
    main()
