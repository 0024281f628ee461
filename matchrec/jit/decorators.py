"""Decorators of functions that numba compiles, and the options with which it does.

- `_nrt`: no kernel allocates, so references need not be counted. numba would count each array at
  each call, which makes a search three to ten times as slow.
- `nogil`: no kernel touches Python's objects, so other threads can run meanwhile, as tasks in one
  program do, and the program itself.
- `no_cfunc_wrapper`, `no_cpython_wrapper`: functions that only kernels call have no entry for C or
  Python, which would be a quarter of their time to compile.
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

# The options of functions that Python calls, and of parts, which only kernels call.
_OPTIONS = {"error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True, "nogil": True}
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

    It is assumed to take as many steps as its longest array is long. While there are few, it runs
    in Python and is not compiled.
    """
    return LinearKernel(function, _OPTIONS)


def allocating(function: Callable[P, R]) -> AllocatingKernel[P, R]:
    """Compile a function that Python calls with arrays of any kind, and that returns new arrays.

    It must not write to its arguments. Python runs it while there are few steps, as it runs a
    `linear_kernel`.
    """
    return AllocatingKernel(function, {"nogil": True})


def stoppable_kernel(function: Callable[P, R]) -> StoppableKernel[P, R]:
    """Compile a function that Python calls, as `kernel` does, after the first steps in Python.

    It must call a `stopping_point`. When it has returned because something stopped it, a call with
    the same arguments must go on where it was. It must not rely on integers that wrap, because
    integers of Python do not.
    """
    return StoppableKernel(function, _OPTIONS)


def optional_kernel(function: Callable[P, R]) -> LateKernel[P, R]:
    """Compile a function that Python calls, as `kernel` does, and that its caller can do without.

    The caller asks `take_steps` first, which says whether it still pays to do without.
    """
    return LateKernel(function, _OPTIONS)


def stopping_point(find_row: Callable[..., int]) -> Callable[[_F], _F]:
    """Return a decorator for a part that a stoppable kernel calls between two pieces of its work.

    Each call is a step. Python may stop there.

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
    """Compile a function that kernels call. Its code exists once, unless it is small."""
    return KernelPart(function, _PART_OPTIONS)  # type: ignore[return-value]


def spliced(function: _F) -> _F:
    """Copy the text of a function into the function that calls it before that one is compiled.

    This is for a part of a large function that is called in one place. It is optimised only once,
    and records need not be passed to it array by array. numba knows that an argument is None if it
    is an argument of the compiled function, but not if it is read from a record.
    """
    assert isinstance(function, FunctionType)
    _SPLICED_CODE.add(function.__code__)
    return KernelPart(function, _PART_OPTIONS | {"inline": _is_caller_compiled})  # type: ignore[return-value]


def _is_caller_compiled(_call: Any, caller: Any, _called: Any) -> bool:
    """Return whether the function that calls a spliced one is compiled, not spliced itself.

    Text is copied only into compiled functions. If it were first copied into other spliced
    functions, it would be copied again with each of them.

    Source: numba's manual, "Notes on Inlining", on cost models.
    """
    return caller.func_id.code not in _SPLICED_CODE


def inlined(function: _F) -> _F:
    """Compile a function whose code is optimised again for each caller. Large ones are `inner`."""
    return KernelPart(function, _PART_OPTIONS | {"forceinline": True})  # type: ignore[return-value]
