"""Which functions are compiled, and how: numba as it comes, with few options.

No kernel allocates, so nothing needs to be counted: numba would count each array at each call,
which makes a search three to ten times as slow (`_nrt`). Functions that only kernels call have no
entry for Python or C, which would be a quarter of what they cost to compile. And a division by zero
raises no error: kernels look before they divide.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from matchrec.jit.kept import Kept
from matchrec.jit.parts import Part

_F = TypeVar("_F", bound=Callable[..., object])

_OPTIONS = {"error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_PART = _OPTIONS | {"no_cpython_wrapper": True}


def kernel(function: _F) -> _F:
    """A function that Python calls with contiguous arrays, records of them, numbers and None."""
    return _kept(function, _OPTIONS)


def allocating(function: _F) -> _F:
    """A function that Python calls, with arrays of any kind, and that makes the arrays it gives."""
    return _kept(function, {})


def inner(function: _F) -> _F:
    """A function that kernels call: its code is there once, unless it is small."""
    return Part(function, _PART)  # type: ignore[return-value]


def spliced(function: _F) -> _F:
    """A function whose text becomes a part of the one that calls it, before that is compiled.

    For a part of a large function that is called in one place: it is optimised once, and records
    are not passed to it, array by array. An argument that is None is not known to be there.
    """
    return Part(function, _PART | {"inline": "always"})  # type: ignore[return-value]


def inlined(function: _F) -> _F:
    """A function whose code stands where it is called, for what is called all the time.

    It is optimised by itself, and again in each function that calls it: large ones are `inner`.
    """
    return Part(function, _PART | {"forceinline": True})  # type: ignore[return-value]


def _kept(function: _F, options: dict[str, Any]) -> _F:
    kept = Kept(function, options)

    @wraps(function)
    def call(*arguments: Any) -> Any:
        return kept(*arguments)

    return call  # type: ignore[return-value]
