"""The V-shape at several sizes beside the identity: whether the ratio stays as rows grow."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import matchrec
from tests.benchmarks.compare import FLOOR, OURS, identity
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
    cells = [cell for size in options.sizes for cell in of_size(replace(options, rows=size))]
    head = ["rows", "", "median s", "min", "max", "processor s", "ratio", "aim"]
    yield from table(head, cells, words=2)


def of_size(options: Options) -> Iterator[list[str]]:
    """The table's lines of one number of rows."""
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
    yield [rows, FLOOR, *found[FLOOR].cells(), "", ""]
    yield ["", OURS, *found[OURS].cells(), f"{found[OURS].ratio(found[FLOOR]):.2f}", f"{AIM:.2f}"]
