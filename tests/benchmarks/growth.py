"""The V-shape at several sizes beside the identity: whether the ratio stays as rows grow."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import matchrec
from tests.benchmarks.compare import FLOOR, OURS, identity, short
from tests.benchmarks.drawn_tables import draw_tables
from tests.benchmarks.kinds import workloads_of_kinds
from tests.benchmarks.kinds_compared import view_of_drawn
from tests.benchmarks.markdown import table
from tests.benchmarks.measure import measured, session
from tests.benchmarks.options import Options

KIND = "V-shape"
AIM = 0.75


def lines(options: Options) -> Iterator[str]:
    """The table."""
    yield f"Seed {options.seed}, a driver of {options.memory}."
    yield ""
    cells = [of_size(replace(options, rows=size)) for size in options.sizes]
    yield from table(["rows", FLOOR, OURS, "ratio", "aim"], cells)


def of_size(options: Options) -> list[str]:
    """The table's line of one number of rows: seconds on the clock, and of processors."""
    drawn = draw_tables(options.seed, options.rows)
    workload = next(one for one in workloads_of_kinds(drawn) if one.name == KIND)
    with session(memory=options.memory) as spark, tempfile.TemporaryDirectory() as name:
        view_of_drawn(spark, drawn, workload.table, options, Path(name))
        queries = {
            FLOOR: lambda: identity(spark, workload),
            OURS: lambda: matchrec.sql(spark, workload.query),
        }
        found = measured(queries, options.rounds)
    rows = f"{round(options.rows * options.scale):,}"
    times = [short(found[name]) for name in (FLOOR, OURS)]
    return [rows, *times, f"{found[OURS].ratio(found[FLOOR]):.2f}", f"{AIM:.2f}"]
