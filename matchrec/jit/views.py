"""Views of the arguments of kernels: other objects over the same memory."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

A = TypeVar("A")


def read_only(argument: Any) -> Any:
    """Return a view of an array that cannot be written to; anything else unchanged."""
    if isinstance(argument, np.ndarray) and argument.flags.writeable:
        argument = argument.view()
        argument.flags.writeable = False
    return argument


def get_record_array(record: object) -> npt.NDArray[np.void]:
    """Return the array of one element that has the memory of a record."""
    array: object = cast("np.record", record).base
    return cast("npt.NDArray[np.void]", array)


@lru_cache
def make_structure(fields: tuple[str, ...]) -> type[ctypes.Structure]:
    """Return the structure of ctypes that has the memory of a record of int64 with some fields."""
    members = [(field, ctypes.c_int64) for field in fields]
    return type("Fields", (ctypes.Structure,), {"_fields_": members})


def share_with_python(argument: A) -> A:
    """Return an argument of a kernel in a form that Python reads fast, over the same memory.

    Python reads a structure of ctypes several times as fast as a record of NumPy. So the records of
    int64 in the argument, at any depth, become structures that share their memory. Arrays stay as
    they are.
    """
    shared: object = argument
    if isinstance(shared, np.record):
        assert shared.dtype.names is not None
        shared = make_structure(shared.dtype.names).from_buffer(get_record_array(shared).data)
    if isinstance(shared, tuple) and hasattr(shared, "_fields"):
        shared = type(shared)(*map(share_with_python, shared))
    return cast("A", shared)
