"""Modules and compiled functions load without a search for garbage.

What they make stays, and there is much of it, so Python looks through all of it again and again:
half of the time that `import matchrec` takes after pandas and pyspark, a third of what a worker
needs for its first search.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collector() -> Iterator[None]:
    """Keeps Python from looking for garbage meanwhile, unless somebody keeps it from that anyway.

    >>> with without_collector():
    ...     gc.isenabled()
    False
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
