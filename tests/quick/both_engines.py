"""What an engine finds in a worker, compared with what the other one finds in the same rows.

So a query of a test runs on both algorithms in one job of Spark: `worker_daemon.py` has its workers
do it. What only one engine can search, and what one of them gives up, is left as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from matchrec.automaton.program import A_MATCH
from matchrec.errors.run.failures import too_many_steps
from matchrec.search.matches import Matches, RunFailure
from matchrec.search.partitions import Partitions, ranges
from matchrec.search.strategies import ALGORITHMS
from matchrec.worker.batches import Piece
from matchrec.worker.match import Worker

MATCHES = ("partition", "number", "start", "completed", "kind")
# If matches share their rows, these have another order.
MAPPED_ROWS = ("classifiers", "excluded", "mapped_rows")


@dataclass
class Outcome:
    """What a search has given: its matches, and why it failed, if it did."""

    matches: list[Matches] = field(default_factory=list)
    failure: RunFailure | None = None

    def collect(self, matches: Iterator[Matches]) -> Iterator[Matches]:
        """Pass the matches on, and keep them here; a failure too."""
        try:
            for chunk in matches:
                self.matches.append(chunk)
                yield chunk
        except RunFailure as failure:
            self.failure = failure
            raise

    def joined(self, name: str) -> np.ndarray[Any, Any]:
        """Return an array of the matches of all chunks, in one order.

        In each partition, matches come before runs. Where a search has put runs between its
        matches depends on where it has cut its chunks, which nothing promises.
        """
        values = self.concatenated(name)
        runs = self.concatenated("kind") != A_MATCH
        if not runs.any() or not len(values):
            return values
        order = np.lexsort((runs, self.concatenated("partition")))
        if name in MATCHES:
            return values[order]
        sizes = np.concatenate([np.diff(chunk.offsets) for chunk in self.matches])
        return values[ranges((np.cumsum(sizes) - sizes)[order], sizes[order])]

    def concatenated(self, name: str) -> np.ndarray[Any, Any]:
        """Return an array of the matches of all chunks, in the order in which they were found."""
        values = [getattr(chunk, name) for chunk in self.matches]
        return np.concatenate([value for value in values if value is not None] or [np.zeros(0)])


def compare_engines() -> None:
    """Has the workers of this process, and of those that it starts, run both algorithms."""
    find_matches = Worker.find_matches

    def find_on_both(self: Worker, partitions: Partitions, piece: Piece) -> Iterator[Matches]:
        """The matches that the chosen engine finds; the other one must find them too."""
        others = find_by_the_other(self, partitions)
        ours = Outcome()
        try:
            yield from ours.collect(find_matches(self, partitions, piece))
        except RunFailure:
            check_same(ours, others or ours)
            raise
        check_same(ours, others or ours)

    Worker.find_matches = find_on_both  # type: ignore[method-assign]


def find_by_the_other(worker: Worker, partitions: Partitions) -> Outcome | None:
    """What the other engine finds; None where it cannot search this, or gives up."""
    task = worker.executable.task
    name = next(name for name in ALGORITHMS if name != worker.executable.strategy.algorithm)
    if ALGORITHMS[name].supports(task) is not None:
        return None
    frontier = deepcopy(partitions.frontier)
    search = ALGORITHMS[name].choose(task).search(task, replace(partitions, frontier=frontier))
    outcome = Outcome()
    try:
        for _ in outcome.collect(search):
            pass
    except RunFailure as failure:
        return None if failure.message is too_many_steps else outcome
    return outcome


def check_same(ours: Outcome, others: Outcome) -> None:
    """Check that both have the same matches, runs and rows, or the same failure.

    In each partition, matches must be in the same order, and so must runs.
    """
    if ours.failure or others.failure:
        messages = [one.failure and one.failure.message for one in (ours, others)]
        assert messages[0] is messages[1], f"engines fail in another way: {messages}"
        return
    shared = any(chunk.chains for chunk in ours.matches)
    for name in MATCHES if shared else MATCHES + MAPPED_ROWS:
        found, expected = ours.joined(name), others.joined(name)
        assert np.array_equal(found, expected), f"engines differ in {name}: {found} and {expected}"
