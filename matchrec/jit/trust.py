"""Decide whether compiled code may be loaded from a folder.

Compiled code runs as soon as it is loaded, and numba loads it with `pickle`. So whoever can write a
file of the cache can run any code as the user who reads it. A folder is trusted if nobody else can
write to it, or replace it:

1.  The folder, and each folder above it, belongs to the user who runs this process or to root, and
    nobody else may write to it. A folder above it may be a shared folder such as /tmp, in which
    everybody may write, but only the owner of an entry may rename it (the sticky bit).
2.  A symbolic link in the path belongs to this user or to root, and its target is trusted as well.
3.  A file in the folder is a regular file, not a link. It belongs to this user or to root, and
    nobody else may write to it.

Nothing can change between the check and the load, because a folder that another user could change
is not trusted. A missing folder could still be made by another user, so code that makes a folder
checks it again afterwards.

The folder beside the sources has another rule. The sources are run in any case, so a user who can
write the sources gains nothing by writing compiled code. The owner of the sources, and the groups
that may write to their folder, may also write the compiled code.

On systems without user ids, such as Windows, everything is trusted.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import RLock

WRITABLE_BY_GROUP = stat.S_IWGRP
WRITABLE_BY_ALL = stat.S_IWOTH
MAX_LINKS = 40  # the limit of Linux on symbolic links in a path


@dataclass(frozen=True, slots=True)
class Writers:
    """The users and groups that may write compiled code that this process runs."""

    # The ids of the users. Each file and folder must belong to one of them.
    owners: frozenset[int]
    # The ids of the groups that may have the right to write.
    groups: frozenset[int] = frozenset()
    # Whether all users may have the right to write, because they may also write the sources.
    includes_everybody: bool = False

    def find_fault(self, entry: Path, status: os.stat_result) -> str | None:
        """Return why other users may write to an entry of a folder, or None if they may not.

        Args:
            entry: the file, folder or link.
            status: the result of `lstat` for the entry.
        """
        if status.st_uid not in self.owners:
            return f"{entry} belongs to another user ({status.st_uid})"
        if stat.S_ISLNK(status.st_mode):  # the access rights of a link have no effect
            return None
        if status.st_mode & WRITABLE_BY_ALL and not self.includes_everybody:
            return f"{entry} can be written to by all users"
        if status.st_mode & WRITABLE_BY_GROUP and status.st_gid not in self.groups:
            return f"{entry} can be written to by a group ({status.st_gid})"
        return None


def has_users() -> bool:
    """Return whether this system has user ids."""
    return hasattr(os, "geteuid")


def find_own_writers() -> Writers:
    """Return the writers of a folder of the user: the user, root, and the user's private group."""
    return Writers(frozenset({0, os.geteuid()}), find_private_groups())


def find_source_writers(source: Path) -> Writers:
    """Return the writers of a folder beside a source file, with the writers of the sources."""
    writers = find_own_writers()
    status = source.stat()
    folder = source.parent.stat()
    groups = {folder.st_gid} if folder.st_mode & WRITABLE_BY_GROUP else set()
    return Writers(
        writers.owners | {status.st_uid, folder.st_uid},
        writers.groups | groups,
        includes_everybody=bool(folder.st_mode & WRITABLE_BY_ALL),
    )


def find_private_groups() -> frozenset[int]:
    """Return the group that has the user's name and no other member, if there is one.

    Many systems give each user such a group, and let it write to all new files. A user may be a
    member by the list of the group, or because it is the user's primary group.
    """
    import grp
    import pwd

    try:
        user = pwd.getpwuid(os.geteuid())
        group = grp.getgrgid(user.pw_gid)
    except KeyError:  # a user whom the system does not know, as in some containers
        return frozenset()
    if group.gr_name != user.pw_name:
        return frozenset()
    primary_members = {entry.pw_name for entry in pwd.getpwall() if entry.pw_gid == group.gr_gid}
    members = {*group.gr_mem, *primary_members}
    return frozenset({group.gr_gid}) if members <= {user.pw_name} else frozenset()


def find_folder_fault(folder: Path, writers: Writers) -> str | None:
    """Return why a folder for compiled code is not trusted, or None if it is.

    A missing folder has no fault. It must be checked again when it exists, because another user may
    make it, for example in /tmp.
    """
    try:
        return find_path_fault(folder.absolute(), writers)
    except OSError as error:
        return f"{folder} cannot be looked at: {error.strerror}"


def find_path_fault(folder: Path, writers: Writers) -> str | None:
    """Return why a folder, or a folder or link in the path to it, is not trusted.

    The function goes from the root to the folder, and follows each symbolic link where it meets it,
    so `entry` has no links above it. It looks at an entry once for each time that the path leads
    through it.

    Args:
        folder: an absolute path.
        writers: the users and groups that may write to it.

    Returns:
        The first fault; None if there is no fault, or if one of the folders is missing.

    Raises:
        OSError: a folder or link cannot be looked at.
    """
    link_count = 0
    entry = Path(folder.anchor)
    names_below = list_names_below(folder)
    while True:
        try:
            status = entry.lstat()
        except FileNotFoundError:
            return None
        # Only the folder that holds the code must not be a shared folder such as /tmp.
        holds_code = not names_below
        if holds_code or not is_shared_folder(status, writers):
            fault = writers.find_fault(entry, status)
            if fault is not None:
                return fault
        if stat.S_ISLNK(status.st_mode):
            link_count += 1
            if link_count > MAX_LINKS:
                return f"{folder} has too many links"
            target = entry.readlink()
            entry = Path(target.anchor) if target.is_absolute() else entry.parent
            names_below += list_names_below(target)
        elif names_below:
            name = names_below.pop()
            entry = entry.parent if name == ".." else entry / name
        else:
            return None


def list_names_below(path: Path) -> list[str]:
    """Return the names in a path without the root, the last one first.

    >>> list_names_below(Path("/home/ann")), list_names_below(Path("ann"))
    (['ann', 'home'], ['ann'])
    """
    names = path.parts[1:] if path.anchor else path.parts
    return list(reversed(names))


def is_shared_folder(status: os.stat_result, writers: Writers) -> bool:
    """Return whether a folder is shared like /tmp: users may rename only their own entries.

    The owner of the folder may rename all entries, so the owner must be a trusted writer.
    """
    return bool(status.st_mode & stat.S_ISVTX) and status.st_uid in writers.owners


def find_fault_beside_sources(folder: Path, writers: Writers) -> str | None:
    """Return why a folder beside the sources is not trusted, or None if it is.

    The folders above it are not checked, because the sources were loaded through them.
    """
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"{folder} cannot be looked at: {error.strerror}"
    if stat.S_ISLNK(status.st_mode):
        return f"{folder} is a link"
    return writers.find_fault(folder, status)


def find_file_fault(file: Path, writers: Writers) -> str | None:
    """Return why a file is not trusted; None if it is trusted or missing."""
    try:
        status = file.lstat()
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"{file} cannot be looked at: {error.strerror}"
    if not stat.S_ISREG(status.st_mode):
        return f"{file} is not a regular file"
    return writers.find_fault(file, status)


UMASK_LOCK = RLock()  # a process has one umask, so only one thread at a time may change it


@contextmanager
def create_private_files() -> Iterator[None]:
    """Let the body of the `with` make files and folders to which no other user can write.

    The umask of the process is changed, and restored afterwards.
    """
    if not has_users():
        yield
        return
    with UMASK_LOCK:
        before = os.umask(WRITABLE_BY_GROUP | WRITABLE_BY_ALL)
        os.umask(before | WRITABLE_BY_GROUP | WRITABLE_BY_ALL)
        try:
            yield
        finally:
            os.umask(before)
