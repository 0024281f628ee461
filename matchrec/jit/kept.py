"""Compiled functions on disk, so that only the first query of its kind on a machine compiles.

numba keeps them, in the first of these places that can be written to:

    $NUMBA_CACHE_DIR        where that is set
    __pycache__             beside the source
    the user's cache        ~/.cache/numba on Linux

Where there is none, each process compiles for itself. Five things are added to what numba does.
It would use code that was made from other sources than those there are now, as it looks only at the
file of the function itself: so a digest of all sources is in the name of its files. It numbers a
function's files, and two processes that compile it for different types could take the same number:
so a name is for one combination of types. It would run what is in a damaged file: so files are
vouched for, see `files`. It looks for files only where it may write: so those of a read-only
installation are copied. And it lets every process compile: so the first one is let `alone`.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from matchrec.jit.alone import alone
from matchrec.jit.announcing import say
from matchrec.jit.files import Files
from matchrec.jit.parts import dispatcher_of, with_parts
from matchrec.loading import without_collector

# The rooms from which machine code is made.
SOURCES = ("jit", "nfa", "evaluate", "engine", "output", "spark/sorting")

ALL: list[Kept] = []


class Kept:
    """A function, compiled for each combination of types when that is first asked for."""

    def __init__(self, function: Callable[..., object], options: dict[str, Any]) -> None:
        assert isinstance(function, FunctionType)
        self.function = function
        self.options = options
        self.compiled: dict[tuple[Any, ...], Any] = {}
        self.sources = digest_of_sources()  # now, not when somebody has edited them
        ALL.append(self)

    def __call__(self, *arguments: Any) -> Any:
        types = tuple(map(type_of, arguments))
        compiled = self.compiled.get(types)
        if compiled is not None:
            return compiled(*arguments)
        try:
            with without_collector():
                compiled = self.kept_as(self.name(types), arguments)
        except OSError:  # there is no room to keep it
            compiled = dispatcher_of(self.function, self.options)
        self.compiled[types] = compiled
        return compiled(*arguments)

    def name(self, types: tuple[Any, ...]) -> str:
        """What the files are called that hold the code for some types."""
        import numba

        config: Any = numba.config
        told_apart = repr((self.function.__module__, types, config.BOUNDSCHECK))
        digest = hashlib.sha256(told_apart.encode()).hexdigest()[:16]
        return f"{self.function.__qualname__}-{digest}-{self.sources}"

    def kept_as(self, name: str, arguments: tuple[Any, ...]) -> Any:
        """The function, compiled for arguments or found among the files of a name."""
        compiled = dispatcher_of(with_parts(self.function, name), self.options)
        place = enable_caching(compiled)
        with alone(place, name):
            if not self.is_found(place, name):
                say()
            compile_for(compiled, arguments)
        return compiled

    def is_found(self, place: Path | None, name: str) -> bool:
        """Whether numba will find the code of a name in a place; damaged files are removed."""
        if place is None:
            return False
        found, own = Files(place, name), folder_beside(self.function)
        if place != own:
            found.copy_from(own)
        if not found.are_sound():
            found.remove()
            return False
        return True

    def place(self) -> Path | None:
        """The folder in which numba keeps what it compiles."""
        return enable_caching(dispatcher_of(self.function, self.options))


def type_of(argument: Any) -> tuple[Any, ...]:
    """What tells arguments apart for which other code is needed.

    The arrays of a record are always of the same types, unless they are missing.
    """
    if isinstance(argument, np.ndarray):
        flags = argument.flags
        return argument.dtype, argument.ndim, flags.c_contiguous, flags.writeable
    if isinstance(argument, tuple):
        return type(argument), *map(type, argument)
    return (type(argument),)


def compile_for(compiled: Any, arguments: tuple[Any, ...]) -> None:
    """Compile a function for arguments, or find it; vouches for what is kept."""
    import numba

    compiled.compile(tuple(map(numba.typeof, arguments)))
    place = compiled.stats.cache_path
    if place is not None and sum(compiled.stats.cache_misses.values()):
        Files(Path(place), compiled.py_func.__qualname__).vouch()


def enable_caching(compiled: Any) -> Path | None:
    """The place in which numba will keep a function; None where it can write to no place."""
    with suppress(RuntimeError):
        compiled.enable_caching()
        return Path(compiled.stats.cache_path)
    return None


def folder_beside(function: FunctionType) -> Path:
    """The folder beside the source of a function."""
    return Path(inspect.getfile(function)).parent / "__pycache__"


@lru_cache
def digest_of_sources() -> str:
    """Of all that machine code is made from: functions take in what they call."""
    digest = hashlib.sha256()
    for room in SOURCES:
        for source in sources_in(files("matchrec").joinpath(room)):
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def sources_in(folder: Any) -> list[Any]:
    """The Python files in a folder and in those in it, in an order that is always the same."""
    found: list[Any] = []
    for one in sorted(folder.iterdir(), key=lambda file: file.name):
        if one.is_dir():
            found += sources_in(one)
        elif one.name.endswith(".py"):
            found.append(one)
    return found


def places() -> list[Path]:
    """The folders in which there are compiled functions."""
    found = {one.place() for one in ALL}
    return sorted(place for place in found if place is not None and any(place.glob("*.nbi")))
