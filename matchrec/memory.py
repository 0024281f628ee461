"""Find out how much memory this process may still take, and let it keep the memory that it frees.

Linux hands out more memory than it has, and later ends a process that writes to the memory. Spark
learns only that a worker is gone. So code whose memory grows with the rows of one partition calls
`has_room` first, and raises an error that says what needs the memory. `find_room` returns the
smallest of three numbers:

- what the process's own limit leaves (`ulimit -v`, which Spark sets if
  `spark.executor.pyspark.memory` is set);
- what the container's limit leaves;
- what the machine has left.

All sizes are in bytes.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

# `has_room` is True for any smaller number of bytes, because reading the limits takes time.
SMALL_SIZE = 64 << 20

# The folders in which Linux shows the memory of processes, and the limits of the container.
PROC = Path("/proc")
CONTROL_GROUP = Path("/sys/fs/cgroup")
KIBIBYTE = 1024
# The files are a few KiB long.
MAX_FILE_SIZE = 1 << 16

# The largest number of freed bytes that glibc can keep: `mallopt` takes an int of C.
MAX_KEPT_SIZE = (1 << 31) - 1

# The sizes up to which glibc keeps a block, in the order in which they are set. Every glibc accepts
# 32 MiB. A glibc before 2.35 rejects 256 MiB, the memory of a task, so 32 MiB stay in force there.
LARGEST_KEPT_BLOCKS = (32 << 20, 256 << 20)

# The numbers of parameters of `mallopt`. Source: glibc's malloc.h.
TRIM_THRESHOLD = -1
MMAP_THRESHOLD = -3
ARENA_MAX = -8

# Settings of mimalloc. ALLOW_THP: no huge pages, because Linux clears all 2 MiB of a page, however
# little of it is needed. PURGE_DELAY: freed memory is kept for 600,000 milliseconds, so that the
# next query still finds it if the user has thought for minutes.
# Source: mimalloc's documentation, Environment Options.
MIMALLOC_PREFIX = "MIMALLOC_"
MIMALLOC_SETTINGS = {f"{MIMALLOC_PREFIX}ALLOW_THP": "0", f"{MIMALLOC_PREFIX}PURGE_DELAY": "600000"}


def has_room(needed: int) -> bool:
    """Return whether this process may still take a number of bytes. True if that is not known.

    >>> has_room(1), has_room(1 << 60)
    (True, False)
    """
    return needed < SMALL_SIZE or needed <= find_room()


def can_take(needed: int, default_limit: int) -> bool:
    """Return whether one consumer of memory, such as the state of a stream, may take some bytes.

    Args:
        needed: the number of bytes that the consumer needs.
        default_limit: the largest number of bytes that it may take in a process without a memory
            limit. A limit of the process is the user's decision: then the result is True, and only
            `has_room` tests the number.
    """
    return needed <= default_limit or find_limit() is not None


def keep_freed_memory() -> bool:
    """Let glibc keep the memory that this program frees, for what the program needs next.

    A search takes some hundred MiB in large blocks. By default, glibc gives each block back to
    Linux, which clears every page again when the page is next needed. If the environment has
    settings of glibc, nothing is changed.

    Source: mallopt(3).

    Returns:
        Whether glibc keeps memory now. False on other systems, and with other C libraries.
    """
    if sys.platform != "linux":
        return False
    if any(name.startswith(("MALLOC_", "GLIBC_")) for name in os.environ):
        return False
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    for size in LARGEST_KEPT_BLOCKS:
        mallopt(MMAP_THRESHOLD, size)
    mallopt(TRIM_THRESHOLD, min(MAX_KEPT_SIZE, find_room() // 8))
    mallopt(ARENA_MAX, 1)
    return True


def find_mimalloc_settings() -> dict[str, str]:
    """Return the environment variables to set for Sail, which uses mimalloc.

    The keys are the names of the variables. There are none if the environment has settings of
    mimalloc already: the user's settings win.
    """
    is_set = any(name.startswith(MIMALLOC_PREFIX) for name in os.environ)
    return {} if is_set else MIMALLOC_SETTINGS


def find_room() -> int:
    """Return how many bytes this process may still take: the smallest of what the limits leave.

    `sys.maxsize` if no limit is known.
    """
    rooms = (find_room_of_process(), find_room_of_machine(), find_room_of_container())
    return min((room for room in rooms if room is not None), default=sys.maxsize)


def find_limit() -> int | None:
    """Return how many bytes of address space this process may have; None if there is no limit."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows has no such limits
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit


def find_room_of_process() -> int | None:
    """Return how many bytes the limit of this process leaves; None if there is no limit."""
    limit = find_limit()
    if limit is None:
        return None  # without reading a file, because workers call this function for each batch
    used = read_sizes(PROC / "self" / "status").get("VmSize")
    return None if used is None else max(0, limit - used)


def find_room_of_machine() -> int | None:
    """Return how many bytes the machine can give to this process; None if that is not known.

    The machine can give memory that is free, or that Linux can free without ending a process.
    """
    sizes = read_sizes(PROC / "meminfo")
    if "MemAvailable" not in sizes:
        return None
    return sizes["MemAvailable"] + sizes.get("SwapFree", 0)


def find_room_of_container() -> int | None:
    """Return how many bytes the limit of this container leaves; None if there is no limit.

    The pages of files that Linux keeps in memory count as room, because Linux gives them up.

    Source: Linux's "Control Group v2", on memory.max and memory.stat.
    """
    try:
        limit_text = read_system_file(CONTROL_GROUP / "memory.max").strip()
        if limit_text == "max":
            return None
        used = int(read_system_file(CONTROL_GROUP / "memory.current"))
        lines = read_system_file(CONTROL_GROUP / "memory.stat").splitlines()
        sizes = dict(line.split() for line in lines)
        pages_of_files = int(sizes.get("inactive_file", 0)) + int(sizes.get("active_file", 0))
        return max(0, int(limit_text) - used + pages_of_files)
    except (OSError, ValueError):  # not Linux, or another version of control groups
        return None


def read_sizes(path: Path) -> dict[str, int]:
    """Return the sizes in a file of /proc, in bytes, by their names.

    The line `MemTotal:  2048 kB` becomes `{"MemTotal": 2097152}`. The result is empty on systems
    other than Linux, which have no such files.
    """
    if sys.platform != "linux":
        return {}
    sizes = {}
    with suppress(OSError):
        for line in read_system_file(path).splitlines():
            words = line.split()
            if len(words) == 3 and words[2] == "kB":
                sizes[words[0].rstrip(":")] = int(words[1]) * KIBIBYTE
    return sizes


def read_system_file(path: Path) -> str:
    """Return the text of a file that Linux computes when it is read, such as /proc/meminfo.

    `Path.read_text` makes eight calls of the system. After each call, a thread may have to wait for
    the other threads of a busy process, for some milliseconds each time. This function makes three.

    Raises:
        OSError: the file cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, MAX_FILE_SIZE).decode()
    finally:
        os.close(descriptor)
