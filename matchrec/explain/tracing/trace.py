"""Trace the search of one partition: choose the attempts to show, and check each of them.

The search that the query uses runs first. Each traced attempt must find the matches that this
search finds from the same row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappush, heappushpop
from typing import NamedTuple

from matchrec.automaton.run_endings import A_MATCH
from matchrec.explain.tracing.search import Tracer
from matchrec.explain.tracing.trials import Attempt, MappedRow, PathRows
from matchrec.plan.clauses import ONE_MATCH_PER_START, MatchOutput
from matchrec.search.matches import Matches, find_next_starts
from matchrec.search.partitions import Partitions
from matchrec.search.strategy import Strategy
from matchrec.search.task import Task

# `trace_best` gives up once the attempts of the partition have this many trials together.
MAX_TRIALS_PER_PARTITION = 1_000_000


@dataclass(frozen=True, slots=True)
class SearchMatch:
    """A match that the search finds."""

    # The index of the partition.
    partition: int
    # The number of the match in the partition, from 1.
    number: int
    # The position of the starting row.
    start: int
    # The rows of the match, each with its variable.
    mapped: PathRows
    # The position of the row from which the search continues after the match; `NO_TARGET` of
    # `search_loop` if the match has no row to skip to.
    next_start: int


def find_search_matches(
    strategy: Strategy, task: Task, partitions: Partitions
) -> tuple[SearchMatch, ...]:
    """Run a search, and return the matches that it finds, in this order.

    Raises:
        RunFailure: a condition cannot be computed.
    """
    chunks = strategy.search(task, partitions)
    return tuple(match for chunk in chunks for match in read_matches(chunk, task))


def read_matches(chunk: Matches, task: Task) -> Iterator[SearchMatch]:
    """Yield the matches of a chunk, without runs that timed out."""
    if chunk.count == 0:
        return
    next_starts = find_next_starts(task.after_match, task.members, chunk).tolist()
    rows = chunk.mapped_rows.tolist()
    offsets = chunk.offsets.tolist()
    spans = zip(chunk.start.tolist(), offsets[:-1], offsets[1:], strict=True)
    for index, (start, begin, end) in enumerate(spans):
        is_timeout = chunk.kind is not None and chunk.kind[index] != A_MATCH
        if is_timeout:
            continue
        variables = chunk.classifiers[begin:end].tolist()
        mapped = tuple(map(MappedRow, rows[begin:end], variables))
        yield SearchMatch(
            partition=int(chunk.partition[index]),
            number=int(chunk.number[index]),
            start=start,
            mapped=mapped,
            next_start=next_starts[index],
        )


def find_starting_rows(task: Task, matches: tuple[SearchMatch, ...], rows: range) -> dict[int, int]:
    """Return the starting rows of the search, each with the number of matches before it.

    If the query returns all matches, the search begins at every row, and all counts are 0, because
    such matches have no order. Otherwise, after `Task.max_matches` matches, the search ends.

    Args:
        task: the task of the search.
        matches: all matches of one partition.
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
        next_row = row_after_match.get(row)
        if next_row is None:
            row += 1
            continue
        match_count += 1
        if match_count == task.max_matches:
            break
        assert next_row > row, "the search fails if a match has no later row to skip to"
        row = next_row
    return match_counts


def check_attempt(task: Task, attempt: Attempt, matches: Iterable[SearchMatch]) -> None:
    """Assert that an attempt found the matches that the search finds from its starting row.

    With a skip strategy, NON-OVERLAPPING MATCHES or FIRST n MATCHES, the attempt may have found
    more matches, which the query leaves out.

    Args:
        task: the task of the search.
        attempt: an attempt. Nothing is asserted about an attempt that was cut.
        matches: the matches that the search finds from the starting row, and perhaps others.
    """
    if attempt.is_truncated:
        return
    expected = {match.mapped for match in matches if match.start == attempt.start}
    actual = set(attempt.matches)
    has_skip_strategy = task.stages is not None and task.stages.skip is not None
    leaves_matches_out = (
        has_skip_strategy
        or task.output is MatchOutput.NON_OVERLAPPING
        or task.max_matches is not None
    )
    is_right = expected <= actual if leaves_matches_out else expected == actual
    assert is_right, f"the trace of row {attempt.start} found {actual}, the search {expected}"


class RankedAttempt(NamedTuple):
    """An attempt without a match, ordered so that the best attempt is the greatest tuple.

    An attempt is better if it mapped more rows, or the same number of rows from an earlier starting
    row. Starting rows differ, so a comparison never reaches the third field.
    """

    reach: int  # the number of rows that the attempt mapped
    negative_start: int  # the position of the starting row, negated
    attempt: Attempt


@dataclass(frozen=True)
class Trace:
    """The recorded search of one partition."""

    # All matches that the search finds.
    matches: tuple[SearchMatch, ...]
    # The attempts to show: the attempts from chosen rows in the order of these rows, or the best
    # attempts without a match, the best one first.
    attempts: tuple[Attempt, ...]
    # The positions of the chosen rows from which no search started, each with the match that skips
    # the row, or None if the search had ended before the row. There is no dict if no rows were
    # chosen.
    skipped_rows: dict[int, SearchMatch | None] | None
    # The number of starting rows of the search. If the trace gave up, only those that were traced.
    starting_row_count: int
    # The position of the row at which the trace gave up because there were too many trials; None if
    # all starting rows were traced.
    gave_up_at: int | None = None


def trace_search(
    task: Task, strategy: Strategy, partitions: Partitions, rows: Sequence[int], limit: int
) -> Trace:
    """Trace the search of one partition.

    The search runs first, so that a condition that fails raises the same error as in the query.

    Args:
        task: the task of the search.
        strategy: the strategy of the search.
        partitions: the rows, which form a single partition.
        rows: the positions of the rows to explain, which the user chose. If it is empty, the
            attempts without a match that mapped the most rows are shown; of equally good attempts,
            the earlier ones.
        limit: show at most this many attempts. Of the chosen rows, only the first `limit` are
            explained.

    Raises:
        RunFailure: a condition cannot be computed.
    """
    matches = find_search_matches(strategy, task, partitions)
    match_count_by_start = find_starting_rows(task, matches, range(partitions.row_count))
    tracer = Tracer(task, partitions)
    if rows:
        return trace_chosen_rows(tracer, matches, match_count_by_start, rows[:limit])
    return trace_best(tracer, matches, match_count_by_start, limit)


def trace_chosen_rows(
    tracer: Tracer,
    matches: tuple[SearchMatch, ...],
    match_count_by_start: dict[int, int],
    rows: Sequence[int],
) -> Trace:
    """Trace the attempts from chosen rows.

    Args:
        tracer: the search that records attempts.
        matches: all matches that the search finds.
        match_count_by_start: the starting rows of the search, see `find_starting_rows`.
        rows: the positions of the chosen rows.
    """
    matches_by_start = group_by_start(matches)
    attempts = [
        trace_and_check(tracer, row, match_count_by_start[row], matches_by_start.get(row, ()))
        for row in rows
        if row in match_count_by_start
    ]
    skipped_rows = {
        row: find_skipping_match(row, matches) for row in rows if row not in match_count_by_start
    }
    return Trace(
        matches, tuple(attempts), skipped_rows, starting_row_count=len(match_count_by_start)
    )


def trace_best(
    tracer: Tracer,
    matches: tuple[SearchMatch, ...],
    match_count_by_start: dict[int, int],
    limit: int,
) -> Trace:
    """Trace all attempts, and keep the attempts without a match that mapped the most rows.

    Args:
        tracer: the search that records attempts.
        matches: all matches that the search finds.
        match_count_by_start: the starting rows of the search, see `find_starting_rows`.
        limit: how many attempts are kept.
    """
    matches_by_start = group_by_start(matches)
    trial_count = 0
    ranked_attempts: list[RankedAttempt] = []  # a heap, whose smallest item is the worst attempt
    gave_up_at = None
    traced_count = 0
    for row, match_count in match_count_by_start.items():
        if trial_count >= MAX_TRIALS_PER_PARTITION:
            gave_up_at = row
            break
        attempt = trace_and_check(tracer, row, match_count, matches_by_start.get(row, ()))
        traced_count += 1
        trial_count += len(attempt.trials)
        if attempt.matches:
            continue
        ranked_attempt = RankedAttempt(attempt.longest_path_length, -row, attempt)
        if len(ranked_attempts) < limit:
            heappush(ranked_attempts, ranked_attempt)
        else:
            heappushpop(ranked_attempts, ranked_attempt)
    return Trace(
        matches,
        select_best_attempts(ranked_attempts),
        skipped_rows=None,
        starting_row_count=traced_count,
        gave_up_at=gave_up_at,
    )


def group_by_start(matches: Iterable[SearchMatch]) -> dict[int, list[SearchMatch]]:
    """Return matches by the position of their starting row."""
    matches_by_start: dict[int, list[SearchMatch]] = {}
    for match in matches:
        matches_by_start.setdefault(match.start, []).append(match)
    return matches_by_start


def trace_and_check(
    tracer: Tracer, row: int, match_count: int, matches: Iterable[SearchMatch]
) -> Attempt:
    """Return the attempt from a row, after asserting that it found what the search found.

    Args:
        tracer: the search that records attempts.
        row: the position of the starting row.
        match_count: the number of matches of the partition before this attempt.
        matches: the matches that the search finds from the starting row.
    """
    attempt = tracer.record_attempt(row, match_count)
    check_attempt(tracer.task, attempt, matches)
    return attempt


def select_best_attempts(ranked_attempts: list[RankedAttempt]) -> tuple[Attempt, ...]:
    """Return the attempts to show, best first.

    Attempts that mapped no row are left out, unless no attempt mapped any.
    """
    best_first = sorted(ranked_attempts, reverse=True)
    has_mapped_rows = bool(best_first) and best_first[0].reach > 0
    return tuple(ranked.attempt for ranked in best_first if ranked.reach > 0 or not has_mapped_rows)


def find_skipping_match(row: int, matches: tuple[SearchMatch, ...]) -> SearchMatch | None:
    """Return the match that kept the search from starting at a row.

    None if no match did: the search had ended because of FIRST n MATCHES. Otherwise, the row is
    after the starting row of the match, and before the row from which the search continued.
    """
    return next((match for match in matches if match.start < row < match.next_start), None)
