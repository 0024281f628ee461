"""Compiled functions on disk, so that only the first query of its kind on a machine compiles.

numba keeps them in the first of these folders that can be written to:

    $NUMBA_CACHE_DIR        if it is set
    __pycache__             beside the source
    the user's cache        ~/.cache/numba on Linux

If another user could write to a folder, it is skipped, and a line on the standard error says so
(see `trust`). If no folder is left, each process compiles for itself. matchrec adds six things to
what numba does, each in a module of its own:

1.  Folders are checked (`cache_folders`).
2.  A digest of all sources is in the names of files (`sources`), because numba would use code that
    was made from other sources: it looks only at the file of the function itself.
3.  A name is for one combination of types (`cached_function`), because numba numbers a function's
    files, and two processes that compile it for different types could take the same number.
4.  Files are vouched for (`cache_files`), because numba would run what is in a damaged file.
5.  Files of a read-only installation are copied (here, by `prepare_files`), because numba looks for
    files only in folders to which it may write.
6.  The first process that compiles locks the name (`compile_lock`), because numba would let every
    process compile.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FunctionType

from matchrec.jit import cache_folders, trust
from matchrec.jit.cache_files import CacheFiles, write_file
from matchrec.jit.compile_lock import lock_name, print_compiling


class DamagedFilesError(OSError):
    """An error: files that are damaged, or that others may have written, cannot be removed."""


@contextmanager
def lock_cache_files(
    function: FunctionType, folder: Path | None, name: str
) -> Iterator[CacheFiles | None]:
    """Let the body of the `with` load or compile a function while other processes wait.

    If it must be compiled, a line on the standard error says so.

    Args:
        function: the function.
        folder: the folder in which numba keeps it; None if there is none.
        name: the name of its files.

    Yields:
        The files, for which the body must vouch if it has compiled the function; None if there is
        no folder.

    Raises:
        DamagedFilesError: see `prepare_files`.
    """
    with trust.create_private_files(), lock_name(folder, name):
        if not prepare_files(function, folder, name):
            print_compiling()
        yield None if folder is None else CacheFiles(folder, name)


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
    written the files beside the source. What cannot be copied is ignored: the folder then lacks
    files, and the function is compiled.
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
    """Return whether there are files of a function beside its source that may be copied."""
    if not source_files.voucher.exists():
        return False
    if not trust.has_users():
        return True
    writers = cache_folders.find_writers(function, source_files.folder)
    folder_fault = trust.find_fault_beside_sources(source_files.folder, writers)
    return folder_fault is None and source_files.are_trusted(writers)
