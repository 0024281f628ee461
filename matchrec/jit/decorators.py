"""Decorators of functions that numba compiles, and the options that they pass to numba.

- `_nrt` is off: no kernel allocates, so references need not be counted. If it were on, numba would
  count each array at each call, which makes a search three to ten times as slow.
- `nogil` is on: no kernel uses Python objects, so other threads can run while a kernel runs.
- `no_cfunc_wrapper`, `no_cpython_wrapper`: functions that only kernels call have no entry for C or
  Python, which would take a quarter of the time to compile them.
- `error_model`: division by zero raises no error, because kernels check before they divide.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, ParamSpec, TypeVar

from matchrec.jit.cached_function import CachedFunction
from matchrec.jit.first_steps import (
    AllocatingKernel,
    LateKernel,
    LinearKernel,
    StoppableKernel,
    StoppingPoint,
    StoppingTest,
)
from matchrec.jit.parts import KernelPart

P = ParamSpec("P")
R = TypeVar("R")
_F = TypeVar("_F", bound=Callable[..., object])

# The options of functions that Python calls.
_OPTIONS = {"error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True, "nogil": True}
# The options of parts, which only kernels call.
_PART_OPTIONS = _OPTIONS | {"no_cpython_wrapper": True}

# The code of all functions that are decorated with `spliced`.
_SPLICED_CODE: set[CodeType] = set()


def kernel(function: Callable[P, R]) -> CachedFunction[P, R]:
    """Compile a function that Python calls.

    Its arguments are contiguous arrays, records of them, numbers and None.
    """
    return CachedFunction(function, _OPTIONS)


def linear_kernel(function: Callable[P, R]) -> LinearKernel[P, R]:
    """Compile a function that Python calls, as `kernel` does, unless there are few steps.

    A call is assumed to take as many steps as its longest array is long. While the steps are few,
    Python runs the function, and it is not compiled.
    """
    return LinearKernel(function, _OPTIONS)


def allocating(function: Callable[P, R]) -> AllocatingKernel[P, R]:
    """Compile a function that Python calls with arrays of any kind, and that returns new arrays.

    The function must not write to its arguments. While the steps are few, Python runs it, as it
    runs a `linear_kernel`.
    """
    return AllocatingKernel(function, {"nogil": True})


def stoppable_kernel(function: Callable[P, R]) -> StoppableKernel[P, R]:
    """Compile a function that Python calls, as `kernel` does, after the first steps in Python.

    The function must call a `stopping_point`. If it was stopped, a second call with the same
    arguments must go on where the first one stopped. The function must not rely on integers that
    wrap, because integers of Python do not wrap.
    """
    return StoppableKernel(function, _OPTIONS)


def optional_kernel(function: Callable[P, R]) -> LateKernel[P, R]:
    """Compile a function that Python calls, as `kernel` does, and that a caller can replace.

    The caller first calls `take_steps`. While it returns True, compiling does not pay yet, and the
    caller does the work in another way.
    """
    return LateKernel(function, _OPTIONS)


def stopping_point(find_row: Callable[..., int]) -> Callable[[_F], _F]:
    """Return a decorator for a part that a stoppable kernel calls between two pieces of its work.

    Each call is a step, at which Python may stop the kernel.

    Args:
        find_row: returns the row from which the kernel goes on, given the arguments of the part.
    """

    def decorate(part: _F) -> _F:
        """Make the part a stopping point."""
        assert isinstance(part, KernelPart)
        return StoppingPoint(part, find_row)  # type: ignore[return-value]

    return decorate


def stopping_test(uncount: Callable[..., None]) -> Callable[[_F], _F]:
    """Return a decorator for a part that returns whether a stoppable kernel must stop.

    Each call is a step. Python also stops the kernel if no steps are left.

    Args:
        uncount: see `first_steps.StoppingTest`.
    """

    def decorate(part: _F) -> _F:
        """Make the part a stopping test."""
        assert isinstance(part, KernelPart)
        return StoppingTest(part, uncount)  # type: ignore[return-value]

    return decorate


def inner(function: _F) -> _F:
    """Compile a function that kernels call. Its code exists once, unless the function is small."""
    return KernelPart(function, _PART_OPTIONS)  # type: ignore[return-value]


def spliced(function: _F) -> _F:
    """Copy the text of a function into its caller before the caller is compiled.

    This is for a part of a large function that is called in one place. The part is optimised only
    once, and records need not be passed to it array by array. numba knows that an argument is None
    if it is an argument of the compiled function, but not if it is read from a record.
    """
    assert isinstance(function, FunctionType)
    _SPLICED_CODE.add(function.__code__)
    return KernelPart(function, _PART_OPTIONS | {"inline": _is_caller_compiled})  # type: ignore[return-value]


def _is_caller_compiled(_call: Any, caller: Any, _called: Any) -> bool:
    """Return whether the function that calls a spliced one is compiled, not spliced itself.

    Text is copied only into compiled functions. If the text were first copied into other spliced
    functions, it would be copied again together with their text.

    Source: numba's manual, "Notes on Inlining", on cost models.
    """
    return caller.func_id.code not in _SPLICED_CODE


def inlined(function: _F) -> _F:
    """Compile a small function whose code is optimised again for each caller.

    Large functions should be `inner`.
    """
    return KernelPart(function, _PART_OPTIONS | {"forceinline": True})  # type: ignore[return-value]
