"""Modules and compiled functions load without a search for garbage.

What they make stays, and there is much of it, so Python looks through all of it again and again:
half of the time that `import matchrec` takes after pandas and pyspark, a third of what a worker
needs for its first search. And PySpark has a worker look through everything after each task, which
takes longer than a small task. So what a worker has loaded is put aside for good.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

OF_SPARK = ("pyspark", "py4j")
NO_SPARK = (
    "matchrec needs PySpark, 3.5 or newer: its extra `sail` brings it with an engine, `spark` with"
    " Spark; beside another one: pip install 'pyspark>=3.5'"
)

# Set where queries are made: in a user's program, of which workers may be threads.
makes_queries = Event()


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


@contextmanager
def naming_extra() -> Iterator[None]:
    """Where PySpark is missing, the error says how to get it: a cluster has one that fits it.

    >>> with naming_extra():
    ...     raise ModuleNotFoundError("No module named 'pyspark'", name="pyspark")
    Traceback (most recent call last):
    ...
    ModuleNotFoundError: matchrec needs PySpark, 3.5 or newer: its extra `sail` brings it ...
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in OF_SPARK:
            raise
        raise ModuleNotFoundError(NO_SPARK, name=error.name) from error


@contextmanager
def for_good() -> Iterator[None]:
    """Where modules are loaded meanwhile, Python never again looks through all that there is then.

    For processes of workers alone: garbage of that moment stays, too, which may be much in a user's
    program. And only where modules are loaded, as each task has some garbage.
    """
    loaded = len(sys.modules)
    try:
        yield
    finally:
        if len(sys.modules) > loaded and not makes_queries.is_set():
            gc.freeze()
