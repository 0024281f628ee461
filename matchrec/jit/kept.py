"""Compiled functions on disk, so that only the first query of its kind on a machine compiles.

numba keeps them, in the first of these places that can be written to:

    $NUMBA_CACHE_DIR        where that is set
    __pycache__             beside the source
    the user's cache        ~/.cache/numba on Linux

If another user could write to a place, it is skipped, and a line on the standard error says so (see
`trust`). If no place is left, each process compiles for itself. Besides `trust`, this module adds
five things to what numba does.

It would use code that was made from other sources than those there are now, as it looks only at the
file of the function itself: so a digest of all sources is in the name of its files. It numbers a
function's files, and two processes that compile it for different types could take the same number:
so a name is for one combination of types. It would run what is in a damaged file: so files are
vouched for, see `Files`. It looks for files only where it may write: so those of a read-only
installation are copied. And it lets every process compile: so the first one locks its name.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, update_wrapper
from importlib.resources import files
from pathlib import Path
from threading import RLock
from types import FunctionType
from typing import Any
from uuid import uuid4

import numpy as np

from matchrec.jit import trust
from matchrec.loading import without_collector
from matchrec.shortcuts import taken

# The files in which numba keeps a function, with a file of digests that shows damage.
#
# numba replaces each file as a whole, so what processes write at the same time is never mixed
# within a file. The file that vouches for the others is written last. Where it does not, because a
# disk is broken, a copy has been cut off or another process is just writing, they count as missing.


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a name in a folder. A name ends in a digest of the sources, after a hyphen."""

    place: Path
    name: str

    @property
    def voucher(self) -> Path:
        return self.place / f"{self.name}.sha256"

    def kept(self) -> list[Path]:
        """Numba's files: the code, then the lists that say where it is."""
        return sorted(self.place.glob(f"*.{self.name}-*.nb[ci]"))

    def all(self) -> list[Path]:
        """Numba's files, and the one that vouches for them, as far as they exist."""
        return [file for file in (*self.kept(), self.voucher) if os.path.lexists(file)]

    def are_trusted(self, writers: trust.Writers) -> bool:
        """Return whether nobody but these writers can have written the files."""
        if not trust.has_users():
            return True
        return all(trust.find_fault_of_file(file, writers) is None for file in self.all())

    def digests(self) -> str:
        """What vouches for the files as they are: a line for each, as `sha256sum` writes it."""
        digests = {file.name: hashlib.sha256(file.read_bytes()) for file in self.kept()}
        return "\n".join(f"{digest.hexdigest()}  {name}" for name, digest in digests.items())

    def vouch(self) -> None:
        """Say that the files are as they should be; those made from other sources are removed."""
        with suppress(OSError):
            write(self.voucher, self.digests().encode())
        stem = self.name.rpartition("-")[0]
        for voucher in self.place.glob(f"{stem}-*.sha256"):
            if voucher != self.voucher:
                Files(self.place, voucher.stem).remove()

    def remove(self) -> None:
        for file in (self.voucher, *self.kept()):
            with suppress(OSError):
                file.unlink()


def write(path: Path, content: bytes) -> None:
    temporary = path.with_name(f"{path.name}.{uuid4().hex[:16]}")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


# Functions that only kernels call, and what numba makes of them.
#
# Processes that make queries compile nothing, and numba takes a while to load: it is loaded when a
# kernel is first called. So a part is a plain function until then, and a function that numba is to
# compile gets in the place of each part that it names what numba has made of that.


class KernelPart:
    """A function that only kernels call, and the options with which numba takes it."""

    def __init__(self, function: Callable[..., object], options: dict[str, Any]) -> None:
        assert isinstance(function, FunctionType)
        self.py_func = function
        self.options = options
        self._dispatcher: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """What Python makes of the function: the same, but slowly and without being compiled."""
        return self.py_func(*arguments)

    @property
    def dispatcher(self) -> Any:
        """What numba makes of it; there before what it names, which may have its own name."""
        if self._dispatcher is None:
            function = with_own_globals(self.py_func)
            self._dispatcher = taken_by_numba(function, self.options)
            put_parts_in(function)
        return self._dispatcher


def taken_by_numba(function: FunctionType, options: dict[str, Any]) -> Any:
    import numba

    njit: Any = numba.njit  # its types do not know all options
    return njit(**options)(function)


def with_parts(function: FunctionType, name: str | None = None) -> FunctionType:
    """The function, with what numba makes of each part it names. name: one of its own."""
    found = with_own_globals(function)
    found.__qualname__ = name or function.__qualname__
    put_parts_in(found)
    return found


def with_own_globals(function: FunctionType) -> FunctionType:
    """The function, with globals that can be changed for it alone."""
    code, own = function.__code__, dict(function.__globals__)
    others = function.__name__, function.__defaults__, function.__closure__
    found = FunctionType(code, own, *others)
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
        if isinstance(part := names.get(name), KernelPart):
            names[name] = part.dispatcher


# One thread of one process compiles a function, the others on the machine wait for what it keeps.
#
# Spark starts as many workers as there are cores, and on a machine without compiled functions all
# of them need the same ones at once. Each would compile them, and would damage what another one
# keeps. Locks of files are those of a process, so its threads have one of their own.

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOCKS = "compiling.lock"  # the file beside the compiled functions, of which each name locks a byte

ONE_THREAD = RLock()  # held by the thread that compiles; numba has one do so at a time as well


@contextmanager
def lock_name(place: Path | None, name: str) -> Iterator[None]:
    """Has one process at a time do this for a name in a place, if that has locks of files."""
    with ExitStack() as opened:
        with suppress(OSError):
            if place is not None and fcntl is not None:
                place.mkdir(parents=True, exist_ok=True)
                locks = opened.enter_context((place / LOCKS).open("ab"))
                byte = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
                fcntl.lockf(locks, fcntl.LOCK_EX, 1, byte)
        yield


# Says once on the standard error that a process compiles, since somebody waits for it. How long
# depends on the kernel, the processor and what else runs: a first `aggregate` has taken from 5 to
# 60 seconds. So the line gives no number; docs/contributing/benchmarks.md
# has a table by kernel.
#
# Nothing is compiled where a query is made, only in the workers; their standard error is the
# terminal's in a local session, else the executor's log.

LINE = (
    "matchrec: compiling the search for the first query of its kind on this machine; this takes"
    " several seconds, or tens of seconds on a busy machine; `matchrec warm` does it beforehand"
)


@lru_cache
def announce_compiling() -> None:
    sys.stderr.write(f"{LINE}\n")
    sys.stderr.flush()


# The folders from which machine code is made.
SOURCES = ("jit", "automaton", "conditions/evaluate", "search", "output")

# Files of other rooms whose enums are numbered in machine code.
NUMBERED_IN = ("conditions/run_condition.py", "plan/clauses.py")

ALL: list[KeptFunction] = []


class KeptFunction:
    """A function, compiled for each combination of types when that is first asked for."""

    def __init__(self, function: Callable[..., object], options: dict[str, Any]) -> None:
        assert isinstance(function, FunctionType)
        self.function = function
        self.options = options
        self.compiled: dict[tuple[Any, ...], Any] = {}
        self.steps_by_python: Counter[tuple[Any, ...]] = Counter()
        self.sources = digest_of_sources()  # now, not when somebody has edited them
        update_wrapper(self, function)
        ALL.append(self)

    def __call__(self, *arguments: Any) -> Any:
        types = tuple(map(type_of, arguments))
        compiled = self.compiled.get(types)
        if compiled is None:
            with ONE_THREAD, without_collector():
                compiled = self.compiled.get(types) or self.compiled_for(types, arguments)
                self.compiled[types] = compiled
        return compiled(*arguments)

    def steps_left(self, arguments: tuple[Any, ...]) -> int:
        """How many steps Python may still take for such arguments; none where the code is there."""
        types = tuple(map(type_of, arguments))
        left = taken().few_steps - self.steps_by_python[types]
        return 0 if left <= 0 or types in self.compiled or self.is_kept(types) else left

    def count_steps(self, steps: int, arguments: tuple[Any, ...]) -> None:
        self.steps_by_python[tuple(map(type_of, arguments))] += steps

    def part(self, name: str) -> KernelPart:
        found = self.function.__globals__[name]
        assert isinstance(found, KernelPart)
        return found

    def by_python(self, *arguments: Any, **parts: Any) -> Any:
        """What Python makes of it. parts: functions in the place of those that have these names."""
        function = with_own_globals(self.function)
        function.__globals__.update(parts)
        with np.errstate(all="ignore"):  # numbers of kernels wrap
            return function(*arguments)

    def is_kept(self, types: tuple[Any, ...]) -> bool:
        places, name = (self.place(), folder_beside(self.function)), self.name(types)
        return any(place is not None and Files(place, name).voucher.exists() for place in places)

    def name(self, types: tuple[Any, ...]) -> str:
        import numba

        config: Any = numba.config
        told_apart = repr((self.function.__module__, types, config.BOUNDSCHECK))
        digest = hashlib.sha256(told_apart.encode()).hexdigest()[:16]
        return f"{self.function.__qualname__}-{digest}-{self.sources}"

    def compiled_for(self, types: tuple[Any, ...], arguments: tuple[Any, ...]) -> Any:
        """The function, compiled for arguments or found; vouches for what is kept."""
        import numba

        name = self.name(types)
        function = with_parts(self.function, name)
        compiled = taken_by_numba(function, self.options)
        try:
            place = enable_caching(compiled, function)
            with trust.files_for_us_alone(), lock_name(place, name):
                if not is_found(self.function, place, name):
                    announce_compiling()
                compiled.compile(tuple(map(numba.typeof, arguments)))
                if place is not None and sum(compiled.stats.cache_misses.values()):
                    Files(place, name).vouch()
            return compiled
        except OSError:  # there is no room to keep it, or a file that must not be used
            return taken_by_numba(with_parts(self.function), self.options)

    def place(self) -> Path | None:
        return place_of(cache_of(self.function))


class DamagedFilesError(OSError):
    """Files that are not as they should be, or that others may have written, cannot be removed."""


def is_found(function: FunctionType, place: Path | None, name: str) -> bool:
    """Return whether numba will find the code of a name in a place.

    Files beside the source are copied to the place. Files that are damaged, and files that another
    user may have written, are removed.

    Raises:
        DamagedFilesError: such files are still there, and numba would load them.
    """
    if place is None:
        return False
    found, beside, is_sound = Files(place, name), Files(folder_beside(function), name), False
    if place != beside.place and not found.voucher.exists() and is_trusted_beside(function, beside):
        with suppress(OSError):
            for file in beside.all():
                write(place / file.name, file.read_bytes())
    if found.are_trusted(writers_at(function, place)):
        with suppress(OSError):
            is_sound = found.voucher.read_bytes() == found.digests().encode()
    if not is_sound:
        found.remove()
        if found.all():
            raise DamagedFilesError(f"{place} has files of {name} that cannot be removed")
    return is_sound


def writers_at(function: FunctionType, place: Path) -> trust.Writers:
    """Return who may write the compiled code of a function in a place."""
    if not trust.has_users():
        return trust.Writers(frozenset())
    if place == folder_beside(function):
        return trust.writers_of_sources(Path(inspect.getfile(function)))
    return trust.own_writers()


def is_trusted_beside(function: FunctionType, beside: Files) -> bool:
    """Return whether there are files of a function beside its source that may be copied."""
    if not beside.voucher.exists():
        return False
    if not trust.has_users():
        return True
    writers = writers_at(function, beside.place)
    folder_fault = trust.find_fault_beside(beside.place, writers)
    return folder_fault is None and beside.are_trusted(writers)


def type_of(argument: Any) -> tuple[Any, ...]:
    """What tells arguments apart for which other code is needed, as numba does: else it would keep
    code for two kinds of arguments under one name, and find damage there.
    """
    if isinstance(argument, np.ndarray):
        flags = argument.flags
        return argument.dtype, argument.ndim, flags.c_contiguous, flags.writeable
    if isinstance(argument, tuple):
        return type(argument), *map(type_of, argument)
    if isinstance(argument, np.void):  # a record
        return (argument.dtype,)
    return (type(argument),)


class UntrustedPlaceError(OSError):
    """A place for compiled code in which another user could write."""


def check_place(function: FunctionType, place: Path) -> None:
    """Raise UntrustedPlaceError, and say so, if another user could write in a place."""
    if place.parts[0] == "~":  # of a user without a home: numba would make a folder of that name
        raise UntrustedPlaceError(place)
    if not trust.has_users():
        return
    writers = writers_at(function, place)
    is_beside = place == folder_beside(function)
    find_fault = trust.find_fault_beside if is_beside else trust.find_fault_of_folder
    fault = find_fault(place, writers)
    if fault is not None:
        announce_untrusted(fault)
        raise UntrustedPlaceError(fault)


@lru_cache
def announce_untrusted(fault: str) -> None:
    sys.stderr.write(UNTRUSTED.format(fault=fault))
    sys.stderr.flush()


UNTRUSTED = (
    "matchrec: compiled code is not kept where another user could change it: {fault}; set"
    " NUMBA_CACHE_DIR to a folder that belongs to you and that only you can write to\n"
)


@lru_cache
def cache_class() -> type[Any]:
    """Return numba's cache of compiled functions, which takes only places that are trusted."""
    import numba  # noqa: F401 -- as a whole first: threads that import parts of it fail
    from numba.core import caching

    class TrustedImplementation(caching.CompileResultCacheImpl):
        _locator_classes = [  # noqa: RUF012 -- numba declares it so
            *map(trusting, caching.CompileResultCacheImpl._locator_classes)
        ]

    class TrustedCache(caching.FunctionCache):
        _impl_class = TrustedImplementation

    return TrustedCache


def trusting(locator: type[Any]) -> type[Any]:
    """Return one of numba's ways to find a place, which fails if the place is not trusted.

    numba goes on to its next way if `ensure_cache_path` raises OSError.
    """

    class TrustingLocator(locator):  # type: ignore[misc]
        def __init__(self, function: FunctionType, file: str) -> None:
            super().__init__(function, file)
            self.function = function

        def ensure_cache_path(self) -> None:
            place = Path(self.get_cache_path())
            check_place(self.function, place)
            with ExitStack() as opened:
                if not place.exists():
                    opened.enter_context(trust.files_for_us_alone())
                super().ensure_cache_path()
            check_place(self.function, place)  # another user may have made it meanwhile

    return TrustingLocator


def cache_of(function: FunctionType) -> Any | None:
    """Return numba's cache of a function in the first place that can be used, or None."""
    with suppress(RuntimeError, OSError):
        cache = cache_class()(function)
        cache._impl.locator.ensure_cache_path()  # which numba does not ask of all places before
        check_place(function, Path(cache.cache_path))  # NUMBA_CACHE_LOCATOR_CLASSES names others
        return cache
    return None


def place_of(cache: Any | None) -> Path | None:
    return None if cache is None else Path(cache.cache_path)


def enable_caching(compiled: Any, function: FunctionType) -> Path | None:
    """The place in which numba will keep a function; None where it can write to no place."""
    cache = cache_of(function)
    if cache is not None:
        compiled._cache = cache
    return place_of(cache)


def folder_beside(function: FunctionType) -> Path:
    return Path(inspect.getfile(function)).parent / "__pycache__"


@lru_cache
def digest_of_sources() -> str:
    """Of all that machine code is made from: functions take in what they call."""
    digest = hashlib.sha256()
    for room in SOURCES:
        for source in sources_in(files("matchrec").joinpath(room)):
            digest.update(source.read_bytes())
    for name in NUMBERED_IN:
        digest.update(files("matchrec").joinpath(name).read_bytes())
    return digest.hexdigest()[:16]


def sources_in(folder: Any) -> list[Any]:
    """The Python files in a folder and in those in it, in an order that is always the same."""
    found: list[Any] = []
    for place in sorted(folder.iterdir(), key=lambda file: file.name):
        if place.is_dir():
            found += sources_in(place)
        elif place.name.endswith(".py"):
            found.append(place)
    return found


def places() -> list[Path]:
    found = {function.place() for function in ALL}
    return sorted(place for place in found if place is not None and any(place.glob("*.nbi")))
