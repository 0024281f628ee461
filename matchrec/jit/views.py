"""Make views of the arguments of kernels: other objects that share their memory."""

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
    """Return the one-element array whose memory `record` shares."""
    array: object = cast("np.record", record).base
    return cast("npt.NDArray[np.void]", array)


@lru_cache
def make_structure(record_type: np.dtype[np.void]) -> type[ctypes.Structure]:
    """Return a ctypes structure with the layout of a NumPy record.

    Args:
        record_type: the type of the record. All of its fields must be int64, without padding.
    """
    names = record_type.names
    assert names is not None, f"{record_type} is not a record"
    packed = np.dtype([(name, np.int64) for name in names])
    assert record_type == packed, f"{record_type} has other fields than int64, or padding"
    members = [(name, ctypes.c_int64) for name in names]
    return type("Fields", (ctypes.Structure,), {"_fields_": members})


def find_python_function(pointer: Any) -> Any:
    """Return the Python function to which a pointer leads; any other argument unchanged.

    A call of the function takes a fraction of the time of a call by the pointer.
    """
    return getattr(pointer, "python_function", pointer)


def find_compiled_function(pointer: Any) -> Any:
    """Return the compiled function that replaces a pointer; any other argument unchanged.

    The function is compiled, or loaded from the disk cache, at the first call.
    """
    compiled = getattr(pointer, "compiled_function", None)
    return pointer if compiled is None else compiled()


# The names of arrays from which kernels read only single elements, and no rows.
READ_BY_ELEMENT = frozenset({"first_choice", "condition_bits", "instructions"})


def share_with_python(argument: A) -> A:
    """Return an argument of a kernel in a form that Python reads fast, over the same memory.

    - Python reads a structure of ctypes several times as fast as a record of NumPy. So the records
      of int64 in the argument, at any depth, become structures that share their memory.
    - Python reads an element of a memoryview in half the time that it takes for an array, and gets
      an integer of Python, which is faster than an integer of NumPy. So an array becomes a
      memoryview if kernels read only single elements of it. Other arrays stay as they are.
    - Python calls a Python function faster than a pointer. So pointers to Python functions become
      these functions.
    """
    shared: object = find_python_function(argument)
    if isinstance(shared, np.record):
        structure = make_structure(shared.dtype)
        shared = structure.from_buffer(get_record_array(shared).data)
    if isinstance(shared, tuple) and hasattr(shared, "_fields"):
        fields = zip(shared._fields, shared, strict=True)
        shared = type(shared)(
            *[
                memoryview(value) if field in READ_BY_ELEMENT else share_with_python(value)
                for field, value in fields
            ]
        )
    return cast("A", shared)


def share_with_machine_code(argument: A) -> A:
    """Return an argument of a kernel with pointers to compiled functions, where they exist."""
    shared: object = find_compiled_function(argument)
    if isinstance(shared, tuple) and hasattr(shared, "_fields"):
        shared = type(shared)(*map(share_with_machine_code, shared))
    return cast("A", shared)
