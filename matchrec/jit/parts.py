"""Functions that only kernels call, and what numba makes of them.

Processes that make queries compile nothing, and numba takes a while to load: it is loaded when a
kernel is first called. So a part is a plain function until then, and a function that numba is to
compile gets in the place of each part that it names what numba has made of that.
"""

from __future__ import annotations

from collections.abc import Callable
from dis import get_instructions
from functools import cached_property
from types import FunctionType
from typing import Any


class Part:
    """A function that only kernels call, and the options with which numba takes it."""

    def __init__(self, function: Callable[..., object], options: dict[str, Any]) -> None:
        assert isinstance(function, FunctionType)
        self.py_func = function
        self.options = options

    @cached_property
    def dispatcher(self) -> Any:
        """What numba has made of it."""
        return dispatcher_of(self.py_func, self.options)


def dispatcher_of(function: FunctionType, options: dict[str, Any]) -> Any:
    """What numba makes of a function that may call parts."""
    import numba

    njit: Any = numba.njit  # its types do not know all options
    return njit(**options)(with_parts(function))


def with_parts(function: FunctionType, name: str | None = None) -> FunctionType:
    """The function, for which each part it names is what numba has made of it.

    name: a qualified name of its own.
    """
    names = function.__globals__
    called = (one for one in get_instructions(function.__code__) if one.opname == "LOAD_GLOBAL")
    named = ((one.argval, names.get(one.argval)) for one in called)  # no attribute of that name
    parts = {one: value.dispatcher for one, value in named if isinstance(value, Part)}
    found = FunctionType(
        function.__code__,
        names | parts,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    found.__module__ = function.__module__
    found.__qualname__ = name or function.__qualname__
    return found
