"""What the processes that this one has started use, read from Linux's /proc."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
PARENT, OWN_TIMES, CHILDREN_TIMES = 1, slice(11, 13), slice(13, 15)  # after the name, see proc(5)
RESIDENT = 21


def status() -> dict[int, list[str]]:
    """The fields of every process's `stat` behind its name, by id."""
    found = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            text = read(entry / "stat")
            if text:
                found[int(entry.name)] = text.rpartition(")")[2].split()
    return found


def read(path: Path) -> str:
    """A file of /proc, or nothing where the process has ended."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def family() -> dict[int, list[str]]:
    """This process and those that come from it: Spark's JVM, its Python daemon and workers."""
    everything = status()
    known = {os.getpid()}
    grew = True
    while grew:
        more = {one for one, fields in everything.items() if int(fields[PARENT]) in known} - known
        known |= more
        grew = bool(more)
    return {one: everything[one] for one in known if one in everything}


def processor_seconds() -> float:
    """What the family has used so far, ended children whose end has been seen included."""
    ticks = 0
    for fields in family().values():
        ticks += sum(map(int, fields[OWN_TIMES])) + sum(map(int, fields[CHILDREN_TIMES]))
    return ticks / TICKS_A_SECOND


def resident() -> int:
    """Bytes of the family that are resident; what processes share counts for each."""
    return sum(int(fields[RESIDENT]) for fields in family().values()) * PAGE


def peak_of_workers() -> int:
    """Most bytes that one of the Python workers has had resident since it began."""
    peaks = [0]
    for one in family():
        if "pyspark.daemon" in read(PROC / str(one) / "cmdline"):
            lines = read(PROC / str(one) / "status").splitlines()
            peaks += [int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")]
    return max(peaks)


@dataclass
class Peak:
    """Bytes."""

    bytes: int = 0


@contextmanager
def watched(figure: Callable[[], int] = peak_of_workers, every: float = 0.1) -> Iterator[Peak]:
    """The most of a figure, seen on the way, as a worker may have ended at the end."""
    peak, ended = Peak(), threading.Event()

    def watch() -> None:
        while not ended.wait(every):
            peak.bytes = max(peak.bytes, figure())

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield peak
    finally:
        peak.bytes = max(peak.bytes, figure())
        ended.set()
        watching.join()
