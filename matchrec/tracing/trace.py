"""The attempts of one partition that are shown, each compared with the engine's matches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappush, heappushpop

from matchrec.engine.engines import Algorithm
from matchrec.engine.interface import Task
from matchrec.engine.partitions import Partitions
from matchrec.tracing.agreement import (
    EngineMatch,
    StartingRow,
    check_attempt,
    engine_matches,
    starting_rows,
)
from matchrec.tracing.attempt import Attempt
from matchrec.tracing.search import Tracer

MOST_IN_ALL = 1_000_000  # trials of all attempts of a partition


@dataclass(frozen=True)
class Trace:
    """What is known of the search of one partition.

    matches: the engine's. attempts: those that are shown. passed: rows asked for that no search
    started from, with the match that it went past. tried: from how many rows it was searched;
    until: the row at which this was given up as there were too many trials, or None. is_of_rows:
    whether rows were asked for.
    """

    matches: tuple[EngineMatch, ...]
    attempts: tuple[Attempt, ...]
    passed: dict[int, EngineMatch | None]
    tried: int
    until: int | None = None
    is_of_rows: bool = False


@dataclass(frozen=True)
class TracedSearch:
    """A task over one partition. The engine answers first: only then is it traced."""

    task: Task
    algorithm: Algorithm
    partitions: Partitions

    def trace(self, asked: Sequence[int], limit: int) -> Trace:
        """The attempts from the rows asked for, or else those that came furthest without a match.

        limit: how many attempts. Raises RunFailure.
        """
        matches = engine_matches(self.algorithm, self.task, self.partitions)
        rows = list(starting_rows(self.task, matches, 0, self.partitions.rows))
        if asked:
            return self.of_rows(asked[:limit], matches, rows)
        return self.of_the_best(limit, matches, rows)

    def of_rows(
        self, asked: Sequence[int], matches: tuple[EngineMatch, ...], rows: list[StartingRow]
    ) -> Trace:
        """The attempts from some rows."""
        starts = {row.row: row for row in rows}
        tracer = Tracer(self.task, self.partitions)
        attempts = [self.checked(tracer, starts[row], matches) for row in asked if row in starts]
        passed = {row: over(row, matches) for row in asked if row not in starts}
        return Trace(matches, tuple(attempts), passed, len(rows), is_of_rows=True)

    def of_the_best(
        self, limit: int, matches: tuple[EngineMatch, ...], rows: list[StartingRow]
    ) -> Trace:
        """The attempts that found nothing and came furthest, the earlier of equals."""
        tracer, trials = Tracer(self.task, self.partitions), 0
        best: list[tuple[int, int, Attempt]] = []
        for tried, start in enumerate(rows):
            if trials >= MOST_IN_ALL:
                return Trace(matches, in_order(best), {}, tried, start.row)
            attempt = self.checked(tracer, start, matches)
            trials += len(attempt.trials)
            if not attempt.matches:
                push = heappush if len(best) < limit else heappushpop
                push(best, (attempt.reach, -attempt.start, attempt))
        return Trace(matches, in_order(best), {}, len(rows))

    def checked(
        self, tracer: Tracer, start: StartingRow, matches: tuple[EngineMatch, ...]
    ) -> Attempt:
        """The attempt from a row, which found what the engine did."""
        attempt = tracer.attempt(start.row, start.number)
        check_attempt(self.task, attempt, matches)
        return attempt


def in_order(best: list[tuple[int, int, Attempt]]) -> tuple[Attempt, ...]:
    """The attempts, those that came furthest first; without a row only if there are no others."""
    found = sorted(best, key=lambda one: (-one[0], -one[1]))
    found = [one for one in found if one[0] or not found[0][0]]
    return tuple(attempt for _, _, attempt in found)


def over(row: int, matches: tuple[EngineMatch, ...]) -> EngineMatch | None:
    """The match after which the search went on behind a row."""
    return next((one for one in matches if one.start < row < one.next), None)
