"""Load what a worker needs, and turn its failures into errors that the driver can read.

This module is imported before the libraries that a worker needs, so that it can report that they
cannot be loaded.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from threading import Event, Lock
from typing import TypeVar

from matchrec import memory
from matchrec.errors import MatchRecognizeRunError
from matchrec.errors.kinds import with_fields
from matchrec.errors.machine import machine_out_of_memory, worker_out_of_memory
from matchrec.errors.run.failures import row_not_computed
from matchrec.loading import freeze_loaded_modules, pause_garbage_collection

T = TypeVar("T")
Rows = TypeVar("Rows", bound=Sized)


class SharedCounter:
    """A counter, beginning with 0, to which several threads can add."""

    def __init__(self) -> None:
        self.number = 0
        self._lock = Lock()

    def add(self, number: int) -> None:
        """Add a number to the counter."""
        with self._lock:
            self.number += number


# The number of rows that the workers of this program have read, for all queries so far.
rows_read_by_workers = SharedCounter()

# Set when this program ends. Workers that are threads of this program then read no further rows.
program_ends = Event()


def report_errors(output: Callable[[], Iterator[T]]) -> Iterator[T]:
    """Yield the output of a worker. Append the fields of matchrec's errors to their messages.

    Errors leave the worker without their tracebacks: Spark Connect cuts off the end of a long
    message, and the fields are at the end. The garbage collector never scans the objects that a
    task has loaded.

    Args:
        output: starts the worker, and returns its output.

    Raises:
        MatchRecognizeRunError: the worker raised this error, or there is too little memory.
    """
    try:
        with freeze_loaded_modules():
            yield from output()
    except MatchRecognizeRunError as error:
        raise with_fields(error) from None
    except MemoryError as error:
        raise with_fields(describe_lack_of_memory(error)) from None


def read_input(batches: Iterator[Rows]) -> Iterator[Rows]:
    """Yield the input of a worker, and count its rows.

    Raises:
        MatchRecognizeRunError: the engine cannot compute a row. This happens if the worker is a
            thread of the engine; Spark fails before its rows reach a worker. Or the program ends.
    """
    try:
        for batch in batches:
            if program_ends.is_set():
                raise RuntimeError("the program ends")
            rows_read_by_workers.add(len(batch))
            yield batch
    except RuntimeError as error:
        raise row_not_computed(reason=find_cause(str(error)), hint=None) from None


def unpickle(payload: bytes) -> object:
    """Unpickle an object, which loads its modules.

    Raises:
        MatchRecognizeRunError: there is too little memory for the libraries.
    """
    with hold_garbage_collection():
        return pickle.loads(payload)


@contextmanager
def hold_garbage_collection() -> Iterator[None]:
    """Return a context in which to import what a worker needs.

    In the context, the garbage collector is off. Afterwards it never scans what was loaded in the
    context. So loading is faster.

    Raises:
        MatchRecognizeRunError: there is too little memory for the libraries.
        ModuleNotFoundError: a module is not installed.
    """
    try:
        with pause_garbage_collection(), freeze_loaded_modules():
            yield
    except ModuleNotFoundError:
        raise
    except (ImportError, OSError, MemoryError) as error:
        # without memory, the loader of a library fails with any of these errors
        raise describe_lack_of_memory(error) from error


def describe_lack_of_memory(error: Exception) -> MatchRecognizeRunError:
    """Return the error of a worker that has too little memory.

    Args:
        error: the error that was raised.

    Raises:
        Exception: `error` itself, if it cannot be about memory: it is not a MemoryError, and the
            process has no limit of memory.
    """
    limit = memory.find_limit()
    if limit is None and not isinstance(error, MemoryError):
        raise error
    if limit is None:
        return machine_out_of_memory()
    return worker_out_of_memory(mebibytes=limit >> 20)


def find_cause(message: str) -> str:
    """Return why the engine could not compute a row, without the names of the steps that failed.

    >>> find_cause("Execution error: reading input failed: Arrow error: Divide by zero error")
    'Divide by zero error'
    """
    return re.sub(r"^.*\b(?:Execution|Arrow) error: ", "", message, flags=re.DOTALL)
