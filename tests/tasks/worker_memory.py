"""Measure the memory of a worker. It runs in its own process, over batches made here.

    python -m tests.tasks.worker_memory MEBIBYTES {KIND ROWS KEYS BYTES}...

MEBIBYTES is the size of the address space that the worker may use in addition to its libraries, 0
for no limit. BYTES is the length of the text in each row.

For each kind it prints the number of output rows, and the largest number of resident bytes: before
all rows, then with them. It reads /proc, so it needs Linux.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.conditions.row_column import show_column
from matchrec.conditions.split import RowScope
from matchrec.conditions.types import BIGINT, STRING
from matchrec.memory import PROC, read_sizes
from matchrec.plan.resolve import InputColumns
from matchrec.search.partitions import BoolArray, IntArray
from matchrec.syntax.grammar import parse_clause
from matchrec.syntax.lower import lower_clause
from matchrec.worker.column_roles import SortColumn, Sorting
from matchrec.worker.query_worker import QueryWorker
from matchrec.worker.task_input import TaskInput
from tests.tasks.linking import link, split_plan

V_SHAPE = "PATTERN (S D+ U+) DEFINE D AS x < PREV(x), U AS x > PREV(x)"
KINDS = {
    "V-shape": f"MEASURES FIRST(t) AS s, LAST(x) AS e {V_SHAPE}",
    "wide rows": f"MEASURES FIRST(t) AS s, LAST(w) AS e {V_SHAPE}",
    "ALL ROWS PER MATCH": f"MEASURES CLASSIFIER() AS c, FIRST(w) AS q ALL ROWS PER MATCH {V_SHAPE}",
    "overlapping matches, ALL ROWS": "MEASURES CLASSIFIER() AS c, FIRST(w) AS q ALL ROWS PER MATCH"
    " AFTER MATCH SKIP TO NEXT ROW PATTERN (A{20})",
    "overlapping matches": "MEASURES FIRST(w) AS q, min(w) AS m, sum(x) AS n, LAST(t) AS e"
    " AFTER MATCH SKIP TO NEXT ROW PATTERN (A B+) DEFINE B AS x < PREV(x)",
    "arrays": f"MEASURES array_agg(w) AS q, LAST(t) AS e {V_SHAPE}",
    "one match of all rows": "MEASURES LAST(t) AS e, sum(x) AS q PATTERN (A+)",
    "one match, ALL ROWS": "MEASURES sum(x) AS q, FIRST(w) AS e ALL ROWS PER MATCH PATTERN (A+)",
    "undecided until the end": "MEASURES LAST(t) AS e PATTERN (A B+ C)"
    " DEFINE B AS x >= 0, C AS x < 0",
    "event selection, ALL MATCHES": "MEASURES FIRST(t) AS s, LAST(t) AS e PATTERN (A B)"
    " SKIP TILL NEXT MATCH ALL MATCHES DEFINE A AS x = 7, B AS x < FIRST(x) - 5",
    "runs that multiply": "MEASURES LAST(t) AS e PATTERN (A B+ C) SKIP TILL ANY MATCH ALL MATCHES"
    " DEFINE A AS x = 7, B AS x > FIRST(x) - 5, C AS x = 7",
}
ROWS_PER_BATCH = 10_000
PARTITIONED = "PARTITION BY k ORDER BY t"
TESTS: dict[str, Callable[[IntArray], BoolArray]] = {
    "`x` = 7": lambda x: x == 7,
    "`x` >= 0": lambda x: x >= 0,
    "`x` < 0": lambda x: x < 0,
}


def compile_kind(kind: str) -> CompiledQuery:
    """Compile the query of a kind."""
    plan = lower_clause(parse_clause(f"{PARTITIONED} {KINDS[kind]}"))
    split = split_plan(plan, InputColumns(("k", "t", "x", "w")), str, scope=RowScope.WORKER)
    types = {column: STRING if show_column(column) == "`w`" else BIGINT for column in split.columns}
    linked = link(split, types, "auto", ansi=False)
    # All partitions are searched, even those without a match.
    return replace(linked, bits_needed_for_output=())


def make_columns(rows: range, keys: int, width: int) -> dict[str, pa.Array]:
    """Return the columns of some rows, by their SQL text."""
    random = np.random.default_rng(rows.start)
    x = random.integers(0, 1000, len(rows))
    texts = [f"{row:0{width}d}" for row in rows] if width else [""] * len(rows)
    return {
        "`k`": pa.array(random.integers(0, keys, len(rows))),
        "`t`": pa.array(np.arange(rows.start, rows.stop)),
        "`x`": pa.array(x),
        "`x` - 5": pa.array(x - 5),
        "`w`": pa.array(texts),
    }


def make_batches(
    compiled_query: CompiledQuery, rows: int, keys: int, width: int
) -> Iterator[pa.RecordBatch]:
    """Yield rows as the worker gets them, in the order of `t`.

    Args:
        width: the length of each text, in bytes.
    """
    texts = [show_column(column) for column in compiled_query.sent_columns.columns]
    names = [f"__c{index}" for index in range(len(texts))]
    for begin in range(0, rows, ROWS_PER_BATCH):
        columns = make_columns(range(begin, min(begin + ROWS_PER_BATCH, rows)), keys, width)
        bits = np.zeros(len(columns["`x`"]), np.int64)
        for bit, condition in enumerate(compiled_query.row_conditions, 1):
            holds = TESTS[show_column(condition)](columns["`x`"].to_numpy())
            bits |= holds.astype(np.int64) << bit
        arrays = [*(columns[text] for text in texts), pa.array(bits)]
        yield pa.RecordBatch.from_arrays(arrays, [*names, "__bits0"])


def run_worker(
    compiled_query: CompiledQuery, rows: int, keys: int, width: int
) -> Iterator[pa.RecordBatch]:
    """Return the output batches of the worker."""
    names = [show_column(column) for column in compiled_query.sent_columns.columns]
    key, order = (f"__c{names.index(name)}" for name in ("`k`", "`t`"))
    sorting = Sorting((key,), (SortColumn(order, descending=False, nulls_first=True),))
    return QueryWorker(compiled_query, TaskInput(sorting)).run(
        make_batches(compiled_query, rows, keys, width)
    )


def run(compiled_query: CompiledQuery, rows: int, keys: int, width: int) -> int:
    """Return the number of output rows."""
    return sum(batch.num_rows for batch in run_worker(compiled_query, rows, keys, width))


def main() -> None:
    """Run a few rows, so that everything is loaded, and then the cases of the command line."""
    more, *arguments = sys.argv[1:]
    cases = [(kind, *map(int, sizes)) for kind, *sizes in zip(*[iter(arguments)] * 4, strict=True)]
    for kind, _, _, _ in cases:
        run(compile_kind(kind), 100, 3, 1)
    before = read_sizes(PROC / "self" / "status")
    if int(more):
        most = before["VmSize"] + (int(more) << 20)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    for kind, rows, keys, width in cases:
        output_rows = run(compile_kind(kind), rows, keys, width)
        peak = read_sizes(PROC / "self" / "status")["VmHWM"]
        print(output_rows, before["VmHWM"], peak)


if __name__ == "__main__":
    main()
