"""How much memory this process may still take, and settings that let it keep what it has taken.

Linux does not refuse memory that does not exist: it ends a process that writes to it, and Spark
learns only that a worker is gone. So code whose memory grows with the rows of one partition first
asks `has_room`, and raises an error that says what needs the memory. `find_room` returns the least
of what is left

- of the process's own limit (`ulimit -v`, which Spark sets if `spark.executor.pyspark.memory` is
  set);
- of the container's limit;
- of the machine.

All sizes are in bytes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

# Less than this is taken without asking, because reading the limits takes time.
SMALL_SIZE = 64 << 20

# The folders in which Linux shows the memory of processes, and the limits of the container.
PROC = Path("/proc")
CONTROL_GROUP = Path("/sys/fs/cgroup")
KIBIBYTE = 1024

# The largest number of freed bytes that glibc can be told to keep.
MAX_KEPT_SIZE = (1 << 31) - 1

# The sizes up to which glibc keeps a block, in the order in which they are set. Every glibc accepts
# 32 MiB; 256 MiB, as much as a task holds, is rejected before 2.35, so that 32 MiB stay in force.
LARGEST_KEPT_BLOCKS = (32 << 20, 256 << 20)

# The numbers of parameters of `mallopt`. Source: glibc's malloc.h.
TRIM_THRESHOLD = -1
MMAP_THRESHOLD = -3
ARENA_MAX = -8

# Settings of mimalloc. No huge pages: Linux clears all 2 MiB of one, however little is needed. And
# freed memory is kept for 600,000 milliseconds, so that a query finds it even if the user has
# thought about it for minutes. Source: mimalloc's documentation, Environment Options.
MIMALLOC_PREFIX = "MIMALLOC_"
MIMALLOC_SETTINGS = {f"{MIMALLOC_PREFIX}ALLOW_THP": "0", f"{MIMALLOC_PREFIX}PURGE_DELAY": "600000"}


def has_room(needed: int) -> bool:
    """Return whether a number of bytes is left. True if that is not known.

    >>> has_room(1), has_room(1 << 60)
    (True, False)
    """
    return needed < SMALL_SIZE or needed <= find_room()


def may_take(needed: int, most: int) -> bool:
    """Return whether one consumer of memory, such as the state of a stream, may take some bytes.

    Args:
        needed: the number of bytes that it needs.
        most: the most bytes that it may take in a process without its own memory limit. With such
            a limit, the user has decided: then the answer is True, and `has_room` is the test.
    """
    return needed <= most or find_limit() is not None


def keep_freed() -> bool:
    """Let glibc keep the memory that this program frees for what it needs next.

    A search takes some hundred MiB in large blocks. Otherwise glibc gives each of them back to
    Linux, which clears every page again when it is next needed. Settings in the environment win.
    Source: mallopt(3).

    Returns:
        Whether it keeps memory now. It does not on other systems, and with other C libraries.
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
    """Return what to set in the environment for Sail, which uses mimalloc.

    Empty if the environment has settings of mimalloc already: the user's settings win.
    """
    is_set = any(name.startswith(MIMALLOC_PREFIX) for name in os.environ)
    return {} if is_set else MIMALLOC_SETTINGS


def find_room() -> int:
    """Return how many bytes this process may still take: the least of what any limit leaves."""
    limits = (*find_room_of_process(), *find_room_of_machine(), *find_room_of_container())
    return min(limits, default=sys.maxsize)


def find_limit() -> int | None:
    """Return how many bytes of address space this process may have; None if there is no limit."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows has no such limits
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit


def find_room_of_process() -> Iterator[int]:
    """Yield how many bytes the limit of this process leaves, if it has one."""
    limit = find_limit()
    if limit is None:
        return  # without reading a file, because workers ask for each batch
    used = read_sizes(PROC / "self" / "status").get("VmSize")
    if used is not None:
        yield max(0, limit - used)


def find_room_of_machine() -> Iterator[int]:
    """Yield how many bytes the machine can give without taking them from a process, if known."""
    sizes = read_sizes(PROC / "meminfo")
    if "MemAvailable" in sizes:
        yield sizes["MemAvailable"] + sizes.get("SwapFree", 0)


def find_room_of_container() -> Iterator[int]:
    """Yield how many bytes the limit of this container leaves, if it has one.

    The pages of files that are kept in memory count as room, because Linux gives them up.

    Source: Linux's "Control Group v2", on memory.max and memory.stat.
    """
    with suppress(OSError, ValueError):
        # The file has the word "max" if there is no limit: the ValueError is suppressed.
        limit = int((CONTROL_GROUP / "memory.max").read_text())
        used = int((CONTROL_GROUP / "memory.current").read_text())
        lines = (CONTROL_GROUP / "memory.stat").read_text().splitlines()
        sizes = dict(line.split() for line in lines)
        pages_of_files = int(sizes.get("inactive_file", 0)) + int(sizes.get("active_file", 0))
        yield max(0, limit - used + pages_of_files)


def read_sizes(path: Path) -> dict[str, int]:
    """Return the sizes in a file of /proc, in bytes, by their names.

    The line `MemTotal:  2048 kB` becomes `{"MemTotal": 2097152}`. Other systems than Linux have no
    such files: the result is empty.
    """
    if sys.platform != "linux":
        return {}
    sizes = {}
    with suppress(OSError):
        for line in path.read_text().splitlines():
            words = line.split()
            if len(words) == 3 and words[2] == "kB":
                sizes[words[0].rstrip(":")] = int(words[1]) * KIBIBYTE
    return sizes
