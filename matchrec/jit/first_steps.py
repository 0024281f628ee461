"""Let Python take the first steps of a kernel, because compiling the kernel takes seconds.

A kernel is a Python function, so Python can run it, only more slowly. While the machine code of a
kernel is missing, Python runs the kernel and counts its steps. After `Shortcuts.max_python_steps`
steps, the kernel is compiled, and machine code goes on. The caller does not notice.

A step is a small piece of work, about as long as one iteration of the kernel's innermost loop:

    class            decorator                    how many steps a call takes
    LinearKernel     linear_kernel, allocating    the length of its longest array
    StoppableKernel  stoppable_kernel             counted while Python runs it
    LateKernel       optional_kernel              known to the caller, who runs something else

Python runs a call of a linear kernel to its end, or not at all. A stoppable kernel keeps in its
arguments how far it has come, so that it can be interrupted: a second call with the same arguments
goes on from there. Python interrupts it in two kinds of functions that the kernel calls:

    stopping point   The kernel calls it when it has completed a piece of its work, such as a
                     starting row. If Python has no steps left, or probably too few for the
                     remaining rows, it raises an exception that ends the run.
    stopping test    It returns whether the kernel must stop. If Python has no steps left, the
                     test returns True. The kernel then returns as it does whenever it must stop,
                     and its result is dropped.

For example, with `seek_start` as a stopping point, and a stopping test in `search_from_start`:

    @stoppable_kernel
    def search(rows, progress):
        while seek_start(rows, progress):
            status = search_from_start(rows, progress)
            if status != DONE:
                return status
        return DONE

In machine code, both are plain functions and cost nothing.

A stopping test raises no exception, because the kernel must first save how far it has come within
the piece. Restoring a copy of the progress instead is not enough, because the kernel has also
written to arrays, and a copy of all arrays takes too long.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar
from time import thread_time
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np
import numpy.typing as npt

from matchrec.jit.cached_function import CachedFunction, Types, describe_types
from matchrec.jit.parts import KernelPart
from matchrec.jit.views import read_only, share_with_python
from matchrec.shortcuts import current_shortcuts

P = ParamSpec("P")
R = TypeVar("R")

# Before numba is loaded, Python may take one eighth of its steps.
DIVISOR_BEFORE_NUMBA = 8
# How many steps Python takes in a second of CPU time, roughly.
STEPS_PER_SECOND = 1 << 16
# For a call of more steps than this, the kernel is compiled at once. Python would take too long for
# a large input, which consists of many such calls.
MAX_STEPS_AT_ONCE = 1 << 14
# After this many steps, Python estimates whether its steps suffice for the whole call.
STEPS_BEFORE_ESTIMATE = 1 << 12


class LateKernel(CachedFunction[P, R]):
    """A kernel that is compiled late: only when Python has taken its first steps.

    A call of an instance of this class runs machine code. A caller that can replace the kernel
    first calls `take_steps`, and does the work in another way if the result is True.
    """

    def __init__(self, function: Callable[P, R], options: dict[str, Any]) -> None:
        super().__init__(function, options)
        # For each combination of types, how many steps Python has taken.
        self.steps_by_python: Counter[Types] = Counter()
        # For each combination of types whose code was not on disk, the number of steps by Python
        # after which to look again.
        self.steps_before_next_look: dict[Types, int] = {}

    def allow_steps(self, types: Types, steps_needed: int) -> int:
        """Return how many steps Python may take now; 0 if machine code must run the call.

        Machine code must run the call if the code is in memory or on disk, or if the call takes too
        many steps. But only numba can tell whether code for these types is on disk, and numba takes
        longer to load than Python takes for a few steps. So before numba is loaded, Python takes
        the first eighth of its steps without looking at the disk.

        Args:
            types: the types of the arguments of a call.
            steps_needed: how many steps the call takes at least. Python begins no call for which it
                has too few steps.
        """
        max_steps = current_shortcuts().max_python_steps
        steps_taken = self.steps_by_python[types]
        steps_left = max_steps - steps_taken
        if types in self.compiled or steps_needed > min(steps_left, MAX_STEPS_AT_ONCE):
            return 0
        if "numba" not in sys.modules:
            steps_left_before_numba = max_steps // DIVISOR_BEFORE_NUMBA - steps_taken
            if steps_needed <= steps_left_before_numba:
                return steps_left_before_numba
            # Numba need not be loaded to find out that nothing is on disk.
            if not self.may_be_on_disk():
                return steps_left
        return 0 if self.is_found_on_disk(types) else steps_left

    def is_found_on_disk(self, types: Types) -> bool:
        """Return whether code is on disk. If it was not, look again only after twice the steps.

        Another process can write the code at any time, but a look at the disk takes about a
        millisecond, and a query would look for each kernel in each task.
        """
        steps_taken = self.steps_by_python[types]
        if steps_taken < self.steps_before_next_look.get(types, 0):
            return False
        if self.is_on_disk(types):
            return True
        self.steps_before_next_look[types] = 2 * steps_taken
        return False

    def take_steps(self, steps: int, arguments: tuple[Any, ...]) -> bool:
        """Return whether a call needs no machine code yet. If so, count its steps.

        Args:
            steps: how many steps the call takes.
            arguments: the arguments of the call, whose types decide which machine code it needs.
        """
        types = describe_types(arguments)
        may_take = self.allow_steps(types, steps) > 0
        if may_take:
            self.steps_by_python[types] += steps
        return may_take


class LinearKernel(LateKernel[P, R]):
    """A kernel that takes about as many steps as its longest array is long."""

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """Run the function in Python if the steps are few, otherwise call the machine code."""
        assert not named, "numba gets arguments by their positions"
        if self.take_steps(find_greatest_length(arguments), arguments):
            with let_integers_wrap():
                result: R = self.function(*arguments)
                return result
        return super().__call__(*arguments, **named)


class AllocatingKernel(LinearKernel[P, R]):
    """A linear kernel that does not write to its arrays.

    The arrays are passed read-only. Otherwise the kernel would be compiled once for writable arrays
    and once for read-only arrays.
    """

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """Call the kernel with read-only views of its arrays."""
        return super().__call__(*map(read_only, arguments), **named)


class StoppableKernel(LateKernel[P, R]):
    """A kernel that can be interrupted, and goes on where it was when it is called again.

    Its input is in read-only arrays. A call is assumed to take at least as many steps as the
    longest of these arrays is long.
    """

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """Let Python begin if it may, and let machine code go on where Python stops."""
        assert not named, "numba gets arguments by their positions"
        types = describe_types(arguments)
        row_count = find_input_length(arguments)
        while (allowed := self.allow_steps(types, row_count)) > 0:
            run = PythonRun(allowed, row_count)
            result = run.call(self.function, arguments)
            self.steps_by_python[types] += run.count_steps()
            if not run.has_stopped:
                return cast("R", result)
        return self.call_compiled(types, arguments)


class OutOfStepsError(Exception):
    """A signal that Python may take no more steps. `PythonRun.call` catches it."""


class PythonRun:
    """A run of a stoppable kernel in Python, which stops when it has no steps left.

    Each call of a stopping point or a stopping test is a step. Steps that take long count by their
    time, because a kernel may do much work between two calls.

    Args:
        allowed_steps: how many steps Python may take.
        row_count: the number of rows that the kernel goes through.
    """

    def __init__(self, allowed_steps: int, row_count: int) -> None:
        self.allowed_steps = allowed_steps
        self.row_count = row_count
        # Whether the run has ended before the kernel was done.
        self.has_stopped = False
        # How many stopping points and stopping tests were called.
        self.call_count = 0
        # The result of `count_steps` at the last step.
        self.last_count = 0
        # How many stopping tests there were since the last stopping point.
        self.tests_since_point = 0
        # The row at the first stopping point.
        self.first_row: int | None = None
        # The CPU time of the thread, in seconds.
        self.start_time = thread_time()

    def call(self, function: Callable[..., object], arguments: tuple[Any, ...]) -> object:
        """Run the function of a kernel, and return its result.

        If `has_stopped`, the result has no meaning.
        """
        token = CURRENT_RUN.set(self)
        try:
            with let_integers_wrap():
                return function(*map(share_with_python, arguments))
        except OutOfStepsError:
            return None
        finally:
            CURRENT_RUN.reset(token)

    def count_steps(self) -> int:
        """Return the number of steps: the number of calls, or, if it is greater, that by time."""
        usual_steps = int((thread_time() - self.start_time) * STEPS_PER_SECOND)
        return max(self.call_count, usual_steps)

    def take_step(self) -> bool:
        """Count a step and return True. If no steps are left, stop the run and return False."""
        self.last_count = self.count_steps()
        if self.last_count >= self.allowed_steps:
            self.has_stopped = True
        else:
            self.call_count += 1
        return not self.has_stopped

    def give_up_early(self, row: int) -> None:
        """Use up all steps if they are probably too few for the remaining rows.

        In this case, machine code is needed anyway, and Python would waste up to 2 seconds before
        it runs out of steps. A remaining row is assumed to take as many steps as the rows before it
        took on average.

        Args:
            row: the first of the remaining rows.
        """
        if self.first_row is None:
            self.first_row = row
        steps_taken = max(self.call_count, self.last_count)
        if steps_taken < STEPS_BEFORE_ESTIMATE:
            return
        steps_left = self.allowed_steps - steps_taken
        rows_done = row - self.first_row
        rows_left = self.row_count - row
        # The test is steps_taken / rows_done * rows_left > steps_left, but rows_done may be 0.
        if steps_taken * rows_left > steps_left * rows_done:
            self.call_count = max(self.call_count, self.allowed_steps)


# The run of the current thread, the innermost run if there are several; None if Python runs no
# kernel.
CURRENT_RUN: ContextVar[PythonRun | None] = ContextVar("run", default=None)


class CountedPart(KernelPart):
    """A part whose calls Python counts as steps. In machine code it is a plain function."""

    def __init__(self, part: KernelPart) -> None:
        super().__init__(part.py_func, part.options)

    @property
    def callable_for_python(self) -> Callable[..., Any]:
        """Return this object instead of its function, so that calls by other parts also count."""
        return self


class StoppingPoint(CountedPart):
    """A part that a kernel calls when it has completed a piece of its work, and may be stopped.

    Args:
        part: the same part, without a stop.
        find_row: returns the row from which the kernel goes on, given the arguments of the part.
    """

    def __init__(self, part: KernelPart, find_row: Callable[..., int]) -> None:
        super().__init__(part)
        self.find_row = find_row

    def __call__(self, *arguments: Any) -> Any:
        """Run the function in Python.

        Raises:
            OutOfStepsError: Python runs a stoppable kernel and has no steps left.
        """
        run = CURRENT_RUN.get()
        if run is not None:
            run.give_up_early(self.find_row(*arguments))
            if not run.take_step():
                raise OutOfStepsError
            run.tests_since_point = 0
        return super().__call__(*arguments)


class StoppingTest(CountedPart):
    """A part that returns whether the kernel that calls it must stop.

    Args:
        part: the same part, without a stop.
        uncount: undoes the counting of the tests since the last stopping point, because machine
            code will repeat these tests. It is called if Python has no steps left, with the number
            of these tests, then the arguments of the test.
    """

    def __init__(self, part: KernelPart, uncount: Callable[..., None]) -> None:
        super().__init__(part)
        self.uncount = uncount

    def __call__(self, *arguments: Any) -> Any:
        """Run the function in Python, or return True if Python has no steps left."""
        run = CURRENT_RUN.get()
        if run is None:
            return super().__call__(*arguments)
        if run.take_step():
            run.tests_since_point += 1
            return super().__call__(*arguments)
        self.uncount(run.tests_since_point, *arguments)
        run.tests_since_point = 0
        return True


def let_integers_wrap() -> AbstractContextManager[object]:
    """Let integers wrap without a warning, as in compiled code, while Python runs a kernel."""
    return np.errstate(all="ignore")


def find_greatest_length(arguments: tuple[Any, ...]) -> int:
    """Return the length of the longest array in some arguments and their tuples; at least 1."""
    return max((len(array) for array in iterate_arrays(arguments)), default=1) or 1


def find_input_length(arguments: tuple[Any, ...]) -> int:
    """Return the length of the longest read-only array in some arguments; at least 1."""
    lengths = (len(array) for array in iterate_arrays(arguments) if not array.flags.writeable)
    return max(lengths, default=1) or 1


def iterate_arrays(arguments: tuple[Any, ...]) -> Iterator[npt.NDArray[Any]]:
    """Yield the arrays among some arguments, and in their tuples at any depth."""
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            yield argument
        elif isinstance(argument, tuple):
            yield from iterate_arrays(argument)
