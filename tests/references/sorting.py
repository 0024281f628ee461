"""The reference for sorting: order rows as Spark's PARTITION BY and ORDER BY do.

It is slow and obvious: Python's stable sort, column by column from the last to the first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple


class SortItem(NamedTuple):
    """A column to sort by: its values, and how ORDER BY sorts them."""

    # The value of each row.
    values: Sequence[Any]
    descending: bool = False
    nulls_first: bool = True


def sort_rows(keys: Sequence[SortItem], order: Sequence[SortItem], count: int) -> list[int]:
    """Return the numbers of the rows, from 0, in order. Equal rows keep their order.

    Args:
        keys: the columns of PARTITION BY.
        order: the columns of ORDER BY.
        count: the number of rows.
    """
    rows = list(range(count))
    for values, descending, nulls_first in reversed([*keys, *order]):
        nulls = [row for row in rows if values[row] is None]
        others = [row for row in rows if values[row] is not None]
        others.sort(key=lambda row: make_comparable(values[row]), reverse=descending)
        rows = nulls + others if nulls_first else others + nulls
    return rows


def mark_first_rows(keys: Sequence[SortItem], rows: Sequence[int]) -> list[bool]:
    """Return for each of the rows, which are in order, whether it is the first of a partition."""
    partitions = [[make_key(key.values[row]) for key in keys] for row in rows]
    return [
        index == 0 or partition != partitions[index - 1]
        for index, partition in enumerate(partitions)
    ]


def make_comparable(value: Any) -> Any:
    """Return a value that Python compares as Spark does.

    NaN is the greatest number, -0.0 equals 0.0, and texts compare as bytes of UTF-8.
    """
    match value:
        case float():
            return (math.isnan(value), 0.0 if math.isnan(value) else value)
        case str():
            return value.encode()
        case _:
            return value


def make_key(value: Any) -> Any:
    """Return a value that is equal for the same partition: NULL equals NULL."""
    return None if value is None else (make_comparable(value),)
