"""Rule sets without Spark: where bits are, how partitions are divided, what is one slot."""

from __future__ import annotations

from dataclasses import astuple, replace

import numpy as np
import pyarrow as pa
import pytest

from matchrec.compile.rule_set import BitNumbers
from matchrec.conditions.row_column import RowColumn, Shifted, row_column
from matchrec.conditions.run_condition import Constant
from matchrec.conditions.types import Kind
from matchrec.engine.interface import NearbyCondition
from matchrec.spark import wire
from matchrec.spark.rule_sets.packing import (
    early_words,
    find_bits,
    word_columns,
    words_of,
)
from matchrec.spark.rule_sets.rows import SharedRows
from matchrec.spark.worker.arrays import codes_of


def early(count: int) -> tuple[RowColumn, ...]:
    return tuple(row_column(f"a > {number}") for number in range(count))


def late(count: int) -> tuple[RowColumn, ...]:
    shifted = (Shifted("a", 0), " < ", Shifted("a", -1), " + ")
    return tuple(RowColumn((*shifted, str(number))) for number in range(count))


def test_conditions_on_one_row_fill_words_before_the_others() -> None:
    conditions = early(63), late(62)
    bits, end = astuple(find_bits(conditions))
    assert len(early_words(conditions)) == 2
    assert list(word_columns(5, conditions)) == ["__c5", "__c6", "__bits0", "__bits1"]
    assert bits[:63] == (*range(62), 64)
    assert bits[63:] == (*range(129, 190), 192)  # the first bit of late words marks partitions
    assert end == 193


def test_without_a_condition_on_several_rows_no_word_is_of_such() -> None:
    conditions = early(42), late(0)
    assert find_bits(conditions).end == 42
    assert list(word_columns(5, conditions)) == ["__c5"]


def test_equal_conditions_over_neighbours_of_rows_that_are_divided_alike_are_one_bit() -> None:
    numbers = BitNumbers({}, 3)
    falls = NearbyCondition(Constant(1, Kind.INTEGER), None, late(1)[0], "A")
    assert numbers.number_nearby(falls, ()) == 3
    assert numbers.number_nearby(replace(falls, variable="B"), ()) == 3
    assert numbers.number_nearby(falls, (1,)) == 4
    assert numbers.number_nearby(replace(falls, row_condition=0), ()) == 5
    assert numbers.end == 6


def test_words_are_the_columns_bit_for_bit() -> None:
    values = [[1, 2, 3], [1 << 61, 0, 5]]
    table = pa.table({"__c0": pa.array(values[0], pa.int8()), "__bits0": pa.array(values[1])})
    words = words_of(table, ("__c0", "__bits0"), 129)
    assert words.tolist() == [[1, 1 << 61, 0], [2, 0, 0], [3, 5, 0]]


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        (pa.array(["x", None, "y", "x"]), [0, -1, 1, 0]),
        (pa.array([0.0, float("nan"), -0.0, float("nan"), None]), [0, 1, 0, 1, -1]),
        (pa.array([True, False, None]), [0, 1, -1]),
    ],
)
def test_equal_values_have_equal_codes(values: pa.Array, codes: list[int]) -> None:
    assert codes_of(values).tolist() == codes


def test_a_rule_divides_partitions_in_the_order_of_their_first_rows() -> None:
    keys, rows = ["b", "a", "b", "a", "a", "b"], np.arange(6)
    table = pa.table({wire.column(0): pa.array(keys), wire.column(1): pa.array(rows)})
    words = np.arange(6, dtype=np.uint64).reshape(-1, 1)
    shared = SharedRows(table, np.array([0, 3, 6]), words)
    divided = shared.divide((0,))
    assert divided.table.column(1).to_pylist() == [0, 2, 1, 3, 4, 5]
    assert divided.words[:, 0].tolist() == [0, 2, 1, 3, 4, 5]
    assert divided.starts.tolist() == [0, 2, 3, 5, 6]
    assert divided.outer is not None
    assert divided.outer.tolist() == [0, 0, 1, 1]


def test_rows_between_partitions() -> None:
    table = pa.table({wire.column(0): pa.array(range(6))})
    shared = SharedRows(table, np.array([0, 1, 3, 6]), np.zeros((6, 1), np.uint64))
    part = shared.between(1, 3)
    assert part.table.column(0).to_pylist() == [1, 2, 3, 4, 5]
    assert part.starts.tolist() == [0, 2, 5]
