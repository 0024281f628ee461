"""The folders in which numba keeps compiled functions, restricted to those that are trusted.

numba asks one class after another, its *locators*, for a folder to which it can write.
`make_trusting_locator` adds a check to each of these classes, so that numba skips a folder in which
another user could write (see `trust`). `enable_caching` connects a function with its folder.
"""

from __future__ import annotations

import inspect
import os
import sys
from contextlib import ExitStack, suppress
from functools import lru_cache
from pathlib import Path
from types import FunctionType
from typing import Any

from matchrec.jit import trust

UNTRUSTED_MESSAGE = (
    "matchrec: compiled code is not kept where another user could change it: {fault}; set"
    " NUMBA_CACHE_DIR to a folder that belongs to you and that only you can write to\n"
)


class UntrustedFolderError(OSError):
    """A folder for compiled code in which another user could write."""


def enable_caching(compiled: Any, function: FunctionType) -> Path | None:
    """Let numba keep a function, and return the folder; None if it can write to no folder."""
    cache = open_cache(function)
    if cache is not None:
        compiled._cache = cache
    return get_cache_folder(cache)


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


def check_folder(function: FunctionType, folder: Path) -> None:
    """Raise UntrustedFolderError, and say so, if another user could write in a folder."""
    if folder.parts[0] == "~":  # the user has no home, so numba would make a folder called "~"
        raise UntrustedFolderError(folder)
    if not trust.has_users():
        return
    writers = find_writers(function, folder)
    if is_beside_source(function, folder):
        fault = trust.find_fault_beside_sources(folder, writers)
    else:
        fault = trust.find_folder_fault(folder, writers)
    if fault is not None:
        print_untrusted(fault)
        raise UntrustedFolderError(fault)


@lru_cache
def print_untrusted(fault: str) -> None:
    """Print once that a folder is not trusted."""
    sys.stderr.write(UNTRUSTED_MESSAGE.format(fault=fault))
    sys.stderr.flush()


def find_writers(function: FunctionType, folder: Path) -> trust.Writers:
    """Return who may write the compiled code of a function in a folder."""
    if not trust.has_users():
        return trust.Writers(frozenset())
    if is_beside_source(function, folder):
        return trust.find_source_writers(Path(inspect.getfile(function)))
    return trust.find_own_writers()


def is_beside_source(function: FunctionType, folder: Path) -> bool:
    """Return whether a folder is `find_source_cache` of a function."""
    return folder == find_source_cache(function)


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
    caches = os.environ.get("XDG_CACHE_HOME", home_cache)  # an empty one counts, as for numba
    return [beside_source, Path(caches) / "numba"]
