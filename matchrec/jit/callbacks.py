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

from matchrec.jit import kept, trust

Function = Callable[[int, int, int], int]

_POINTER = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
_SIGNATURE = "int64(int64, int64, int64)"
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False}


def callback(function: Function) -> Any:
    """What a kernel calls as `function`, as long as this object lives. It must raise nothing."""
    return _POINTER(function)


def pointer_to(function: Function) -> Any:
    """What a kernel calls as `function`, which is compiled, or found where kernels are kept."""
    with kept.ONE_THREAD:  # of a callback's type: of another, kernels would be compiled again
        return _POINTER(compiled(function).address)


@lru_cache
def compiled(function: Function) -> Any:
    """What numba makes of a function, as long as the process lives."""
    assert isinstance(function, FunctionType)
    import numba  # noqa: F401 -- as a whole first: threads that import parts of it fail
    from numba.core.ccallback import CFunc
    from numba.core.sigutils import normalize_signature

    name = f"{function.__qualname__}-pointer-{kept.digest_of_sources()}"
    named = kept.with_parts(function, name)
    found: Any = CFunc(named, normalize_signature(_SIGNATURE), {}, dict(_OPTIONS))
    try:
        place = kept.enable_caching(found, named)
        with trust.files_for_us_alone(), kept.lock_name(place, name):
            if not kept.is_found(function, place, name):
                kept.announce_compiling()
            found.compile()
            if place is not None:
                kept.Files(place, name).vouch()
    except OSError:  # there is no room to keep it, or a file that must not be used
        found = CFunc(named, normalize_signature(_SIGNATURE), {}, dict(_OPTIONS))
        found.compile()
    return found


NO_CALLBACK = callback(lambda *_: 0)  # what is passed where there is nothing to call
