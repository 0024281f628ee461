"""Functions that only kernels call, and what numba makes of them.

Processes that make queries compile nothing, and numba takes a while to load: it is loaded when a
kernel is first called. So a part is a plain function until then, and a function that numba is to
compile gets in the place of each part that it names what numba has made of that.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any


class Part:
    """A function that only kernels call, and the options with which numba takes it."""

    def __init__(self, function: Callable[..., object], options: dict[str, Any]) -> None:
        assert isinstance(function, FunctionType)
        self.py_func = function
        self.options = options
        self._dispatcher: Any = None

    @property
    def dispatcher(self) -> Any:
        """What numba makes of it; there before what it names, which may have its own name."""
        if self._dispatcher is None:
            function = with_own_globals(self.py_func)
            self._dispatcher = taken_by_numba(function, self.options)
            put_parts_in(function)
        return self._dispatcher


def dispatcher_of(function: FunctionType, options: dict[str, Any]) -> Any:
    """What numba makes of a function that may call parts."""
    return taken_by_numba(with_parts(function), options)


def taken_by_numba(function: FunctionType, options: dict[str, Any]) -> Any:
    """What numba makes of a function when that is first called or compiled."""
    import numba

    njit: Any = numba.njit  # its types do not know all options
    return njit(**options)(function)


def with_parts(function: FunctionType, name: str | None = None) -> FunctionType:
    """The function, for which each part it names is what numba makes of it.

    name: a qualified name of its own.
    """
    found = with_own_globals(function)
    found.__qualname__ = name or function.__qualname__
    put_parts_in(found)
    return found


def with_own_globals(function: FunctionType) -> FunctionType:
    """The function, with globals that can be changed for it alone."""
    found = FunctionType(
        function.__code__,
        dict(function.__globals__),
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    found.__module__, found.__qualname__ = function.__module__, function.__qualname__
    return found


def put_parts_in(function: FunctionType) -> None:
    """Put what numba makes of parts in their place among the globals of a function.

    The names in its code are also those of attributes: in `exp`, that of `math.exp` is its own. A
    number is made an `int` by a cast, in place of a function that numba compiles for each type.
    """
    import numba

    names = function.__globals__
    names["int"] = numba.int64
    for name in function.__code__.co_names:
        if isinstance(part := names.get(name), Part):
            names[name] = part.dispatcher
