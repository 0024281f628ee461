"""What the terminal shows: progress while something slow runs, and rows as an aligned table."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from typing import TextIO

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
ASCII_SPINNER = "|/-\\"
PERIOD = 0.1  # seconds between two pictures of the spinner


@contextmanager
def progress(what: str, stream: TextIO | None = None) -> Iterator[None]:
    """Shows that `what` is going on: a spinner on a terminal, one plain line elsewhere."""
    out = stream or sys.stderr
    if not out.isatty():
        print(f"{what} ...", file=out, flush=True)
        yield
        return
    done = threading.Event()
    spinner = threading.Thread(target=spin, args=(what, out, done), daemon=True)
    spinner.start()
    try:
        yield
    finally:
        done.set()
        spinner.join()
        out.write("\r\033[K")
        out.flush()


def spin(what: str, out: TextIO, done: threading.Event) -> None:
    """Draws the spinner and the seconds so far, until `done`."""
    began = time.monotonic()
    unicode = (out.encoding or "").lower().startswith("utf")
    for picture in cycle(SPINNER if unicode else ASCII_SPINNER):
        out.write(f"\r{picture} {what} ... {time.monotonic() - began:.0f} s")
        out.flush()
        if done.wait(PERIOD):
            return


def aligned(names: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool]) -> str:
    """Rows as a table with one line for each; numbers to the right.

    >>> print(aligned(["sym", "n"], [["A", "10"], ["BCDE", "9"]], [False, True]))
    sym    n
    A     10
    BCDE   9
    """
    lines = [names, *rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(names))]
    return "\n".join(
        "  ".join(
            value.rjust(width) if right else value.ljust(width)
            for value, width, right in zip(line, widths, numeric, strict=True)
        ).rstrip()
        for line in lines
    )
