"""Traces of small tasks, compared with what an engine found."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from matchrec.explain.tracing.search import Attempt, Tracer
from matchrec.explain.tracing.trace import EngineMatch, check_attempt, engine_matches, starting_rows
from matchrec.search.interface import Task
from matchrec.search.matches import RunFailure
from matchrec.search.partitions import Partitions
from matchrec.search.strategies import ALGORITHMS
from tests.quick.scale import FULL, copies_of
from tests.tasks.copies import copies_beside


def check_traces(task: Task, partitions: Partitions) -> None:
    """Trace from all starting rows and compare with an engine's matches, in a full run with all's.

    So do traces of the last of many copies, see `tests/tasks/copies.py`. A search that fails has no
    attempts.
    """
    task = replace(task, windowed=partitions.window_end is not None)
    able = (algorithm for algorithm in ALGORITHMS.values() if algorithm.supports(task) is None)
    algorithms = [algorithm.choose(task) for algorithm in able]
    count, large = len(partitions.starts) - 1, copies_beside(partitions, copies_of(partitions.rows))
    for strategy in algorithms if FULL else algorithms[:1]:
        with suppress(RunFailure):
            for asked in (partitions, large):
                found = engine_matches(strategy, task, asked)
                attempts(task, asked, found, range(len(asked.starts) - 1)[-count:])


def attempts(
    task: Task, partitions: Partitions, matches: tuple[EngineMatch, ...], numbers: Iterable[int]
) -> list[Attempt]:
    """The attempts from all starting rows of some partitions, compared with the matches."""
    tracer, found = Tracer(task, partitions), []
    for number in numbers:
        own = [match for match in matches if match.partition == number]
        lower, upper = partitions.starts[number : number + 2].tolist()
        for row, before in starting_rows(task, own, lower, upper).items():
            found.append(tracer.attempt(row, before, number))
            check_attempt(task, found[-1], own)
        begun = {attempt.start for attempt in found}
        assert {match.start for match in own} <= begun
    return found
