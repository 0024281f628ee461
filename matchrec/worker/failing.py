"""How a worker loads and fails: with an error that the driver can read, or that names a cure.

Imported before the libraries that a worker needs, so that it can say that they are not to be had.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from threading import Lock
from typing import Any, TypeVar

from matchrec import memory
from matchrec.errors import MatchRecognizeRunError
from matchrec.errors.calls import no_room_in_worker, no_room_on_machine
from matchrec.errors.run.failures import row_not_computed
from matchrec.loading import for_good, without_collector

T = TypeVar("T")
Rows = TypeVar("Rows", bound=Sized)


class Count:
    """A number that several workers count at once."""

    def __init__(self) -> None:
        self.number = 0
        self._lock = Lock()

    def add(self, number: int) -> None:
        with self._lock:
            self.number += number


rows_read = Count()  # by the workers of this program, of all queries so far


def report_errors(output: Callable[[], Iterator[T]]) -> Iterator[T]:
    """Yield what `output` gives; an error of ours leaves the worker with its fields in its text.
    The traceback stays behind: Spark Connect cuts long messages off, and the end is what matters.
    What a task has loaded is put aside when it ends.
    """
    try:
        with for_good():
            yield from output()
    except MatchRecognizeRunError as error:
        raise error.with_fields() from None
    except MemoryError as error:
        raise memory_error(error).with_fields() from None


def read(batches: Iterator[Rows]) -> Iterator[Rows]:
    """The input of a worker, whose rows are counted. In the program of the engine it raises what
    the engine cannot compute; Spark fails before its rows reach a worker.
    """
    try:
        for batch in batches:
            rows_read.add(len(batch))
            yield batch
    except RuntimeError as error:
        raise row_not_computed(reason=cause_of(str(error))) from None


def unpickle(payload: bytes) -> Any:
    """Unpickle an object. Raises MatchRecognizeRunError where its libraries find no room."""
    with loading():
        return pickle.loads(payload)


@contextmanager
def loading() -> Iterator[None]:
    """Modules are loaded meanwhile. Raises MatchRecognizeRunError where they find no room."""
    try:
        with without_collector(), for_good():
            yield
    except ModuleNotFoundError:
        raise
    except (ImportError, OSError, MemoryError) as error:  # as the loader of a library says it
        raise memory_error(error) from error


def memory_error(error: Exception) -> MatchRecognizeRunError:
    """The error of a worker without memory; one of loading, where there is no limit, as it is."""
    most = memory.limit()
    if most is None and not isinstance(error, MemoryError):
        raise error
    return no_room_on_machine() if most is None else no_room_in_worker(mebibytes=most >> 20)


def cause_of(said: str) -> str:
    """Why a row could not be computed, without the steps that it has failed in.

    >>> cause_of("Execution error: reading input failed: Arrow error: Divide by zero error")
    'Divide by zero error'
    """
    return re.sub(r"^.*\b(?:Execution|Arrow) error: ", "", said, flags=re.DOTALL)
