"""Traces of small tasks, compared with what an engine found."""

from __future__ import annotations

from dataclasses import replace

from matchrec.engine.interface import Engine, Task
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


def traced(engine: Engine, task: Task, partitions: Partitions) -> list[Attempt]:
    """The attempts from all starting rows, each compared with the engine's matches.

    A search that fails has no attempts: the same error is raised.
    """
    task = replace(task, windowed=partitions.window_end is not None)
    try:
        matches = engine_matches(engine.choose(task), task, partitions)
    except RunFailure:
        return []
    return list(attempts(task, partitions, matches))


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
