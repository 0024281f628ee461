"""Measure two settings of Spark: the bytes of a batch, and the number of partitions."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.spark.tuning import MAX_BYTES, PARTITIONS, UNLIMITED
from tests.benchmarks.compare import OURS, format_times, list_handwritten_queries
from tests.benchmarks.drawn_tables import draw_tables
from tests.benchmarks.kinds import list_kinds
from tests.benchmarks.kinds_compared import create_drawn_view
from tests.benchmarks.markdown import format_table
from tests.benchmarks.measure import Query, measure_queries, open_session
from tests.benchmarks.options import Options
from tests.benchmarks.workloads import Workload

# The kinds of queries that are measured: names of `kinds.list_kinds`.
KINDS = ("A B C, few matches", "LOW+ HIGH, tiny partitions", "V-shape")
# A number of shuffle partitions below Spark's default, which is 200.
FEW_PARTITIONS = "16"
# The groups of settings that are compared, by the headings of their columns.
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "as Spark has them": {},
    "no limit of bytes": {MAX_BYTES: UNLIMITED},
    f"{FEW_PARTITIONS} partitions": {PARTITIONS: FEW_PARTITIONS},
    "both": {MAX_BYTES: UNLIMITED, PARTITIONS: FEW_PARTITIONS},
}


def report(options: Options) -> Iterator[str]:
    """Yield the table: a row for each kind and contender, a column for each group of settings."""
    drawn = draw_tables(options.seed, options.rows)
    yield f"Seed {options.seed}, {round(options.rows * options.scale):,} rows; seconds."
    yield ""
    cells: list[list[str]] = []
    with open_session(memory=options.memory) as spark, tempfile.TemporaryDirectory() as name:
        for workload in list_kinds(drawn):
            if workload.name in KINDS and options.only in workload.name:
                create_drawn_view(spark, drawn, workload.table, options, Path(name))
                cells += list_rows(spark, workload, options.rounds)
    yield from format_table(["kind", "", *SETTINGS], cells, text_columns=2)


def list_rows(spark: SparkSession, workload: Workload, rounds: int) -> Iterator[list[str]]:
    """Yield a row for each contender of a kind. Cells have the elapsed and the CPU seconds."""
    contenders: dict[str, Query] = {
        OURS: lambda: matchrec.sql(spark, workload.query),
        **list_handwritten_queries(spark, workload),
    }
    queries = {
        (name, setting): set_before(spark, query, chosen)
        for name, query in contenders.items()
        for setting, chosen in SETTINGS.items()
    }
    times_by_query = measure_queries(queries, rounds)
    for index, name in enumerate(contenders):
        seconds = [format_times(times_by_query[name, setting]) for setting in SETTINGS]
        yield [workload.name if index == 0 else "", name, *seconds]


def set_before(spark: SparkSession, query: Query, settings: Mapping[str, str]) -> Query:
    """Return a query that first sets these settings and unsets the others measured here."""

    def run_with_settings() -> DataFrame:
        """Set the settings, then run the query."""
        for name in (MAX_BYTES, PARTITIONS):
            spark.conf.unset(name)
        for name, value in settings.items():
            spark.conf.set(name, value)
        return query()

    return run_with_settings
