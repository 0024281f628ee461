"""Compare every kind of query, over the data of a seed, with the identity and with window SQL."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import geometric_mean

from pyspark.sql import SparkSession

import matchrec
from tests.benchmarks.compare import (
    OURS,
    Comparison,
    compare_workload,
    create_parquet_view,
    print_each,
    summarize,
)
from tests.benchmarks.drawn_tables import DrawnTables, draw_tables
from tests.benchmarks.kinds import list_kinds
from tests.benchmarks.markdown import format_table
from tests.benchmarks.measure import open_session
from tests.benchmarks.options import Options
from tests.benchmarks.workloads import Workload


def create_drawn_view(
    spark: SparkSession, drawn: DrawnTables, name: str, options: Options, folder: Path
) -> Path:
    """Create the view of a table of the seed, and return the folder of its files.

    Args:
        folder: where the files are written, if the options name no folder that keeps them.
    """
    if options.data is not None:
        rows = round(options.rows * options.scale)
        folder = options.data / f"seed{options.seed}-{rows}"
    drawn_table = drawn.tables[name]
    create_parquet_view(spark, name, lambda: drawn_table.frame(spark, options.scale), folder)
    return folder


def compare_workloads(
    options: Options, drawn: DrawnTables, workloads: Iterable[Workload]
) -> Iterator[Comparison]:
    """Compare workloads over drawn tables, one after the other."""
    with open_session(memory=options.memory) as spark, tempfile.TemporaryDirectory() as name:
        if options.tuned:
            matchrec.tune(spark)
        for workload in workloads:
            if options.only in workload.name:
                folder = create_drawn_view(spark, drawn, workload.table, options, Path(name))
                yield compare_workload(spark, workload, options, folder)


def report(options: Options) -> Iterator[str]:
    """Yield the tables of all kinds."""
    drawn = draw_tables(options.seed, options.rows)
    comparisons = compare_workloads(options, drawn, list_kinds(drawn))
    yield from report_comparisons(options, comparisons)


def report_tuned(options: Options) -> Iterator[str]:
    """Yield the tables of all kinds, in a session that `matchrec.tune` has set."""
    yield from report(replace(options, tuned=True))


def report_comparisons(options: Options, comparisons: Iterable[Comparison]) -> Iterator[str]:
    """Yield the seed, the table of all figures, and two tables that sum it up.

    The first one compares matchrec with the floor, and the second one the contenders with matchrec.
    """
    yield f"Seed {options.seed}, {round(options.rows * options.scale):,} rows."
    yield ""
    measured = print_each(comparisons)
    yield from summarize(measured)
    if measured:
        yield ""
        head = [f"{OURS} divided by {measured[0].floor_name}", "geometric mean", "most"]
        yield from format_table(head, list_floor_ratios(measured))
    if all(len(comparison.entries) == 1 for comparison in measured):
        return
    yield ""
    head = [
        f"{OURS} is faster than",
        "kinds",
        "least",
        "geometric mean",
        "geometric mean, CPU time",
    ]
    yield from format_table(head, list_leads(measured))


def list_floor_ratios(comparisons: list[Comparison]) -> Iterator[list[str]]:
    """Yield the geometric mean and the most of matchrec's time over the floor's, over all kinds."""
    elapsed = [comparison.ratios[OURS] for comparison in comparisons]
    cpu = [
        comparison.entries[OURS].times.median_cpu / comparison.floor.median_cpu
        for comparison in comparisons
    ]
    for name, ratios in (("elapsed time", elapsed), ("CPU time", cpu)):
        yield [name, f"{geometric_mean(ratios):.2f}", f"{max(ratios):.2f}"]


def list_leads(comparisons: list[Comparison]) -> Iterator[list[str]]:
    """Yield for each contender its time divided by matchrec's, over the kinds that it can run.

    The cells are the number of kinds, the least and the geometric mean of the ratios of the elapsed
    times, and the geometric mean of those of the CPU times.
    """
    names = dict.fromkeys(name for comparison in comparisons for name in comparison.entries)
    for name in names:
        if name == OURS:
            continue
        pairs = [
            (comparison.entries[name].times, comparison.entries[OURS].times)
            for comparison in comparisons
            if name in comparison.entries
        ]
        elapsed = [theirs.ratio(ours) for theirs, ours in pairs]
        cpu = [theirs.median_cpu / ours.median_cpu for theirs, ours in pairs]
        means = [f"{geometric_mean(ratios):.2f}" for ratios in (elapsed, cpu)]
        yield [name, str(len(pairs)), f"{min(elapsed):.2f}", *means]
