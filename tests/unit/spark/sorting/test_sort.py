"""Sorted batches: against Python's sort, of all types, whatever the budget."""

from __future__ import annotations

from unittest.mock import patch

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from matchrec.spark import wire
from matchrec.spark.sorting import sort as spilling
from matchrec.spark.sorting.sort import sorted_batches
from tests.quick.scale import copies_of, examples
from tests.references.sorting import first_rows, sorted_rows
from tests.unit.spark.sorting.values import Rows, rows


@settings(max_examples=examples(160), deadline=None)
@given(given_rows=rows(), most=st.integers(1, 40))
def test_rows_come_in_order(given_rows: Rows, most: int) -> None:
    found = [*sorted_batches(iter(given_rows.batches), given_rows.sorting, rows_a_batch=most)]
    check(given_rows, found, most)


def check(given_rows: Rows, found: list[pa.RecordBatch], most: int) -> None:
    """The rows are those of the reference, in its order, whole and marked."""
    assert all(0 < batch.num_rows <= most for batch in found)
    if not given_rows.count:
        assert found == []
        return
    before, after = pa.Table.from_batches(given_rows.batches), pa.Table.from_batches(found)
    expected = sorted_rows(given_rows.keys, given_rows.order, given_rows.count)
    assert after.column("row").to_pylist() == expected
    assert after.schema == before.schema
    moved = before.take(expected)
    for name in set(before.column_names) - {wire.FIRST_BITS}:
        assert held(after.column(name)).equals(held(moved.column(name)))
    marks = [6 + one for one in first_rows(given_rows.keys, expected)]
    assert after.column(wire.FIRST_BITS).to_pylist() == marks


def held(values: pa.ChunkedArray) -> pa.Array:
    """Values to compare, where NaN equals NaN and -0.0 differs from 0.0."""
    whole = values.combine_chunks()
    if not pa.types.is_floating(whole.type):
        return whole
    return whole.view(pa.int32() if pa.types.is_float32(whole.type) else pa.int64())


@settings(max_examples=examples(48), deadline=None)
@given(given_rows=rows(), budget=st.integers(0, 2000), at_once=st.integers(2, 4))
def test_rows_come_in_order_through_files(given_rows: Rows, budget: int, at_once: int) -> None:
    with patch.object(spilling, "SPILLS_A_MERGE", at_once):
        found = [*sorted_batches(iter(given_rows.batches), given_rows.sorting, budget, 16)]
    check(given_rows, found, 16)


@settings(max_examples=examples(8), deadline=None)
@given(given_rows=rows().filter(lambda one: one.count), budget=st.sampled_from([2000, 50_000]))
def test_thousands_of_rows_come_in_order_through_many_files(given_rows: Rows, budget: int) -> None:
    """See `tests/tasks/copies.py`."""
    many = given_rows.times(copies_of(given_rows.count))
    found = [*sorted_batches(iter(many.batches), many.sorting, budget, 128)]
    check(many, found, 128)
