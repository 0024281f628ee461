"""Measure matchrec: the command behind the tables of `docs/contributing/benchmarks.md`.

    python -m tests.benchmarks.spark [--parts A,B] [--scale S] [--rounds N] [--only WORD]
        [--seed N] [--rows N] [--data FOLDER] [--memory 4g] [--trino URL]
        [--memory-rows N] [--flink-python PATH] [--pandas-python PATH]
        [--duckdb-python PATH] [--write docs]

It prints Markdown. `--scale 0.01 --rounds 1` checks that everything runs. It needs Linux, because
it reads /proc.

- `--parts` names the tables. `sail` and `small` run on Sail, without Java. `transfer` is the table
  of `sail`, but on Spark; `above` divides the time that Spark takes in addition to the data
  transfer. `duckdb` measures the queries of DuckDB's authors, on Sail.
- `--write docs` also writes the table of each part between its marks in
  `docs/contributing/benchmarks.md`, and draws the charts of this page in `docs/images`.
- `--seed` and `--rows` are for the kinds of queries and for the queries that others have published.
  `--data` names a folder that keeps their tables for later runs.
- The interpreters are those of virtual environments with `apache-flink`, with
  `pandas-match-recognize`, and with `duckdb` and `pyarrow`. With `--duckdb-python`, DuckDB runs
  window SQL, and its own MATCH_RECOGNIZE if this DuckDB has the clause. A line below the table says
  whether it has.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tests.benchmarks import (
    above_crossing,
    aggregates,
    breakdown,
    cold,
    compare,
    cores,
    crossing,
    first_queries,
    kinds_compared,
    memory,
    published,
    search_alone,
    settings,
    small_queries,
)
from tests.benchmarks.machine import describe_machine, read_load_averages
from tests.benchmarks.markdown import write_section
from tests.benchmarks.options import Options
from tests.benchmarks.other_engines import CLAUSE_IN_DUCKDB, DUCKDB, FLINK, PANDAS
from tests.benchmarks.page_charts import PAGE, write_charts

Part = Callable[[Options], Iterator[str]]
PARTS: dict[str, Part] = {
    "workloads": compare.report,
    "kinds": kinds_compared.report,
    "sail": partial(crossing.report_engine, "sail"),
    "transfer": partial(crossing.report_engine, "spark"),
    "above": above_crossing.report,
    "duckdb": crossing.report_duckdb_queries,
    "berlin": published.report_berlin,
    "templates": published.report_templates,
    "lengths": published.report_lengths,
    "breakdown": breakdown.report,
    "search": search_alone.report,
    "linear": search_alone.report_growth,
    "cores": cores.report,
    "ranges": cores.report_ranges,
    "memory": memory.report,
    "settings": settings.report,
    "tuned": kinds_compared.report_tuned,
    "aggregates": aggregates.report,
    "cold": cold.report,
    "recipes": first_queries.recipes,
    "steps": first_queries.steps,
    "small": small_queries.report,
}


def main() -> None:
    """Measure the parts that the command line names, print their tables, and write them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--parts", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    parser.add_argument("--scale", type=float, default=Options.scale)
    parser.add_argument("--rounds", type=int, default=Options.rounds)
    parser.add_argument("--only", default="", metavar="WORD", help="workloads with this word")
    parser.add_argument("--memory-rows", type=int, default=Options.memory_rows)
    parser.add_argument("--seed", type=int, default=Options.seed, help="of the kinds' data")
    parser.add_argument("--rows", type=int, default=Options.rows, help="of each kind at scale 1")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="where kinds' tables stay")
    parser.add_argument("--memory", default=Options.memory, help="of the driver")
    parser.add_argument("--trino", metavar="URL", help="a server with a catalog `memory`")
    parser.add_argument("--flink-python", metavar="PATH", help="a Python with apache-flink")
    parser.add_argument("--pandas-python", metavar="PATH", help="with pandas-match-recognize")
    parser.add_argument("--duckdb-python", metavar="PATH", help="with duckdb")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="where docs is")
    arguments = parser.parse_args()
    interpreters = {
        FLINK.name: arguments.flink_python,
        PANDAS.name: arguments.pandas_python,
        DUCKDB.name: arguments.duckdb_python,
        CLAUSE_IN_DUCKDB.name: arguments.duckdb_python,
    }
    options = Options(
        scale=arguments.scale,
        rounds=arguments.rounds,
        only=arguments.only,
        interpreters={name: path for name, path in interpreters.items() if path},
        memory_rows=arguments.memory_rows,
        seed=arguments.seed,
        rows=arguments.rows,
        data=arguments.data,
        memory=arguments.memory,
        trino=arguments.trino,
    )
    loads = [read_load_averages()]
    for name in arguments.parts.split(","):
        part = list(PARTS[name](options))
        loads.append(read_load_averages())
        print_part(name, part, arguments.write)
    print_part("machine", [describe_machine(loads)], arguments.write)


def print_part(name: str, lines: list[str], folder: Path | None) -> None:
    """Print the table of a part, and write it to its page if a folder of docs is named."""
    print(f"\n## {name}\n\n" + "\n".join(lines), flush=True)
    if folder is not None:
        write_section(folder / PAGE, name, ["", *lines, ""])
        write_charts(folder)


if __name__ == "__main__":
    main()
