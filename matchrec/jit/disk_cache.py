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
4.  Files are vouched for (see `CacheFiles`), because numba would run what is in a damaged file.
5.  Files of a read-only installation are copied, because numba looks for files only in folders to
    which it may write.
6.  The first process that compiles locks the name, because numba would let every process compile.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
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
from matchrec.jit.parts import copy_with_parts, make_dispatcher
from matchrec.jit.views import share_with_machine_code
from matchrec.loading import pause_garbage_collection

P = ParamSpec("P")
R = TypeVar("R")

# The files in which numba keeps a function, with a file of digests that shows damage.
#
# numba replaces each file as a whole, so what processes write at the same time is never mixed
# within a file. The file that vouches for the others is written last. The files count as missing if
# its digests differ from theirs: a disk is broken, a copy has been cut off, or another process is
# just writing.


@dataclass(frozen=True, slots=True)
class CacheFiles:
    """The files in a folder that hold the code of one function for one combination of types."""

    folder: Path
    # The part of the file names that numba takes from the function. It ends in a hyphen and a
    # digest of the sources.
    name: str

    @property
    def voucher(self) -> Path:
        """Return the path of the file that vouches for the others."""
        return self.folder / f"{self.name}.sha256"

    def find_code_files(self) -> list[Path]:
        """Return numba's files: the code (`.nbc`), then its index (`.nbi`)."""
        return sorted(self.folder.glob(f"*.{self.name}-*.nb[ci]"))

    def find_all(self) -> list[Path]:
        """Return the existing files: numba's, and the one that vouches for them."""
        return [file for file in (*self.find_code_files(), self.voucher) if os.path.lexists(file)]

    def are_trusted(self, writers: trust.Writers) -> bool:
        """Return whether nobody but these writers can have written the files."""
        if not trust.has_users():
            return True
        return all(trust.find_file_fault(file, writers) is None for file in self.find_all())

    def are_undamaged(self) -> bool:
        """Return whether there is a voucher, and the files are those that it vouches for."""
        with suppress(OSError):
            return self.voucher.read_bytes() == self.compute_digests().encode()
        return False

    def compute_digests(self) -> str:
        """Return the content of the voucher: a line for each file, as `sha256sum` writes it."""
        digests = {file.name: hashlib.sha256(file.read_bytes()) for file in self.find_code_files()}
        return "\n".join(f"{digest.hexdigest()}  {name}" for name, digest in digests.items())

    def vouch(self) -> None:
        """Vouch for the files as they are, and remove those that were made from other sources."""
        with suppress(OSError):
            write_file(self.voucher, self.compute_digests().encode())
        stem = self.name.rpartition("-")[0]
        for voucher in self.folder.glob(f"{stem}-*.sha256"):
            if voucher != self.voucher:
                CacheFiles(self.folder, voucher.stem).remove()

    def remove(self) -> None:
        """Remove the files, and ignore those that cannot be removed."""
        for file in (self.voucher, *self.find_code_files()):
            with suppress(OSError):
                file.unlink()


def write_file(path: Path, content: bytes) -> None:
    """Write a file as a whole, so that nobody reads a part of it."""
    temporary = path.with_name(f"{path.name}.{uuid4().hex[:16]}")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


# One thread of one process compiles a function. The others on the machine wait for its files.
#
# Spark starts as many workers as there are cores, and on a machine without compiled functions all
# of them need the same ones at once. Each would compile them, and would damage the files of others.
# Locks of files belong to a process, so there is another lock for its threads.

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

# A file beside the compiled functions. Each name locks one byte of it.
LOCK_FILE = "compiling.lock"

# Held by the thread that compiles. numba, too, lets only one thread compile at a time.
COMPILE_LOCK = RLock()


@contextmanager
def lock_name(folder: Path | None, name: str) -> Iterator[None]:
    """Let only one process at a time run the body of the `with` for a name in a folder.

    If there is no folder, or its file system has no locks, nobody waits.
    """
    with ExitStack() as opened:
        with suppress(OSError):
            if folder is not None and fcntl is not None:
                folder.mkdir(parents=True, exist_ok=True)
                locks = opened.enter_context((folder / LOCK_FILE).open("ab"))
                byte = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
                fcntl.lockf(locks, fcntl.LOCK_EX, 1, byte)
        yield


# A process that compiles prints a line to the standard error, because somebody waits for it. The
# line names no time, which depends on the kernel, the processor and what else runs: a first
# `aggregate` has taken from 5 to 60 seconds. docs/contributing/benchmarks.md has a table by kernel.
#
# Only workers compile, not the process that makes a query. Their standard error is the terminal in
# a local session; otherwise, it goes to the log of the executor.

COMPILING_MESSAGE = (
    "matchrec: compiling the search for the first query of its kind on this machine; this takes"
    " several seconds, or tens of seconds on a busy machine; `matchrec warm` does it beforehand"
)


@lru_cache
def print_compiling() -> None:
    """Print a line the first time that this process compiles."""
    sys.stderr.write(f"{COMPILING_MESSAGE}\n")
    sys.stderr.flush()


# The folders with the sources of machine code.
SOURCE_FOLDERS = ("jit", "automaton", "conditions/evaluate", "search", "output")

# Files outside of these folders: machine code contains the numbers of the members of their enums.
ENUM_SOURCES = ("conditions/run_condition.py", "plan/clauses.py")

# The features of the arguments of a call that decide which machine code it needs: see
# `describe_types`.
Types = tuple[Any, ...]

# All functions of this process that are kept on disk.
CACHED_FUNCTIONS: list[CachedFunction[..., Any]] = []


class CachedFunction(Generic[P, R]):
    """A function that is compiled for each combination of types at its first call with them."""

    def __init__(self, function: Callable[P, R], options: dict[str, Any]) -> None:
        assert isinstance(function, FunctionType)
        self.function: FunctionType = function
        self.options = options
        # For each combination of types, the compiled function.
        self.compiled: dict[Types, Any] = {}
        # Computed when the function is imported, before somebody edits the sources.
        self.sources = hash_sources()
        update_wrapper(self, function)
        CACHED_FUNCTIONS.append(self)

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """Call the machine code."""
        assert not named, "numba gets arguments by their positions"
        return self.call_compiled(describe_types(arguments), arguments)

    def call_compiled(self, types: Types, arguments: tuple[Any, ...]) -> R:
        """Call the machine code for arguments of some types; compile or load it at first."""
        arguments = tuple(map(share_with_machine_code, arguments))
        compiled = self.compiled.get(types)
        if compiled is None:
            with COMPILE_LOCK, pause_garbage_collection():
                compiled = self.compiled.get(types) or self.compile_for(types, arguments)
                self.compiled[types] = compiled
        result: R = compiled(*arguments)
        return result

    def is_on_disk(self, types: Types) -> bool:
        """Return whether the code for these types of arguments is on disk. This loads numba."""
        name = self.name_files(types)
        folders = (self.find_folder(), find_source_cache(self.function))
        return any(
            folder is not None and CacheFiles(folder, name).voucher.exists() for folder in folders
        )

    def may_be_on_disk(self) -> bool:
        """Return whether code of the function may be on disk, for any types. Numba is not loaded.

        It may return False although there is code. Then the code is only loaded later than it could
        be.
        """
        pattern = f"{self.function.__qualname__}-*-{self.sources}.sha256"
        folders = list_cache_folders(self.function)
        return folders is None or any(any(folder.rglob(pattern)) for folder in folders)

    def name_files(self, types: Types) -> str:
        """Return the name of the files with the code for some types."""
        import numba

        config: Any = numba.config
        identity = repr((self.function.__module__, types, config.BOUNDSCHECK))
        digest = hashlib.sha256(identity.encode()).hexdigest()[:16]
        return f"{self.function.__qualname__}-{digest}-{self.sources}"

    def compile_for(self, types: Types, arguments: tuple[Any, ...]) -> Any:
        """Compile the function for some arguments, or load it; vouch for the new files."""
        import numba

        name = self.name_files(types)
        function = copy_with_parts(self.function, name)
        compiled = make_dispatcher(function, self.options)
        try:
            folder = enable_caching(compiled, function)
            with trust.create_private_files(), lock_name(folder, name):
                if not prepare_files(self.function, folder, name):
                    print_compiling()
                compiled.compile(tuple(map(numba.typeof, arguments)))
                has_new_files = sum(compiled.stats.cache_misses.values()) > 0
                if folder is not None and has_new_files:
                    CacheFiles(folder, name).vouch()
            return compiled
        except OSError:  # the disk is full, or there is a file that must not be used
            return make_dispatcher(copy_with_parts(self.function), self.options)

    def find_folder(self) -> Path | None:
        """Return the folder in which numba keeps the function, or None if there is none."""
        return get_cache_folder(open_cache(self.function))


class DamagedFilesError(OSError):
    """An error: files that are damaged, or that others may have written, cannot be removed."""


def prepare_files(function: FunctionType, folder: Path | None, name: str) -> bool:
    """Copy or remove the files of a name, and return whether numba will find its code in a folder.

    1. Files beside the source are copied to the folder if it has none.
    2. Files that are damaged, and files that another user may have written, are removed.

    Raises:
        DamagedFilesError: such files are still there, and numba would load them.
    """
    if folder is None:
        return False
    cache_files = CacheFiles(folder, name)
    copy_source_cache(function, cache_files)
    writers = find_writers(function, folder)
    if cache_files.are_trusted(writers) and cache_files.are_undamaged():
        return True
    cache_files.remove()
    if cache_files.find_all():
        raise DamagedFilesError(f"{folder} has files of {name} that cannot be removed")
    return False


def copy_source_cache(function: FunctionType, cache_files: CacheFiles) -> None:
    """Copy the files beside the source of a function to another folder.

    Nothing is copied if the folder has files of this name already, or if another user may have
    written the files beside the source. What cannot be copied is ignored: the folder then lacks
    files, and the function is compiled.
    """
    source_files = CacheFiles(find_source_cache(function), cache_files.name)
    if cache_files.folder == source_files.folder or cache_files.voucher.exists():
        return
    if not is_source_cache_trusted(function, source_files):
        return
    with suppress(OSError):
        for file in source_files.find_all():
            write_file(cache_files.folder / file.name, file.read_bytes())


def find_writers(function: FunctionType, folder: Path) -> trust.Writers:
    """Return who may write the compiled code of a function in a folder."""
    if not trust.has_users():
        return trust.Writers(frozenset())
    if folder == find_source_cache(function):
        return trust.find_source_writers(Path(inspect.getfile(function)))
    return trust.find_own_writers()


def is_source_cache_trusted(function: FunctionType, source_files: CacheFiles) -> bool:
    """Return whether there are files of a function beside its source that may be copied."""
    if not source_files.voucher.exists():
        return False
    if not trust.has_users():
        return True
    writers = find_writers(function, source_files.folder)
    folder_fault = trust.find_fault_beside_sources(source_files.folder, writers)
    return folder_fault is None and source_files.are_trusted(writers)


def describe_types(arguments: tuple[Any, ...]) -> Types:
    """Return the features of all arguments of a call: see `describe_type`."""
    return tuple(map(describe_type, arguments))


def describe_type(argument: Any) -> tuple[Any, ...]:
    """Return the features of an argument that decide which machine code it needs.

    Two arguments that numba compiles differently must have different features. Otherwise numba
    would keep code for two kinds of arguments under one name, and its files would count as damaged.
    """
    if isinstance(argument, np.ndarray):
        flags = argument.flags
        return argument.dtype, argument.ndim, flags.c_contiguous, flags.writeable
    if isinstance(argument, tuple):
        return type(argument), *map(describe_type, argument)
    if isinstance(argument, np.void):  # a record
        return (argument.dtype,)
    return (type(argument),)


class UntrustedFolderError(OSError):
    """A folder for compiled code in which another user could write."""


def check_folder(function: FunctionType, folder: Path) -> None:
    """Raise UntrustedFolderError, and say so, if another user could write in a folder."""
    if folder.parts[0] == "~":  # the user has no home, so numba would make a folder called "~"
        raise UntrustedFolderError(folder)
    if not trust.has_users():
        return
    writers = find_writers(function, folder)
    is_beside = folder == find_source_cache(function)
    find_fault = trust.find_fault_beside_sources if is_beside else trust.find_folder_fault
    fault = find_fault(folder, writers)
    if fault is not None:
        print_untrusted(fault)
        raise UntrustedFolderError(fault)


@lru_cache
def print_untrusted(fault: str) -> None:
    """Print once that a folder is not trusted."""
    sys.stderr.write(UNTRUSTED_MESSAGE.format(fault=fault))
    sys.stderr.flush()


UNTRUSTED_MESSAGE = (
    "matchrec: compiled code is not kept where another user could change it: {fault}; set"
    " NUMBA_CACHE_DIR to a folder that belongs to you and that only you can write to\n"
)


@lru_cache
def make_cache_class() -> type[Any]:
    """Return the class of numba's caches, restricted to folders that are trusted."""
    import numba  # noqa: F401 -- as a whole first: threads that import parts of it fail
    from numba.core import caching

    class TrustedImplementation(caching.CompileResultCacheImpl):
        """An implementation of numba's cache, which looks only into trusted folders."""

        _locator_classes = [  # noqa: RUF012 -- numba declares it so
            *map(make_trusting_locator, caching.CompileResultCacheImpl._locator_classes)
        ]

    class TrustedCache(caching.FunctionCache):
        """A cache of functions, as numba's, over `TrustedImplementation`."""

        _impl_class = TrustedImplementation

    return TrustedCache


def make_trusting_locator(locator: type[Any]) -> type[Any]:
    """Return a class like one of numba's locators of folders that rejects untrusted folders.

    numba goes on to its next locator if `ensure_cache_path` raises OSError.
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
                    opened.enter_context(trust.create_private_files())
                super().ensure_cache_path()
            check_folder(self.function, folder)  # another user may have made it meanwhile

    return TrustingLocator


def open_cache(function: FunctionType) -> Any | None:
    """Return numba's cache of a function in the first usable folder; None if there is none."""
    with suppress(RuntimeError, OSError):
        cache = make_cache_class()(function)
        # numba has not called this for every locator.
        cache._impl.locator.ensure_cache_path()
        # NUMBA_CACHE_LOCATOR_CLASSES may have replaced the locators that check the folder.
        check_folder(function, Path(cache.cache_path))
        return cache
    return None


def get_cache_folder(cache: Any | None) -> Path | None:
    """Return the folder of one of numba's caches."""
    return None if cache is None else Path(cache.cache_path)


def enable_caching(compiled: Any, function: FunctionType) -> Path | None:
    """Let numba keep a function, and return the folder; None if it can write to no folder."""
    cache = open_cache(function)
    if cache is not None:
        compiled._cache = cache
    return get_cache_folder(cache)


def find_source_cache(function: FunctionType) -> Path:
    """Return the folder for compiled code beside the source of a function."""
    return Path(inspect.getfile(function)).parent / "__pycache__"


def list_cache_folders(function: FunctionType) -> list[Path] | None:
    """Return the folders that have all code of a function, at any depth; None if only numba knows.

    Source: numba.core.caching, classes with names that end in `_CacheLocator`.
    """
    beside_source = find_source_cache(function)
    configured = os.environ.get("NUMBA_CACHE_DIR")
    if configured:
        return [beside_source, Path(configured)]
    if sys.platform != "linux":
        return None
    home_cache = os.path.expanduser("~/.cache")  # noqa: PTH111 -- Path fails without a home
    caches = os.environ.get("XDG_CACHE_HOME") or home_cache
    return [beside_source, Path(caches) / "numba"]


@lru_cache
def hash_sources() -> str:
    """Return a digest of all sources of machine code.

    It covers all sources, because the code of a function contains the code of the functions that it
    calls.
    """
    digest = hashlib.sha256()
    for folder in SOURCE_FOLDERS:
        for source in list_sources(files("matchrec").joinpath(folder)):
            digest.update(source.read_bytes())
    for name in ENUM_SOURCES:
        digest.update(files("matchrec").joinpath(name).read_bytes())
    return digest.hexdigest()[:16]


def list_sources(folder: Any) -> list[Any]:
    """Return the Python files in a folder and its subfolders, always in the same order."""
    sources: list[Any] = []
    for entry in sorted(folder.iterdir(), key=lambda file: file.name):
        if entry.is_dir():
            sources += list_sources(entry)
        elif entry.name.endswith(".py"):
            sources.append(entry)
    return sources


def find_cache_folders() -> list[Path]:
    """Return the folders in which compiled functions of this process are kept."""
    folders = {function.find_folder() for function in CACHED_FUNCTIONS}
    return sorted(folder for folder in folders if folder is not None and any(folder.glob("*.nbi")))
