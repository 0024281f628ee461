"""Rule sets without Spark: the layout of bits, the division of partitions, shared slots."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from matchrec.compile.rule_set import join_rule_queries
from matchrec.compile.split_query import SplitQuery
from matchrec.conditions.row_column import build_row_column
from matchrec.conditions.split import RowScope
from matchrec.plan.clauses import RowExpression
from matchrec.plan.resolve import InputColumns
from matchrec.syntax.grammar import parse_clause
from matchrec.syntax.lower import lower_clause
from matchrec.worker import internal_names
from matchrec.worker.encode import unpack_conditions
from matchrec.worker.equal_codes import encode_by_equality
from matchrec.worker.shared_rows import SharedRows
from tests.tasks.linking import split_plan

COLUMNS = InputColumns(("k", "t", "x"))
CLAUSE = "PARTITION BY k ORDER BY t MEASURES FIRST(t) AS s PATTERN (A+) DEFINE A AS "


def split_rule(condition: str, *divided_by: str) -> SplitQuery:
    """Return a rule with a condition, whose partitions are divided further by some columns."""
    plan = lower_clause(parse_clause(CLAUSE + condition))
    equal = tuple(RowExpression(name, column_path=(name,)) for name in divided_by)
    return split_plan(replace(plan, equivalence_keys=equal), COLUMNS, scope=RowScope.WORKER)


def test_equal_conditions_over_neighbours_of_rows_that_are_divided_alike_are_one_bit() -> None:
    rules = {
        "falls": split_rule("x < PREV(x)"),
        "falls too": split_rule("x < PREV(x)"),
        "falls for each x": split_rule("x < PREV(x)", "x"),
        "low and falls": split_rule("x < 7 AND x < PREV(x)"),
        "rises": split_rule("x > PREV(x)"),
    }
    joined = join_rule_queries([*rules.values()], ())
    (low,) = rules["low and falls"].row_conditions
    falls, rises = (rules[name].find_nearby_tests()[0][1].column for name in ("falls", "rises"))
    x = build_row_column("`x`")
    assert joined.spark_bits == {low: 0}
    assert joined.nearby_bits == {
        ((), None, falls): 1,
        ((x,), None, falls): 2,
        ((), 0, falls): 3,
        ((), None, rises): 4,
    }


@pytest.mark.parametrize("conditions", [0, 1, 61, 62, 64, 126, 200])
def test_words_have_the_bits_of_the_columns_without_the_first(conditions: int) -> None:
    chosen = Random(conditions)
    rows = [[chosen.random() < 0.5 for _ in range(conditions)] for _ in range(20)]
    columns = {
        internal_names.name_bits(word): pa.array(
            [pack_flags([True, *row][first : first + 62]) for row in rows]
        )
        for word, first in enumerate(range(0, conditions + 1, 62))
    }
    words = unpack_conditions(pa.table(columns), conditions, conditions + 3)
    assert words.shape == (20, -(-(conditions + 3) // 64))
    numbers = (pack_flags(row) for row in rows)
    assert [sum(int(word) << 64 * i for i, word in enumerate(row)) for row in words] == [*numbers]


def pack_flags(flags: list[bool]) -> int:
    """Return the number whose bits are some flags."""
    return sum(1 << bit for bit, flag in enumerate(flags) if flag)


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        (pa.array(["x", None, "y", "x"]), [0, -1, 1, 0]),
        (pa.array([0.0, float("nan"), -0.0, float("nan"), None]), [0, 1, 0, 1, -1]),
        (pa.array([True, False, None]), [0, 1, -1]),
    ],
)
def test_equal_values_have_equal_codes(values: pa.Array, codes: list[int]) -> None:
    assert encode_by_equality(values).tolist() == codes


def test_a_rule_divides_partitions_in_the_order_of_their_first_rows() -> None:
    keys, rows = ["b", "a", "b", "a", "a", "b"], np.arange(6)
    table = pa.table(
        {
            internal_names.name_column(0): pa.array(keys),
            internal_names.name_column(1): pa.array(rows),
        }
    )
    words = np.arange(6, dtype=np.uint64).reshape(-1, 1)
    shared = SharedRows(table, np.array([0, 3, 6]), words)
    divided = shared.divide((0,))
    assert divided.table.column(1).to_pylist() == [0, 2, 1, 3, 4, 5]
    assert divided.condition_bits[:, 0].tolist() == [0, 2, 1, 3, 4, 5]
    assert divided.starts.tolist() == [0, 2, 3, 5, 6]
    assert divided.set_partitions is not None
    assert divided.set_partitions.tolist() == [0, 0, 1, 1]


def test_selected_partitions_have_the_rows_between_their_starts() -> None:
    table = pa.table({internal_names.name_column(0): pa.array(range(6))})
    shared = SharedRows(table, np.array([0, 1, 3, 6]), np.zeros((6, 1), np.uint64))
    part = shared.select_partitions(range(1, 3))
    assert part.table.column(0).to_pylist() == [1, 2, 3, 4, 5]
    assert part.starts.tolist() == [0, 2, 5]
