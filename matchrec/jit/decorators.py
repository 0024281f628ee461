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
from functools import wraps
from types import CodeType, FunctionType
from typing import Any, ParamSpec, TypeVar

import numpy as np

from matchrec.jit.disk_cache import CachedFunction
from matchrec.jit.parts import KernelPart

P = ParamSpec("P")
R = TypeVar("R")
_F = TypeVar("_F", bound=Callable[..., object])

_OPTIONS = {"error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True, "nogil": True}
_PART = _OPTIONS | {"no_cpython_wrapper": True}
_SPLICED: set[CodeType] = set()


def kernel(function: Callable[P, R]) -> CachedFunction[P, R]:
    """Compile a function that Python calls.

    Its arguments are contiguous arrays, records of them, numbers and None.
    """
    return CachedFunction(function, _OPTIONS)


def linear_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function that Python calls, as `kernel` does, unless there are few steps.

    It is assumed to take as many steps as its longest array is long. While there are few, it runs
    in Python and is not compiled.
    """
    cached = CachedFunction(function, _OPTIONS)

    @wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> R:
        """Call the machine code, or run Python while compiling would not pay off."""
        assert not named, "numba gets arguments by their positions"
        return call_or_run(cached, arguments)

    return call


def allocating(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function that Python calls with arrays of any kind, and that returns new arrays.

    It must not write to its arguments. They are passed read-only, because otherwise it would be
    compiled once for arrays that are, and once for others. It takes few steps in Python, as a
    `linear_kernel` does.
    """
    cached = CachedFunction(function, {"nogil": True})

    @wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> R:
        """Call the machine code, or run Python while compiling would not pay off."""
        assert not named, "numba gets arguments by their positions"
        return call_or_run(cached, tuple(map(read_only, arguments)))

    return call


def call_or_run(cached: CachedFunction[..., R], arguments: tuple[Any, ...]) -> R:
    """Call a function's machine code, or run Python while compiling would not pay off.

    It is assumed to take as many steps as its longest array is long.
    """
    steps = find_longest(arguments)
    if steps >= cached.count_steps_left(arguments, steps):
        return cached(*arguments)
    cached.count_steps(steps, arguments)
    return cached.run_in_python(*arguments)


def find_longest(arguments: tuple[Any, ...]) -> int:
    """Return the length of the longest array in some arguments and their records, at least 1."""
    longest = 1
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            longest = max(longest, len(argument))
        elif isinstance(argument, tuple):
            longest = max(longest, find_longest(argument))
    return longest


def read_only(argument: Any) -> Any:
    """Return a view of an array that cannot be written to; anything else unchanged."""
    if isinstance(argument, np.ndarray) and argument.flags.writeable:
        argument = argument.view()
        argument.flags.writeable = False
    return argument


def inner(function: _F) -> _F:
    """Compile a function that kernels call. Its code exists once, unless it is small."""
    return KernelPart(function, _PART)  # type: ignore[return-value]


def spliced(function: _F) -> _F:
    """Copy the text of a function into the function that calls it before that one is compiled.

    This is for a part of a large function that is called in one place. It is optimised only once,
    and records need not be passed to it array by array. numba knows that an argument is None if it
    is an argument of the compiled function, but not if it is read from a record.
    """
    assert isinstance(function, FunctionType)
    _SPLICED.add(function.__code__)
    return KernelPart(function, _PART | {"inline": _is_compiled})  # type: ignore[return-value]


def _is_compiled(_call: Any, caller: Any, _called: Any) -> bool:
    """Return whether the function that calls a spliced one is not spliced itself.

    Text is copied only into such a function. If it were copied into other spliced functions before,
    it would be copied again with each of them.

    Source: numba's manual, "Notes on Inlining", on cost models.
    """
    return caller.func_id.code not in _SPLICED


def inlined(function: _F) -> _F:
    """Compile a function whose code is optimised again for each caller. Large ones are `inner`."""
    return KernelPart(function, _PART | {"forceinline": True})  # type: ignore[return-value]
