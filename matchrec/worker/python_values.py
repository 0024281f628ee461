"""Read Arrow columns as values of Python, for errors and for what Python computes.

A struct becomes a tuple of its fields, an array a tuple of its elements, and a map a tuple of pairs
(key, value). Dates and times become integers, except in errors:

    [{"a": 1, "b": [2, 3]}, NULL]    →    [(1, (2, 3)), None]
"""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa

from matchrec.conditions.functions.function import Value
from matchrec.worker.arrays import find_valid, make_array, read_integers


def read_value_at(table: pa.Table, name: str, row: int) -> object:
    """Return the value of a column on a row, in Python.

    A date or time that Python cannot represent, such as a year beyond 9999, becomes a text.

    Args:
        table: a table that has the row.
        name: the name of the column.
        row: the position of the row.
    """
    value = table.column(name)[row]
    try:
        return value.as_py()
    except (OverflowError, ValueError):
        return value.cast(pa.string()).as_py()


def read_values(array: pa.Array) -> list[Value]:
    """Return the values of a column of any type, in Python as `functions.function` describes."""
    data_type = array.type
    if pa.types.is_nested(data_type):
        values = read_structs(array) if pa.types.is_struct(data_type) else read_elements(array)
        present: list[bool] = array.is_valid().to_pylist()
        return [
            value if is_present else None for value, is_present in zip(values, present, strict=True)
        ]
    if pa.types.is_temporal(data_type):
        array = make_array(read_integers(array), ~find_valid(array))
    return array.to_pylist()  # type: ignore[no-any-return]


def read_structs(array: pa.StructArray) -> list[Value]:
    """Return each struct as a tuple of its fields. The tuple of a NULL struct has no meaning."""
    fields = [read_values(values) for values in array.flatten()]
    if not fields:
        return [()] * len(array)
    return list(zip(*fields, strict=True))


def read_elements(array: pa.ListArray | pa.MapArray) -> list[Value]:
    """Return each array as a tuple of its elements, each map as a tuple of pairs (key, value).

    The tuple of a NULL array or map has no meaning.
    """
    if pa.types.is_fixed_size_list(array.type):  # Sail reads such a type from a file
        array = array.cast(pa.list_(array.type.value_field))
    if pa.types.is_map(array.type):
        elements = list(zip(read_values(array.keys), read_values(array.items), strict=True))
    else:
        elements = read_values(array.values)
    return [tuple(elements[begin:end]) for begin, end in pairwise(array.offsets.to_pylist())]
