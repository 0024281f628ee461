"""Arrays, structs and maps as Python's values, and their ranks, by which an engine knows them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from matchrec.conditions.functions.comparisons import normalized, rank
from matchrec.conditions.functions.function import Value
from matchrec.spark.worker.arrays import arrow_of

Shape = object  # equal for equal types


def shape(kind: pa.DataType) -> Shape:
    """A type without the names of its parts, and whether they may be NULL."""
    if not pa.types.is_nested(kind):
        return kind
    parts = (kind.field(number).type for number in range(kind.num_fields))
    return (kind.id, *map(shape, parts))


def rank_nested(columns: Sequence[pa.Array]) -> tuple[pa.Array, list[Value]]:
    """The ranks of the values of columns of one shape, one column after the other: from 1 on, equal
    ones alike, NULL for NULL. And the values by rank.

    Zeros among them lose their sign. Maps have an order, too, which means nothing.
    """
    found = (one for column in columns for one in values_of(column))
    values = [None if one is None else normalized(one) for one in found]
    keys = [None if one is None else rank(one) for one in values]
    of_key = {key: value for key, value in zip(keys, values, strict=True) if key is not None}
    ordered = sorted(of_key)
    numbers = {key: number for number, key in enumerate(ordered, 1)}
    ranks = np.array([0 if key is None else numbers[key] for key in keys], np.int64)
    return arrow_of(ranks, ranks == 0), [of_key[key] for key in ordered]


def values_of(array: pa.Array) -> list[Value]:
    """Values of any type, as `conditions.functions.function` has them."""
    kind = array.type
    if pa.types.is_nested(kind):
        found = structs_of(array) if pa.types.is_struct(kind) else lists_of(array)
        present: list[bool] = array.is_valid().to_pylist()
        return [one if valid else None for one, valid in zip(found, present, strict=True)]
    if pa.types.is_date32(kind):
        array = array.view(pa.int32())
    elif pa.types.is_temporal(kind):
        array = array.view(pa.int64())
    values: list[Value] = array.to_pylist()
    return values


def structs_of(array: pa.StructArray) -> list[Value]:
    """Tuples of the fields."""
    fields = [values_of(one) for one in array.flatten()]
    return list(zip(*fields, strict=True)) if fields else [()] * len(array)


def lists_of(array: pa.ListArray | pa.MapArray) -> list[Value]:
    """Tuples of the elements, or of keys with their values."""
    if pa.types.is_map(array.type):
        elements = list(zip(values_of(array.keys), values_of(array.items), strict=True))
    else:
        elements = values_of(array.values)
    return [tuple(elements[begin:end]) for begin, end in pairwise(array.offsets.to_pylist())]
