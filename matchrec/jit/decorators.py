"""Which functions are compiled, and how: numba as it comes, with few options.

No kernel allocates, so nothing needs to be counted: numba would count each array at each call,
which makes a search three to ten times as slow (`_nrt`). None touches Python's objects, so other
threads run meanwhile: tasks in one program, and the program itself (`nogil`). Functions that only
kernels call have no entry for Python or C, which would be a quarter of what they cost to compile.
And a division by zero raises no error: kernels look before they divide.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import CodeType, FunctionType
from typing import Any, TypeVar

import numpy as np

from matchrec.jit.kept import KeptFunction, KernelPart

_F = TypeVar("_F", bound=Callable[..., object])

_OPTIONS = {"error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True, "nogil": True}
_PART = _OPTIONS | {"no_cpython_wrapper": True}
_SPLICED: set[CodeType] = set()


def kernel(function: _F) -> _F:
    """A function that Python calls with contiguous arrays, records of them, numbers and None."""
    return KeptFunction(function, _OPTIONS)  # type: ignore[return-value]


def kernel_with(function: Callable[..., object], name: str, part: KernelPart) -> Any:
    """The kernel that a function is with a part in the place of a name that it leaves open."""
    assert isinstance(function, FunctionType)
    own = FunctionType(function.__code__, function.__globals__ | {name: part})
    own.__module__, own.__doc__ = part.py_func.__module__, function.__doc__
    return kernel(own)


def allocating(function: _F) -> _F:
    """A function that Python calls, with arrays of any kind, and that makes the arrays it gives.

    It writes to no argument: of arrays that may be written to it would be compiled again. Its steps
    are as many as its longest array is long, and the first few are Python's.
    """
    kept = KeptFunction(function, {"nogil": True})

    @wraps(function)
    def call(*arguments: Any) -> Any:
        given = tuple(map(read_only, arguments))
        steps = max((len(one) for one in given if isinstance(one, np.ndarray)), default=1)
        if steps >= kept.steps_left(given):
            return kept(*given)
        kept.count_steps(steps, given)
        return kept.by_python(*given)

    return call  # type: ignore[return-value]


def read_only(argument: Any) -> Any:
    """An array that cannot be written to, which shares its memory; anything else as it is."""
    if isinstance(argument, np.ndarray) and argument.flags.writeable:
        argument = argument.view()
        argument.flags.writeable = False
    return argument


def inner(function: _F) -> _F:
    """A function that kernels call: its code is there once, unless it is small."""
    return KernelPart(function, _PART)  # type: ignore[return-value]


def spliced(function: _F) -> _F:
    """A function whose text becomes a part of the one that calls it, before that is compiled.

    For a part of a large function that is called in one place: it is optimised once, and records
    are not passed to it, array by array. That an argument is None is known where it is an argument
    of the function that is compiled, and not where it is read from a record.
    """
    assert isinstance(function, FunctionType)
    _SPLICED.add(function.__code__)
    return KernelPart(function, _PART | {"inline": _is_compiled})  # type: ignore[return-value]


def _is_compiled(_call: Any, caller: Any, _called: Any) -> bool:
    """Whether the function that calls a spliced one is compiled itself.

    Text is copied in there alone: were it copied into other spliced functions before, it would be
    copied again with each of them.

    Source: numba's manual, "Notes on Inlining", on cost models.
    """
    return caller.func_id.code not in _SPLICED


def inlined(function: _F) -> _F:
    """A function whose code is optimised again wherever it is called: large ones are `inner`."""
    return KernelPart(function, _PART | {"forceinline": True})  # type: ignore[return-value]
