"""Keep compiled functions on disk, so that only the first query of its kind on a machine compiles.

numba keeps the files in the first of these folders that can be written to:

    $NUMBA_CACHE_DIR        if it is set
    __pycache__             beside the source
    the user's cache        ~/.cache/numba on Linux

If another user could write to a folder, the folder is skipped, and a line on the standard error
says so (see `trust`). If no folder is usable, each process compiles for itself. matchrec adds six
steps to the cache of numba:

1.  `cache_folders` checks the folders.
2.  `sources` makes a digest of all sources, which is in the names of files. numba itself looks only
    at the file of the function, so it would use code with parts from older sources.
3.  `cached_function` uses a name for one combination of types. numba itself numbers the files of a
    function, so two processes that compile it for different types could use the same number.
4.  `cache_files` vouches for files by their digests. numba itself would run a damaged file.
5.  `prepare_files` copies files of a read-only installation. numba itself looks for files only in
    folders to which it may write.
6.  `compile_lock` locks the name while a process compiles. numba itself would let every process
    compile.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FunctionType

from matchrec.jit import cache_folders, trust
from matchrec.jit.cache_files import CacheFiles, write_file
from matchrec.jit.compile_lock import hold_process_lock, print_compiling


class DamagedFilesError(OSError):
    """Files that are damaged, or that another user may have written, cannot be removed."""


@contextmanager
def lock_cache_files(
    function: FunctionType, folder: Path | None, name: str
) -> Iterator[CacheFiles | None]:
    """Let the body of the `with` load or compile a function while other processes wait.

    If the function must be compiled, a line on the standard error says so.

    Args:
        function: the function.
        folder: the folder in which numba keeps the function; None if no folder is usable.
        name: the name of its files.

    Yields:
        The files, for which the body must vouch if it has compiled the function; None if there is
        no folder.

    Raises:
        DamagedFilesError: see `prepare_files`.
    """
    with trust.create_private_files(), hold_process_lock(folder, name):
        if not prepare_files(function, folder, name):
            print_compiling()
        yield None if folder is None else CacheFiles(folder, name)


def prepare_files(function: FunctionType, folder: Path | None, name: str) -> bool:
    """Copy or remove the files of a name, and return whether numba will find code in a folder.

    1. If the folder has no files of this name, files beside the source are copied to it.
    2. Files that are damaged, and files that another user may have written, are removed.

    Raises:
        DamagedFilesError: such files cannot be removed, and numba would load them.
    """
    if folder is None:
        return False
    cache_files = CacheFiles(folder, name)
    copy_source_cache(function, cache_files)
    writers = cache_folders.find_writers(function, folder)
    if cache_files.are_trusted(writers) and cache_files.are_undamaged():
        return True
    cache_files.remove()
    if cache_files.find_all():
        raise DamagedFilesError(f"{folder} has files of {name} that cannot be removed")
    return False


def copy_source_cache(function: FunctionType, cache_files: CacheFiles) -> None:
    """Copy the files beside the source of a function to another folder.

    Nothing is copied if the folder has files of this name already, or if another user may have
    written the files beside the source. Errors are ignored: the folder then lacks files, and the
    function is compiled.
    """
    source_files = CacheFiles(cache_folders.find_source_cache(function), cache_files.name)
    if cache_files.folder == source_files.folder or cache_files.voucher.exists():
        return
    if not is_source_cache_trusted(function, source_files):
        return
    with suppress(OSError):
        for file in source_files.find_all():
            write_file(cache_files.folder / file.name, file.read_bytes())


def is_source_cache_trusted(function: FunctionType, source_files: CacheFiles) -> bool:
    """Return whether files of a function exist beside its source, and may be copied."""
    if not source_files.voucher.exists():
        return False
    if not trust.has_users():
        return True
    writers = cache_folders.find_writers(function, source_files.folder)
    folder_fault = trust.find_fault_beside_sources(source_files.folder, writers)
    return folder_fault is None and source_files.are_trusted(writers)
