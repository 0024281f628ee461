"""How kernels are compiled: cached on disk, without reference counts, with Python's wrapper or not.

No kernel allocates, so nothing needs to be counted: numba would count each array at each call,
which costs more than a step of a search. A function that only kernels call needs no wrapper, which
is half of what it costs to compile; `.py_func` is the plain function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

_F = TypeVar("_F", bound=Callable[..., object])

_njit: Any = njit  # its types do not know all options
_OPTIONS = {"cache": True, "error_model": "numpy", "_nrt": False}
_NO_WRAPPER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def kernel(function: _F) -> _F:
    """A function that Python calls."""
    return _njit(**_OPTIONS)(function)  # type: ignore[no-any-return]


def inner(function: _F) -> _F:
    """A function that kernels call."""
    return _njit(**_OPTIONS, **_NO_WRAPPER)(function)  # type: ignore[no-any-return]


def inlined(function: _F) -> _F:
    """A function whose code stands where it is called: the arrays need not be passed."""
    return _njit(**_OPTIONS, **_NO_WRAPPER, forceinline=True)(function)  # type: ignore[no-any-return]
