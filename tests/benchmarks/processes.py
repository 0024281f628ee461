"""Measure what this process and the processes that it started use, from Linux's /proc."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# Linux's file system of processes.
PROC = Path("/proc")
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

# The indices of fields of `/proc/<id>/stat` after the name of the process, from 0: see proc(5).
PARENT = 1
# The time in user mode, then the time in the kernel, both in ticks.
OWN_TIMES = slice(11, 13)
CHILDREN_TIMES = slice(13, 15)
RESIDENT_PAGES = 21


def read_statuses() -> dict[int, list[str]]:
    """Return the fields of `/proc/<id>/stat` after the name of the process, for each process id."""
    statuses = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            text = read_file(entry / "stat")
            if text:
                statuses[int(entry.name)] = text.rpartition(")")[2].split()
    return statuses


def read_file(path: Path) -> str:
    """Return the text of a file of /proc, or "" if the process has ended."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def read_process_tree() -> dict[int, list[str]]:
    """Return the statuses of this process and its descendants: Spark's JVM, its Python workers."""
    statuses = read_statuses()
    tree: set[int] = set()
    children = {os.getpid()}
    while children:
        tree |= children
        children = {
            process for process, fields in statuses.items() if int(fields[PARENT]) in tree
        } - tree
    return {process: statuses[process] for process in tree if process in statuses}


def count_cpu_seconds() -> float:
    """Return the CPU seconds that the process tree has used so far.

    Children that have ended count if their parent has waited for them.
    """
    ticks = 0
    for fields in read_process_tree().values():
        ticks += sum(map(int, fields[OWN_TIMES]))
        ticks += sum(map(int, fields[CHILDREN_TIMES]))
    return ticks / TICKS_PER_SECOND


def count_resident_bytes() -> int:
    """Return the resident bytes of the process tree; shared pages count for each process."""
    pages = sum(int(fields[RESIDENT_PAGES]) for fields in read_process_tree().values())
    return pages * PAGE_BYTES


def find_worker_peak() -> int:
    """Return the most bytes that any one Python worker of Spark has had resident so far."""
    peaks = [0]
    for process in read_process_tree():
        if "pyspark.daemon" in read_file(PROC / str(process) / "cmdline"):
            lines = read_file(PROC / str(process) / "status").splitlines()
            peaks += [int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")]
    return max(peaks)


@dataclass
class Peak:
    """The greatest number of bytes that `watch_peak` has read so far."""

    bytes: int = 0


@contextmanager
def watch_peak(
    read_bytes: Callable[[], int] = find_worker_peak, interval: float = 0.1
) -> Iterator[Peak]:
    """Read a number of bytes again and again in a thread, and keep the greatest.

    A reading at the end alone would miss workers that have ended by then.

    Args:
        read_bytes: returns the number of bytes at this moment.
        interval: seconds between two readings.
    """
    peak = Peak()
    stop = threading.Event()

    def watch() -> None:
        """Keep the greatest number until the `with` block ends."""
        while not stop.wait(interval):
            peak.bytes = max(peak.bytes, read_bytes())

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peak
    finally:
        peak.bytes = max(peak.bytes, read_bytes())
        stop.set()
        thread.join()
