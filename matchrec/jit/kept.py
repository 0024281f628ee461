"""Compiled functions on disk, so that only the first query of its kind on a machine compiles.

numba keeps them in the first of these folders that can be written to:

    $NUMBA_CACHE_DIR        if it is set
    __pycache__             beside the source
    the user's cache        ~/.cache/numba on Linux

If another user could write to a folder, it is skipped, and a line on the standard error says so
(see `trust`). If no folder is left, each process compiles for itself. This module adds six things
to what numba does:

1.  Folders are checked by `trust`.
2.  A digest of all sources is in the names of files, because numba would use code that was made
    from other sources: it looks only at the file of the function itself.
3.  A name is for one combination of types, because numba numbers a function's files, and two
    processes that compile it for different types could take the same number.
4.  Files are vouched for (see `Files`), because numba would run what is in a damaged file.
5.  Files of a read-only installation are copied, because numba looks for files only in folders to
    which it may write.
6.  The first process that compiles locks the name, because numba would let every process compile.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, update_wrapper
from importlib.resources import files
from pathlib import Path
from threading import RLock
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar
from uuid import uuid4

import numpy as np

from matchrec.jit import trust
from matchrec.loading import without_collector
from matchrec.shortcuts import current_shortcuts

P = ParamSpec("P")
R = TypeVar("R")

# The files in which numba keeps a function, with a file of digests that shows damage.
#
# numba replaces each file as a whole, so what processes write at the same time is never mixed
# within a file. The file that vouches for the others is written last. If it does not, because a
# disk is broken, a copy has been cut off or another process is just writing, they count as missing.


@dataclass(frozen=True, slots=True)
class Files:
    """The files with a name in a folder."""

    folder: Path
    # Ends in a hyphen and a digest of the sources.
    name: str

    @property
    def voucher(self) -> Path:
        """Return the path of the file that vouches for the others."""
        return self.folder / f"{self.name}.sha256"

    def kept(self) -> list[Path]:
        """Return numba's files: the code (`.nbc`), then its index (`.nbi`)."""
        return sorted(self.folder.glob(f"*.{self.name}-*.nb[ci]"))

    def all(self) -> list[Path]:
        """Return the existing files: numba's, and the one that vouches for them."""
        return [file for file in (*self.kept(), self.voucher) if os.path.lexists(file)]

    def are_trusted(self, writers: trust.Writers) -> bool:
        """Return whether nobody but these writers can have written the files."""
        if not trust.has_users():
            return True
        return all(trust.find_fault_of_file(file, writers) is None for file in self.all())

    def digests(self) -> str:
        """Return what vouches for the files as they are: a line for each, as of `sha256sum`."""
        digests = {file.name: hashlib.sha256(file.read_bytes()) for file in self.kept()}
        return "\n".join(f"{digest.hexdigest()}  {name}" for name, digest in digests.items())

    def vouch(self) -> None:
        """Vouch for the files as they are, and remove those that were made from other sources."""
        with suppress(OSError):
            write(self.voucher, self.digests().encode())
        stem = self.name.rpartition("-")[0]
        for voucher in self.folder.glob(f"{stem}-*.sha256"):
            if voucher != self.voucher:
                Files(self.folder, voucher.stem).remove()

    def remove(self) -> None:
        """Remove the files, and ignore those that cannot be removed."""
        for file in (self.voucher, *self.kept()):
            with suppress(OSError):
                file.unlink()


def write(path: Path, content: bytes) -> None:
    """Write a file as a whole, so that nobody reads a part of it."""
    temporary = path.with_name(f"{path.name}.{uuid4().hex[:16]}")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


# Functions that only kernels call, and numba's dispatchers for them.
#
# Processes that make queries compile nothing, and numba takes a while to load, so it is loaded when
# a kernel is first called. Until then, a part is a plain function. Before numba compiles a
# function, each part that it names is replaced by the part's dispatcher.


class KernelPart:
    """A function that only kernels call, and the options with which numba compiles it."""

    def __init__(self, function: Callable[..., object], options: dict[str, Any]) -> None:
        assert isinstance(function, FunctionType)
        self.py_func = function
        self.options = options
        self._dispatcher: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Run the function in Python, which is slow but needs no compiled code."""
        return self.py_func(*arguments)

    @property
    def dispatcher(self) -> Any:
        """Return numba's dispatcher for the function."""
        if self._dispatcher is None:
            # Create it before the dispatchers of the parts that the function names: they may name
            # the function, too.
            function = with_own_globals(self.py_func)
            self._dispatcher = taken_by_numba(function, self.options)
            put_parts_in(function)
        return self._dispatcher


def taken_by_numba(function: FunctionType, options: dict[str, Any]) -> Any:
    """Return numba's dispatcher for a function, which compiles it when it is called."""
    import numba

    njit: Any = numba.njit  # its types do not know all options
    return njit(**options)(function)


def with_parts(function: FunctionType, name: str | None = None) -> FunctionType:
    """Return a copy of a function whose parts are replaced by their dispatchers.

    Args:
        function: the function.
        name: the qualified name of the copy, if it gets another one.
    """
    copy = with_own_globals(function)
    copy.__qualname__ = name or function.__qualname__
    put_parts_in(copy)
    return copy


def with_own_globals(function: FunctionType) -> FunctionType:
    """Return a copy of a function whose globals can be changed for it alone."""
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


def put_parts_in(function: FunctionType) -> None:
    """Replace parts among the globals of a function by their dispatchers.

    Only parts whose names are in its code, which may also be names of attributes: `exp` in
    `strict_math` has the name of `math.exp`. `int` becomes a cast, because numba would compile a
    function for each type otherwise.
    """
    import numba

    names = function.__globals__
    names["int"] = numba.int64
    for name in function.__code__.co_names:
        part = names.get(name)
        if isinstance(part, KernelPart):
            names[name] = part.dispatcher


# One thread of one process compiles a function. The others on the machine wait for its files.
#
# Spark starts as many workers as there are cores, and on a machine without compiled functions all
# of them need the same ones at once. Each would compile them, and would damage the files of others.
# Locks of files belong to a process, so there is another lock for its threads.

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOCKS = "compiling.lock"  # a file beside the compiled functions; each name locks a byte of it

# Held by the thread that compiles. numba, too, lets only one thread compile at a time.
ONE_THREAD = RLock()


@contextmanager
def lock_name(folder: Path | None, name: str) -> Iterator[None]:
    """Let only one process at a time run the body of the `with` for a name in a folder.

    If there is no folder, or its file system has no locks, nobody waits.
    """
    with ExitStack() as opened:
        with suppress(OSError):
            if folder is not None and fcntl is not None:
                folder.mkdir(parents=True, exist_ok=True)
                locks = opened.enter_context((folder / LOCKS).open("ab"))
                byte = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
                fcntl.lockf(locks, fcntl.LOCK_EX, 1, byte)
        yield


# The line on the standard error that a process compiles, because somebody waits for it. It names no
# time, which depends on the kernel, the processor and what else runs: a first `aggregate` has taken
# from 5 to 60 seconds. docs/contributing/benchmarks.md has a table by kernel.
#
# Only workers compile, not the process that makes a query. Their standard error is the terminal's
# in a local session, else the executor's log.

LINE = (
    "matchrec: compiling the search for the first query of its kind on this machine; this takes"
    " several seconds, or tens of seconds on a busy machine; `matchrec warm` does it beforehand"
)


@lru_cache
def announce_compiling() -> None:
    """Write once that this process compiles."""
    sys.stderr.write(f"{LINE}\n")
    sys.stderr.flush()


# The folders from which machine code is made.
SOURCES = ("jit", "automaton", "conditions/evaluate", "search", "output")

# Files outside of these folders whose enums are numbered in machine code.
NUMBERED_IN = ("conditions/run_condition.py", "plan/clauses.py")

# All kept functions of this process.
ALL: list[KeptFunction[..., Any]] = []


def wrapping_integers() -> AbstractContextManager[object]:
    """Let integers wrap without a warning, as in compiled code, while Python runs a kernel."""
    return np.errstate(all="ignore")


class KeptFunction(Generic[P, R]):
    """A function that is compiled for each combination of types at its first call with them."""

    def __init__(self, function: Callable[P, R], options: dict[str, Any]) -> None:
        assert isinstance(function, FunctionType)
        self.function: FunctionType = function
        self.options = options
        # The compiled function, and the steps that Python has taken, for each combination of types.
        self.compiled: dict[tuple[Any, ...], Any] = {}
        self.steps_by_python: Counter[tuple[Any, ...]] = Counter()
        self.sources = digest_of_sources()  # as they are imported, before somebody edits them
        update_wrapper(self, function)
        ALL.append(self)

    def __call__(self, *arguments: P.args, **_named: P.kwargs) -> R:
        types = tuple(map(type_of, arguments))
        compiled = self.compiled.get(types)
        if compiled is None:
            with ONE_THREAD, without_collector():
                compiled = self.compiled.get(types) or self.compiled_for(types, arguments)
                self.compiled[types] = compiled
        result: R = compiled(*arguments)
        return result

    def steps_left(self, arguments: tuple[Any, ...]) -> int:
        """Return how many steps Python may still take for such arguments.

        0 if the function is compiled for them.
        """
        types = tuple(map(type_of, arguments))
        left = current_shortcuts().few_steps - self.steps_by_python[types]
        return 0 if left <= 0 or types in self.compiled or self.is_kept(types) else left

    def count_steps(self, steps: int, arguments: tuple[Any, ...]) -> None:
        """Count steps that Python has taken for such arguments."""
        self.steps_by_python[tuple(map(type_of, arguments))] += steps

    def by_python(self, *arguments: P.args, **named: P.kwargs) -> R:
        """Run the function in Python."""
        with wrapping_integers():
            result: R = self.function(*arguments, **named)
            return result

    def is_kept(self, types: tuple[Any, ...]) -> bool:
        """Return whether the code for some types is on disk."""
        name = self.name(types)
        folders = (self.place(), folder_beside(self.function))
        return any(
            folder is not None and Files(folder, name).voucher.exists() for folder in folders
        )

    def name(self, types: tuple[Any, ...]) -> str:
        """Return the name of the files with the code for some types."""
        import numba

        config: Any = numba.config
        identity = repr((self.function.__module__, types, config.BOUNDSCHECK))
        digest = hashlib.sha256(identity.encode()).hexdigest()[:16]
        return f"{self.function.__qualname__}-{digest}-{self.sources}"

    def compiled_for(self, types: tuple[Any, ...], arguments: tuple[Any, ...]) -> Any:
        """Compile the function for some arguments, or load it; vouch for the new files."""
        import numba

        name = self.name(types)
        function = with_parts(self.function, name)
        compiled = taken_by_numba(function, self.options)
        try:
            folder = enable_caching(compiled, function)
            with trust.files_for_us_alone(), lock_name(folder, name):
                if not is_found(self.function, folder, name):
                    announce_compiling()
                compiled.compile(tuple(map(numba.typeof, arguments)))
                if folder is not None and sum(compiled.stats.cache_misses.values()):
                    Files(folder, name).vouch()
            return compiled
        except OSError:  # there is no room to keep it, or a file that must not be used
            return taken_by_numba(with_parts(self.function), self.options)

    def place(self) -> Path | None:
        """Return the folder in which numba keeps the function, or None if there is none."""
        return folder_of(cache_of(self.function))


class DamagedFilesError(OSError):
    """Files that are not as they should be, or that others may have written, cannot be removed."""


def is_found(function: FunctionType, folder: Path | None, name: str) -> bool:
    """Return whether numba will find the code of a name in a folder.

    Files beside the source are copied to the folder. Files that are damaged, and files that another
    user may have written, are removed.

    Raises:
        DamagedFilesError: such files are still there, and numba would load them.
    """
    if folder is None:
        return False
    files_there = Files(folder, name)
    source_files = Files(folder_beside(function), name)
    may_copy = folder != source_files.folder and not files_there.voucher.exists()
    if may_copy and is_trusted_beside(function, source_files):
        with suppress(OSError):
            for file in source_files.all():
                write(folder / file.name, file.read_bytes())
    is_sound = False
    if files_there.are_trusted(writers_at(function, folder)):
        with suppress(OSError):
            is_sound = files_there.voucher.read_bytes() == files_there.digests().encode()
    if not is_sound:
        files_there.remove()
        if files_there.all():
            raise DamagedFilesError(f"{folder} has files of {name} that cannot be removed")
    return is_sound


def writers_at(function: FunctionType, folder: Path) -> trust.Writers:
    """Return who may write the compiled code of a function in a folder."""
    if not trust.has_users():
        return trust.Writers(frozenset())
    if folder == folder_beside(function):
        return trust.writers_of_sources(Path(inspect.getfile(function)))
    return trust.own_writers()


def is_trusted_beside(function: FunctionType, source_files: Files) -> bool:
    """Return whether there are files of a function beside its source that may be copied."""
    if not source_files.voucher.exists():
        return False
    if not trust.has_users():
        return True
    writers = writers_at(function, source_files.folder)
    folder_fault = trust.find_fault_beside(source_files.folder, writers)
    return folder_fault is None and source_files.are_trusted(writers)


def type_of(argument: Any) -> tuple[Any, ...]:
    """Return what tells apart arguments that need different code.

    It must tell apart whatever numba does. Otherwise numba would keep code for two kinds of
    arguments under one name, and its files would count as damaged.
    """
    if isinstance(argument, np.ndarray):
        flags = argument.flags
        return argument.dtype, argument.ndim, flags.c_contiguous, flags.writeable
    if isinstance(argument, tuple):
        return type(argument), *map(type_of, argument)
    if isinstance(argument, np.void):  # a record
        return (argument.dtype,)
    return (type(argument),)


class UntrustedFolderError(OSError):
    """A folder for compiled code in which another user could write."""


def check_folder(function: FunctionType, folder: Path) -> None:
    """Raise UntrustedFolderError, and say so, if another user could write in a folder."""
    if folder.parts[0] == "~":  # of a user without a home: numba would make a folder of that name
        raise UntrustedFolderError(folder)
    if not trust.has_users():
        return
    writers = writers_at(function, folder)
    is_beside = folder == folder_beside(function)
    find_fault = trust.find_fault_beside if is_beside else trust.find_fault_of_folder
    fault = find_fault(folder, writers)
    if fault is not None:
        announce_untrusted(fault)
        raise UntrustedFolderError(fault)


@lru_cache
def announce_untrusted(fault: str) -> None:
    """Write once that a folder is not trusted."""
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
        """Numba's implementation of the cache, which looks only into trusted folders."""

        _locator_classes = [  # noqa: RUF012 -- numba declares it so
            *map(trusting, caching.CompileResultCacheImpl._locator_classes)
        ]

    class TrustedCache(caching.FunctionCache):
        """Numba's cache of functions over `TrustedImplementation`."""

        _impl_class = TrustedImplementation

    return TrustedCache


def trusting(locator: type[Any]) -> type[Any]:
    """Return one of numba's ways to find a folder, which fails if the folder is not trusted.

    numba goes on to its next way if `ensure_cache_path` raises OSError.
    """

    class TrustingLocator(locator):  # type: ignore[misc]
        """The given locator with a check that nobody else can write to its folder."""

        def __init__(self, function: FunctionType, file: str) -> None:
            super().__init__(function, file)
            self.function = function

        def ensure_cache_path(self) -> None:
            """Create the folder if it is missing, and check before and after that it is trusted."""
            folder = Path(self.get_cache_path())
            check_folder(self.function, folder)
            with ExitStack() as opened:
                if not folder.exists():
                    opened.enter_context(trust.files_for_us_alone())
                super().ensure_cache_path()
            check_folder(self.function, folder)  # another user may have made it meanwhile

    return TrustingLocator


def cache_of(function: FunctionType) -> Any | None:
    """Return numba's cache of a function in the first folder that can be used, or None."""
    with suppress(RuntimeError, OSError):
        cache = cache_class()(function)
        cache._impl.locator.ensure_cache_path()  # which numba does not ask of all places before
        check_folder(function, Path(cache.cache_path))  # NUMBA_CACHE_LOCATOR_CLASSES names others
        return cache
    return None


def folder_of(cache: Any | None) -> Path | None:
    """Return the folder of one of numba's caches."""
    return None if cache is None else Path(cache.cache_path)


def enable_caching(compiled: Any, function: FunctionType) -> Path | None:
    """Let numba keep a function, and return the folder; None if it can write to no folder."""
    cache = cache_of(function)
    if cache is not None:
        compiled._cache = cache
    return folder_of(cache)


def folder_beside(function: FunctionType) -> Path:
    """Return the folder for compiled code beside the source of a function."""
    return Path(inspect.getfile(function)).parent / "__pycache__"


@lru_cache
def digest_of_sources() -> str:
    """Return a digest of all sources of machine code.

    It covers all sources, because the code of a function contains the code of the functions that it
    calls.
    """
    digest = hashlib.sha256()
    for folder in SOURCES:
        for source in sources_in(files("matchrec").joinpath(folder)):
            digest.update(source.read_bytes())
    for name in NUMBERED_IN:
        digest.update(files("matchrec").joinpath(name).read_bytes())
    return digest.hexdigest()[:16]


def sources_in(folder: Any) -> list[Any]:
    """Return the Python files in a folder and its subfolders, always in the same order."""
    sources: list[Any] = []
    for entry in sorted(folder.iterdir(), key=lambda file: file.name):
        if entry.is_dir():
            sources += sources_in(entry)
        elif entry.name.endswith(".py"):
            sources.append(entry)
    return sources


def places() -> list[Path]:
    """Return the folders in which compiled functions of this process are kept."""
    folders = {function.place() for function in ALL}
    return sorted(folder for folder in folders if folder is not None and any(folder.glob("*.nbi")))
