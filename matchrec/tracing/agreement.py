"""The engine's own matches, the rows from which it searched, and that a trace found the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from matchrec.engine.engines import Algorithm
from matchrec.engine.interface import Task
from matchrec.engine.matches import Matches, next_starts
from matchrec.engine.partitions import Partitions
from matchrec.nfa.program import A_MATCH
from matchrec.plan.clauses import ONE_OF_A_ROW, MatchOutput
from matchrec.tracing.attempt import Attempt, Mapped


@dataclass(frozen=True, slots=True)
class EngineMatch:
    """A match of the engine. next: the row from which the search goes on after it."""

    partition: int
    number: int
    start: int
    mapped: Mapped
    next: int


def engine_matches(
    algorithm: Algorithm, task: Task, partitions: Partitions
) -> tuple[EngineMatch, ...]:
    """What the engine finds, in its order. Raises RunFailure."""
    chunks = algorithm.search(task, partitions)
    return tuple(match for chunk in chunks for match in matches_in(chunk, task))


def matches_in(chunk: Matches, task: Task) -> Iterator[EngineMatch]:
    """The matches of a chunk, without runs that timed out."""
    onward = next_starts(task.after_match, task.members, chunk).tolist() if chunk.count else []
    for i, (start, begin, end) in enumerate(
        zip(chunk.start.tolist(), chunk.offsets[:-1], chunk.offsets[1:], strict=True)
    ):
        if chunk.kind is not None and chunk.kind[i] != A_MATCH:
            continue
        rows: Iterable[int] = range(start, start + int(end - begin))
        if chunk.rows is not None:
            rows = chunk.rows[begin:end].tolist()
        mapped = tuple(zip(rows, chunk.classifiers[begin:end].tolist(), strict=True))
        partition, number = int(chunk.partition[i]), int(chunk.number[i])
        yield EngineMatch(partition, number, start, mapped, onward[i])


@dataclass(frozen=True, slots=True)
class StartingRow:
    """A row from which the engine searched. number: how many matches it had found before."""

    row: int
    number: int
    match: EngineMatch | None = None


def starting_rows(
    task: Task, matches: Iterable[EngineMatch], lower: int, upper: int
) -> Iterator[StartingRow]:
    """The rows of a partition from which the engine searched, with the match of each, if any.

    matches: of the partition. Where all matches are asked for, every row is one.
    """
    if task.output not in ONE_OF_A_ROW:
        yield from (StartingRow(row, 0) for row in range(lower, upper))
        return
    found = {one.start: one for one in matches}
    row, number = lower, 0
    while row < upper:
        match = found.get(row)
        yield StartingRow(row, number, match)
        number += match is not None
        row = row + 1 if match is None else match.next


def check_attempt(task: Task, attempt: Attempt, matches: Iterable[EngineMatch]) -> None:
    """Assert that a finished attempt found what the engine did from its starting row.

    matches: of the engine, from any row. Where some of the matches leave no room for others, those
    that the engine left out are no difference.
    """
    if attempt.is_cut:
        return
    expected = {one.mapped for one in matches if one.start == attempt.start}
    found = set(attempt.matches)
    leaves_out = task.output is MatchOutput.NON_OVERLAPPING or (
        task.stages is not None and task.stages.skip is not None
    )
    agrees = expected <= found if leaves_out else expected == found
    assert agrees, f"the trace of row {attempt.start} found {found}, the engine {expected}"
