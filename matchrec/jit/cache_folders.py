"""The folders in which numba keeps compiled functions, restricted to trusted folders.

numba tries its *locators*, one class after another, until one has a folder to which it can write.
`make_trusting_locator` adds a check to each of these classes, so that numba skips a folder in which
another user could write (see `trust`). `enable_caching` connects a function with its folder.
"""

from __future__ import annotations

import inspect
import os
import sys
from contextlib import AbstractContextManager, nullcontext, suppress
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
    """Let numba keep the compiled code of a function on disk.

    Args:
        compiled: numba's dispatcher for the function.
        function: the function.

    Returns:
        The folder; None if no folder is usable, so that the code is not kept.
    """
    cache = open_cache(function)
    if cache is not None:
        compiled._cache = cache
    return get_cache_folder(cache)


def open_cache(function: FunctionType) -> Any | None:
    """Return numba's cache of a function in the first usable folder; None if there is none."""
    with suppress(RuntimeError, OSError):
        cache = make_cache_class()(function)
        # numba makes this call for all of its locators except the one for zip files.
        cache._impl.locator.ensure_cache_path()
        # The environment variable NUMBA_CACHE_LOCATOR_CLASSES may have replaced the locators of
        # `make_trusting_locator`, which check the folder.
        check_folder(function, Path(cache.cache_path))
        return cache
    return None


def get_cache_folder(cache: Any | None) -> Path | None:
    """Return the folder of one of numba's caches; None if there is no cache."""
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
        """A cache of functions, like numba's, which uses `TrustedImplementation`."""

        _impl_class = TrustedImplementation

    return TrustedCache


def make_trusting_locator(locator: type[Any]) -> type[Any]:
    """Return a class like one of numba's locators of folders that rejects untrusted folders.

    numba goes on to its next locator if `ensure_cache_path` raises OSError.
    """

    class TrustingLocator(locator):  # type: ignore[misc]
        """The given locator with a check that no other user can write to its folder."""

        def __init__(self, function: FunctionType, file: str) -> None:
            super().__init__(function, file)
            self.function = function

        def ensure_cache_path(self) -> None:
            """Create the folder if it is missing, and check before and after that it is trusted."""
            folder = Path(self.get_cache_path())
            check_folder(self.function, folder)
            # Only a new folder is made private: this changes the umask of the whole process, which
            # other threads may need.
            private_mode: AbstractContextManager[None] = nullcontext()
            if not folder.exists():
                private_mode = trust.create_private_files()
            with private_mode:
                super().ensure_cache_path()
            check_folder(self.function, folder)  # another user may have made it meanwhile

    return TrustingLocator


def check_folder(function: FunctionType, folder: Path) -> None:
    """Check that no other user can write in a folder for the compiled code of a function.

    Raises:
        UntrustedFolderError: another user can. The reason is printed, but only once.
    """
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
    """Print that a folder is not trusted. Because of the cache, each fault is printed only once."""
    sys.stderr.write(UNTRUSTED_MESSAGE.format(fault=fault))
    sys.stderr.flush()


def find_writers(function: FunctionType, folder: Path) -> trust.Writers:
    """Return the users and groups that may write the compiled code of a function in a folder."""
    if not trust.has_users():
        return trust.Writers(frozenset())
    if is_beside_source(function, folder):
        return trust.find_source_writers(Path(inspect.getfile(function)))
    return trust.find_own_writers()


def is_beside_source(function: FunctionType, folder: Path) -> bool:
    """Return whether a folder is `find_source_cache` of a function."""
    return folder == find_source_cache(function)


def find_source_cache(function: FunctionType) -> Path:
    """Return the folder for compiled code beside the source of a function: `__pycache__`."""
    return Path(inspect.getfile(function)).parent / "__pycache__"


def list_cache_folders(function: FunctionType) -> list[Path] | None:
    """Return the folders under which numba may keep a function; None if they cannot be predicted.

    The code is in one of these folders, or in a folder inside it, at any depth. The call does not
    load numba.

    Source: numba.core.caching, classes with names that end in `CacheLocator`.
    """
    beside_source = find_source_cache(function)
    configured = os.environ.get("NUMBA_CACHE_DIR")
    if configured:
        return [beside_source, Path(configured)]
    if sys.platform != "linux":
        return None
    home_cache = os.path.expanduser("~/.cache")  # noqa: PTH111 -- Path fails without a home
    user_cache = os.environ.get("XDG_CACHE_HOME", home_cache)  # numba uses an empty value, too
    return [beside_source, Path(user_cache) / "numba"]
