"""The attempts of one partition that are shown, each compared with the engine's matches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappush, heappushpop

from matchrec.automaton.program import A_MATCH
from matchrec.explain.tracing.search import Attempt, Mapped, Tracer
from matchrec.plan.clauses import ONE_OF_A_ROW, MatchOutput
from matchrec.search.interface import Task
from matchrec.search.matches import Matches, next_starts
from matchrec.search.partitions import Partitions
from matchrec.search.strategies import Strategy

# The engine's own matches, the rows from which it searched, and that a trace found the same.


@dataclass(frozen=True, slots=True)
class EngineMatch:
    """A match of the engine. next: the row from which the search goes on after it."""

    partition: int
    number: int
    start: int
    mapped: Mapped
    next: int


EngineMatches = tuple[EngineMatch, ...]


def engine_matches(strategy: Strategy, task: Task, partitions: Partitions) -> EngineMatches:
    """What the engine finds, in its order. Raises RunFailure."""
    chunks = strategy.search(task, partitions)
    return tuple(match for chunk in chunks for match in matches_in(chunk, task))


def matches_in(chunk: Matches, task: Task) -> Iterator[EngineMatch]:
    """The matches of a chunk, without runs that timed out."""
    onward = next_starts(task.after_match, task.members, chunk).tolist() if chunk.count else []
    rows = chunk.mapped_rows.tolist()
    spans = zip(chunk.start.tolist(), chunk.offsets[:-1], chunk.offsets[1:], strict=True)
    for i, (start, begin, end) in enumerate(spans):
        if chunk.kind is not None and chunk.kind[i] != A_MATCH:
            continue
        mapped = tuple(zip(rows[begin:end], chunk.classifiers[begin:end].tolist(), strict=True))
        partition, number = int(chunk.partition[i]), int(chunk.number[i])
        yield EngineMatch(partition, number, start, mapped, onward[i])


def starting_rows(task: Task, matches: EngineMatches, lower: int, upper: int) -> dict[int, int]:
    """The rows of a partition from which the engine searched; of each, how many matches before; 0
    where all matches are asked for.
    """
    if task.output not in ONE_OF_A_ROW:
        return dict.fromkeys(range(lower, upper), 0)
    onward = {one.start: one.next for one in matches}
    found: dict[int, int] = {}
    row, number = lower, 0
    while row < upper:
        found[row] = number
        number += row in onward
        row = onward.get(row, row + 1)
    return found


def check_attempt(task: Task, attempt: Attempt, matches: Iterable[EngineMatch]) -> None:
    """Assert that a finished attempt found what the engine did from its starting row.

    matches: of the engine, from any row. Where some of the matches leave no room for others, those
    that the engine left out are no difference.
    """
    if attempt.is_cut:
        return
    expected = {one.mapped for one in matches if one.start == attempt.start}
    found = set(attempt.matches)
    skips = task.stages is not None and task.stages.skip is not None
    leaves_out = skips or task.output is MatchOutput.NON_OVERLAPPING
    agrees = expected <= found if leaves_out else expected == found
    assert agrees, f"the trace of row {attempt.start} found {found}, the engine {expected}"


MOST_IN_ALL = 1_000_000  # trials of all attempts of a partition


@dataclass(frozen=True)
class Trace:
    """What is known of the search of one partition.

    matches: the engine's. attempts: those that are shown. passed: rows asked for that no search
    started from, with the match that it went past; None where no row was asked for. tried: from how
    many rows it was searched; until: the row at which this was given up as there were too many
    trials, or None.
    """

    matches: EngineMatches
    attempts: tuple[Attempt, ...]
    passed: dict[int, EngineMatch | None] | None
    tried: int
    until: int | None = None


def trace_search(
    task: Task, strategy: Strategy, partitions: Partitions, asked: Sequence[int], limit: int
) -> Trace:
    """The attempts, `limit` at most, from the rows asked for, or else those that found nothing and
    came furthest, the earlier of equals. The engine answers first. Raises RunFailure.
    """
    matches = engine_matches(strategy, task, partitions)
    starts, tracer = starting_rows(task, matches, 0, partitions.rows), Tracer(task, partitions)

    def attempt(row: int) -> Attempt:
        found = tracer.attempt(row, starts[row])
        check_attempt(task, found, matches)
        return found

    if asked:
        attempts = tuple(attempt(row) for row in asked[:limit] if row in starts)
        passed = (row for row in asked[:limit] if row not in starts)
        return Trace(matches, attempts, {row: over(row, matches) for row in passed}, len(starts))
    trials = 0
    best: list[tuple[int, int, Attempt]] = []
    for tried, row in enumerate(starts):
        if trials >= MOST_IN_ALL:
            return Trace(matches, in_order(best), None, tried, row)
        found = attempt(row)
        trials += len(found.trials)
        if not found.matches:
            push = heappush if len(best) < limit else heappushpop
            push(best, (found.reach, -row, found))
    return Trace(matches, in_order(best), None, len(starts))


def in_order(best: list[tuple[int, int, Attempt]]) -> tuple[Attempt, ...]:
    """The attempts, those that came furthest first; without a row only if there are no others."""
    found = sorted(best, reverse=True)
    return tuple(attempt for reach, _, attempt in found if reach or not found[0][0])


def over(row: int, matches: EngineMatches) -> EngineMatch | None:
    """The match after which the search went on behind a row."""
    return next((one for one in matches if one.start < row < one.next), None)
