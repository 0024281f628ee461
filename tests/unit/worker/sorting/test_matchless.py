"""Partitions without a row that every match needs are left out before the sort, and no others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from matchrec.automaton.facts import output_needs_condition
from matchrec.shortcuts import Shortcuts, use_shortcuts
from matchrec.syntax.row_pattern import parse_row_pattern
from matchrec.worker import internal_names
from matchrec.worker.column_roles import Sorting
from matchrec.worker.sorting.matchless import drop_matchless_partitions
from tests.tasks.compiled import compile_for_output

PLAIN = Sorting(("k", "j"), ())


def make_table(keys: list[object], others: list[object], bits: list[int]) -> pa.Table:
    """Return rows of partitions. A bit says whether a row satisfies a condition."""
    packed = pa.array([bit << 1 for bit in bits], pa.int64())
    positions = pa.array(range(len(keys)), pa.int64())
    return pa.table(
        {
            "k": pa.array(keys),
            "j": pa.array(others),
            internal_names.name_bits(0): packed,
            "p": positions,
        }
    )


def keep_needed(rows: pa.Table, *conditions: int) -> list[int]:
    """Return the positions of the rows that are kept."""
    sorting = replace(PLAIN, bits_needed_for_output=conditions)
    positions: list[int] = drop_matchless_partitions(rows, sorting)["p"].to_pylist()
    return positions


@pytest.fixture(autouse=True)
def always() -> Iterator[None]:
    """Look for needed rows even if few rows could be dropped."""
    with use_shortcuts(Shortcuts(needed_rows_one_in=1)):
        yield


def test_a_partition_without_a_needed_row_is_left_out() -> None:
    rows = make_table(["x", "y", "x", None, None], [1, 1, 1, 2, 2], [0b01, 0b10, 0b00, 0b00, 0b01])
    assert keep_needed(rows) == [0, 1, 2, 3, 4]
    assert keep_needed(rows, 0) == [0, 2, 3, 4]  # NULL equals NULL
    assert keep_needed(rows, 1) == [1]
    assert keep_needed(rows, 0, 1) == []


def test_a_partition_stays_if_each_of_its_keys_has_a_needed_row() -> None:
    rows = make_table(["x", "x", "y"], [1, 2, 2], [1, 0, 1])
    assert keep_needed(rows, 0) == [0, 1, 2]  # x 2 has none, but x has, and 2 has


def test_keys_that_arrow_distinguishes_are_not_dropped() -> None:
    rows = make_table([0.0, -0.0, 1.0], [1, 1, 1], [1, 0, 0])
    assert keep_needed(rows, 0) == [0, 1, 2]


def test_all_rows_stay_if_many_are_needed() -> None:
    rows = make_table(["x", "y", "y"], [1, 1, 1], [1, 1, 0])
    with use_shortcuts(Shortcuts(needed_rows_one_in=3)):
        assert keep_needed(rows, 0) == [0, 1, 2]


def test_a_needed_bit_can_be_in_the_second_column() -> None:
    rows = make_table(["x", "y"], [1, 1], [0, 0])
    flags = pa.array([0, 1 << 3], pa.int64())
    rows = rows.append_column(internal_names.name_bits(1), flags)
    assert keep_needed(rows, internal_names.BITS_PER_COLUMN + 2) == [1]


def test_partitions_with_a_needed_row_stay_whole() -> None:
    random = np.random.default_rng(3)
    for _ in range(50):
        count = int(random.integers(1, 60))
        keys, others = (random.integers(0, most, count).tolist() for most in (9, 3))
        bits = (random.random(count) < 0.2).astype(int).tolist()
        rows = make_table(keys, others, bits)
        pairs = list(zip(keys, others, strict=True))
        have = {pair for pair, bit in zip(pairs, bits, strict=True) if bit}
        result = keep_needed(rows, 0)
        assert {position for position, pair in enumerate(pairs) if pair in have} <= set(result)
        assert result == sorted(result)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("A", "A"),
        ("A B* C", "AC"),
        ("A+ B", "AB"),
        ("(A | B) C", "C"),
        ("A?", ""),
        ("(A B)*", ""),
        ("(A B)+ C?", "AB"),
        ("PERMUTE(A, B)", "AB"),
        ("A B | A C", "A"),
    ],
)
def test_a_match_needs_the_variables_of_all_its_words(pattern: str, expected: str) -> None:
    folding = compile_for_output(parse_row_pattern(pattern), ("A", "B", "C")).folding
    names = {"A": 0, "B": 1, "C": 2}
    result = [name for name, number in names.items() if output_needs_condition(folding, {number})]
    assert "".join(result) == expected
