"""How kernels are compiled: each as one piece of machine code, without reference counts.

No kernel allocates, so nothing needs to be counted: numba would count each array at each call,
which costs more than a step of a search. A function that only kernels call is not made machine code
by itself: see `evaluate.whole`. Python must not call it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from numba import njit

from matchrec.evaluate.cache import KernelCache
from matchrec.evaluate.tables import given
from matchrec.evaluate.whole import PartCompiler, WholeCompiler

_F = TypeVar("_F", bound=Callable[..., object])

_njit: Any = njit  # its types do not know all options
_OPTIONS = {"error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_PART = _OPTIONS | {"no_cpython_wrapper": True, "pipeline_class": PartCompiler}
_APART = _PART | {"forceinline": False}  # left out, it is that of the function compiled first


def kernel(function: _F) -> _F:
    """A function that Python calls with contiguous arrays, records of them, numbers and None."""
    dispatcher = _njit(pipeline_class=WholeCompiler, **_OPTIONS)(function)
    dispatcher._cache = KernelCache(function)

    @wraps(function)
    def call(*arguments: Any) -> Any:
        return dispatcher(*map(given, arguments))

    return call  # type: ignore[return-value]


def allocating(function: _F) -> _F:
    """A function that Python calls, with arrays of any kind, and that makes the arrays it gives."""
    dispatcher = _njit(function)
    dispatcher._cache = KernelCache(function)
    return dispatcher  # type: ignore[no-any-return]


def inner(function: _F) -> _F:
    """A function that kernels call: its code is there once."""
    return _njit(**_APART)(function)  # type: ignore[no-any-return]


def inlined(function: _F) -> _F:
    """A function whose code stands where it is called, for what is small or called all the time."""
    return _njit(**_PART, forceinline=True)(function)  # type: ignore[no-any-return]
