"""Functions that only kernels call, and numba's dispatchers for them.

numba takes a while to load, and a process that only plans queries compiles nothing. So numba is
loaded when machine code is first needed. Until then, a part is a plain function. Before numba
compiles a function, each part that the function names is replaced by numba's dispatcher for the
part.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any


class KernelPart:
    """A function that only kernels call, and the options with which numba compiles it.

    Args:
        function: the function.
        options: the options of numba.
    """

    def __init__(self, function: Callable[..., object], options: dict[str, Any]) -> None:
        assert isinstance(function, FunctionType)
        self.py_func = function
        self.options = options
        self._dispatcher: Any = None
        self._function_for_python: FunctionType | None = None

    def __call__(self, *arguments: Any) -> Any:
        """Run the function in Python, which is slow but needs no compiled code."""
        return self.function_for_python(*arguments)

    @property
    def function_for_python(self) -> FunctionType:
        """Return a copy of the function that calls the functions of other parts directly.

        Parts are small, so calling each of them by way of its `KernelPart` would take 20 % longer.
        """
        if self._function_for_python is None:
            function = copy_with_own_globals(self.py_func)
            # The copy is stored before the parts that the function names are visited, because they
            # may name the function as well.
            self._function_for_python = function
            for name, part in find_parts(function):
                function.__globals__[name] = part.callable_for_python
        return self._function_for_python

    @property
    def callable_for_python(self) -> Callable[..., Any]:
        """Return the function that other parts call if Python runs a kernel."""
        return self.function_for_python

    @property
    def dispatcher(self) -> Any:
        """Return numba's dispatcher for the function."""
        if self._dispatcher is None:
            # The dispatcher is stored before the dispatchers of the parts that the function names
            # are made, because they may name the function as well.
            function = copy_with_own_globals(self.py_func)
            self._dispatcher = make_dispatcher(function, self.options)
            insert_dispatchers(function)
        return self._dispatcher


def make_dispatcher(function: FunctionType, options: dict[str, Any]) -> Any:
    """Return numba's dispatcher for a function: the object that compiles it when it is called."""
    import numba

    njit: Any = numba.njit  # its types do not know all options
    return njit(**options)(function)


def copy_with_parts(function: FunctionType, name: str | None = None) -> FunctionType:
    """Return a copy of a function whose parts are replaced by their dispatchers.

    Args:
        function: the function.
        name: the qualified name of the copy; None for the name of the function.
    """
    copy = copy_with_own_globals(function)
    copy.__qualname__ = name or function.__qualname__
    insert_dispatchers(copy)
    return copy


def copy_with_own_globals(function: FunctionType) -> FunctionType:
    """Return a copy of a function that has a copy of its globals, which can be changed."""
    copy = FunctionType(
        function.__code__,
        dict(function.__globals__),
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__module__ = function.__module__
    copy.__qualname__ = function.__qualname__
    return copy


def insert_dispatchers(function: FunctionType) -> None:
    """Replace the parts among the globals of a function by their dispatchers.

    `int` becomes a cast, because numba would otherwise compile a function for each type.
    """
    import numba

    function.__globals__["int"] = numba.int64
    for name, part in find_parts(function):
        function.__globals__[name] = part.dispatcher


def find_parts(function: FunctionType) -> list[tuple[str, KernelPart]]:
    """Return the parts whose names occur in the code of a function, with these names.

    The result may have too many parts, because the code also has the names of attributes: `exp` in
    `strict_math` is a part, and the name of the attribute in `math.exp`.
    """
    values = ((name, function.__globals__.get(name)) for name in function.__code__.co_names)
    return [(name, value) for name, value in values if isinstance(value, KernelPart)]
