"""Functions of integers that kernels call by a pointer: Python's, and compiled ones.

A kernel that calls by a pointer is compiled once, whatever the function is; and a function that few
queries need is compiled when the first of them comes.

Source: numba's manual, "Calling C code from Numba code", on functions of ctypes, and "@cfunc".
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from types import FunctionType
from typing import Any

import numba

from matchrec.jit.alone import alone
from matchrec.jit.announcing import say
from matchrec.jit.files import Files
from matchrec.jit.kept import digest_of_sources, enable_caching

Function = Callable[[int, int, int], int]

_POINTER = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
_SIGNATURE = "int64(int64, int64, int64)"
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False}

_njit: Any = numba.njit  # its types do not know all options
_cfunc: Any = numba.cfunc


def callback(function: Function) -> Any:
    """What a kernel calls as `function`, as long as this object lives. It must raise nothing."""
    return _POINTER(function)


@lru_cache
def pointer_to(function: Function) -> Any:
    """What a kernel calls as `function`, which is compiled, or found where kernels are kept."""
    assert isinstance(function, FunctionType)
    name = f"{function.__qualname__}-pointer-{digest_of_sources()}"
    code, names = function.__code__, function.__globals__
    named = FunctionType(code, names, function.__name__, None, function.__closure__)
    named.__module__, named.__qualname__ = function.__module__, name
    place = enable_caching(_njit(named))
    if place is None:
        return _cfunc(_SIGNATURE, **_OPTIONS)(named)
    files = Files(place, name)
    with alone(place, name):
        if not files.are_sound():
            files.remove()
            say()
        found = _cfunc(_SIGNATURE, cache=True, **_OPTIONS)(named)
        files.vouch()
    return found


NO_CALLBACK = callback(lambda *_: 0)
"""What is passed where there is nothing to call."""
