"""Coverage that a worker counts over Arrow batches: whole partitions, pieces, and no rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matchrec.compile.counted_coverage import Figures
from matchrec.compile.coverage import CoverageTask, build_coverage_query, build_coverage_task
from matchrec.conditions.row_column import build_row_column, show_column
from matchrec.conditions.split import RowScope
from matchrec.conditions.types import Family, ValueType
from matchrec.errors import MatchRecognizeRunError
from matchrec.plan.resolve import InputColumns
from matchrec.shortcuts import ALL
from matchrec.syntax.grammar import parse_clause
from matchrec.syntax.lower import lower_clause
from matchrec.worker import internal_names
from matchrec.worker.column_roles import SortColumn, Sorting
from matchrec.worker.coverage import CoverageWorker, sum_coverage
from matchrec.worker.task_input import TaskInput
from tests.quick.scale import examples
from tests.tasks.linking import link, split_plan

INT = ValueType(Family.INTEGER, "int", 32)
COLUMNS = InputColumns(("k", "t", "a", "b", "c", "x"))
CLAUSE = """PARTITION BY k ORDER BY t MEASURES count(*) AS n {skip} PATTERN ({pattern})
  DEFINE A AS a, B AS b AND c, C AS c {more}"""
Row = tuple[str, int, str]  # key, order, the letters of the columns that are true

SCHEMA = pa.schema(
    [
        (internal_names.COUNTERS, pa.list_(pa.int64())),
        (internal_names.REMAINING_ROWS, pa.int64()),
        (internal_names.name_read(0), pa.string()),
        (internal_names.name_read(1), pa.int32()),
    ]
)


def make_task(pattern: str, more: str = "", skip: str = "") -> CoverageTask:
    """Return the task for a pattern. Spark computes all conditions."""
    clause = parse_clause(CLAUSE.format(pattern=pattern, more=more, skip=skip))
    split = build_coverage_query(split_plan(lower_clause(clause), COLUMNS, str))
    types = dict.fromkeys(split.columns, INT)
    return build_coverage_task(split, link(split, types, "auto", ansi=True))


def make_batches(rows: Sequence[Row], size: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows as Spark sends them: order, key, then bits for a, b AND c, c, b and ties."""
    before = None
    bits = []
    keys = []
    orders = []
    for key, order, letters in rows:
        first = before is None or before[0] != key
        tie = not first and before[1] == order
        flags = [first, "a" in letters, {*"bc"} <= {*letters}, "c" in letters, "b" in letters, tie]
        bits.append(sum(1 << bit for bit, flag in enumerate(flags) if flag))
        keys.append(key)
        orders.append(order)
        before = (key, order)
    table = pa.table(
        {
            internal_names.name_column(0): pa.array(orders, pa.int32()),
            internal_names.name_column(1): pa.array(keys, pa.string()),
            internal_names.FIRST_BITS: pa.array(bits, pa.int8()),
        }
    )
    yield from table.to_batches(max_chunksize=size)


def count_coverage(
    task: CoverageTask,
    rows: Sequence[Row],
    rows_per_call: int = ALL.rows_per_call,
    size: int = 1000,
) -> tuple[Figures, list[object], list[object]]:
    """Return the figures, the counts by occurrence, and the columns about the nearest run."""
    worker = CoverageWorker(task, SCHEMA, TaskInput(rows_per_call=rows_per_call))
    (batch,) = worker.run(make_batches(rows, size))
    (row,) = batch.to_pylist()
    figures, counts = sum_coverage(task, [row[internal_names.COUNTERS]])
    counts_by_occurrence = [
        counts.reached_counts.tolist(),
        counts.end_counts.tolist(),
        counts.false_parts.tolist(),
    ]
    return figures, counts_by_occurrence, list(row.values())[1:]


ROWS: list[Row] = [
    *(("x", order, letters) for order, letters in enumerate(("a", "bc", "b", "a", "bc", "c"))),
    *(("y", 0, letters) for letters in ("a", "a", "-")),
]


def test_rows_partitions_ties_and_the_nearest_run() -> None:
    """In x, A B fails at a row without c, then A B C covers three rows. In y, there is only A."""
    figures, counts_by_occurrence, nearest = count_coverage(make_task("A B C"), ROWS)
    assert figures == Figures(
        rows=9,
        partitions=2,
        matched_partitions=1,
        matches=1,
        rows_in_matches=3,
        ties=2,
        longest_match=3,
        largest_partition=6,
        rows_held=9,
    )
    came, ended, false = counts_by_occurrence
    assert came == [4, 2, 1]
    assert ended == [[n, 0, 0, 0, 0] for n in (3, 2, 1, 0, 0)]
    assert false == [[3, 0, 0, 0], [0, 2, 2, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    assert nearest == [1, "x", 0]  # A B without C, from the first row of x


def test_coverage_of_no_rows_counts_nothing() -> None:
    figures, counts_by_occurrence, nearest = count_coverage(make_task("A B C"), [])
    assert figures == Figures()
    assert counts_by_occurrence[0] == [0, 0, 0]
    assert nearest == [None, None, None]


@pytest.mark.parametrize("skip", ["", "AFTER MATCH SKIP TO NEXT ROW", "AFTER MATCH SKIP TO LAST B"])
@pytest.mark.parametrize("pattern", ["A B+ C", "A X* B C?", "A (A | B)*? B C+", "A B C"])
def test_pieces_add_up_to_the_whole(pattern: str, skip: str) -> None:
    generator = Random(pattern)
    letters = ("a", "bc", "bc", "b", "c", "-")
    rows: list[Row] = [
        (key, order // 2, generator.choice(letters))
        for key, length in (("u", 1), ("v", 60), ("w", 7), ("z", 40))
        for order in range(length)
    ]
    task = make_task(pattern, skip=skip)
    expected_figures, counts_by_occurrence, nearest = count_coverage(task, rows)
    for rows_per_call in (1, 4, 16):
        figures, counts_of_pieces, nearest_of_pieces = count_coverage(
            task, rows, rows_per_call, size=3
        )
        assert replace(figures, rows_held=expected_figures.rows_held) == expected_figures
        assert (counts_of_pieces, nearest_of_pieces) == (counts_by_occurrence, nearest)


def test_errors_of_the_rows_are_those_of_the_query() -> None:
    skips_to_none = make_task("A B? C*", skip="AFTER MATCH SKIP TO LAST B")
    with pytest.raises(MatchRecognizeRunError, match="the match has no row of B"):
        count_coverage(skips_to_none, ROWS)


NEARBY = """PARTITION BY k ORDER BY t MEASURES count(*) AS n {skip} PATTERN ({pattern})
  DEFINE A AS a, B AS x < PREV(x) AND c AND NEXT(x) IS NOT NULL, C AS x + 1 > PREV(x, 2) AND c
    {more}"""
TIE = "t <=> PREV(t)"
PATTERNS = ("A B+ C", "A (B | C)* C", "A X*? B C?", "(A | B) D+ C", "A B C D")
UNSORTED_ROWS = st.lists(
    st.tuples(
        st.sampled_from("uvw"),
        st.integers(0, 9),
        st.sampled_from(("", "a", "c", "ac")),
        st.one_of(st.none(), st.integers(0, 3)),
    ),
    min_size=1,
    max_size=40,
)
UnsortedRow = tuple[str, int, str, int | None]


def make_nearby_task(pattern: str, skip: str, scope: RowScope) -> CoverageTask:
    """Return the task for a pattern whose conditions read neighbouring rows."""
    more = ", D AS x >= FIRST(x)" if "D" in pattern else ""
    clause = parse_clause(NEARBY.format(pattern=pattern, skip=skip, more=more))
    split = build_coverage_query(split_plan(lower_clause(clause), COLUMNS, str, scope=scope))
    types = dict.fromkeys(split.columns, INT) | {
        build_row_column("`k`"): ValueType(Family.STRING, "string")
    }
    return build_coverage_task(split, link(split, types, "auto", ansi=True))


def name_columns(task: CoverageTask) -> list[str]:
    """Return the names of the columns that are sent to the worker."""
    return [column.text.strip("`") for column in task.compiled_query.sent_columns.columns]


def run_worker(
    task: CoverageTask, rows: Sequence[UnsortedRow], sorting: Sorting | None, rows_per_call: int
) -> tuple[Figures, list[object]]:
    """Return the coverage that a worker counts over batches of three rows.

    The bits that Spark would send are computed here.
    """
    tests = [
        show_column(condition).replace("`", "") for condition in task.compiled_query.row_conditions
    ]
    bits = [
        sum(1 << bit for bit, true in enumerate([first, *map(truth.__getitem__, tests)]) if true)
        for first, truth in compute_truths(rows)
    ]
    values = dict(zip("ktax", zip(*rows, strict=True), strict=True))
    types = {"k": pa.string(), "t": pa.int32(), "x": pa.int32()}
    columns = {
        internal_names.name_column(index): pa.array(values[name], types[name])
        for index, name in enumerate(name_columns(task))
    }
    table = pa.table(columns | {internal_names.FIRST_BITS: pa.array(bits, pa.int32())})
    worker = CoverageWorker(task, SCHEMA, TaskInput(sorting, rows_per_call=rows_per_call))
    (batch,) = worker.run(table.to_batches(max_chunksize=3))
    (row,) = batch.to_pylist()
    figures, counts = sum_coverage(task, [row[internal_names.COUNTERS]])
    counts_by_occurrence = [
        counts.reached_counts.tolist(),
        counts.end_counts.tolist(),
        counts.false_parts.tolist(),
    ]
    return replace(figures, rows_held=0), [*counts_by_occurrence, *list(row.values())[1:]]


def compute_truths(rows: Sequence[UnsortedRow]) -> Iterator[tuple[bool, dict[str, bool]]]:
    """Yield for each row whether it begins a partition, and the truth of each condition."""
    for index, (key, order, letters, x) in enumerate(rows):

        def find_row(distance: int, index: int = index, key: str = key) -> UnsortedRow | None:
            """Return the row at a distance in the same partition; None if there is none."""
            position = index + distance
            inside = 0 <= position < len(rows) and rows[position][0] == key
            return rows[position] if inside else None

        def find_x(
            distance: int, find: Callable[[int], UnsortedRow | None] = find_row
        ) -> int | None:
            """Return x of the row at a distance; None if there is none."""
            row = find(distance)
            return None if row is None else row[3]

        before = find_x(-1)
        second = find_x(-2)
        after = find_x(1)
        falls = x is not None and before is not None and x < before
        rises = x is not None and second is not None and x + 1 > second
        previous = find_row(-1)
        truth = {
            "a": "a" in letters,
            "c": "c" in letters,
            "x < PREV(x)": falls,
            "NEXT(x) IS NOT NULL": after is not None,
            "x + 1 > PREV(x, 2)": rises,
            TIE: previous is not None and previous[1] == order,
        }
        truth["(x < PREV(x)) AND (c) AND (NEXT(x) IS NOT NULL)"] = all(
            (falls, "c" in letters, after is not None)
        )
        truth["(x + 1 > PREV(x, 2)) AND (c)"] = rises and "c" in letters
        yield previous is None, truth


@pytest.mark.slow  # compiles a search of its own
@settings(max_examples=examples(160), deadline=None, database=None, derandomize=True)
@given(
    UNSORTED_ROWS, st.sampled_from(PATTERNS), st.sampled_from(("", "AFTER MATCH SKIP TO NEXT ROW"))
)
def test_workers_that_sort_count_the_same(rows: list[UnsortedRow], pattern: str, skip: str) -> None:
    """If Spark sorts, the worker gets rows in order and with the bits of all conditions.

    If the worker sorts, it gets neither.
    """
    in_order = sorted(rows, key=lambda row: row[:2])  # equal rows keep their order
    spark_task = make_nearby_task(pattern, skip, RowScope.SPARK)
    expected = run_worker(spark_task, in_order, None, ALL.rows_per_call)
    task = make_nearby_task(pattern, skip, RowScope.WORKER)
    column_names = {
        name: internal_names.name_column(i) for i, name in enumerate(name_columns(task))
    }
    order = SortColumn(column_names["t"], descending=False, nulls_first=True)
    for rows_per_call in (2, ALL.rows_per_call):
        assert (
            run_worker(task, rows, Sorting((column_names["k"],), (order,)), rows_per_call)
            == expected
        )
