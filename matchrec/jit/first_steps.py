"""Let Python take the first steps of a kernel, because compiling the kernel takes seconds.

A kernel is a Python function, so Python can run it, only more slowly. While the machine code of a
kernel is missing, Python runs the kernel and counts its steps. After `Shortcuts.max_python_steps`
steps, the kernel is compiled, and machine code goes on. The caller does not notice.

    class            decorator                    steps of a call
    LinearKernel     linear_kernel, allocating    the length of its longest array
    StoppableKernel  stoppable_kernel             counted while Python runs it
    LateKernel       optional_kernel              known to the caller, who runs something else

Python runs a call of a linear kernel to its end, or not at all. A stoppable kernel keeps in its
arguments how far it has come, so that it can be interrupted: a second call with the same arguments
goes on from there. Python interrupts it at two kinds of functions that the kernel calls:

    stopping point   It is called when nothing is half done. If Python has no steps left, or will
                     have too few for the rows that are left, it raises an exception that ends the
                     run.
    stopping test    It returns whether the kernel must stop. If Python has no steps left, it
                     returns True. The kernel then returns as it always does when it must stop,
                     and the returned value is dropped.

For example, with `find_start` as a stopping point, and a stopping test in `search_start`:

    @stoppable_kernel
    def search(rows, progress):
        while find_start(rows, progress):
            status = search_start(rows, progress)
            if status != DONE:
                return status
        return DONE

In machine code, both are plain functions and cost nothing.

A stopping test raises no exception, because the kernel must tidy up what is half done. Restoring a
copy of the progress instead would not be enough: the arrays have been written to since, and a copy
of all arrays would take too long.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from time import thread_time
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from matchrec.jit.cached_function import CachedFunction, Types, describe_types
from matchrec.jit.parts import KernelPart
from matchrec.jit.views import read_only, share_with_python
from matchrec.shortcuts import current_shortcuts

P = ParamSpec("P")
R = TypeVar("R")

# Before numba is loaded, Python may take the steps that it may take at all, divided by this.
DIVISOR_BEFORE_NUMBA = 8
# How many steps Python takes in a second of CPU time, roughly.
STEPS_PER_SECOND = 1 << 16
# A call of more steps than this is compiled at once. Python would take too long for a large input,
# which consists of many such calls.
MOST_STEPS_AT_ONCE = 1 << 14
# After how many steps Python estimates whether it can take all of them.
STEPS_BEFORE_ESTIMATE = 1 << 12


class LateKernel(CachedFunction[P, R]):
    """A kernel that is compiled late: only when Python has taken its first steps.

    A call of this class itself runs machine code. A caller that can do without the kernel asks
    `take_steps` before, and does its work in another way if the steps are few.
    """

    def __init__(self, function: Callable[P, R], options: dict[str, Any]) -> None:
        super().__init__(function, options)
        # For each combination of types, how many steps Python has taken.
        self.steps_by_python: Counter[Types] = Counter()

    def allow_steps(self, types: Types, steps_needed: int) -> int:
        """Return how many steps Python may take now; 0 if machine code must take all.

        Machine code takes all steps if it is in memory or on disk, or if the call takes too many.
        But only numba can tell whether code for these types is on disk, and it takes longer to load
        than Python takes for a few steps. So before numba is loaded, Python takes the first eighth
        of its steps without looking at the disk.

        Args:
            types: the types of the arguments of a call.
            steps_needed: how many steps the call takes at least. Python begins no call for which it
                has too few steps.
        """
        max_steps = current_shortcuts().max_python_steps
        steps_taken = self.steps_by_python[types]
        steps_left = max_steps - steps_taken
        if types in self.compiled or steps_needed > min(steps_left, MOST_STEPS_AT_ONCE):
            return 0
        if "numba" not in sys.modules:
            steps_left_before_numba = max_steps // DIVISOR_BEFORE_NUMBA - steps_taken
            if steps_needed <= steps_left_before_numba:
                return steps_left_before_numba
            # Numba need not be loaded to find out that nothing is on disk.
            if not self.may_be_on_disk():
                return steps_left
        return 0 if self.is_on_disk(types) else steps_left

    def take_steps(self, steps: int, arguments: tuple[Any, ...]) -> bool:
        """Return whether a call may do without machine code. If so, count its steps.

        Args:
            steps: how many steps the call takes.
            arguments: its arguments, whose types decide which machine code it would need.
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
        if self.take_steps(find_longest(arguments), arguments):
            with let_integers_wrap():
                result: R = self.function(*arguments)
                return result
        return super().__call__(*arguments, **named)


class AllocatingKernel(LinearKernel[P, R]):
    """A linear kernel of arrays that can be written to or not, and that writes to none of them.

    They are passed read-only. Otherwise it would be compiled once for arrays that can be written
    to, and once for others.
    """

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """Call the kernel with read-only views of its arrays."""
        return super().__call__(*map(read_only, arguments), **named)


class StoppableKernel(LateKernel[P, R]):
    """A kernel that can be interrupted, and goes on where it was when it is called again.

    What it goes through are arrays that cannot be written to. It is assumed to take at least as
    many steps as the longest of them is long.
    """

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """Let Python begin if it may, and let machine code go on where Python stops."""
        assert not named, "numba gets arguments by their positions"
        types = describe_types(arguments)
        rows = find_longest_input(arguments)
        while (allowed := self.allow_steps(types, rows)) > 0:
            run = PythonRun(allowed, rows)
            result = run.call(self.function, arguments)
            self.steps_by_python[types] += run.count_steps()
            if not run.is_stopped:
                return cast("R", result)
        return self.call_compiled(types, arguments)


class OutOfStepsError(Exception):
    """A signal that Python may take no more steps. It ends a run and never leaves a call."""


class PythonRun:
    """A run of a stoppable kernel in Python: how many steps it has taken, and whether it stopped.

    Each stopping point and each stopping test is a step. Steps that take long count by their time:
    a step may do much work without a test.

    Args:
        allowed: how many steps Python may take.
        rows: the number of rows that the kernel goes through.
    """

    def __init__(self, allowed: int, rows: int) -> None:
        self.allowed = allowed
        self.rows = rows
        # The row at the first stopping point.
        self.first_row: int | None = None
        self.counted = 0
        # What `count_steps` returned at the last step.
        self.last_count = 0
        # How many stopping tests there were since the last stopping point.
        self.tests = 0
        self.is_stopped = False
        self.began = thread_time()

    def call(self, function: Callable[..., object], arguments: tuple[Any, ...]) -> object:
        """Run the function of a kernel; what it returns means nothing if the run was stopped."""
        token = CURRENT_RUN.set(self)
        try:
            with let_integers_wrap():
                return function(*map(share_with_python, arguments))
        except OutOfStepsError:
            return None
        finally:
            CURRENT_RUN.reset(token)

    def count_steps(self) -> int:
        """Return how many steps there were; if they took longer than usual, as many by the time."""
        return max(self.counted, int((thread_time() - self.began) * STEPS_PER_SECOND))

    def take_step(self) -> bool:
        """Count a step, and return True; stop the run and return False if no steps are left."""
        self.last_count = self.count_steps()
        if self.last_count >= self.allowed:
            self.is_stopped = True
        else:
            self.counted += 1
        return not self.is_stopped

    def give_up_early(self, row: int) -> None:
        """Use up all steps if they are probably too few for the rows that are left.

        It is assumed that each of these takes as many steps as the rows before did. Then compiled
        code is needed anyway, and Python would waste up to 2 seconds before it runs out of steps.

        Args:
            row: the first row that is left.
        """
        if self.first_row is None:
            self.first_row = row
        steps_taken = max(self.counted, self.last_count)
        if steps_taken < STEPS_BEFORE_ESTIMATE:
            return
        if steps_taken * (self.rows - row) > (self.allowed - steps_taken) * (row - self.first_row):
            self.counted = max(self.counted, self.allowed)


# The run in this thread, the innermost one if there are several; None if Python runs no kernel.
CURRENT_RUN: ContextVar[PythonRun | None] = ContextVar("run", default=None)


class StoppingPoint(KernelPart):
    """A part that a kernel calls only when nothing is half done, so that Python can stop there.

    Args:
        part: the same part without the end of steps in Python.
        find_row: returns the row from which the kernel goes on, given the arguments of the part.
    """

    def __init__(self, part: KernelPart, find_row: Callable[..., int]) -> None:
        super().__init__(part.py_func, part.options)
        self.find_row = find_row

    @property
    def callable_for_python(self) -> Callable[..., Any]:
        """Return this part, which other parts call, too, and not its function."""
        return self

    def __call__(self, *arguments: Any) -> Any:
        """Run the function in Python.

        Raises:
            OutOfStepsError: Python runs a kernel, and may take no more steps.
        """
        run = CURRENT_RUN.get()
        if run is not None:
            run.give_up_early(self.find_row(*arguments))
            if not run.take_step():
                raise OutOfStepsError
            run.tests = 0
        return super().__call__(*arguments)


class StoppingTest(KernelPart):
    """A part that returns whether the kernel that calls it must stop.

    Args:
        part: the same part without the end of steps in Python.
        uncount: is called if Python stops, with the number of tests since the last stopping point,
            and with the arguments of the test. It takes back what the tests have counted, because
            they will be repeated.
    """

    def __init__(self, part: KernelPart, uncount: Callable[..., None]) -> None:
        super().__init__(part.py_func, part.options)
        self.uncount = uncount

    @property
    def callable_for_python(self) -> Callable[..., Any]:
        """Return this part, which other parts call, too, and not its function."""
        return self

    def __call__(self, *arguments: Any) -> Any:
        """Run the function in Python; return True if Python may take no more steps."""
        run = CURRENT_RUN.get()
        if run is None:
            return super().__call__(*arguments)
        if run.take_step():
            run.tests += 1
            return super().__call__(*arguments)
        self.uncount(run.tests, *arguments)
        run.tests = 0
        return True


def let_integers_wrap() -> AbstractContextManager[object]:
    """Let integers wrap without a warning, as in compiled code, while Python runs a kernel."""
    return np.errstate(all="ignore")


def find_longest(arguments: tuple[Any, ...]) -> int:
    """Return the length of the longest array in some arguments and their records, at least 1."""
    longest = 1
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            longest = max(longest, len(argument))
        elif isinstance(argument, tuple):
            longest = max(longest, find_longest(argument))
    return longest


def find_longest_input(arguments: tuple[Any, ...]) -> int:
    """Return the length of the longest array that cannot be written to, at least 1."""
    longest = 1
    for argument in arguments:
        if isinstance(argument, np.ndarray) and not argument.flags.writeable:
            longest = max(longest, len(argument))
        elif isinstance(argument, tuple):
            longest = max(longest, find_longest_input(argument))
    return longest
