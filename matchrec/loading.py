"""Load modules and compiled functions without garbage collection, or while another process starts.

Modules create many objects that are never garbage, and Python searches all of them again and again.
This search takes half of the time of `import matchrec` after pandas and PySpark, and a third of the
time of a worker's first search: see `pause_garbage_collection`. Moreover, PySpark lets a worker
collect garbage after each task, which takes longer than a small task. So the objects that a worker
has loaded are excluded from garbage collection for good: see `freeze_loaded_modules`.

`load_in_background` imports modules while another process starts, and `explain_missing_spark` words
the error if PySpark cannot be imported.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from threading import Event, Thread

# The modules that are missing if PySpark is, and the message about it.
MODULES_OF_SPARK = ("pyspark", "py4j")
MISSING_SPARK = (
    "PySpark 3.5 or newer is missing: install matchrec with the extra `sail` or `spark`, or only"
    " PySpark by: pip install 'pyspark>=3.5'"
)

# Set once this program has built a query: then it is a user's program and not only a worker. On
# Sail, workers are threads of the user's program.
makes_queries = Event()


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Switch garbage collection off inside the `with` block. If it was off before, it stays off.

    >>> with pause_garbage_collection():
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
def load_in_background(modules: Iterable[str]) -> Iterator[None]:
    """Import modules in a thread while the `with` block waits for another process.

    The block and the modules must not import the same packages: two threads that import parts of
    one package may see it half loaded.

    >>> with load_in_background(["calendar"]):
    ...     pass
    >>> "calendar" in sys.modules
    True
    """

    def load() -> None:
        """Import the modules."""
        for module in modules:
            with suppress(ImportError):  # the code that needs the module raises the error
                import_module(module)

    thread = Thread(target=load, name="matchrec-loading", daemon=True)
    with pause_garbage_collection():
        thread.start()
        try:
            yield
        finally:
            thread.join()


@contextmanager
def explain_missing_spark() -> Iterator[None]:
    """If PySpark turns out to be missing in the `with` block, say in the error how to install it.

    PySpark is not a requirement of the package, because a cluster brings its version.

    >>> with explain_missing_spark():
    ...     raise ModuleNotFoundError("No module named 'pyspark'", name="pyspark")
    Traceback (most recent call last):
    ...
    ModuleNotFoundError: PySpark 3.5 or newer is missing: install matchrec with the extra ...
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in MODULES_OF_SPARK:
            raise
        raise ModuleNotFoundError(MISSING_SPARK, name=error.name) from error


@contextmanager
def freeze_loaded_modules() -> Iterator[None]:
    """Exclude all objects from garbage collection for good if the `with` block loads modules.

    The garbage of that moment is excluded as well, so it is never freed. In a user's program, that
    may be a lot, so nothing is excluded there. Nothing is excluded if no module was loaded, because
    each task leaves some garbage, which would add up.
    """
    module_count = len(sys.modules)
    try:
        yield
    finally:
        if len(sys.modules) > module_count and not makes_queries.is_set():
            gc.freeze()
