"""Traces of small tasks, compared with what an engine found."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from matchrec.engine.engines import ENGINES
from matchrec.engine.interface import Task
from matchrec.engine.matches import RunFailure
from matchrec.engine.partitions import Partitions
from matchrec.tracing.agreement import (
    EngineMatch,
    check_attempt,
    engine_matches,
    starting_rows,
)
from matchrec.tracing.attempt import Attempt
from matchrec.tracing.search import Tracer
from tests.quick.scale import FULL


def check_traces(task: Task, partitions: Partitions) -> None:
    """Trace from all starting rows and compare with an engine's matches, in a full run with all's.

    A search that fails has no attempts.
    """
    task = replace(task, windowed=partitions.window_end is not None)
    able = (engine for engine in ENGINES.values() if engine.supports(task) is None)
    algorithms = [engine.choose(task) for engine in able]
    for algorithm in algorithms if FULL else algorithms[:1]:
        with suppress(RunFailure):
            attempts(task, partitions, engine_matches(algorithm, task, partitions))


def attempts(task: Task, partitions: Partitions, matches: tuple[EngineMatch, ...]) -> list[Attempt]:
    """The attempts from all starting rows, compared with the matches."""
    tracer, found = Tracer(task, partitions), []
    for number in range(len(partitions.starts) - 1):
        own = [match for match in matches if match.partition == number]
        lower, upper = partitions.starts[number : number + 2].tolist()
        for start in starting_rows(task, own, lower, upper):
            found.append(tracer.attempt(start.row, start.number, number))
            check_attempt(task, found[-1], own)
        begun = {attempt.start for attempt in found}
        assert {match.start for match in own} <= begun
    return found
