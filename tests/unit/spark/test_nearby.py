"""A worker computes conditions over neighbouring rows, and finds what regular expressions find."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.compile.lookaround import Lookaround
from matchrec.conditions.row_column import build_row_column, show_column
from matchrec.conditions.split import RowScope
from matchrec.conditions.types import (
    BIGINT,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    ValueType,
    build_decimal_type,
)
from matchrec.errors import MatchRecognizeRunError, MatchRecognizeUnsupportedError
from matchrec.explain.clause import ExplainedClause
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.resolve import InputColumns
from matchrec.syntax.grammar import parse_clause
from matchrec.syntax.lower import lower_clause
from matchrec.worker.query_worker import QueryWorker
from matchrec.worker.task_input import TaskInput
from tests.quick.scale import examples
from tests.tasks.linking import link, split_plan

V_SHAPE = "PATTERN (S D+ U+) DEFINE D AS x < PREV(x), U AS x > PREV(x)"
AHEAD = "PATTERN (A B+) DEFINE A AS x < NEXT(x, 2), B AS x >= NEXT(x, 2) AND x > 1"
NULLS = "PATTERN (A B) DEFINE A AS NEXT(x) IS NULL OR PREV(x) IS NULL, B AS B.x <= PREV(x, 2)"
ALGORITHMS = ("backtracking", "breadth_first")


def make_plan(text: str) -> MatchPlan:
    """Return the plan of a clause from PATTERN on."""
    return lower_clause(
        parse_clause(f"PARTITION BY k ORDER BY t MEASURES FIRST(t) AS s, LAST(t) AS e {text}")
    )


def compile_query(
    text: str,
    algorithm: str = "auto",
    types: dict[str, ValueType] | None = None,
    *,
    ansi: bool = False,
) -> CompiledQuery:
    """Compile a query whose rows the worker sorts."""
    columns = InputColumns(("k", "t", "x", "y", "name"))
    split = split_plan(make_plan(text), columns, str, scope=RowScope.WORKER)
    assert split.reason_for_spark_sort is None
    known_types = {
        build_row_column(write_column(name)): type_ for name, type_ in (types or {}).items()
    }
    column_types = {column: known_types.get(column, BIGINT) for column in split.columns}
    return link(split, column_types, algorithm, ansi=ansi)


def write_column(name: str) -> str:
    """Return the name of a column in backticks; any other text stays the same."""
    return f"`{name}`" if name.isidentifier() else name


def make_batches(
    compiled_query: CompiledQuery, partitions: list[list[int]], size: int
) -> Iterator[pa.RecordBatch]:
    """Yield sorted rows as the worker gets them, given the values of x in each partition."""
    rows = [(k, t, x) for k, values in enumerate(partitions) for t, x in enumerate(values)]
    named = {"`k`": 0, "`t`": 1, "`x`": 2}
    tests = {"`x` > 1": lambda x: x > 1}
    columns = [
        pa.array([row[named[show_column(column)]] for row in rows], pa.int64())
        for column in compiled_query.sent_columns.columns
    ]
    bits = [
        sum(
            tests[condition.text](x) << bit
            for bit, condition in enumerate(compiled_query.row_conditions, 1)
        )
        | (t == 0)
        for _, t, x in rows
    ]
    names = [f"__c{i}" for i in range(len(columns))]
    yield from pa.table([*columns, pa.array(bits)], [*names, "__bits0"]).to_batches(size)


def find_matches(
    compiled_query: CompiledQuery, partitions: list[list[int]], size: int
) -> list[list[int]]:
    """Return the partition, the first and the last row of each match that the worker finds."""
    matching = QueryWorker(
        pickle.loads(pickle.dumps(compiled_query)), TaskInput(rows_per_call=size)
    )
    outputs = list(matching.run(make_batches(compiled_query, partitions, size)))
    reads = [
        [value for batch in outputs for value in batch.column(i).to_pylist()] for i in range(3)
    ]
    return sorted(map(list, zip(*reads, strict=True)))


def classify_rows(text: str, values: list[int]) -> str:
    """Return a letter for each row that says which conditions of a query it satisfies."""

    def find_value(row: int) -> int | None:
        """Return the value of a row; None if there is no such row."""
        return values[row] if 0 <= row < len(values) else None

    def classify_row(row: int, x: int) -> str:
        """Return the letter of a row; `-` if it satisfies no condition."""
        before, after, second_after = find_value(row - 1), find_value(row + 1), find_value(row + 2)
        if text == V_SHAPE:
            if before is None or x == before:
                return "-"
            return "D" if x < before else "U"
        if text == AHEAD:
            if second_after is None:
                return "-"
            if x < second_after:
                return "A"
            return "B" if x > 1 else "-"
        second_before = find_value(row - 2)
        satisfies_b = second_before is not None and x <= second_before
        satisfies_a = before is None or after is None
        if satisfies_a:
            return "B" if satisfies_b else "A"
        return "C" if satisfies_b else "-"

    return "".join(classify_row(row, x) for row, x in enumerate(values))


# In NULLS, A rows satisfy only A, C rows only B, and B rows both.
EXPRESSIONS = {V_SHAPE: "[-DU]D+U+", AHEAD: "AB+", NULLS: "[AB][BC]"}


def find_by_expression(text: str, partitions: list[list[int]]) -> list[list[int]]:
    """Return the partition, the first and the last row of each match of a regular expression."""
    return sorted(
        [k, match.start(), match.end() - 1]
        for k, values in enumerate(partitions)
        for match in re.finditer(EXPRESSIONS[text], classify_rows(text, values))
    )


@settings(max_examples=examples(150), deadline=None, database=None)
@given(
    st.sampled_from([V_SHAPE, AHEAD, NULLS]),
    st.sampled_from(ALGORITHMS),
    st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=12), min_size=1, max_size=4),
    st.integers(1, 4),
)
def test_pieces_of_partitions_have_the_matches_of_the_whole(
    text: str, algorithm: str, partitions: list[list[int]], size: int
) -> None:
    compiled_query = compile_query(text, algorithm)
    assert find_matches(compiled_query, partitions, size) == find_by_expression(text, partitions)
    assert find_matches(compiled_query, partitions, 100) == find_by_expression(text, partitions)


def test_equal_conditions_share_a_bit_and_a_bit_of_spark() -> None:
    text = """PATTERN (S (A | B | C)+) DEFINE A AS x < PREV(x), B AS B.x < PREV(B.x) AND x > 1,
        C AS x > LAST(S.x) AND C.x < PREV(C.x)"""
    compiled_query = compile_query(text)
    assert [condition.text for condition in compiled_query.row_conditions] == ["`x` > 1"]
    assert [condition.spark_bit for condition in compiled_query.nearby_conditions] == [None, 0]
    assert [condition.row_bit for condition in compiled_query.task.conditions] == [None, 1, 2, 1]
    on_the_run = [
        condition.run_condition is not None for condition in compiled_query.task.conditions
    ]
    assert on_the_run == [False, False, False, True]
    assert compiled_query.lookaround == Lookaround(1, 0)


def test_to_an_engine_they_look_only_at_the_data() -> None:
    compiled_query = compile_query(V_SHAPE)
    assert compiled_query.task.reads_only_data
    assert compiled_query.strategy.make_name(compiled_query.task) == "memoised"
    assert compiled_query.row_filters == ()
    explained = str(ExplainedClause(make_plan(V_SHAPE), compiled_query))
    assert (
        "computed by the workers before the search\n"
        "  condition 0 = `x` < PREV(`x`)\n"
        "  condition 1 = `x` > PREV(`x`)\n"
        "conditions\n"
        "  S: true\n"
        "  D: condition 0\n"
        "  U: condition 1\n"
        "  the conditions depend on the data only\n"
    ) in explained


@pytest.mark.parametrize(
    ("condition", "type_", "crossing"),
    [
        ("x > PREV(x) + 0.5", DOUBLE, {"`x`"}),
        ("x - 0.5 > 2 * PREV(x) + 0.5", DOUBLE, {"`x`"}),
        ("x > PREV(x) + 1 OR y = PREV(x) * 2 - 1", BIGINT, {"`x`", "`y`"}),
        ("x > PREV(x) / 2", DOUBLE, {"`x`", "`x` / 2"}),
        ("x > PREV(x) + exp(0)", DOUBLE, {"`x`", "`x` + exp(0)"}),
        ("x > PREV(x) + 0.5", build_decimal_type(9, 2), {"`x`", "`x` + 0.5"}),
        ("x > PREV(x) + 0.5", FLOAT, {"`x`", "`x` + 0.5"}),
    ],
)
def test_arithmetic_with_constants_is_computed_where_the_column_is(
    condition: str, type_: ValueType, crossing: set[str]
) -> None:
    """Spark still computes quotients, and the rounding of decimals and floats."""
    types = {"x": type_, "y": type_, "0.5": build_decimal_type(1, 1), "1": INT, "2": INT}
    texts = ("`x` + 0.5", "`x` - 0.5", "2 * `x` + 0.5", "`x` + 1", "`x` * 2 - 1", "`x` / 2")
    types |= dict.fromkeys((*texts, "`x` + exp(0)"), type_)
    compiled_query = compile_query(f"PATTERN (A B) DEFINE B AS {condition}", types=types)
    assert {show_column(column) for column in compiled_query.sent_columns.columns} == crossing | {
        "`k`",
        "`t`",
    }


def test_unknown_expressions_over_several_rows_need_spark() -> None:
    plan = make_plan("PATTERN (A) DEFINE A AS x > 1 AND levenshtein(name, PREV(name)) > 1")
    split = split_plan(plan, InputColumns(("k", "t", "x", "name")), str, scope=RowScope.WORKER)
    assert split.reason_for_spark_sort == (
        "only the engine can compute levenshtein(`name`, PREV(`name`)), which reads several rows"
    )


@pytest.mark.parametrize(
    ("condition", "types"),
    [
        ("name NOT LIKE PREV(name)", {"name": STRING}),
        ("x * PREV(x) > 1", {"x": build_decimal_type(18, 2)}),
        ("x / PREV(x) > 1", {"x": build_decimal_type(7, 2)}),
    ],
)
def test_expressions_that_spark_must_compute_are_rejected(
    condition: str, types: dict[str, ValueType]
) -> None:
    with pytest.raises(MatchRecognizeUnsupportedError, match="only the engine can compute"):
        compile_query(f"PATTERN (A) DEFINE A AS {condition}", types=types)


def test_a_number_that_is_too_large_is_reported_with_its_row() -> None:
    """The number is in the third row of the second partition, which no match reaches."""
    large = 2**63 - 1
    compiled_query = compile_query("PATTERN (^ A) DEFINE A AS x + PREV(x) > 1", ansi=True)
    with pytest.raises(MatchRecognizeRunError) as raised:
        find_matches(compiled_query, [[1, 2], [1, 2, large]], 2)
    assert (dict(raised.value.partition), raised.value.row_number) == ({"k": 1}, 3)
    wraps = compile_query("PATTERN (^ A) DEFINE A AS x + PREV(x) > 1")
    assert find_matches(wraps, [[1, 2], [1, 2, large]], 2) == []
