"""Conditions over neighbouring rows: the worker computes what the reference computes."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from matchrec.conditions.evaluate import vectors
from matchrec.conditions.row_column import build_row_column
from matchrec.conditions.run_condition import (
    Arithmetic,
    ArithmeticOperator,
    BasicOperator,
    Comparison,
    Constant,
    ReadValue,
    RunExpression,
    RunOperation,
    build_operation,
)
from matchrec.conditions.types import Kind
from matchrec.plan.expression import Navigation
from matchrec.search.matches import RunFailure
from matchrec.search.nearby import add_nearby_bits
from matchrec.search.partitions import Frontier, Partitions
from matchrec.search.task import NearbyCondition
from tests.generators.arithmetic import arithmetic
from tests.quick.scale import copies_of, examples
from tests.references.matcher import ConditionContext, Failure, Value
from tests.tasks.contiguous import name_failure
from tests.tasks.copies import LARGE, copy_beside

random_examples = settings(
    max_examples=examples(400),
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
INTEGERS = (None, None, 0, 1, 2, 3, -5, 100, 2**62, -(2**63))
FLOATS = (None, None, 0.0, -0.0, 0.5, 1.0, -3.0, float("nan"), float("nan"), float("inf"))
VALUES: dict[Kind, st.SearchStrategy[Value]] = {
    Kind.INTEGER: st.sampled_from(INTEGERS),
    Kind.FLOATING: st.sampled_from(FLOATS),
}
READS = st.sampled_from([0, 0, -1, -1, 1, -2, 3]).map(lambda d: Navigation(physical_offset=d))


@st.composite
def values(draw: st.DrawFn, kind: Kind, depth: int) -> RunExpression:
    """Draw an expression of a kind over two columns of each kind."""
    choice = draw(st.integers(0, 2 if depth == 0 else 6))
    if choice == 0:
        return Constant(draw(VALUES[kind]), kind)
    if choice <= 2:
        return ReadValue(draw(st.integers(0, 1)), kind, draw(st.none() | READS))
    if choice == 3:
        parts = draw(conditions(0)), draw(values(kind, depth - 1)), draw(values(kind, depth - 1))
        return build_operation(BasicOperator.CHOOSE, *parts)
    if choice == 4 and kind is Kind.FLOATING:
        return build_operation(BasicOperator.WIDEN, draw(values(Kind.INTEGER, 0)))
    if choice == 5 and kind is Kind.FLOATING:
        return build_operation(
            BasicOperator.NARROW, draw(values(draw(st.sampled_from(Kind)), depth - 1))
        )
    left = draw(values(kind, depth - 1))
    right = draw(values(kind, depth - 1))
    return draw(arithmetic(kind, left, right))


@st.composite
def conditions(draw: st.DrawFn, depth: int) -> RunExpression:
    """Draw a condition; AND, OR, NOT and IS NULL are nested at most `depth` times."""
    choice = draw(st.integers(0, 1 if depth == 0 else 5))
    if choice <= 1:
        kind = draw(st.sampled_from(Kind))
        left = draw(values(kind, depth))
        right = draw(values(kind, depth))
        return build_operation(draw(st.sampled_from(Comparison)), left, right)
    parts = tuple(draw(st.lists(conditions(depth - 1), min_size=1, max_size=3)))
    if choice == 2:
        return RunOperation(BasicOperator.AND, parts)
    if choice == 3:
        return RunOperation(BasicOperator.OR, parts)
    return (
        build_operation(BasicOperator.NOT, parts[0])
        if choice == 4
        else build_operation(BasicOperator.IS_NULL, parts[0])
    )


Columns = dict[Kind, list[list[Value]]]


@st.composite
def rows(draw: st.DrawFn) -> list[Columns]:
    """Draw partitions of two columns of each kind."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    return [
        {
            kind: [draw(st.lists(value, min_size=size, max_size=size)) for _ in range(2)]
            for kind, value in VALUES.items()
        }
        for size in sizes
    ]


def make_partitions(partitions: list[Columns], bits: list[int]) -> Partitions:
    """Return the partitions as arrays.

    Args:
        bits: by row, the truth values that Spark has computed.
    """
    sizes = [len(partition[Kind.INTEGER][0]) for partition in partitions]
    columns = {
        kind: [
            [value for partition in partitions for value in partition[kind][i]] for i in range(2)
        ]
        for kind in Kind
    }
    integers, floats = columns[Kind.INTEGER], columns[Kind.FLOATING]
    integer_values = np.array([[value or 0 for value in column] for column in integers], np.int64)
    float_values = np.array([[value or 0.0 for value in value] for value in floats], np.float64)
    return Partitions(
        np.array([0, *accumulate(sizes)], np.int64),
        np.array(bits, np.uint64).reshape(-1, 1),
        np.concatenate([integer_values, float_values.view(np.int64)]),
        np.array([[value is not None for value in value] for value in (*integers, *floats)]),
        len(integers),
    )


def check_by_reference(partition: Columns, row: int, condition: RunExpression) -> bool | str:
    """Return whether a condition is true for a row of a partition, or the kind of its failure."""
    context = ConditionContext(
        row=row,
        mapped_rows=(row,),
        mapped_variables=("A",),
        columns=partition,
        variable_names=("A",),
    )
    try:
        return bool(context.compute(condition))
    except Failure as failure:
        return failure.kind


@random_examples
@given(rows(), conditions(2), st.booleans(), st.integers(1, 70), st.integers(1, 5))
def test_what_the_worker_computes_is_what_the_reference_says(
    parts: list[Columns], condition: RunExpression, asks_spark: bool, first: int, block: int
) -> None:
    """Bit 0, which Spark has computed, is set for every other row."""
    expected = [
        check_by_reference(partition, row, condition)
        for partition in parts
        for row in range(len(partition[Kind.INTEGER][0]))
    ]
    is_tested = [not asks_spark or row % 2 == 0 for row in range(len(expected))]
    computed = [row % 2 ^ 1 for row in range(len(expected))]
    partitions = make_partitions(parts, computed)
    nearby = NearbyCondition(
        condition, 0 if asks_spark else None, build_row_column("TRUE"), first, "A"
    )
    failures = {
        row: result
        for row, result in enumerate(expected)
        if is_tested[row] and isinstance(result, str)
    }
    with mock.patch.object(vectors, "ROWS_PER_BLOCK", block):
        if failures:
            with pytest.raises(RunFailure) as raised:
                add_nearby_bits(partitions, (nearby,))
            failure = raised.value
            assert failures[failure.row] == name_failure(failure)
            return
        satisfied = add_nearby_bits(partitions, (nearby,)).condition_bits
    copies = copies_of(partitions.row_count, LARGE)  # in blocks of their own size
    large = copy_beside(make_partitions(parts, computed), copies)
    large_satisfied = add_nearby_bits(large, (nearby,)).condition_bits
    assert np.array_equal(large_satisfied, np.tile(satisfied, (copies, 1)))
    bits = satisfied[:, first // 64] >> np.uint64(first % 64) & np.uint64(1)
    assert bits.tolist() == [
        int(is_tested[row] and result is True) for row, result in enumerate(expected)
    ]
    assert (satisfied[:, 0] & np.uint64(1)).tolist() == computed


def test_rows_without_all_their_neighbours_are_not_tested() -> None:
    """In this piece of a partition, only rows 1 and 2 are searched.

    The condition would fail for row 3: it divides by zero.
    """
    columns: Columns = {Kind.INTEGER: [[5, 1, 1, 0], [0] * 4], Kind.FLOATING: [[0.0] * 4] * 2}
    partitions = make_partitions([columns], [0] * 4)
    frontier = Frontier.create(partitions.starts, next_start=1, edge=3)
    partitions = replace(partitions, frontier=frontier)
    constant = Constant(1, Kind.INTEGER)

    def read(distance: int) -> RunExpression:
        """Return the column of a row at a distance."""
        return ReadValue(0, Kind.INTEGER, Navigation(physical_offset=distance))

    def divide(divisor: RunExpression) -> RunExpression:
        """Return the remainder of 1 and a divisor."""
        return Arithmetic(ArithmeticOperator.REMAINDER, (constant, divisor), Kind.INTEGER)

    condition = build_operation(Comparison.EQUAL, divide(read(0)), Constant(0, Kind.INTEGER))
    nearby = NearbyCondition(condition, None, build_row_column("TRUE"), 0, "A")
    assert add_nearby_bits(partitions, (nearby,)).condition_bits.tolist() == [[0], [1], [1], [0]]
