"""Ties of sorted rows are counted as in the reference, unless they cannot change a result."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matchrec.shortcuts import Shortcuts, use_shortcuts
from matchrec.worker import internal_names
from matchrec.worker.column_roles import ShownColumn, SortColumn, Sorting
from matchrec.worker.sorting import spills
from matchrec.worker.sorting.sort import sort_batches
from matchrec.worker.sorting.tie_reports import (
    ReportedTies,
    TieCount,
    TiesAccumulatorParam,
    TiesByQuery,
    identify_process,
)
from matchrec.worker.sorting.ties import TieReporter
from tests.quick.scale import copies_of, examples
from tests.references.sorting import make_key, sort_rows
from tests.unit.worker.sorting.values import Rows, rows


@dataclass
class TieCollector:
    """A channel that keeps what is reported."""

    ties: ReportedTies = field(default_factory=ReportedTies)

    def report(self, ties: TiesByQuery) -> None:
        """Add the ties of a sort."""
        self.ties.add(ties)

    def number(self) -> int:
        """Return the number of ties so far."""
        return sum(ties.row_count for ties in self.ties.take().values())


def watch_ties(sorting: Sorting) -> tuple[Sorting, TieCollector]:
    """Return a sorting that reports its ties, and the collector of them."""
    collector = TieCollector()
    columns = tuple(ShownColumn(column.name, column.name) for column in sorting.columns)
    return replace(
        sorting, tie_counter=TieReporter("query", collector, "ORDER BY", columns)
    ), collector


def count_ties(case: Rows) -> int:
    """Return the number of rows that equal the row before in keys and order, by the reference."""
    expected = sort_rows(case.keys, case.order, case.count)
    by = [*case.keys, *case.order]
    values = [[make_key(value.values[row]) for value in by] for row in expected]
    return sum(value == other for value, other in pairwise(values))


@settings(max_examples=examples(160), deadline=None)
@given(case=rows(), copies=st.sampled_from([1, 2, 40]), hashed=st.sampled_from([1, 1 << 15]))
def test_ties_are_counted(case: Rows, copies: int, hashed: int) -> None:
    """Each row differs from all others in its number."""
    many = case.times(copies) if case.count else case
    sorting, collector = watch_ties(many.sorting)
    with use_shortcuts(Shortcuts(min_rows_to_hash=hashed)):
        _ = [*sort_batches(iter(many.batches), sorting, rows_per_batch=1 << 18)]
    assert collector.number() == count_ties(many)


@settings(max_examples=examples(48), deadline=None)
@given(case=rows(), budget=st.integers(0, 2000), at_once=st.integers(2, 4))
def test_ties_are_counted_once_through_files(case: Rows, budget: int, at_once: int) -> None:
    sorting, collector = watch_ties(case.sorting)
    with patch.object(spills, "SPILLS_PER_MERGE", at_once):
        _ = [*sort_batches(iter(case.batches), sorting, 16, budget)]
    assert collector.number() == count_ties(case)


@settings(max_examples=examples(8), deadline=None)
@given(case=rows().filter(lambda case: case.count), budget=st.sampled_from([2000, 50_000]))
def test_ties_of_thousands_of_rows_are_counted(case: Rows, budget: int) -> None:
    many = case.times(copies_of(case.count))
    sorting, collector = watch_ties(many.sorting)
    _ = [*sort_batches(iter(many.batches), sorting, 128, budget)]
    assert collector.number() == count_ties(many)


NAN = float("nan")


@pytest.mark.parametrize(
    ("values", "number"),
    [
        (pa.array([7, 7]), 0),
        (pa.array([7, 8]), 1),
        (pa.array([None, None], pa.int64()), 0),
        (pa.array([None, 7]), 1),
        (pa.array([NAN, NAN]), 0),
        (pa.array([NAN, 0.0]), 1),
        (pa.array([NAN, None], pa.float64()), 1),
        (pa.array(["a", "a"]), 0),
        (pa.array(["a", None]), 1),
        (pa.array([[1], [1]]), 1),  # arrays are not compared
    ],
)
def test_a_tie_counts_if_its_rows_differ(values: pa.Array, number: int) -> None:
    table = pa.table({"at": [1, 1], "other": [5, 5], "value": values})
    item = SortColumn("at", descending=False, nulls_first=True)
    sorting, collector = watch_ties(Sorting((), (item,)))
    _ = [*sort_batches(iter(table.to_batches()), sorting, 16)]
    assert collector.number() == number


@pytest.mark.parametrize(("bits", "number"), [([2, 2], 0), ([2, 4], 1), ([3, 2], 0)])
def test_conditions_differ_but_for_the_first_bit(bits: list[int], number: int) -> None:
    table = pa.table({"at": [1, 1], internal_names.FIRST_BITS: np.array(bits)})
    item = SortColumn("at", descending=False, nulls_first=True)
    sorting, collector = watch_ties(Sorting((), (item,)))
    _ = [*sort_batches(iter(table.to_batches()), sorting, 16)]
    assert collector.number() == number


def test_an_example_names_the_partition_and_the_order() -> None:
    table = pa.table({"key": ["b", "a", "b"], "at": [2, None, 2], "value": [1, 2, 3]})
    item = SortColumn("at", descending=False, nulls_first=True)
    sorting, collector = watch_ties(Sorting(("key",), (item,)))
    _ = [*sort_batches(iter(table.to_batches()), sorting, 16)]
    assert collector.ties.take() == {"query": TieCount(1, "ORDER BY", "key = 'b', at = 2")}


def test_a_worker_adds_up_what_it_reports() -> None:
    elsewhere, tie_count = (
        TiesAccumulatorParam(f"not {identify_process()}"),
        TieCount(2, "ORDER BY", "at = 1"),
    )
    total = elsewhere.addInPlace(elsewhere.zero({}), {"q": tie_count})
    total = elsewhere.addInPlace(total, {"q": replace(tie_count, example="at = 3"), "r": tie_count})
    assert total == {"q": replace(tie_count, row_count=4), "r": tie_count}
