"""How much memory this process may still take, so that what needs more can say so.

Linux does not refuse memory that is not there: it ends a process when that writes to it, and Spark
knows no more than that a worker is gone. So what grows with the rows of one partition asks before
it grows: what is left of the process's own limit (`ulimit -v`, which Spark sets where
`spark.executor.pyspark.memory` is), of its container, of the machine.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

WORTH_ASKING = 64 << 20  # bytes; of less nobody asks

PROC, GROUPS = Path("/proc"), Path("/sys/fs/cgroup")
KIBIBYTE = 1024

# Bytes that are kept at most of what is freed, and the largest blocks among them: what any glibc
# takes, and as much as a task holds, which one of before 2.35 does not take.
KEPT, LARGEST_KEPT = (1 << 31) - 1, (32 << 20, 256 << 20)

# What `mallopt` calls the parameters. Source: glibc's malloc.h.
TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX = -1, -3, -8

MIMALLOC = "MIMALLOC_"

# No huge pages, whose 2 MiB Linux clears for what takes less; and how many milliseconds it keeps
# what is freed, so that a query which somebody has thought about for minutes finds it. Source:
# mimalloc's documentation, Environment Options.
OF_MIMALLOC = {f"{MIMALLOC}ALLOW_THP": "0", f"{MIMALLOC}PURGE_DELAY": "600000"}


def has_room(needed: int) -> bool:
    """Whether so many bytes are left, as far as that can be known.

    >>> has_room(1), has_room(1 << 60)
    (True, False)
    """
    return needed < WORTH_ASKING or needed <= room()


def may_take(needed: int, most: int) -> bool:
    """Whether something may take so many bytes: at most `most`, unless this process has a limit of
    its own, up to which it takes what it needs.
    """
    return needed <= most or limit() is not None


def keep_freed() -> bool:
    """Have this program keep memory that it frees for what it needs next; whether it does.

    A search takes some hundred MiB in large blocks, which else go back to Linux one by one; it
    clears each page anew. What the environment says of glibc's memory wins. Source: mallopt(3).
    """
    if sys.platform != "linux" or any(one.startswith(("MALLOC_", "GLIBC_")) for one in os.environ):
        return False
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:  # as of other libraries of C
        return False
    for size in LARGEST_KEPT:
        mallopt(MMAP_THRESHOLD, size)
    for name, value in (TRIM_THRESHOLD, min(KEPT, room() // 8)), (ARENA_MAX, 1):
        mallopt(name, value)
    return True


def settings_of_mimalloc() -> dict[str, str]:
    """What Sail, which brings mimalloc, finds in the environment, if that says nothing of it."""
    return {} if any(one.startswith(MIMALLOC) for one in os.environ) else OF_MIMALLOC


def room() -> int:
    known = (left for find in (of_limit, of_machine, of_container) for left in find())
    return min(known, default=sys.maxsize)


def limit() -> int | None:
    """How many bytes of addresses this process may have, or None where there is no limit."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows has no such limits
        return None
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if most == resource.RLIM_INFINITY else most


def of_limit() -> Iterator[int]:
    if (most := limit()) is None:
        return  # nothing is read: this is asked batch after batch
    if (taken := kibibytes_in(PROC / "self" / "status").get("VmSize")) is not None:
        yield max(0, most - taken)


def of_machine() -> Iterator[int]:
    """What the machine can give without taking it from a process."""
    known = kibibytes_in(PROC / "meminfo")
    if "MemAvailable" in known:
        yield known["MemAvailable"] + known.get("SwapFree", 0)


def of_container() -> Iterator[int]:
    """What is left of the limit of this container, with what it keeps of files.

    Source: Linux's "Control Group v2", on memory.max and memory.stat.
    """
    with suppress(OSError, ValueError):
        most = int((GROUPS / "memory.max").read_text())  # "max" where there is none
        taken = int((GROUPS / "memory.current").read_text())
        stat = dict(line.split() for line in (GROUPS / "memory.stat").read_text().splitlines())
        of_files = int(stat.get("inactive_file", 0)) + int(stat.get("active_file", 0))
        yield max(0, most - taken + of_files)


def kibibytes_in(path: Path) -> dict[str, int]:
    """The bytes by name that a file of /proc tells; nothing on other systems."""
    if sys.platform != "linux":
        return {}
    with suppress(OSError):
        lines = (line.split() for line in path.read_text().splitlines())
        return {
            words[0].rstrip(":"): int(words[1]) * KIBIBYTE
            for words in lines
            if len(words) == 3 and words[2] == "kB"
        }
    return {}
