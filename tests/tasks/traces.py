"""Compare traces of small tasks with the matches that a search finds."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from matchrec.explain.tracing.search import Tracer
from matchrec.explain.tracing.trace import (
    SearchMatch,
    check_attempt,
    find_search_matches,
    find_starting_rows,
)
from matchrec.explain.tracing.trials import Attempt
from matchrec.search.matches import RunFailure
from matchrec.search.partitions import Partitions
from matchrec.search.strategies import ALGORITHMS
from matchrec.search.task import Task
from tests.quick.scale import FULL, copies_of
from tests.tasks.copies import copy_beside


def check_traces(task: Task, partitions: Partitions) -> None:
    """Trace from all starting rows, and compare with the matches of one algorithm.

    A full run compares with both algorithms. The last of many copies (see `tests.tasks.copies`) is
    traced as well. If a search fails, nothing is compared.
    """
    task = replace(task, has_window=partitions.window_end is not None)
    strategies = [
        algorithm.choose_strategy(task)
        for algorithm in ALGORITHMS.values()
        if algorithm.find_obstacle(task) is None
    ]
    count = len(partitions.starts) - 1
    copies = copy_beside(partitions, copies_of(partitions.row_count))
    for strategy in strategies if FULL else strategies[:1]:
        with suppress(RunFailure):
            for traced in (partitions, copies):
                matches = find_search_matches(strategy, task, traced)
                last_partitions = range(len(traced.starts) - 1)[-count:]
                trace_attempts(task, traced, matches, last_partitions)


def trace_attempts(
    task: Task, partitions: Partitions, matches: tuple[SearchMatch, ...], numbers: Iterable[int]
) -> list[Attempt]:
    """Return the attempts from all starting rows of some partitions, compared with the matches."""
    tracer = Tracer(task, partitions)
    result: list[Attempt] = []
    for number in numbers:
        partition_matches = [match for match in matches if match.partition == number]
        rows = range(*partitions.starts[number : number + 2].tolist())
        for row, before in find_starting_rows(task, partition_matches, rows).items():
            attempt = tracer.record_attempt(row, before, number)
            check_attempt(task, attempt, partition_matches)
            result.append(attempt)
        starts = {attempt.start for attempt in result}
        assert {match.start for match in partition_matches} <= starts
    return result
