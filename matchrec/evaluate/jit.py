"""How kernels are compiled: cached on disk, without reference counts, with Python's wrapper or not.

No kernel allocates, so nothing needs to be counted: numba would count each array at each call,
which costs more than a step of a search. A function that only kernels call needs no wrapper, which
is half of what it costs to compile; Python must not call it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from numba import njit
from numba.core.caching import FunctionCache

_F = TypeVar("_F", bound=Callable[..., object])

_njit: Any = njit  # its types do not know all options
_OPTIONS = {"cache": True, "error_model": "numpy", "_nrt": False}
_NO_WRAPPER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_PACKAGE = Path(__file__).parents[1]


def _digest_of_sources() -> str:
    digest = hashlib.sha256()
    for folder in ("nfa", "evaluate", "engine/kernels", "engine/kernels/selection"):
        for path in sorted((_PACKAGE / folder).glob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


_SOURCES = _digest_of_sources()


class _Cache(FunctionCache):
    """A cache that knows all sources: numba's own looks at the file of the outermost function
    only, and would go on with what it inlined there from another file that has changed.
    """

    def _index_key(self, signature: Any, codegen: Any) -> tuple[Any, ...]:
        return (*super()._index_key(signature, codegen), _SOURCES)  # type: ignore[no-untyped-call]


def _compiled(function: _F, **options: bool) -> _F:
    dispatcher = _njit(**_OPTIONS, **options)(function)
    dispatcher._cache = _Cache(function)  # type: ignore[no-untyped-call]
    return dispatcher  # type: ignore[no-any-return]


def kernel(function: _F) -> _F:
    """A function that Python calls."""
    return _compiled(function)


def inner(function: _F) -> _F:
    """A function that kernels call."""
    return _compiled(function, **_NO_WRAPPER)


def inlined(function: _F) -> _F:
    """A function whose code stands where it is called: the arrays need not be passed."""
    return _compiled(function, **_NO_WRAPPER, forceinline=True)
