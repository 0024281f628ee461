"""Compare searches in compiled code with the same searches in Python.

Python runs a search until its kernel is compiled. So a search is also run by Python alone, and by
Python with many interruptions. A full run also hands over from Python
to compiled code after few steps, and after half of the rows. In a quick run a kernel may not have
been compiled at all. Then Python is compared with itself.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from unittest import mock

from matchrec.jit.cached_function import CACHED_FUNCTIONS, Types
from matchrec.jit.first_steps import LateKernel, StoppableKernel
from matchrec.search.matches import Matches, RunFailure
from matchrec.search.partitions import Partitions
from matchrec.search.strategy import Strategy
from matchrec.search.task import Task
from tests.quick.scale import FULL

MAX_COMPARED = 500  # larger partitions (in rows) are not compared
StepsByKernel = dict[StoppableKernel[..., object], Counter[Types]]
"""The steps that Python has taken, by kernel and types."""

MANY = 1 << 40  # more steps than any search takes
ENOUGH = 1 << 20  # more steps than the search of a single starting row takes
# The numbers of steps after which Python hands over to compiled code in a full run.
FEW = (0, 1, 2, 3, 7, 50)


def is_small(partitions: Partitions) -> bool:
    """Return whether partitions have so few rows that Python can search them."""
    return partitions.row_count <= MAX_COMPARED


def compare_with_python(strategy: Strategy, task: Task, partitions: Partitions) -> None:
    """Check that Python finds the same matches, unless the partitions are large."""
    if not is_small(partitions):
        return
    expected = outcome(strategy, task, partitions)
    for _ in as_python_runs(partitions):
        assert outcome(strategy, task, partitions) == expected


def as_python_runs(partitions: Partitions) -> Iterator[None]:
    """Let Python run the searches in the body of a loop over this iterator.

    The body is run several times: without a stop, and with many stops. In a full run compiled code
    also goes on after each number of steps in `FEW`, and after half of the rows.
    """
    with python_takes_steps(MANY):
        yield
    with python_is_stopped_often():
        yield
    if FULL:
        for most in (*FEW, 1 + partitions.row_count // 2):
            with python_takes_steps(most):
                yield


@contextmanager
def python_takes_steps(most: int) -> Iterator[StepsByKernel]:
    """Let Python begin each kernel, and take at most `most` of its steps.

    Yields the steps that Python has taken, for each kernel that it can stop.
    """

    def allow_steps(kernel: LateKernel[..., object], types: Types, _least: int) -> int:
        """Return the number of steps that are left for Python."""
        return max(0, most - kernel.steps_by_python[types])

    with replace_steps(allow_steps) as steps_by_kernel:
        yield steps_by_kernel


@contextmanager
def python_is_stopped_often() -> Iterator[None]:
    """Let Python run all kernels, and stop it after 2 steps, then after 4 more, and so on.

    It may take more steps each time, because it repeats a starting row for which it has too few.
    When it has enough for any row, it begins again with 2.
    """
    allowed = 1

    def allow_steps(_kernel: LateKernel[..., object], _types: Types, _least: int) -> int:
        """Return a number of steps that grows from call to call."""
        nonlocal allowed
        allowed += 1 + allowed // 4
        if allowed > ENOUGH:
            allowed = 2
        return allowed

    with replace_steps(allow_steps):
        yield


@contextmanager
def replace_steps(allow_steps: object) -> Iterator[StepsByKernel]:
    """Replace `LateKernel.allow_steps`, and stop its clock; yield the steps that Python takes."""
    steps_by_kernel: StepsByKernel = {}
    with ExitStack() as patches:
        for kernel in CACHED_FUNCTIONS:
            if isinstance(kernel, LateKernel):
                steps: Counter[Types] = Counter()
                patches.enter_context(mock.patch.object(kernel, "steps_by_python", steps))
                if isinstance(kernel, StoppableKernel):
                    steps_by_kernel[kernel] = steps
        patches.enter_context(mock.patch.object(LateKernel, "allow_steps", allow_steps))
        clock = mock.patch("matchrec.jit.first_steps.thread_time", stand_still)
        patches.enter_context(clock)
        yield steps_by_kernel


def stand_still() -> float:
    """Return the time on a clock that stands still. A mock would be slow."""
    return 0.0


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
    return matches, frontier.next_start.tolist(), frontier.match_number.tolist()


def list_matches(chunk: Matches) -> Iterator[tuple[object, ...]]:
    """Yield each match of a chunk as a tuple.

    It has the partition, number and starting row of the match, with event selection its kind, then
    the variables of its rows, which rows are excluded, and with event selection the rows.
    """
    for match in range(chunk.count):
        begin, end = chunk.offsets[match : match + 2].tolist()
        indexes = list(range(begin, end))
        if chunk.chains is not None and indexes:
            indexes[0] = int(chunk.chains.first_mapped_rows[match])
            for i in range(1, len(indexes)):
                indexes[i] = int(chunk.chains.next_mapped_rows[indexes[i - 1]])
        match_arrays = [chunk.partition, chunk.number, chunk.start]
        if chunk.kind is not None:
            match_arrays.append(chunk.kind)
        row_arrays = [chunk.classifiers, chunk.is_excluded]
        if chunk.rows is not None and chunk.chains is None:
            row_arrays.append(chunk.rows)
        yield (
            *(int(array[match]) for array in match_arrays),
            *(array[indexes].tolist() for array in row_arrays),
        )
