"""Every search as Python runs it while nothing is compiled: it finds what compiled code finds.

Also where Python takes the first steps only. By day most runs compare Python with what there is,
which is Python where nothing has been compiled; a full run hands over to compiled code.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest import mock

from matchrec.jit.kept import KeptFunction
from matchrec.search.interface import Task
from matchrec.search.matches import Matches, RunFailure
from matchrec.search.partitions import Partitions
from matchrec.search.strategies import Strategy
from tests.quick.scale import FULL

MOST_COMPARED = 500  # rows
MANY = 1 << 40  # steps


def is_small(partitions: Partitions) -> bool:
    """Whether all forms of a search are to be compared."""
    return partitions.rows <= MOST_COMPARED


def compare_with_python(strategy: Strategy, task: Task, partitions: Partitions) -> None:
    """Python finds in some partitions what is found there, if they are small."""
    if not is_small(partitions):
        return
    once = outcome(strategy, task, partitions)
    for _ in as_python_runs(partitions):
        assert outcome(strategy, task, partitions) == once


def as_python_runs(partitions: Partitions) -> Iterator[None]:
    """What is done with each of these, Python does; in a full run, the second time half of it."""
    for most in (MANY, 1 + partitions.rows // 2) if FULL else (MANY,):
        with python_takes_steps(most):
            yield


@contextmanager
def python_takes_steps(most: int) -> Iterator[list[int]]:
    """Inside, Python begins each search of few rows, and takes so many steps of it, however long.

    The list is of how many it has taken.
    """
    taken: list[int] = []

    def count_steps(_kernel: KeptFunction, steps: int, _arguments: object) -> None:
        taken.append(steps)

    with (
        mock.patch.object(KeptFunction, "steps_left", return_value=most),
        mock.patch.object(KeptFunction, "count_steps", count_steps),
        mock.patch("matchrec.search.search.perf_counter", return_value=0.0),
    ):
        yield taken


def outcome(strategy: Strategy, task: Task, partitions: Partitions) -> tuple[object, ...]:
    """Each match, its rows in chains or not, and where the search has come to; or the failure."""
    partitions = replace(partitions, frontier=copy.deepcopy(partitions.frontier))
    try:
        found = [one for chunk in strategy.search(task, partitions) for one in rows_of(chunk)]
    except RunFailure as failure:
        return failure.args
    frontier = partitions.frontier
    return (
        (found,) if frontier is None else (found, frontier.start.tolist(), frontier.number.tolist())
    )


def rows_of(chunk: Matches) -> Iterator[tuple[object, ...]]:
    """Partition, number and first row of each match, its variables, which are excluded, and with
    event selection its kind and rows.
    """
    for match in range(chunk.count):
        begin, end = chunk.offsets[match : match + 2].tolist()
        places = list(range(begin, end))
        if chunk.chains is not None and places:
            places[0] = int(chunk.chains.first[match])
            for index in range(1, len(places)):
                places[index] = int(chunk.chains.following[places[index - 1]])
        identity = [chunk.partition, chunk.number, chunk.start]
        identity += [chunk.kind] * (chunk.kind is not None)
        own = [chunk.classifiers[places], chunk.excluded[places]]
        if chunk.rows is not None and chunk.chains is None:
            own.append(chunk.rows[places])
        yield (*(int(one[match]) for one in identity), *(one.tolist() for one in own))
