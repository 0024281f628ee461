"""The limit of steps ends hopeless searches, and changes no other search."""

from __future__ import annotations

import itertools
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

from matchrec.conditions.run_condition import (
    Arithmetic,
    ArithmeticOperator,
    Comparison,
    Constant,
    ReadValue,
    Reduction,
    RunAggregate,
    RunExpression,
    build_operation,
)
from matchrec.conditions.types import Kind
from matchrec.errors.run import failures
from matchrec.jit import callbacks
from matchrec.jit.first_steps import STEPS_PER_SECOND
from matchrec.plan.clauses import PartialMatches
from matchrec.search.matches import RunFailure
from matchrec.search.partial import PartialSearch, find_starts_without_match
from matchrec.search.partitions import Frontier, Partitions
from matchrec.search.strategies import ALGORITHMS, SearchAlgorithm, classify_time
from matchrec.search.task import Capacity, Task
from tests.tasks.by_python import MANY, python_takes_steps
from tests.tasks.contiguous import make_query, search

SUM = RunAggregate(Reduction.SUM, None, 0, Kind.INTEGER)
SOME: RunExpression = build_operation(Comparison.GREATER, SUM, Constant(0, Kind.INTEGER))
NEVER: RunExpression = build_operation(Comparison.LESS, SUM, Constant(0, Kind.INTEGER))
algorithms = pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS)


def make_task(pattern: str, run_conditions: dict[str, RunExpression], most: int | None) -> Task:
    """Return the task for a pattern, with a limit of steps."""
    return replace(
        replace(make_query(pattern), run_conditions=run_conditions).task(), max_steps=most
    )


def make_ones(*sizes: int) -> Partitions:
    """Return partitions of ones, in which each row satisfies every row condition."""
    rows = sum(sizes)
    return Partitions(
        np.append(0, np.cumsum(sizes)).astype(np.int64),
        np.full((rows, 1), 7, np.uint64),
        np.ones((1, rows), np.int64),
        np.ones((1, rows), np.bool_),
        1,
    )


@algorithms
def test_a_hopeless_search_ends_where_it_is(algorithm: SearchAlgorithm) -> None:
    hopeless = make_task("(A | B)+ C", {"A": SOME, "B": NEVER, "C": NEVER}, 3000)
    with pytest.raises(RunFailure) as failure:
        list(search(algorithm, hopeless, make_ones(3, 200)))
    assert failure.value.make_error is failures.too_many_steps
    assert 3 <= failure.value.row < 203
    assert failure.value.fields == {"limit": 3000}


@pytest.mark.night  # compiles a search of its own
def test_the_search_for_runs_without_a_match_ends_too() -> None:
    timed_out = PartialMatches(shows_timed_out=True)
    hopeless = replace(make_task("(A | B)+ C", {"A": SOME, "C": NEVER}, 3), partial=timed_out)
    rows, none = make_ones(4), np.zeros(0, np.int64)
    runs = PartialSearch(
        hopeless, rows, Capacity(), find_starts_without_match(hopeless, rows, none, none)
    )
    with pytest.raises(RunFailure) as failure:
        list(runs.find_matches())
    assert failure.value.make_error is failures.too_many_steps
    assert failure.value.row == 0


@algorithms
def test_each_partition_has_its_own_steps(algorithm: SearchAlgorithm) -> None:
    run_conditions: dict[str, RunExpression] = {"A": SOME}
    wide = list(search(algorithm, make_task("A A", run_conditions, None), make_ones(*[4] * 50)))
    assert sum(chunk.count for chunk in wide) == 100
    enough = list(search(algorithm, make_task("A A", run_conditions, 8), make_ones(*[4] * 50)))
    assert sum(chunk.count for chunk in enough) == 100
    with pytest.raises(RunFailure, match="too_many_steps"):
        list(search(algorithm, make_task("A A", run_conditions, 3), make_ones(4)))


@algorithms
def test_steps_of_a_partition_in_pieces_add_up(algorithm: SearchAlgorithm) -> None:
    task = make_task("A A", {"A": SOME}, 100)
    rows = make_ones(40)
    frontier = Frontier.create(rows.starts, edge=40)
    list(search(algorithm, task, replace(rows, frontier=frontier)))
    assert 40 <= frontier.step_count[0] <= 80
    again = replace(rows, frontier=Frontier.create(rows.starts, step_count=90))
    with pytest.raises(RunFailure, match="too_many_steps"):
        list(search(algorithm, task, again))


@algorithms
def test_python_takes_no_more_steps_than_it_may(algorithm: SearchAlgorithm) -> None:
    """The limit holds for any number of ways. Compiled code goes on where Python has stopped."""
    many = make_task("(A | B){11} C | A", {"A": SOME, "B": SOME, "C": NEVER}, None)
    most = 30
    with python_takes_steps(most) as steps_by_kernel:
        chunks = algorithm.choose_strategy(many).search(many, make_ones(12))
        assert sum(chunk.count for chunk in chunks) == 12
    assert [steps.total() for steps in steps_by_kernel.values() if steps] == [most]


@algorithms
def test_python_takes_no_longer_than_it_may(algorithm: SearchAlgorithm) -> None:
    """Conditions on the data are not steps, but there may be many ways that test them."""
    task, second = make_task("A", {}, None), STEPS_PER_SECOND
    clock = mock.patch(
        "matchrec.jit.first_steps.thread_time", side_effect=itertools.count(0, 0.375)
    )
    no_estimate = mock.patch("matchrec.jit.first_steps.STEPS_BEFORE_ESTIMATE", MANY)
    with python_takes_steps(second) as steps_by_kernel, clock, no_estimate:
        chunks = algorithm.choose_strategy(task).search(task, make_ones(12))
        assert sum(chunk.count for chunk in chunks) == 12
    assert [steps.total() for steps in steps_by_kernel.values() if steps] == [4 * 0.375 * second]


@algorithms
@pytest.mark.parametrize("most", [1, 10, 40, 100])
def test_steps_that_compiled_code_repeats_are_counted_once(
    algorithm: SearchAlgorithm, most: int
) -> None:
    by_python = count_evaluations(algorithm, MANY)
    then_compiled = count_evaluations(algorithm, most)
    if algorithm is ALGORITHMS["backtracking"]:
        # 2 + 4 + 8 + 16 ways to map four rows, 16 tests of C, and A alone, from each of 8 rows.
        assert by_python == 8 * 47 + 31 + 15 + 7 + 3
        assert then_compiled == by_python
    # The search of all runs at once has done with some starting rows, whose steps do not count.
    assert 0 < then_compiled <= by_python


def count_evaluations(algorithm: SearchAlgorithm, most: int) -> int:
    """Return the number of steps that a search counts if Python takes the first ones."""
    many = make_task("(A | B){4} C | A", {"A": SOME, "B": SOME, "C": NEVER}, None)
    rows = make_ones(12)
    frontier = Frontier.create(rows.starts)
    with python_takes_steps(most):
        list(algorithm.choose_strategy(many).search(many, replace(rows, frontier=frontier)))
    return int(frontier.step_count[0])


@algorithms
def test_conditions_on_the_data_are_not_steps(algorithm: SearchAlgorithm) -> None:
    chunks = list(search(algorithm, make_task("(A | B)+ C", {}, 1), make_ones(100)))
    assert sum(chunk.count for chunk in chunks) == 1


@pytest.mark.parametrize(
    ("pattern", "run_conditions", "backtracking", "breadth_first"),
    [
        ("(A | B)+ C", {}, "linear in the number of rows", "linear in the number of rows"),
        (
            "A B C",
            {"C": SOME},
            "linear in the number of rows",
            "linear in the number of rows times W; W is at most 3",
        ),
        ("A+ B", {"A": SOME}, "can grow polynomially with W", "can grow polynomially with W"),
        ("(A | B)+ C", {"A": SOME}, "can grow exponentially", "can grow exponentially"),
        ("(A?){9} A{9}", {"A": SOME}, "can grow exponentially", "can grow exponentially"),
    ],
)
def test_the_time_of_each_algorithm_is_classified(
    pattern: str, run_conditions: dict[str, RunExpression], backtracking: str, breadth_first: str
) -> None:
    task = make_task(pattern, run_conditions, None)
    assert classify_time(task, "backtracking").startswith(backtracking)
    assert classify_time(task, "breadth_first").startswith(breadth_first)


def test_python_needs_no_compiled_arithmetic(monkeypatch: pytest.MonkeyPatch) -> None:
    """B holds if x > 2 * MIN(x) - 1, over the rows 1, 1, 3, 1, 1, 3."""
    monkeypatch.setattr(callbacks, "compile_for_c", None)
    least = RunAggregate(Reduction.MIN, None, 0, Kind.INTEGER)
    two, one_constant = Constant(2, Kind.INTEGER), Constant(1, Kind.INTEGER)
    double = Arithmetic(ArithmeticOperator.MULTIPLY, (two, least), Kind.INTEGER)
    bound = Arithmetic(ArithmeticOperator.SUBTRACT, (double, one_constant), Kind.INTEGER)
    rising = build_operation(Comparison.GREATER, ReadValue(0, Kind.INTEGER), bound)
    rows = replace(make_ones(6), columns=np.array([[1, 1, 3, 1, 1, 3]]))
    with python_takes_steps(MANY):
        # Not `tasks.contiguous.search`, which in a full run lets machine code search, too.
        planned_task = make_task("A+? B", {"B": rising}, None)
        (matches,) = (
            ALGORITHMS["backtracking"].choose_strategy(planned_task).search(planned_task, rows)
        )
    assert matches.start.tolist() == [0, 3]
    assert matches.offsets.tolist() == [0, 3, 6]
