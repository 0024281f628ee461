"""Makes pointers for kernels to call: to Python functions or compiled functions of integers.

A kernel that calls by a pointer is compiled once, whatever the function is. And a function that few
queries need is compiled only when the first of them runs.

Source: numba's manual, "Calling C code from Numba code", on functions of ctypes, and "@cfunc".
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from types import FunctionType
from typing import Any

from matchrec.jit import kept, trust

Callback = Callable[[int, int, int], int]

_POINTER = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
_SIGNATURE = "int64(int64, int64, int64)"
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False}


def callback(function: Callback) -> Any:
    """Return a pointer to a Python function, which must not raise.

    The pointer is valid as long as the returned object lives.
    """
    return _POINTER(function)


def pointer_to(function: Callback) -> Any:
    """Return a pointer to a function, compiled or loaded from where kernels are kept."""
    with kept.ONE_THREAD:
        # It has the type of a callback. Otherwise, kernels would be compiled again for it.
        return _POINTER(compiled(function).address)


@lru_cache
def compiled(function: Callback) -> Any:
    """Compile a function for C callers, or load it from where kernels are kept.

    What is returned lives as long as the process, so pointers to it stay valid.
    """
    assert isinstance(function, FunctionType)
    import numba  # noqa: F401 -- as a whole first: threads that import parts of it fail
    from numba.core.ccallback import CFunc
    from numba.core.sigutils import normalize_signature

    name = f"{function.__qualname__}-pointer-{kept.digest_of_sources()}"
    named = kept.with_parts(function, name)
    c_function: Any = CFunc(named, normalize_signature(_SIGNATURE), {}, dict(_OPTIONS))
    try:
        folder = kept.enable_caching(c_function, named)
        with trust.files_for_us_alone(), kept.lock_name(folder, name):
            if not kept.is_found(function, folder, name):
                kept.announce_compiling()
            c_function.compile()
            if folder is not None:
                kept.Files(folder, name).vouch()
    except OSError:  # there is no room to keep it, or a file that must not be used
        c_function = CFunc(named, normalize_signature(_SIGNATURE), {}, dict(_OPTIONS))
        c_function.compile()
    return c_function


# Passed to kernels that have nothing to call.
NO_CALLBACK = callback(lambda *_: 0)
