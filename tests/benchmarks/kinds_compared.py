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
    create_parquet_view(spark, name, lambda: drawn_table.create_frame(spark, options.scale), folder)
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
        head = [f"cost: {OURS} / {measured[0].floor_name}", "geometric mean", "most"]
        yield from format_table(head, list_costs(measured))
    if all(len(comparison.entries) == 1 for comparison in measured):
        return
    yield ""
    head = ["speed-up over", "kinds", "least", "geometric mean", "geometric mean, CPU time"]
    yield from format_table(head, list_speedups(measured))


def list_costs(comparisons: list[Comparison]) -> Iterator[list[str]]:
    """Yield the geometric mean and the most of matchrec's costs, over all kinds."""
    elapsed = [comparison.costs[OURS] for comparison in comparisons]
    cpu = [
        comparison.entries[OURS].times.median_cpu / comparison.floor.median_cpu
        for comparison in comparisons
    ]
    for name, costs in (("elapsed time", elapsed), ("CPU time", cpu)):
        yield [name, f"{geometric_mean(costs):.2f}", f"{max(costs):.2f}"]


def list_speedups(comparisons: list[Comparison]) -> Iterator[list[str]]:
    """Yield the speed-up of matchrec over each contender: the contender's time over matchrec's.

    The cells are the number of kinds that the contender can run, the least speed-up and the
    geometric mean by elapsed time, and the geometric mean by CPU time.
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
        means = [f"{geometric_mean(speedups):.2f}" for speedups in (elapsed, cpu)]
        yield [name, str(len(pairs)), f"{min(elapsed):.2f}", *means]
