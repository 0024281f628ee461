"""Compare what queries cost on Spark, Sail and DuckDB, each in a process of its own.

    python -m tests.benchmarks.engines [--parts compared,memory,growth,start] [--on spark,sail]
        [--scale 0.1] [--only WORD] [--memory 4g] [--data FOLDER] [--duckdb-python PATH]
        [--write docs]

The parts are tables of docs/contributing/benchmarks.md; `--write docs` writes them there. This
needs a version of PySpark that Sail accepts, Sail, Java, and Linux, because it reads /proc.
`--data` names a folder in which the input rows are kept; without it they are written again, which
takes about 2 GB at full size. `growth` also measures DuckDB if `--duckdb-python` names an
interpreter that has it.
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
from importlib.metadata import files
from math import nan
from pathlib import Path

import pyarrow.parquet as pq

import matchrec
from tests.benchmarks import start_of_spark
from tests.benchmarks.engine_cases import CASES, COMPARED_CASES, GROWTH_SERIES, MEMORY_CASES, Case
from tests.benchmarks.fresh_copy import ROOT
from tests.benchmarks.growth import compare_extremes
from tests.benchmarks.machine import describe_machine, read_load_averages
from tests.benchmarks.markdown import format_table, write_section
from tests.benchmarks.measure import count_seconds, median
from tests.benchmarks.other_engines import DUCKDB, Job, run_script
from tests.benchmarks.page_charts import write_charts
from tests.benchmarks.processes import count_cpu_seconds, count_resident_bytes, watch_peak

ENGINES = ("spark", "sail")
FIRST_QUERY = """
import sys
import matchrec
spark = matchrec.session(sys.argv[1])
matchrec.sql(spark, '''SELECT * FROM VALUES (1, 3), (2, 2), (3, 4) AS t(at, price)
    MATCH_RECOGNIZE (ORDER BY at MEASURES B.price AS low PATTERN (A B)
    DEFINE B AS price < PREV(price))''').collect()
"""
FIGURES = ("clock", "CPU", "MB")


@dataclass(frozen=True)
class Cost:
    """What a case costs: medians over its rounds, and the peak memory."""

    clock: float  # elapsed seconds
    cpu: float  # CPU seconds
    peak: int  # bytes, all processes together; 0 if not measured
    rows: int  # rows of the result

    def format_cells(self) -> list[str]:
        """Return the cells of the table: see FIGURES."""
        return [f"{self.clock:.2f}", f"{self.cpu:.2f}", f"{self.peak / 2**20:,.0f}"]


@dataclass(frozen=True)
class Settings:
    """How all cases are measured, from the command line."""

    engines: Sequence[str]
    scale: float  # the numbers of rows are multiplied by it
    only: str  # only cases whose names contain this word
    memory: str  # Spark's heap, or the memory of Sail's own operators
    data: Path  # folder with the input rows
    duckdb: str = ""  # a Python interpreter that has DuckDB, or "" to leave DuckDB out
    docs: Path | None = None  # folder of the pages that the tables are written to

    def describe_scale(self) -> str:
        """Return the sentence that tells the scale if it is not 1, with a space after it."""
        return "" if self.scale == 1 else f"Rows times {self.scale}. "


def measure_case(case: Case, engine: str, rows: Path, memory: str) -> Cost:
    """Measure a case in this process, which must not have a session yet."""
    spark = matchrec.session(engine, cores=case.cores, memory=memory)
    spark.read.parquet(str(rows)).createOrReplaceTempView("ticks")
    clocks = []
    cpu_times = []
    with watch_peak(count_resident_bytes) as peak:
        for _ in range(case.rounds + 1):
            cpu_before = count_cpu_seconds()
            seconds, row_count = case.run(spark)
            clocks.append(seconds)
            cpu_times.append(count_cpu_seconds() - cpu_before)
    spark.stop()
    return Cost(median(clocks[1:]), median(cpu_times[1:]), peak.bytes, row_count)


def write_rows(case: Case, settings: Settings) -> Path:
    """Write the input rows of a case unless they exist, and return their folder."""
    rows = case.rows.scaled(settings.scale)
    folder = settings.data / rows.name
    if not folder.exists():
        rows.write(folder)
    return folder


def measure_in_process(case: Case, engine: str, settings: Settings) -> Cost | str:
    """Measure a case in a new process. If that fails, return the last line of its error."""
    folder = write_rows(case, settings)
    arguments = ["--measure", case.name, engine, str(folder), "--memory", settings.memory]
    command = [sys.executable, "-m", "tests.benchmarks.engines", *arguments]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}  # for Spark's workers
    result = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        error_lines = result.stderr.strip().splitlines() or [f"ended by {-result.returncode}"]
        return f"fails: {error_lines[-1][:60]}"
    return Cost(*json.loads(result.stdout.splitlines()[-1]))


def measure_in_duckdb(case: Case, settings: Settings) -> Cost:
    """Measure the window SQL of a case in DuckDB; its memory is not measured."""
    with tempfile.TemporaryDirectory() as name:
        output = Path(name) / "rows"
        folder = str(write_rows(case, settings))
        job = Job("ticks", [], folder, case.by_window, case.rounds, str(output), case.cores)
        figures = run_script(settings.duckdb, DUCKDB.script, asdict(job))
        result = pq.read_table(output)
    is_count = result.column_names == ["n"]
    row_count = result["n"][0].as_py() if is_count else result.num_rows
    return Cost(median(figures["seconds"]), median(figures["processor"]), 0, row_count)


def measure_on_all_engines(case: Case, settings: Settings) -> list[Cost | str]:
    """Measure a case on each engine, and print the results to standard error.

    Raises:
        AssertionError: two engines return different numbers of rows.
    """
    results = [measure_in_process(case, engine, settings) for engine in settings.engines]
    if case.by_window and settings.duckdb:
        results.append(measure_in_duckdb(case, settings))
    print(case.name, *results, sep="  ", file=sys.stderr)
    row_counts = {result.rows for result in results if isinstance(result, Cost)}
    assert len(row_counts) < 2, (case.name, results)
    return results


def format_results(results: Iterable[Cost | str]) -> list[str]:
    """Return three cells for each engine, or its error and two empty cells."""
    cells: list[str] = []
    for result in results:
        cells += result.format_cells() if isinstance(result, Cost) else [result, "", ""]
    return cells


def report_cases(cases: Iterable[Case], settings: Settings) -> Iterator[str]:
    """Measure some cases and yield the lines of their table."""
    chosen = [case for case in cases if settings.only in case.name]
    rows = [[case.name, *format_results(measure_on_all_engines(case, settings))] for case in chosen]
    head = [f"{engine} {figure}" for engine in settings.engines for figure in FIGURES]
    yield (
        f"{settings.describe_scale()}*Clock* is the elapsed time in seconds, *CPU* is the CPU time "
        "in seconds, and *MB* is the peak memory of all processes."
    )
    yield ""
    yield from format_table(["", *head], rows)


def report_compared(settings: Settings) -> Iterator[str]:
    """Yield the tables of what queries cost, and of the start and the size of each engine."""
    yield from report_cases(COMPARED_CASES, settings)
    yield from report_start(settings)


def report_memory(settings: Settings) -> Iterator[str]:
    """Yield the table of the peak memory of all processes on each engine."""
    rows = []
    for case in MEMORY_CASES:
        if settings.only in case.name:
            results = measure_on_all_engines(case, settings)
            peaks = [
                f"{result.peak / 2**20:,.0f}" if isinstance(result, Cost) else result
                for result in results
            ]
            rows.append([case.name, *peaks])
    yield f"{settings.describe_scale()}Peak memory of all processes in MiB."
    yield ""
    yield from format_table(["", *settings.engines], rows)


def report_growth(settings: Settings) -> Iterator[str]:
    """Yield the tables of how the time per row changes."""
    engines = [*settings.engines, *([DUCKDB.name] if settings.duckdb else [])]
    times_by_series: dict[str, dict[int, list[float]]] = {}
    for name, series in GROWTH_SERIES.items():
        chosen = {size: case for size, case in series.items() if settings.only in case.name}
        if chosen:
            times_by_series[name] = {
                size: measure_row_time(case, settings) for size, case in chosen.items()
            }
    yield f"{settings.describe_scale()}Elapsed microseconds per row."
    yield ""
    rows = [
        [name, f"{size:,}", *(f"{time:.3f}" for time in times)]
        for name, series_times in times_by_series.items()
        for size, times in series_times.items()
    ]
    yield from format_table(["", "", *engines], rows)
    yield ""
    head = ["longest time divided by shortest", *engines]
    yield from format_table(head, compare_extremes(times_by_series))


def measure_row_time(case: Case, settings: Settings) -> list[float]:
    """Return the elapsed microseconds per input row on each engine; NaN if the engine fails."""
    row_count = case.rows.scaled(settings.scale).number
    results = measure_on_all_engines(case, settings)
    return [
        1e6 * result.clock / row_count if isinstance(result, Cost) else nan for result in results
    ]


def report_start(settings: Settings) -> Iterator[str]:
    """Yield the table of how long a process takes to its first rows and how large engines are."""
    starts = []
    sizes = []
    for engine in settings.engines:
        seconds = median([measure_first_query(engine) for _ in range(3)])
        starts.append(f"{seconds:.1f} s")
        sizes.append(f"{count_installed_bytes(engine) / 1e6:,.0f} MB")
    yield ""
    rows = [["start of a process to its first rows", *starts], ["installed", *sizes]]
    yield from format_table(["", *settings.engines], rows)


def measure_first_query(engine: str) -> float:
    """Return the seconds of a process that runs one query of three rows, from start to end."""
    command = [sys.executable, "-c", FIRST_QUERY, engine]
    return count_seconds(lambda: subprocess.run(command, cwd=ROOT, capture_output=True, check=True))


def count_installed_bytes(engine: str) -> int:
    """Return the bytes of an engine's packages.

    Sail does not need PySpark's jars. Spark also needs Java, which is not counted.
    """
    if engine == "spark":
        return count_package_bytes("pyspark") + count_package_bytes("py4j")
    return count_package_bytes("pysail") + count_package_bytes("pyspark", without="/jars/")


def count_package_bytes(package: str, without: str = "\0") -> int:
    """Return the bytes of an installed package's files, except paths that contain `without`."""
    size = 0
    for file in files(package) or ():
        path = Path(str(file.locate()))
        if without not in str(file) and path.exists():
            size += path.stat().st_size
    return size


# The parts by name: the page that a part is written to, and the function that measures it.
PARTS: dict[str, tuple[str, Callable[[Settings], Iterator[str]]]] = {
    "compared": ("contributing/benchmarks.md", report_compared),
    "memory": ("contributing/benchmarks.md", report_memory),
    "growth": ("contributing/benchmarks.md", report_growth),
    "start": ("contributing/benchmarks.md", lambda _: start_of_spark.report()),
}


def print_parts(parts: Sequence[str], settings: Settings) -> None:
    """Measure and print the parts, and write them to their pages if the settings name a folder."""
    loads = [read_load_averages()]
    for part in parts:
        page, report = PARTS[part]
        lines = list(report(settings))
        lines += ["", describe_machine([*loads, read_load_averages()])]
        print("\n".join(lines), flush=True)
        if settings.docs is not None:
            write_section(settings.docs / page, f"engines {part}", ["", *lines, ""])
            write_charts(settings.docs)


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--on", default=",".join(ENGINES))
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--only", default="", metavar="WORD", help="cases with this word")
    parser.add_argument("--memory", default="4g", help="Spark's heap, or of Sail's own operators")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="where the rows are kept")
    parser.add_argument("--duckdb-python", default="", metavar="PATH", help="with duckdb")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="where docs is")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        name, engine, rows = arguments.measure
        cost = measure_case(CASES[name], engine, Path(rows), arguments.memory)
        print(json.dumps(astuple(cost)))
        return
    kept = arguments.data
    with tempfile.TemporaryDirectory() if kept is None else nullcontext(kept) as data:
        Path(data).mkdir(exist_ok=True)
        settings = Settings(
            engines=arguments.on.split(","),
            scale=arguments.scale,
            only=arguments.only,
            memory=arguments.memory,
            data=Path(data),
            duckdb=arguments.duckdb_python,
            docs=arguments.write,
        )
        print_parts(arguments.parts.split(","), settings)


if __name__ == "__main__":
    main()
