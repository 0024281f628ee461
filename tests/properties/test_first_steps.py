"""Whoever takes the first steps of a search, the matches are the same: for each kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from matchrec.automaton.occurrences import compile_occurrences
from matchrec.conditions.run_condition import (
    Comparison,
    Constant,
    Reduction,
    RunAggregate,
    RunExpression,
    build_operation,
)
from matchrec.conditions.types import Kind
from matchrec.jit.cached_function import CACHED_FUNCTIONS
from matchrec.jit.first_steps import StoppableKernel
from matchrec.plan.clauses import (
    AfterMatchSkip,
    EventSelection,
    MatchOutput,
    PartialMatches,
    SkipTo,
)
from matchrec.search.coverage import AnnotatedTask, Counts, find_matches
from matchrec.search.partitions import Frontier, Partitions
from matchrec.search.strategies import ALGORITHMS
from matchrec.search.task import Task
from tests.properties.test_coverage import build_annotated_task
from tests.quick.scale import FULL
from tests.tasks import contiguous, selection
from tests.tasks.by_python import (
    FEW,
    MANY,
    list_matches,
    outcome,
    python_is_stopped_often,
    python_takes_steps,
)

pytestmark = pytest.mark.larger  # a full run compares with compiled code

# A condition on the run: the rows of the match have a small sum.
SMALL = build_operation(
    Comparison.LESS, RunAggregate(Reduction.SUM, None, 0, Kind.INTEGER), Constant(14, Kind.INTEGER)
)
# With the last of these, what follows A depends on the data only, so failures are remembered.
CONDITIONS: tuple[dict[str, RunExpression], ...] = ({}, {"B": SMALL}, {"A": SMALL})
PATTERNS = ("A+ B", "(A | B)+ C", "A B* C?", "A (B | C)+ $ | B", "A (B | C)* C C | A B?")
SEQUENCES = ("A B", "A B+ C", "A (B | C)")
SKIPS = (AfterMatchSkip(), AfterMatchSkip(SkipTo.NEXT_ROW), AfterMatchSkip(SkipTo.LAST, "B"))
OUTPUTS = (MatchOutput.PREFERRED, MatchOutput.ALL, MatchOutput.NON_OVERLAPPING)


def draw_rows(seed: int, *, windowed: bool) -> Partitions:
    """Draw partitions of 14, 0 and 10 rows. About half of the rows satisfy each variable."""
    generator = np.random.default_rng(seed)
    starts = np.array([0, 14, 14, 24])
    rows = np.arange(24)
    satisfied = (generator.random((24, 3)) < 0.55) @ (1 << np.arange(3))
    partition_end = np.where(rows < 14, 14, 24)
    return Partitions(
        starts,
        satisfied.astype(np.uint64).reshape(-1, 1),
        generator.integers(1, 6, (1, 24)),
        np.ones((1, 24), np.bool_),
        1,
        np.minimum(rows + 6, partition_end) if windowed else None,
        frontier=Frontier.create(starts),
    )


def make_contiguous_tasks() -> Iterator[Task]:
    """Yield tasks for matches of consecutive rows."""
    for text in PATTERNS:
        for run_conditions in CONDITIONS:
            query = replace(contiguous.make_query(text), run_conditions=run_conditions)
            yield replace(query, output=MatchOutput.LONGEST).task()
            for after_match in SKIPS:
                task = replace(query, after_match=after_match).task()
                yield task
                yield replace(task, wants_chains=task.can_share_rows)
            yield replace(query.task(), max_steps=70)
            yield replace(
                query.task(), partial=PartialMatches(shows_timed_out=True, shows_unfinished=True)
            )


def make_selection_tasks() -> Iterator[Task]:
    """Yield tasks whose matches may skip rows."""
    for text in SEQUENCES:
        for kind in (EventSelection.SKIP_TILL_NEXT_MATCH, EventSelection.SKIP_TILL_ANY_MATCH):
            for output in OUTPUTS:
                for run_conditions in CONDITIONS:
                    query = selection.make_query(text, kind, output)
                    yield selection.build_task(replace(query, run_conditions=run_conditions))


def search_all(name: str, rows: Partitions) -> list[object]:
    """Return the outcome of an algorithm for each task that it can run."""
    outcomes: list[object] = []
    for task in (*make_contiguous_tasks(), *make_selection_tasks()):
        windowed = replace(task, has_window=rows.window_end is not None)
        # The starting rows that a limited breadth-first search finishes depend on where it stops.
        is_exact = windowed.max_steps is None or name == "backtracking"
        if is_exact and ALGORITHMS[name].find_obstacle(windowed) is None:
            outcomes.append(outcome(ALGORITHMS[name].choose_strategy(windowed), windowed, rows))
    return outcomes


def cover_all(rows: Partitions) -> list[object]:
    """Return the coverage of each query."""
    windowed = rows.window_end is not None
    tasks = []
    for text in PATTERNS:
        for run_conditions in CONDITIONS:
            query = replace(contiguous.make_query(text), run_conditions=run_conditions)
            tasks.append(build_annotated_task(query, windowed=windowed))
    for text in SEQUENCES:
        query = selection.make_query(text, EventSelection.SKIP_TILL_ANY_MATCH)
        task = replace(selection.build_task(query), has_window=windowed)
        occurrences = compile_occurrences(task.pattern, query.pattern, all_matches=True)
        parts = tuple((number,) for number in range(len(task.conditions)))
        task = replace(task, pattern=occurrences.pattern)
        tasks.append(AnnotatedTask(task, occurrences, parts))
    covered: list[object] = []
    for annotated in tasks:
        counts = Counts.create(annotated)
        chunks = find_matches(annotated, counts, replace(rows, frontier=None))
        covered.append([match for chunk in chunks for match in list_matches(chunk)])
        covered.append([array.tolist() for array in counts])
    return covered


SEARCHES: dict[str, Callable[[Partitions], list[object]]] = {
    "backtracking": lambda rows: search_all("backtracking", rows),
    "breadth_first": lambda rows: search_all("breadth_first", rows),
    "coverage": cover_all,
}


@pytest.mark.parametrize("windowed", [False, True])
@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_python_and_compiled_code_take_turns(
    search: Callable[[Partitions], list[object]], windowed: bool
) -> None:
    rows = draw_rows(1, windowed=windowed)
    with python_takes_steps(0 if FULL else MANY):
        expected = search(rows)
    with python_is_stopped_often():
        assert search(rows) == expected
    for most in (*FEW, 200, MANY) if FULL else ():
        with python_takes_steps(most):
            assert search(rows) == expected


def test_python_begins_each_kernel() -> None:
    """The tasks here use all kernels of searches, so the test above tests all of them."""
    with python_takes_steps(MANY) as steps_by_kernel:
        for windowed in (False, True):
            for search in SEARCHES.values():
                search(draw_rows(2, windowed=windowed))
    search_kernels = [
        kernel for kernel in steps_by_kernel if kernel.__module__.startswith("matchrec.search")
    ]
    stoppable_kernels = [
        kernel
        for kernel in CACHED_FUNCTIONS
        if isinstance(kernel, StoppableKernel) and kernel.__module__.startswith("matchrec.")
    ]
    assert len(search_kernels) == len(stoppable_kernels)
    unused = [kernel.__module__ for kernel in search_kernels if not steps_by_kernel[kernel]]
    assert unused == []
