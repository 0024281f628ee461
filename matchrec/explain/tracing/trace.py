"""Trace the search of one partition: choose the attempts to show, and check each of them.

The search runs first. A trace must find the same matches as the search did.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappush, heappushpop
from typing import NamedTuple

from matchrec.automaton.run_endings import A_MATCH
from matchrec.explain.tracing.search import Tracer
from matchrec.explain.tracing.trials import Attempt, Mapped, MappedRow
from matchrec.plan.clauses import ONE_MATCH_PER_START, MatchOutput
from matchrec.search.matches import Matches, find_next_starts
from matchrec.search.partitions import Partitions
from matchrec.search.strategy import Strategy
from matchrec.search.task import Task


@dataclass(frozen=True, slots=True)
class SearchMatch:
    """A match that the search finds."""

    # The index of its partition.
    partition: int
    # Its number in the partition, from 1.
    number: int
    # The position of its starting row.
    start: int
    # Its rows and their variables.
    mapped: Mapped
    # The position of the row from which the search goes on after it.
    next_start: int


SearchMatches = tuple[SearchMatch, ...]


def find_search_matches(strategy: Strategy, task: Task, partitions: Partitions) -> SearchMatches:
    """Return the matches that the search finds, in its order.

    Raises:
        RunFailure: a condition cannot be computed.
    """
    chunks = strategy.search(task, partitions)
    return tuple(match for chunk in chunks for match in read_matches(chunk, task))


def read_matches(chunk: Matches, task: Task) -> Iterator[SearchMatch]:
    """Yield the matches of a chunk, without runs that timed out."""
    next_rows = (
        find_next_starts(task.after_match, task.members, chunk).tolist() if chunk.count else []
    )
    rows = chunk.mapped_rows.tolist()
    spans = zip(chunk.start.tolist(), chunk.offsets[:-1], chunk.offsets[1:], strict=True)
    for index, (start, begin, end) in enumerate(spans):
        if chunk.kind is not None and chunk.kind[index] != A_MATCH:
            continue
        variables = chunk.classifiers[begin:end].tolist()
        mapped = tuple(map(MappedRow, rows[begin:end], variables))
        yield SearchMatch(
            partition=int(chunk.partition[index]),
            number=int(chunk.number[index]),
            start=start,
            mapped=mapped,
            next_start=next_rows[index],
        )


def find_starting_rows(task: Task, matches: SearchMatches, rows: range) -> dict[int, int]:
    """Return the starting rows of the search, each with the number of matches before it.

    If the query returns all matches, the search began at every row, and the numbers are 0.

    Args:
        task: the task of the search.
        matches: the matches of one partition.
        rows: the positions of the partition's rows.
    """
    if task.output not in ONE_MATCH_PER_START:
        return dict.fromkeys(rows, 0)
    row_after_match = {match.start: match.next_start for match in matches}
    match_counts: dict[int, int] = {}
    row = rows.start
    match_count = 0
    while row < rows.stop:
        match_counts[row] = match_count
        if row in row_after_match:
            match_count += 1
            row = row_after_match[row]
        else:
            row += 1
    return match_counts


def check_attempt(task: Task, attempt: Attempt, matches: Iterable[SearchMatch]) -> None:
    """Check that a finished attempt finds what the search finds from its starting row.

    If a match can leave no room for others, the attempt may find more: the search leaves those out.

    Args:
        task: the task of the search.
        attempt: an attempt. One that was cut is not checked.
        matches: the search's matches from any row of the partition.
    """
    if attempt.is_cut:
        return
    expected = {match.mapped for match in matches if match.start == attempt.start}
    actual = set(attempt.matches)
    skips = task.stages is not None and task.stages.skip is not None
    leaves_out = skips or task.output is MatchOutput.NON_OVERLAPPING
    agrees = expected <= actual if leaves_out else expected == actual
    assert agrees, f"the trace of row {attempt.start} found {actual}, the search {expected}"


# The number of trials that the attempts of a partition have together before the trace gives up.
MOST_TRIALS_IN_ALL = 1_000_000


class RankedAttempt(NamedTuple):
    """An attempt without a match, which is greater than others if it is better.

    It is better if it mapped more rows, or as many from an earlier row. Starting rows differ, so
    attempts themselves are never compared.
    """

    reach: int
    negative_start: int
    attempt: Attempt


@dataclass(frozen=True)
class Trace:
    """The recorded search of one partition."""

    # The matches that the search finds.
    matches: SearchMatches
    # The attempts that are shown.
    attempts: tuple[Attempt, ...]
    # The chosen rows from which no search started, each with the match that skips the row; None if
    # no rows were chosen.
    skipped_rows: dict[int, SearchMatch | None] | None
    # The number of starting rows that were traced.
    traced_rows: int
    # The row at which the trace gave up because there were too many trials; None if it did not.
    gave_up_at: int | None = None


def trace_search(
    task: Task, strategy: Strategy, partitions: Partitions, rows: Sequence[int], limit: int
) -> Trace:
    """Trace the search of one partition.

    The search runs first, so that an error is the search's.

    Args:
        task: the task of the search.
        strategy: the strategy of the search.
        partitions: the only partition.
        rows: the starting rows to show. Without any, the attempts that found nothing and mapped
            the most rows are shown, the earlier of equals.
        limit: the maximal number of attempts to show.

    Raises:
        RunFailure: a condition cannot be computed.
    """
    matches = find_search_matches(strategy, task, partitions)
    starts = find_starting_rows(task, matches, range(partitions.row_count))
    tracer = Tracer(task, partitions)
    if rows:
        return trace_rows(tracer, matches, starts, rows[:limit])
    return trace_best(tracer, matches, starts, limit)


def trace_rows(
    tracer: Tracer, matches: SearchMatches, starts: dict[int, int], rows: Sequence[int]
) -> Trace:
    """Trace the attempts from chosen rows.

    Args:
        tracer: the search.
        matches: the search's matches.
        starts: the starting rows of the search, see `find_starting_rows`.
        rows: the chosen rows.
    """
    attempts = [trace_row(tracer, row, starts[row], matches) for row in rows if row in starts]
    skipped_rows = {row: find_skipping_match(row, matches) for row in rows if row not in starts}
    return Trace(matches, tuple(attempts), skipped_rows, traced_rows=len(starts))


def trace_best(tracer: Tracer, matches: SearchMatches, starts: dict[int, int], limit: int) -> Trace:
    """Trace all attempts, and keep those that found nothing and mapped the most rows.

    Args:
        tracer: the search.
        matches: the search's matches.
        starts: the starting rows of the search, see `find_starting_rows`.
        limit: how many attempts are kept.
    """
    trial_count = 0
    best: list[RankedAttempt] = []  # a heap, whose smallest item is the worst attempt
    for traced_rows, (row, match_count) in enumerate(starts.items()):
        if trial_count >= MOST_TRIALS_IN_ALL:
            return Trace(
                matches,
                sort_attempts(best),
                skipped_rows=None,
                traced_rows=traced_rows,
                gave_up_at=row,
            )
        attempt = trace_row(tracer, row, match_count, matches)
        trial_count += len(attempt.trials)
        if attempt.matches:
            continue
        ranked_attempt = RankedAttempt(attempt.reach, -row, attempt)
        if len(best) < limit:
            heappush(best, ranked_attempt)
        else:
            heappushpop(best, ranked_attempt)
    return Trace(matches, sort_attempts(best), skipped_rows=None, traced_rows=len(starts))


def trace_row(tracer: Tracer, row: int, match_count: int, matches: SearchMatches) -> Attempt:
    """Return the attempt from a row, and assert that it found what the search found."""
    attempt = tracer.attempt(row, match_count)
    check_attempt(tracer.task, attempt, matches)
    return attempt


def sort_attempts(best: list[RankedAttempt]) -> tuple[Attempt, ...]:
    """Return attempts, those that mapped the most rows first.

    Attempts that mapped no row are returned only if there are no others.
    """
    best_first = sorted(best, reverse=True)
    has_mapped_rows = bool(best_first) and best_first[0].reach > 0
    return tuple(ranked.attempt for ranked in best_first if ranked.reach > 0 or not has_mapped_rows)


def find_skipping_match(row: int, matches: SearchMatches) -> SearchMatch | None:
    """Return the match that skips a row, so that no search started there."""
    return next((match for match in matches if match.start < row < match.next_start), None)
