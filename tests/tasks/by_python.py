"""Compare searches in compiled code with the same searches in Python.

Python runs a search until its kernel is compiled. A full run also hands over from Python to
compiled code after half of the rows. In a quick run a kernel may not have been compiled at all.
Then Python is compared with itself.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest import mock

from matchrec.jit.disk_cache import CachedFunction
from matchrec.search.matches import Matches, RunFailure
from matchrec.search.partitions import Partitions
from matchrec.search.strategy import Strategy
from matchrec.search.task import Task
from tests.quick.scale import FULL

MOST_COMPARED = 500  # compare partitions with at most so many rows
MANY = 1 << 40  # more steps than any search takes


def is_small(partitions: Partitions) -> bool:
    """Return whether partitions have so few rows that Python can search them."""
    return partitions.rows <= MOST_COMPARED


def compare_with_python(strategy: Strategy, task: Task, partitions: Partitions) -> None:
    """Check that Python finds the same in partitions, unless they are large."""
    if not is_small(partitions):
        return
    expected = outcome(strategy, task, partitions)
    for _ in as_python_runs(partitions):
        assert outcome(strategy, task, partitions) == expected


def as_python_runs(partitions: Partitions) -> Iterator[None]:
    """Let Python run the searches in the body of a loop over this iterator.

    In a full run the body is run twice. The second time, Python hands over to compiled code after
    as many steps as half of the rows.
    """
    for most in (MANY, 1 + partitions.rows // 2) if FULL else (MANY,):
        with python_takes_steps(most):
            yield


@contextmanager
def python_takes_steps(most: int) -> Iterator[list[int]]:
    """Let Python begin each search, and take at most so many steps of it.

    Yields a list to which each search appends the number of steps that Python has taken.
    """
    taken: list[int] = []

    def count_steps(_kernel: CachedFunction[..., object], steps: int, _arguments: object) -> None:
        taken.append(steps)

    with (
        mock.patch.object(CachedFunction, "count_steps_left", return_value=most),
        mock.patch.object(CachedFunction, "count_more_steps", return_value=0),
        mock.patch.object(CachedFunction, "count_steps", count_steps),
        mock.patch("matchrec.search.kernel_search.perf_counter", return_value=0.0),
    ):
        yield taken


def outcome(strategy: Strategy, task: Task, partitions: Partitions) -> tuple[object, ...]:
    """Return the matches of a search and the state of its frontier, or its failure.

    Matches are the same whether they are stored in chains or not.
    """
    partitions = replace(partitions, frontier=copy.deepcopy(partitions.frontier))
    matches: list[tuple[object, ...]] = []
    try:
        for chunk in strategy.search(task, partitions):
            matches += list_matches(chunk)
    except RunFailure as failure:
        return failure.args
    frontier = partitions.frontier
    if frontier is None:
        return (matches,)
    return matches, frontier.start.tolist(), frontier.number.tolist()


def list_matches(chunk: Matches) -> Iterator[tuple[object, ...]]:
    """Yield each match of a chunk as a tuple.

    It has the partition, number and starting row of the match, with event selection its kind, then
    the variables of its rows, which rows are excluded, and with event selection the rows.
    """
    for match in range(chunk.count):
        begin, end = chunk.offsets[match : match + 2].tolist()
        indexes = list(range(begin, end))
        if chunk.chains is not None and indexes:
            indexes[0] = int(chunk.chains.first[match])
            for i in range(1, len(indexes)):
                indexes[i] = int(chunk.chains.following[indexes[i - 1]])
        match_arrays = [chunk.partition, chunk.number, chunk.start]
        if chunk.kind is not None:
            match_arrays.append(chunk.kind)
        row_arrays = [chunk.classifiers, chunk.excluded]
        if chunk.rows is not None and chunk.chains is None:
            row_arrays.append(chunk.rows)
        yield (
            *(int(array[match]) for array in match_arrays),
            *(array[indexes].tolist() for array in row_arrays),
        )
