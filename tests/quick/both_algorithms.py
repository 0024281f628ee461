"""Compare the matches of a worker with those of the other algorithm in the same rows.

A test thus runs its query on both algorithms in one Spark job: `worker_daemon.py` makes the workers
do so. A task is not compared if only one algorithm supports it, or if the other one gives up.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from matchrec.automaton.run_endings import A_MATCH
from matchrec.errors.run.failures import too_many_steps
from matchrec.search.flat_arrays import list_positions
from matchrec.search.matches import Matches, RunFailure
from matchrec.search.partitions import Partitions
from matchrec.search.strategies import ALGORITHMS
from matchrec.worker.match import PieceWorker
from matchrec.worker.pieces import Piece

MATCHES = ("partition", "number", "start", "completing_rows", "kind")
# If matches share their rows, the rows have another order.
MAPPED_ROWS = ("classifiers", "is_excluded", "mapped_rows")


@dataclass
class Outcome:
    """The result of a search: the matches that it yielded, and its failure if it failed."""

    matches: list[Matches] = field(default_factory=list)
    failure: RunFailure | None = None

    def collect(self, matches: Iterator[Matches]) -> Iterator[Matches]:
        """Yield the matches of a search, and keep them and the failure here."""
        try:
            for chunk in matches:
                self.matches.append(chunk)
                yield chunk
        except RunFailure as failure:
            self.failure = failure
            raise

    def join_in_order(self, name: str) -> np.ndarray[Any, Any]:
        """Return an array of the matches of all chunks, in one order.

        In each partition, matches come before runs. A search may yield runs between its matches,
        depending on where its chunks end, which may change.
        """
        values = self.join(name)
        runs = self.join("kind") != A_MATCH
        if not runs.any() or not len(values):
            return values
        order = np.lexsort((runs, self.join("partition")))
        if name in MATCHES:
            return values[order]
        sizes = np.concatenate([np.diff(chunk.offsets) for chunk in self.matches])
        return values[list_positions((np.cumsum(sizes) - sizes)[order], sizes[order])]

    def join(self, name: str) -> np.ndarray[Any, Any]:
        """Return an array of the matches of all chunks, in the order in which they were found."""
        values = [getattr(chunk, name) for chunk in self.matches]
        return np.concatenate([value for value in values if value is not None] or [np.zeros(0)])


def compare_algorithms() -> None:
    """Make the workers of this process, and of processes forked from it, run both algorithms."""
    find_matches = PieceWorker.find_matches

    def find_on_both(self: PieceWorker, partitions: Partitions, piece: Piece) -> Iterator[Matches]:
        """Yield the matches of the chosen algorithm, and check that the other one finds them."""
        others = find_with_other_algorithm(self, partitions)
        ours = Outcome()
        try:
            yield from ours.collect(find_matches(self, partitions, piece))
        except RunFailure:
            check_same(ours, others or ours)
            raise
        check_same(ours, others or ours)

    PieceWorker.find_matches = find_on_both  # type: ignore[method-assign]


def find_with_other_algorithm(worker: PieceWorker, partitions: Partitions) -> Outcome | None:
    """Return the outcome of the other algorithm; None if it has none for the task or gives up."""
    task = worker.compiled_query.task
    name = next(name for name in ALGORITHMS if name != worker.compiled_query.strategy.algorithm)
    if ALGORITHMS[name].find_obstacle(task) is not None:
        return None
    frontier = deepcopy(partitions.frontier)
    search = (
        ALGORITHMS[name].choose_strategy(task).search(task, replace(partitions, frontier=frontier))
    )
    outcome = Outcome()
    try:
        for _ in outcome.collect(search):
            pass
    except RunFailure as failure:
        return None if failure.make_error is too_many_steps else outcome
    return outcome


def check_same(ours: Outcome, others: Outcome) -> None:
    """Check that two outcomes have the same matches, runs and rows, or the same failure.

    In each partition, both matches and runs must be in the same order.
    """
    if ours.failure or others.failure:
        messages = [outcome.failure and outcome.failure.make_error for outcome in (ours, others)]
        assert messages[0] is messages[1], f"algorithms fail in different ways: {messages}"
        return
    shared = any(chunk.chains for chunk in ours.matches)
    for name in MATCHES if shared else MATCHES + MAPPED_ROWS:
        actual = ours.join_in_order(name)
        expected = others.join_in_order(name)
        assert np.array_equal(actual, expected), (
            f"algorithms differ in {name}: {actual} and {expected}"
        )
