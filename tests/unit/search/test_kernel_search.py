"""Properties of both algorithms apart from the matches: bounded chunks, growth, failures, cost."""

from __future__ import annotations

import pickle
import time
from dataclasses import replace

import numpy as np
import pytest

from matchrec.conditions.run_condition import (
    Arithmetic,
    ArithmeticOperator,
    BasicOperator,
    Comparison,
    Constant,
    ReadValue,
    Reduction,
    RunAggregate,
    RunExpression,
    build_operation,
)
from matchrec.conditions.types import Kind
from matchrec.errors import MatchRecognizePlanError
from matchrec.errors.run import failures
from matchrec.errors.run.origins import OperationOrigin
from matchrec.jit.cached_function import CACHED_FUNCTIONS
from matchrec.plan.clauses import AfterMatchSkip, EventSelection, SkipTo
from matchrec.plan.expression import End, Navigation
from matchrec.search.matches import RunFailure
from matchrec.search.partitions import Partitions
from matchrec.search.strategies import ALGORITHMS, SearchAlgorithm, choose_algorithm_and_strategy
from matchrec.search.task import Capacity
from matchrec.shortcuts import Shortcuts, use_shortcuts
from matchrec.source import Span
from matchrec.syntax.row_pattern import parse_row_pattern
from tests.tasks.contiguous import Query, make_query, read_rows, run_algorithm, search

algorithms = pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS)
NEXT_ROW = AfterMatchSkip(SkipTo.NEXT_ROW)


def draw_bits(rows: int, *probabilities: float) -> np.ndarray:
    """Draw for each row a number in which bit i is set with the probability i."""
    random = np.random.default_rng(3).random((rows, len(probabilities)))
    return (random < probabilities) @ (1 << np.arange(len(probabilities)))


def make_partitions(satisfied: np.ndarray, sizes: int, *integers: np.ndarray) -> Partitions:
    """Return partitions of a size, with integer columns that have no NULL."""
    rows = len(satisfied)
    columns = np.array(integers, np.int64).reshape(len(integers), rows)
    return Partitions(
        np.append(np.arange(0, rows, sizes), rows).astype(np.int64),
        satisfied.astype(np.uint64).reshape(rows, 1),
        columns,
        np.ones(columns.shape, np.bool_),
        len(integers),
    )


def list_matches(
    algorithm: SearchAlgorithm, query: Query, rows: Partitions
) -> list[tuple[int, ...]]:
    """Return the matches that an algorithm finds: partition, number, first row, variables."""
    return [
        (
            int(chunk.partition[i]),
            int(chunk.number[i]),
            int(chunk.start[i]),
            *chunk.classifiers[chunk.offsets[i] : chunk.offsets[i + 1]].tolist(),
        )
        for chunk in search(algorithm, query.task(), rows)
        for i in range(chunk.count)
    ]


ABOVE = build_operation(
    Comparison.GREATER_OR_EQUAL,
    ReadValue(0, Kind.INTEGER),
    ReadValue(0, Kind.INTEGER, Navigation("A", End.FIRST)),
)
RARE: RunExpression = build_operation(
    Comparison.LESS, RunAggregate(Reduction.SUM, "B", 0, Kind.INTEGER), Constant(40, Kind.INTEGER)
)


@pytest.mark.slow  # it waits for the compiler
@pytest.mark.parametrize("skip", [AfterMatchSkip(), NEXT_ROW], ids=["past last row", "next row"])
@pytest.mark.parametrize(
    "run_conditions", [{}, {"B": ABOVE}, {"B": RARE}], ids=["data", "first", "sum"]
)
@pytest.mark.parametrize(
    "text", ["A B* C", "A (B | A B)* C", "A+ B? | B+ C", "(A* B??)+ C", "A B+"]
)
def test_algorithms_agree_on_many_rows(
    text: str, run_conditions: dict[str, RunExpression], skip: AfterMatchSkip
) -> None:
    values = np.random.default_rng(5).integers(0, 20, 4_000)
    rows = make_partitions(draw_bits(4_000, 0.6, 0.8, 0.05), 700, values)
    query = Query(parse_row_pattern(text), skip, run_conditions=run_conditions)
    small = Capacity(mapped_rows=500, matches=50, initial_rows=2)
    expected = list_matches(SearchAlgorithm("backtracking"), query, rows)
    assert len(expected) > 5
    for algorithm in (
        SearchAlgorithm("backtracking", small),
        SearchAlgorithm("breadth_first"),
        SearchAlgorithm("breadth_first", small),
    ):
        assert list_matches(algorithm, query, rows) == expected


@algorithms
def test_chunks_are_bounded_and_overlapping_matches_too(algorithm: SearchAlgorithm) -> None:
    rows = make_partitions(np.ones(3_000, np.int64), 3_000)
    bounded = replace(algorithm, capacity=Capacity(mapped_rows=5_000, matches=100))
    chunks = list(search(bounded, Query(parse_row_pattern("A+"), NEXT_ROW).task(), rows))
    assert sum(chunk.count for chunk in chunks) == 3_000
    assert max(len(chunk.classifiers) for chunk in chunks) <= 5_000
    assert max(chunk.count for chunk in chunks) <= 100


@algorithms
def test_a_match_larger_than_a_chunk_is_found_whole(algorithm: SearchAlgorithm) -> None:
    rows = make_partitions(np.ones(10_000, np.int64), 10_000)
    small = replace(algorithm, capacity=Capacity(mapped_rows=16, matches=4))
    (chunk,) = search(small, make_query("A+").task(), rows)
    assert len(chunk.classifiers) == 10_000


@algorithms
def test_read_only_rows_need_no_other_kernel(algorithm: SearchAlgorithm) -> None:
    rows = make_partitions(np.ones(4, np.int64), 4)
    expected = [(0, 1, 0, 0, 0), (0, 2, 2, 0, 0)]
    assert list_matches(algorithm, make_query("A A"), rows) == expected
    compiled = sum(len(function.compiled) for function in CACHED_FUNCTIONS)
    rows.condition_bits.flags.writeable = False
    assert list_matches(algorithm, make_query("A A"), rows) == expected
    assert sum(len(function.compiled) for function in CACHED_FUNCTIONS) == compiled


@algorithms
def test_a_search_can_have_more_than_64_row_conditions(algorithm: SearchAlgorithm) -> None:
    names = [f"V{number}" for number in range(70)]
    satisfied = np.zeros((70, 2), np.uint64)
    for number in range(70):
        satisfied[number, number // 64] = np.uint64(1 << number % 64)
    plain = make_partitions(np.zeros(70, np.int64), 70)
    rows = Partitions(plain.starts, satisfied, *(getattr(plain, n) for n in plain.__slots__[2:]))
    assert list_matches(algorithm, make_query(" ".join(names)), rows) == [(0, 1, 0, *range(70))]


@algorithms
@pytest.mark.parametrize(
    ("skip", "text", "expected"),
    [
        (AfterMatchSkip(SkipTo.LAST, "B"), "A B? C", ("skip_to_missing_row", 1, 3)),
        (AfterMatchSkip(SkipTo.FIRST, "A"), "A B? C", ("skip_to_first_row", 0, 1)),
        (AfterMatchSkip(SkipTo.LAST, "A"), "A+ B? C", ("skip_to_first_row", 0, 1)),
    ],
)
def test_a_skip_that_leads_to_no_later_row_fails(
    algorithm: SearchAlgorithm, skip: AfterMatchSkip, text: str, expected: tuple[str, int, int]
) -> None:
    rows = read_rows("- A B/A C" if expected[1] else "- A C")
    assert run_algorithm(algorithm, Query(parse_row_pattern(text), skip), rows) == expected


@algorithms
def test_after_an_empty_match_skip_does_not_matter(algorithm: SearchAlgorithm) -> None:
    skip = AfterMatchSkip(SkipTo.FIRST, "A")
    outcome = run_algorithm(algorithm, Query(parse_row_pattern("A{0,2}?"), skip), read_rows("A A"))
    assert outcome == [(0, 1, 0, ""), (0, 2, 1, "")]


# Where sum(A.v) and sum(v) are in a query.
FIRST_ORIGIN = OperationOrigin("sum(v) - sum(A.v)", Span(9, 17), Span(13, 16), None)
SECOND_ORIGIN = OperationOrigin("sum(v) - sum(A.v)", Span(0, 6), Span(4, 5), None)


@algorithms
def test_an_overflow_names_row_variable_and_operation(algorithm: SearchAlgorithm) -> None:
    first_sum, second_sum = (
        RunAggregate(Reduction.SUM, variable, 0, Kind.INTEGER, origin=origin)
        for variable, origin in (("A", FIRST_ORIGIN), (None, SECOND_ORIGIN))
    )
    difference = Arithmetic(
        ArithmeticOperator.SUBTRACT, (second_sum, first_sum), Kind.INTEGER, origin=FIRST_ORIGIN
    )
    is_positive = build_operation(Comparison.GREATER, first_sum, Constant(0, Kind.INTEGER))
    is_larger = build_operation(Comparison.GREATER, difference, Constant(0, Kind.INTEGER))
    run_conditions = {"B": build_operation(BasicOperator.AND, is_positive, is_larger)}
    rows = make_partitions(np.array([3, 3, 3, 3]), 2, np.array([1, 2, 2**62, 2**62]))
    with pytest.raises(RunFailure) as caught:
        list_matches(
            algorithm, Query(parse_row_pattern("A B"), run_conditions=run_conditions), rows
        )
    failure = pickle.loads(pickle.dumps(caught.value))
    assert failure.make_error == failures.overflow_in_condition
    assert (failure.row, failure.fields) == (3, {"variable": "B", "origin": SECOND_ORIGIN})


LINEAR = ["A* B", "(A+)+ B", "(A | A B)* C", "(A?){30} A{30} B", "A+ B | A", "(A A | A)+ B"]


@algorithms
@pytest.mark.parametrize("text", LINEAR)
def test_no_pattern_over_the_data_takes_more_than_linear_time(
    algorithm: SearchAlgorithm, text: str
) -> None:
    """A quadratic search of 200,000 rows would take minutes. An exponential one would not end."""
    rows = make_partitions(np.ones(200_000, np.int64), 200_000)
    with use_shortcuts(Shortcuts(max_python_steps=0)):  # compiles
        list_matches(algorithm, make_query(text), make_partitions(np.ones(10, np.int64), 10))
    begin = time.process_time()
    sum(chunk.count for chunk in search(algorithm, make_query(text).task(), rows))
    assert time.process_time() - begin < 5


@pytest.mark.parametrize(
    ("text", "run_conditions", "expected"),
    [
        ("(A | B)* C", {}, ("backtracking", "memoised")),
        ("A B+ C", {"B": ABOVE}, ("backtracking", "plain")),
        ("A B (C | D)* E", {"B": ABOVE}, ("backtracking", "memoised")),
        ("A (B | C)* D", {"D": ABOVE}, ("breadth_first", "merging")),
        ("A B (A | B)*", {"B": ABOVE}, ("breadth_first", "merging")),
    ],
)
def test_auto_chooses_a_strategy_and_says_why(
    text: str, run_conditions: dict[str, RunExpression], expected: tuple[str, str]
) -> None:
    task = Query(parse_row_pattern(text), run_conditions=run_conditions).task()
    strategy = choose_algorithm_and_strategy(task).strategy
    assert (strategy.algorithm, strategy.make_name(task)) == expected
    assert strategy.explain_choice(task)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({}, "memoised"),
        ({"after_match": NEXT_ROW}, "chained"),
        ({"has_window": True}, "windowed"),
        ({"has_window": True, "after_match": NEXT_ROW}, "windowed"),
        ({"selection": EventSelection.SKIP_TILL_NEXT_MATCH}, "preferred matches that skip rows"),
    ],
)
def test_backtracking_over_the_data_has_an_algorithm_for_each_kind_of_match(
    changes: dict[str, object], name: str
) -> None:
    task = replace(make_query("A B+").task(), **changes)  # type: ignore[arg-type]
    strategy = choose_algorithm_and_strategy(task).strategy
    assert (strategy.algorithm, strategy.make_name(task)) == ("backtracking", name)


@pytest.mark.parametrize(
    ("text", "skip", "name"),
    [
        ("A+ B+", NEXT_ROW, "chained"),
        ("A B C D", NEXT_ROW, "memoised"),  # no two runs are in one state at one row
        ("A{3} B?", NEXT_ROW, "memoised"),
        ("A (B | C)+", AfterMatchSkip(SkipTo.FIRST, "A"), "chained"),
        ("A+ B+", AfterMatchSkip(SkipTo.FIRST, "B"), "chained"),
        ("A+ B+", AfterMatchSkip(SkipTo.LAST, "A"), "chained"),
        # Matches share one row at most: the last one.
        ("A+ B+", AfterMatchSkip(SkipTo.LAST, "B"), "memoised"),
        ("A+ (B | C)", AfterMatchSkip(SkipTo.LAST, "U"), "memoised"),
        ("A+ B*", AfterMatchSkip(SkipTo.LAST, "B"), "chained"),  # the last row may be an A
        ("A+ B* A?", AfterMatchSkip(SkipTo.LAST, "U"), "chained"),
    ],
)
def test_matches_are_chained_only_if_they_share_several_rows(
    text: str, skip: AfterMatchSkip, name: str
) -> None:
    subsets = {"U": frozenset({"B", "C"})}
    task = Query(parse_row_pattern(text), skip, subsets).task()
    strategy = choose_algorithm_and_strategy(task).strategy
    assert strategy.make_name(task) == name


@pytest.mark.parametrize("text", ["((A{100}){100}){100}", "(A? B?){1,3000}"])
def test_a_pattern_that_is_too_large_is_rejected_in_time(text: str) -> None:
    begin = time.process_time()
    with pytest.raises(MatchRecognizePlanError, match="too large"):
        make_query(text).task()
    assert time.process_time() - begin < 10
