"""Measure matchrec: the command behind the tables of `docs/contributing/benchmarks.md`.

    python -m tests.benchmarks.spark [--parts A,B] [--scale S] [--rounds N] [--only WORD]
        [--seed N] [--rows N] [--data FOLDER] [--memory 4g] [--trino URL]
        [--memory-rows N] [--flink-python PATH] [--pandas-python PATH]
        [--duckdb-python PATH] [--write docs]

It prints Markdown. `--scale 0.01 --rounds 1` checks that everything runs. It needs Linux, because
it reads /proc.

- `--parts` names the tables to measure. The module that `PARTS` names for a part describes its
  table. Some parts differ only in where they run:

      sail, small    run on Sail, without Java
      transfer       the measurements of `sail`, on Spark
      above          what a query takes beyond its data transfer: planning, matching, output
      duckdb         queries by DuckDB's authors, on Sail

- `--write docs` also writes the table of each part between its marks in
  `docs/contributing/benchmarks.md`, and draws the charts of this page in `docs/images`.
- `--seed` and `--rows` apply to the tables that are generated for the kinds of queries and for
  the published queries. `--data` names a folder in which these tables are kept for later runs.
- The options `--...-python` name Python interpreters of virtual environments that have the other
  engine: `apache-flink`, `pandas-match-recognize`, or `duckdb` and `pyarrow`. With
  `--duckdb-python`, DuckDB runs window SQL, and its own MATCH_RECOGNIZE if this DuckDB has the
  clause. A line below the table says whether DuckDB was able to run MATCH_RECOGNIZE.
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

# Measures a part, and yields the lines of its table.
Part = Callable[[Options], Iterator[str]]
# The parts by the names that `--parts` has for them. The page has marks with these names.
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
    "recipes": first_queries.report_recipes,
    "steps": first_queries.report_steps,
    "small": small_queries.report,
}


def main() -> None:
    """Measure the parts that the command line names, print their tables, and write them."""
    arguments = parse_arguments()
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
    load_averages = [read_load_averages()]
    for name in arguments.parts:
        lines = list(PARTS[name](options))
        load_averages.append(read_load_averages())
        publish_part(name, lines, arguments.write)
    publish_part("machine", [describe_machine(load_averages)], arguments.write)


def parse_arguments() -> argparse.Namespace:
    """Read the command line, and check the names of the parts before hours of measuring."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--parts",
        type=lambda names: names.split(","),
        default=list(PARTS),
        metavar="A,B",
        help=f"measure these parts (default: all): {', '.join(PARTS)}",
    )
    add = parser.add_argument
    add("--scale", type=float, default=Options.scale, help="multiply the numbers of rows by this")
    add("--rounds", type=int, default=Options.rounds, metavar="N", help="measure a query N times")
    add("--only", default="", metavar="WORD", help="measure workloads whose names contain WORD")
    add(
        "--memory-rows",
        type=int,
        default=Options.memory_rows,
        metavar="N",
        help="rows of the partition whose memory is measured",
    )
    add("--seed", type=int, default=Options.seed, help="seed of the generated tables and queries")
    add(
        "--rows",
        type=int,
        default=Options.rows,
        metavar="N",
        help="rows of each generated table at scale 1",
    )
    add("--data", type=Path, metavar="FOLDER", help="keep generated tables in FOLDER")
    add("--memory", default=Options.memory, help="memory of Spark's driver (default: %(default)s)")
    add("--trino", metavar="URL", help="a Trino server with a catalog named memory")
    add("--flink-python", metavar="PATH", help="a Python interpreter with apache-flink")
    add("--pandas-python", metavar="PATH", help="a Python interpreter with pandas-match-recognize")
    add("--duckdb-python", metavar="PATH", help="a Python interpreter with duckdb and pyarrow")
    add("--write", type=Path, metavar="FOLDER", help="write the tables and charts into these docs")
    arguments = parser.parse_args()
    unknown_parts = sorted(set(arguments.parts) - set(PARTS))
    if unknown_parts:
        parser.error(f"unknown parts: {', '.join(unknown_parts)}")
    return arguments


def publish_part(name: str, lines: list[str], folder: Path | None) -> None:
    """Print the table of a part. If there is a docs folder, also write the table and the charts.

    The charts are drawn after each part, so that a run that is aborted leaves the page and its
    charts consistent.

    Args:
        name: the name of the part, which its marks on the page have.
        lines: the lines of the table.
        folder: the docs folder; None to print only.
    """
    print(f"\n## {name}\n\n" + "\n".join(lines), flush=True)
    if folder is not None:
        write_section(folder / PAGE, name, ["", *lines, ""])
        write_charts(folder)


if __name__ == "__main__":
    main()
