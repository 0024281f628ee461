"""Make pointers for kernels to call: to Python functions or compiled functions of integers.

A kernel that calls a function by a pointer is compiled once for all functions. And a function that
few queries need is compiled only when one of these queries runs.

Source: numba's manual, "Calling C code from Numba code", on functions of ctypes, and "@cfunc".
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from types import FunctionType
from typing import Any

from matchrec.jit import cache_folders, sources
from matchrec.jit.compile_lock import COMPILE_LOCK
from matchrec.jit.disk_cache import lock_cache_files
from matchrec.jit.parts import copy_with_parts

Callback = Callable[[int, int, int], int]

_POINTER = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
_SIGNATURE = "int64(int64, int64, int64)"
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False}


def make_callback(function: Callback, compiled: Callable[[], Any] | None = None) -> Any:
    """Return a pointer to a Python function, which must not raise.

    The pointer is valid as long as the returned object lives.

    Args:
        function: the function. If Python runs the kernel, it calls the function directly, see
            `views.share_with_python`.
        compiled: returns a pointer to a compiled function that does the same; None if there is
            none. Machine code gets this pointer, see `views.share_with_machine_code`.
    """
    pointer: Any = _POINTER(function)
    pointer.python_function = function
    pointer.compiled_function = compiled
    return pointer


def make_pointer(function: Callback) -> Any:
    """Return a pointer to a function that is compiled or loaded from the disk cache."""
    with COMPILE_LOCK:
        # The pointer has the type of a callback. Otherwise, kernels would be compiled again for it.
        return _POINTER(compile_for_c(function).address)


@lru_cache
def compile_for_c(function: Callback) -> Any:
    """Compile a function for C callers, or load it from the disk cache.

    The result lives as long as the process, so pointers to it stay valid.
    """
    assert isinstance(function, FunctionType)
    import numba  # noqa: F401 -- as a whole first: threads that import parts of it fail
    from numba.core.ccallback import CFunc
    from numba.core.sigutils import normalize_signature

    name = f"{function.__qualname__}-pointer-{sources.hash_sources()}"
    copy = copy_with_parts(function, name)
    signature = normalize_signature(_SIGNATURE)
    c_function: Any = CFunc(copy, signature, {}, dict(_OPTIONS))
    try:
        folder = cache_folders.enable_caching(c_function, copy)
        with lock_cache_files(function, folder, name) as cache_files:
            c_function.compile()
            has_new_files = c_function.cache_hits == 0
            if cache_files is not None and has_new_files:
                cache_files.vouch()
    except OSError:  # the disk is full, or there is a file that must not be used
        c_function = CFunc(copy, signature, {}, dict(_OPTIONS))
        c_function.compile()
    return c_function


# Passed to kernels that have nothing to call.
NO_CALLBACK = make_callback(lambda *_: 0)
