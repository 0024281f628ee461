"""Python takes the first steps of a kernel, and machine code the others.

Most of these kernels count the numbers from 1 to a last one, in two places: `progress.total` adds
up the numbers that are done, and `totals` is what a number is worked on with. Where a test is not
about numba, the function itself takes the place of its machine code.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from matchrec.jit import first_steps
from matchrec.jit.cached_function import describe_types
from matchrec.jit.decorators import (
    allocating,
    inner,
    kernel,
    linear_kernel,
    optional_kernel,
    stoppable_kernel,
    stopping_point,
    stopping_test,
)
from matchrec.jit.first_steps import LateKernel, LinearKernel, StoppableKernel
from matchrec.shortcuts import Shortcuts, use_shortcuts

DONE, STOPPED = 0, 1
Kernel = StoppableKernel[..., int]


class Numbers(NamedTuple):
    """The record that the kernels of these tests read."""

    numbers: Any
    factor: int


@stopping_point(lambda _, progress: progress.next)
@inner
def has_number(numbers, progress):
    """Return whether a number is left."""
    return progress.next < numbers.shape[0]


def uncount(number, progress):
    """Take back some tests."""
    progress.tests -= number


@stopping_test(uncount)
@inner
def must_stop(progress):
    """Return whether the limit of tests is exceeded."""
    progress.tests += 1
    return progress.tests > progress.limit


@inner
def add_number(numbers, progress, work):
    """Add a number one by one, so that it is half done when a test stops it."""
    work[0] = 0
    for _ in range(numbers[progress.next]):
        if must_stop(progress):
            return STOPPED
        work[0] += 1
    progress.total += work[0]
    progress.next += 1
    return DONE


@stoppable_kernel
def add_all(numbers, progress, work):
    """Add the numbers that are left, each with one test."""
    while has_number(numbers, progress):
        if add_number(numbers, progress, work) != DONE:
            return STOPPED
    return DONE


@linear_kernel
def negate(record):
    """Negate the numbers of a record."""
    for index in range(record.numbers.shape[0]):
        record.numbers[index] = -record.numbers[index]


@allocating
def halve(numbers):
    """Return half of each number."""
    return numbers // 2


@optional_kernel
def sort(numbers):
    """Sort the numbers."""
    numbers.sort()


@linear_kernel
def add_up(numbers):
    """Return the sum of some numbers."""
    total = 0
    for index in range(numbers.shape[0]):
        total += numbers[index]
    return total


def make_progress(limit: int = 1 << 40) -> Any:
    """Return the progress of `add_all` at its start."""
    fields = ("next", "total", "tests", "limit")
    progress = np.zeros(1, (np.record, [(field, np.int64) for field in fields]))[0]
    progress.limit = limit
    return progress


def make_numbers(*numbers: int) -> npt.NDArray[np.int64]:
    """Return numbers to add up, which cannot be written to."""
    array = np.array(numbers, np.int64)
    array.flags.writeable = False
    return array


Take = Callable[[int], None]


@pytest.fixture
def take(monkeypatch: pytest.MonkeyPatch) -> Iterator[Take]:
    """Allow Python a number of steps of `add_all`; then its function stands for machine code."""
    compiled: list[int] = []

    def call_compiled(kernel: Kernel, _types: object, arguments: tuple[Any, ...]) -> Any:
        compiled.append(int(arguments[1].next))
        token = first_steps.CURRENT_RUN.set(None)  # machine code has no stopping points
        try:
            return kernel.function(*arguments)
        finally:
            first_steps.CURRENT_RUN.reset(token)

    def allow_steps(number: int) -> None:
        def allow(kernel: Kernel, types: Any, _least: int) -> int:
            return max(0, number - kernel.steps_by_python[types])

        monkeypatch.setattr(StoppableKernel, "allow_steps", allow)
        add_all.steps_by_python.clear()
        compiled.clear()

    monkeypatch.setattr(StoppableKernel, "call_compiled", call_compiled)
    monkeypatch.setattr(first_steps, "thread_time", lambda: 0.0)
    allow_steps.compiled = compiled  # type: ignore[attr-defined]
    yield allow_steps
    add_all.steps_by_python.clear()


@pytest.mark.parametrize("steps", range(20))
def test_machine_code_goes_on_wherever_python_stops(take: Any, steps: int) -> None:
    take(steps)
    numbers, progress = make_numbers(3, 1, 4), make_progress()
    assert add_all(numbers, progress, np.zeros(1, np.int64)) == DONE
    # The steps: a point and 3 tests, a point and 1 test, a point and 4 tests, and a point.
    expected = 4 * [0] + 2 * [1] + 5 * [2] + [3]
    assert take.compiled == expected[steps : steps + 1]
    assert (progress.next, progress.total) == (3, 8)
    assert progress.tests == 8, "those that are repeated count once"
    assert add_all.steps_by_python.total() == min(steps, 12)


def test_python_goes_on_where_it_stopped(monkeypatch: pytest.MonkeyPatch, take: Any) -> None:
    """When numba has been loaded, and the kernel is not on disk."""
    take(0)
    allowed = iter([1, 2, 5, 3, 9])
    monkeypatch.setattr(StoppableKernel, "allow_steps", lambda *_: next(allowed))
    numbers, progress = make_numbers(3, 1, 4), make_progress()
    assert add_all(numbers, progress, np.zeros(1, np.int64)) == DONE
    assert (progress.next, progress.total, progress.tests) == (3, 8, 8)
    assert (take.compiled, [*allowed]) == ([], [])


@pytest.mark.parametrize("steps", [0, 1, 5, 8, 100])
def test_a_kernel_that_stops_for_its_own_reason_is_done(take: Any, steps: int) -> None:
    take(steps)
    progress = make_progress(limit=6)
    assert add_all(make_numbers(3, 1, 4), progress, np.zeros(1, np.int64)) == STOPPED
    assert (progress.next, progress.total, progress.tests) == (2, 4, 7)
    assert len(take.compiled) == (steps < 100)


def test_steps_that_take_long_count_by_their_time(
    take: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(first_steps.STEPS_PER_SECOND)
    monkeypatch.setattr(first_steps, "thread_time", itertools.count(0, 0.25).__next__)
    progress = make_progress()
    assert add_all(make_numbers(1, 1, 1), progress, np.zeros(1, np.int64)) == DONE
    assert take.compiled == [1], "the fourth step would be taken after a second"
    assert progress.total == 3


def test_python_stops_early_if_its_steps_will_be_too_few(
    take: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each number takes 5 steps, so after 20 steps there are 80 more to take."""
    monkeypatch.setattr(first_steps, "STEPS_BEFORE_ESTIMATE", 20)
    for steps, compiled in ((90, [4]), (102, [])):
        take(steps)
        progress = make_progress()
        assert add_all(make_numbers(*[4] * 20), progress, np.zeros(1, np.int64)) == DONE
        assert take.compiled == compiled
        assert (progress.next, progress.total, progress.tests) == (20, 80, 80)
    take(90)
    add_all(make_numbers(*[4] * 20), make_progress(), np.zeros(1, np.int64))
    assert add_all.steps_by_python.total() == 90, "no steps are left for a second call"


def test_an_error_of_the_kernel_passes_through(take: Any) -> None:
    take(100)
    with pytest.raises(AttributeError):
        add_all(make_numbers(3), np.zeros(1, [("other", np.int64)])[0], np.zeros(1, np.int64))
    assert first_steps.CURRENT_RUN.get() is None
    with pytest.raises(IndexError):
        add_all(make_numbers(3), make_progress(), np.zeros(0, np.int64))
    assert first_steps.CURRENT_RUN.get() is None


def test_outside_of_a_run_nothing_stops() -> None:
    progress = make_progress(limit=3)
    assert [must_stop(progress) for _ in range(4)] == [False, False, False, True]
    assert has_number(make_numbers(1), progress)


def test_a_run_within_a_run_counts_its_own_steps(take: Any) -> None:
    inner_progress = make_progress()

    def add_both(numbers: Any, progress: Any, work: Any) -> int:
        while has_number(numbers, progress):
            add_all(make_numbers(5), inner_progress, work)
            progress.next += 1
        return DONE

    outer: Kernel = StoppableKernel(add_both, {})
    take(4)
    progress = make_progress()
    assert outer(make_numbers(1, 1), progress, np.zeros(1, np.int64)) == DONE
    assert (progress.next, inner_progress.total) == (2, 5)
    assert take.compiled[0] == 0, "the inner one has too few steps"
    assert outer.steps_by_python.total() == 3, "the outer one has enough"
    assert add_all.steps_by_python.total() == 4


def test_each_thread_counts_its_own_steps(take: Any) -> None:
    """Tasks of one program run in threads. Each of these has begun before another one goes on."""
    barrier = Barrier(4)

    def run(last: int) -> tuple[int, int]:
        def add(numbers: Any, progress: Any, work: Any) -> int:
            while has_number(numbers, progress):
                barrier.wait(timeout=60)
                status: int = add_number(numbers, progress, work)
                barrier.wait(timeout=60)
                if status != DONE:
                    return status
            return DONE

        kernel: Kernel = StoppableKernel(add, {})
        kernel.call_compiled = lambda _types, arguments: arguments[1].next  # type: ignore[assignment]
        progress = make_progress()
        return kernel(make_numbers(1, last), progress, np.zeros(1, np.int64)), int(progress.total)

    take(5)  # a point and a test, and a point and `last` tests, and a point
    with ThreadPoolExecutor(4) as threads:
        assert [*threads.map(run, [1, 1, 3, 1])] == [(DONE, 2), (DONE, 2), (1, 1), (DONE, 2)]


def test_numba_compiles_the_plain_functions() -> None:
    """Points and tests are not in machine code, which stops for its own reason only."""
    numbers, progress = make_numbers(3, 1, 4), make_progress(limit=6)
    with use_shortcuts(Shortcuts(max_python_steps=0)):
        assert add_all(numbers, progress, np.zeros(1, np.int64)) == STOPPED
        assert (progress.next, progress.total, progress.tests) == (2, 4, 7)
    assert len(add_all.compiled) == 1
    assert add_all.steps_by_python.total() == 0


def test_a_linear_kernel_runs_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python writes to the same arrays as compiled code."""
    monkeypatch.setattr(negate, "is_on_disk", lambda _: False)  # by an earlier run of this test
    with use_shortcuts(Shortcuts(max_python_steps=6)):
        for numbers in (np.array([1, 2, 3]), np.array([4, 5]), np.array([6, 7])):
            expected = [-number for number in numbers.tolist()]
            negate(Numbers(numbers, 1))
            assert numbers.tolist() == expected
    assert negate.steps_by_python.total() == 5
    assert len(negate.compiled) == 1


def test_an_allocating_kernel_runs_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halve, "is_on_disk", lambda _: False)  # by an earlier run of this test
    with use_shortcuts(Shortcuts(max_python_steps=6)):
        assert [halve(np.arange(size)).tolist() for size in (3, 2)] == [[0, 0, 1], [0, 0]]
        assert halve.compiled == {}
        assert halve(np.arange(3)).tolist() == [0, 0, 1]
    assert len(halve.compiled) == 1


def test_the_caller_of_an_optional_kernel_takes_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sort, "is_on_disk", lambda _: False)
    arguments = (np.array([2, 1]),)
    with use_shortcuts(Shortcuts(max_python_steps=6)):
        assert [sort.take_steps(steps, arguments) for steps in (4, 3, 2, 1)] == [
            True,
            False,
            True,
            False,
        ]


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> LateKernel[..., Any]:
    """Return a kernel that is neither compiled nor kept, in a process that has loaded numba."""
    import numba  # noqa: F401

    kernel: LateKernel[..., Any] = LinearKernel(add_up.function, add_up.options)
    monkeypatch.setattr(kernel, "is_on_disk", lambda _: False)
    return kernel


THREE = np.array([5, 6, 7])
TYPES = describe_types((THREE,))
OTHER_TYPES = describe_types((THREE.astype(np.int32),))


def test_python_takes_at_most_the_configured_steps(fresh: LateKernel[..., Any]) -> None:
    with use_shortcuts(Shortcuts(max_python_steps=10)):
        for left in (10, 6, 2):
            assert fresh.allow_steps(TYPES, 1) == left
            fresh.steps_by_python[TYPES] += 4
        assert fresh.allow_steps(TYPES, 1) == 0
        assert fresh.allow_steps(OTHER_TYPES, 1) == 10, "other types have other code"
        assert fresh.allow_steps(OTHER_TYPES, 10) == 10
        assert fresh.allow_steps(OTHER_TYPES, 11) == 0, "no call is begun that takes more"


def test_python_begins_no_call_of_many_steps(fresh: LateKernel[..., Any]) -> None:
    many = first_steps.MAX_STEPS_AT_ONCE
    with use_shortcuts(Shortcuts(max_python_steps=4 * many)):
        assert fresh.allow_steps(TYPES, many) == 4 * many
        assert fresh.allow_steps(TYPES, many + 1) == 0


def test_python_takes_no_steps_if_machine_code_exists(
    fresh: LateKernel[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fresh, "is_on_disk", lambda _: True)
    assert fresh.allow_steps(TYPES, 1) == 0
    monkeypatch.setattr(fresh, "is_on_disk", lambda _: False)
    fresh.compiled[TYPES] = fresh.function
    assert fresh.allow_steps(TYPES, 1) == 0
    assert fresh.allow_steps(OTHER_TYPES, 1) > 0


def test_the_disk_is_looked_at_again_after_twice_the_steps(
    fresh: LateKernel[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps_at_looks: list[int] = []

    def is_on_disk(types: Any) -> bool:
        steps_at_looks.append(fresh.steps_by_python[types])
        return len(steps_at_looks) == 5

    monkeypatch.setattr(fresh, "is_on_disk", is_on_disk)
    with use_shortcuts(Shortcuts(max_python_steps=100)):
        while fresh.take_steps(3, (THREE,)):
            pass
    assert steps_at_looks == [0, 3, 6, 12, 24]


def test_python_takes_an_eighth_of_its_steps_before_numba_is_loaded(
    fresh: LateKernel[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does so even if code is on disk, because loading numba takes longer than a few steps."""
    monkeypatch.setattr(fresh, "is_on_disk", lambda types: types == TYPES)
    with use_shortcuts(Shortcuts(max_python_steps=4 * first_steps.DIVISOR_BEFORE_NUMBA)):
        with monkeypatch.context() as patch:
            patch.delitem(sys.modules, "numba")
            for left in (4, 3, 2, 1):
                assert fresh.allow_steps(TYPES, 1) == left
                fresh.steps_by_python[TYPES] += 1
            assert fresh.allow_steps(OTHER_TYPES, 4) == 4
        assert fresh.allow_steps(TYPES, 1) == 0, "its code is on disk"
        left = 4 * first_steps.DIVISOR_BEFORE_NUMBA
        assert fresh.allow_steps(OTHER_TYPES, 5) == left, "its code is not on disk"


def test_numba_is_not_loaded_if_no_code_is_on_disk(
    fresh: LateKernel[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "numba")
    monkeypatch.setattr(fresh, "is_on_disk", None)
    monkeypatch.setattr(fresh, "may_be_on_disk", lambda: False)
    divisor = first_steps.DIVISOR_BEFORE_NUMBA
    with use_shortcuts(Shortcuts(max_python_steps=4 * divisor)):
        assert fresh.allow_steps(TYPES, 4) == 4
        assert fresh.allow_steps(TYPES, 5) == 4 * divisor


def test_numbers_wrap_in_python_too(fresh: LateKernel[..., Any]) -> None:
    most = np.array([2**63 - 1, 1])
    assert fresh(most) == kernel(add_up.function)(most) == -(2**63)
    assert fresh.compiled == {}
