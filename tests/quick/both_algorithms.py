"""Run each search of a worker with both algorithms, and check that they find the same matches.

A test thus runs its query on both algorithms in one Spark job: `worker_daemon.py` makes the workers
do so. A task is not compared if only one algorithm supports it, or if the other one exceeds the
step limit.
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

# The fields of `Matches` that are compared.
MATCH_FIELDS = ("partition", "number", "start", "completing_rows", "kind")
# Not compared if matches share rows (chains), because each algorithm stores these in its own order.
MAPPED_ROW_FIELDS = ("classifiers", "is_excluded", "mapped_rows")


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

    def read_field_in_order(self, name: str) -> np.ndarray[Any, Any]:
        """Return a field of the matches of all chunks, in an order that ignores how chunks end.

        A search also yields runs that ended without a match. Their place between the matches
        depends on where chunks end, so here they come after all matches of their partition.

        Args:
            name: a field of `Matches`.
        """
        values = self.read_field(name)
        is_run = self.read_field("kind") != A_MATCH
        if not is_run.any() or not len(values):
            return values
        order = np.lexsort((is_run, self.read_field("partition")))
        if name in MATCH_FIELDS:
            return values[order]
        # Move the mapped rows of each match together with it.
        sizes = np.concatenate([np.diff(chunk.offsets) for chunk in self.matches])
        row_starts = np.cumsum(sizes) - sizes
        row_order = list_positions(row_starts[order], sizes[order])
        return values[row_order]

    def read_field(self, name: str) -> np.ndarray[Any, Any]:
        """Return a field of the matches of all chunks, in the order in which they were found."""
        arrays = [getattr(chunk, name) for chunk in self.matches]
        filled_arrays = [array for array in arrays if array is not None]
        return np.concatenate(filled_arrays) if filled_arrays else np.zeros(0)


def compare_algorithms() -> None:
    """Make the workers of this process, and of processes forked from it, run both algorithms."""
    find_matches = PieceWorker.find_matches

    def find_on_both(self: PieceWorker, partitions: Partitions, piece: Piece) -> Iterator[Matches]:
        """Yield the matches of the chosen algorithm, and check that the other one finds them."""
        expected = find_with_other_algorithm(self, partitions)
        actual = Outcome()
        try:
            yield from actual.collect(find_matches(self, partitions, piece))
        except RunFailure:
            if expected is not None:
                check_same(actual, expected)
            raise
        if expected is not None:
            check_same(actual, expected)

    PieceWorker.find_matches = find_on_both  # type: ignore[method-assign]


def find_with_other_algorithm(worker: PieceWorker, partitions: Partitions) -> Outcome | None:
    """Return the outcome of the other algorithm.

    Return None if it cannot search the task, or if it exceeds the step limit.
    """
    task = worker.compiled_query.task
    name = next(name for name in ALGORITHMS if name != worker.compiled_query.strategy.algorithm)
    if ALGORITHMS[name].find_obstacle(task) is not None:
        return None
    # A search changes the frontier, which the worker's own search still needs.
    frontier = deepcopy(partitions.frontier)
    strategy = ALGORITHMS[name].choose_strategy(task)
    search = strategy.search(task, replace(partitions, frontier=frontier))
    outcome = Outcome()
    try:
        for _ in outcome.collect(search):
            pass
    except RunFailure as failure:
        return None if failure.make_error is too_many_steps else outcome
    return outcome


def check_same(actual: Outcome, expected: Outcome) -> None:
    """Check that two outcomes have the same matches, runs and rows, or the same failure.

    In each partition, both matches and runs must be in the same order.
    """
    if actual.failure or expected.failure:
        actual_error = actual.failure.make_error if actual.failure else None
        expected_error = expected.failure.make_error if expected.failure else None
        assert actual_error is expected_error, (
            f"one algorithm fails with {actual_error}, the other with {expected_error}"
        )
        return
    share_rows = any(chunk.chains for chunk in actual.matches)
    for name in MATCH_FIELDS if share_rows else MATCH_FIELDS + MAPPED_ROW_FIELDS:
        actual_values = actual.read_field_in_order(name)
        expected_values = expected.read_field_in_order(name)
        assert np.array_equal(actual_values, expected_values), (
            f"algorithms differ in {name}: {actual_values} and {expected_values}"
        )
