"""Functions that are compiled, or loaded from the disk cache, when they are first called."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import update_wrapper
from pathlib import Path
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from matchrec.jit import cache_folders, sources
from matchrec.jit.cache_files import CacheFiles
from matchrec.jit.compile_lock import COMPILE_LOCK
from matchrec.jit.disk_cache import lock_cache_files
from matchrec.jit.parts import copy_with_parts, make_dispatcher
from matchrec.jit.views import share_with_machine_code
from matchrec.loading import pause_garbage_collection

P = ParamSpec("P")
R = TypeVar("R")

# The features of the arguments of a call that decide which machine code the call needs: see
# `describe_types`.
Types = tuple[Any, ...]

# All functions of this process that are kept on disk.
CACHED_FUNCTIONS: list[CachedFunction[..., Any]] = []


class CachedFunction(Generic[P, R]):
    """A function that is compiled for each combination of argument types when they first occur.

    Args:
        function: the function.
        options: the options with which numba compiles it.
    """

    def __init__(self, function: Callable[P, R], options: dict[str, Any]) -> None:
        assert isinstance(function, FunctionType)
        self.function: FunctionType = function
        self.options = options
        # For each combination of types, the compiled function.
        self.compiled: dict[Types, Any] = {}
        # The digest of the sources. It is computed now, when the function is imported, because the
        # sources may be edited while the process runs.
        self.sources = sources.hash_sources()
        update_wrapper(self, function)
        CACHED_FUNCTIONS.append(self)

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """Call the machine code."""
        assert not named, "numba gets arguments by their positions"
        return self.call_compiled(describe_types(arguments), arguments)

    def call_compiled(self, types: Types, arguments: tuple[Any, ...]) -> R:
        """Call the machine code for arguments of some types, which is first compiled or loaded."""
        arguments = tuple(map(share_with_machine_code, arguments))
        compiled = self.compiled.get(types)
        if compiled is None:
            with COMPILE_LOCK, pause_garbage_collection():
                compiled = self.compiled.get(types) or self.compile_for(types, arguments)
                self.compiled[types] = compiled
        result: R = compiled(*arguments)
        return result

    def is_on_disk(self, types: Types) -> bool:
        """Return whether the code for some types of arguments is on disk. The call loads numba."""
        name = self.name_files(types)
        folders = (self.find_folder(), cache_folders.find_source_cache(self.function))
        return any(
            folder is not None and CacheFiles(folder, name).voucher.exists() for folder in folders
        )

    def may_be_on_disk(self) -> bool:
        """Return whether code of the function may be on disk, for any types, without loading numba.

        The result may be False although code is on disk. Then the code is loaded later than
        necessary.
        """
        pattern = f"{self.function.__qualname__}-*-{self.sources}.sha256"
        folders = cache_folders.list_cache_folders(self.function)
        return folders is None or any(any(folder.rglob(pattern)) for folder in folders)

    def name_files(self, types: Types) -> str:
        """Return the name of the files with the code for some types."""
        import numba

        config: Any = numba.config
        identity = repr((self.function.__module__, types, config.BOUNDSCHECK))
        digest = hashlib.sha256(identity.encode()).hexdigest()[:16]
        return f"{self.function.__qualname__}-{digest}-{self.sources}"

    def compile_for(self, types: Types, arguments: tuple[Any, ...]) -> Any:
        """Return the dispatcher of the function, compiled or loaded for some arguments.

        New files on disk get a voucher. If the disk cannot be used, the code is not kept on disk.
        """
        import numba

        name = self.name_files(types)
        function = copy_with_parts(self.function, name)
        compiled = make_dispatcher(function, self.options)
        try:
            folder = cache_folders.enable_caching(compiled, function)
            with lock_cache_files(self.function, folder, name) as cache_files:
                compiled.compile(tuple(map(numba.typeof, arguments)))
                has_new_files = sum(compiled.stats.cache_misses.values()) > 0
                if cache_files is not None and has_new_files:
                    cache_files.vouch()
            return compiled
        except OSError:  # the disk is full, or there is a file that must not be used
            return make_dispatcher(copy_with_parts(self.function), self.options)

    def find_folder(self) -> Path | None:
        """Return the folder in which numba keeps the function; None if no folder is usable."""
        return cache_folders.get_cache_folder(cache_folders.open_cache(self.function))


def describe_types(arguments: tuple[Any, ...]) -> Types:
    """Return the features of all arguments of a call: see `describe_type`."""
    return tuple(map(describe_type, arguments))


def describe_type(argument: Any) -> tuple[Any, ...]:
    """Return the features of an argument that decide which machine code it needs.

    Two arguments for which numba compiles different code must have different features. Otherwise
    numba would keep both codes under one name, and the files would count as damaged.
    """
    if isinstance(argument, np.ndarray):
        flags = argument.flags
        return argument.dtype, argument.ndim, flags.c_contiguous, flags.writeable
    if isinstance(argument, tuple):
        return type(argument), *map(describe_type, argument)
    if isinstance(argument, np.void):  # a record
        return (argument.dtype,)
    return (type(argument),)


def find_cache_folders() -> list[Path]:
    """Return the folders in which compiled functions of this process are kept."""
    folders = {function.find_folder() for function in CACHED_FUNCTIONS}
    return sorted(folder for folder in folders if folder is not None and any(folder.glob("*.nbi")))
