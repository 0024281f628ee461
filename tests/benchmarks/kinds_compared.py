"""Every kind of query over the data of a seed, beside the identity and window SQL."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import geometric_mean

from pyspark.sql import SparkSession

import matchrec
from tests.benchmarks.compare import OURS, Compared, compared, in_short, shown, view_of_written
from tests.benchmarks.drawn_tables import Drawn, draw_tables
from tests.benchmarks.kinds import workloads_of_kinds
from tests.benchmarks.markdown import table
from tests.benchmarks.measure import session
from tests.benchmarks.options import Options
from tests.benchmarks.workloads import Workload


def view_of_drawn(
    spark: SparkSession, drawn: Drawn, name: str, options: Options, folder: Path
) -> Path:
    """A view of a table of the seed, whose rows are in this folder or else in that of the data.

    Returns the folder.
    """
    if options.data is not None:
        rows = round(options.rows * options.scale)
        folder = options.data / f"seed{options.seed}-{rows}"
    made = drawn.tables[name]
    view_of_written(spark, name, lambda: made.frame(spark, options.scale), folder)
    return folder


def all_compared(
    options: Options, drawn: Drawn, workloads: Iterable[Workload]
) -> Iterator[Compared]:
    """Workloads over drawn tables, one after the other."""
    with session(memory=options.memory) as spark, tempfile.TemporaryDirectory() as name:
        if options.tuned:
            matchrec.tune(spark)
        for workload in workloads:
            if options.only in workload.name:
                folder = view_of_drawn(spark, drawn, workload.table, options, Path(name))
                yield compared(spark, workload, options, folder)


def lines(options: Options) -> Iterator[str]:
    """All kinds."""
    drawn = draw_tables(options.seed, options.rows)
    yield from lines_of(options, all_compared(options, drawn, workloads_of_kinds(drawn)))


def tuned_lines(options: Options) -> Iterator[str]:
    """All kinds, in a session that `matchrec.tune` has set."""
    yield from lines(replace(options, tuned=True))


def lines_of(options: Options, compared: Iterable[Compared]) -> Iterator[str]:
    """What was drawn, the table, and how far behind the floor and ahead of others matchrec is."""
    yield f"Seed {options.seed}, {round(options.rows * options.scale):,} rows."
    yield ""
    found = list(shown(compared))
    yield from in_short(found)
    if found:
        yield ""
        head = [f"{OURS} : {found[0].floor_name}", "geometric mean", "most"]
        yield from table(head, over_the_floor(found))
    if all(len(one.entries) == 1 for one in found):
        return
    yield ""
    head = ["contender", "kinds", "least", "geometric mean", "of CPU seconds"]
    yield from table([f"{OURS} is faster than", *head[1:]], leads(found))


def over_the_floor(found: list[Compared]) -> Iterator[list[str]]:
    """How many times the floor matchrec takes, over the kinds."""
    clock = [one.ratios[OURS] for one in found]
    processor = [one.entries[OURS].times.processor / one.floor.processor for one in found]
    for name, ratios in (("by the clock", clock), ("of CPU seconds", processor)):
        yield [name, f"{geometric_mean(ratios):.2f}", f"{max(ratios):.2f}"]


def leads(found: list[Compared]) -> Iterator[list[str]]:
    """By contender: its seconds to matchrec's, the least and the mean over the kinds."""
    for name in dict.fromkeys(name for one in found for name in one.entries if name != OURS):
        pairs = [
            (one.entries[name].times, one.entries[OURS].times)
            for one in found
            if name in one.entries
        ]
        clock = [theirs.ratio(ours) for theirs, ours in pairs]
        processor = [theirs.processor / ours.processor for theirs, ours in pairs]
        means = [f"{geometric_mean(one):.2f}" for one in (clock, processor)]
        yield [name, str(len(pairs)), f"{min(clock):.2f}", *means]
