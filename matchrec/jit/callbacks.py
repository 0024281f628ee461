"""Python functions that kernels call, as numba takes them: pointers to functions of integers.

Source: numba's manual, "Calling C code from Numba code", on functions of ctypes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

_POINTER = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)


def callback(function: Callable[[int, int, int], int]) -> Any:
    """What a kernel calls as `function`, as long as this object lives. It must raise nothing."""
    return _POINTER(function)


def _never(*_: int) -> int:
    raise AssertionError("a kernel calls Python where nothing is to be computed there")


NO_CALLBACK = callback(_never)
