"""Rows in the order of Spark's ORDER BY within PARTITION BY, by Python's sort, column by column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple


class Item(NamedTuple):
    """A column that sorts: its values, and what ORDER BY says of it."""

    values: Sequence[Any]
    descending: bool = False
    nulls_first: bool = True


def sorted_rows(keys: Sequence[Item], order: Sequence[Item], count: int) -> list[int]:
    """The numbers of the rows in order; equal rows stay as they are."""
    rows = list(range(count))
    for values, descending, nulls_first in reversed([*keys, *order]):
        nulls = [row for row in rows if values[row] is None]
        rest = [row for row in rows if values[row] is not None]
        rest.sort(key=lambda row: comparable(values[row]), reverse=descending)
        rows = nulls + rest if nulls_first else rest + nulls
    return rows


def first_rows(keys: Sequence[Item], rows: Sequence[int]) -> list[bool]:
    """Of rows in order, which are the first of a partition."""
    found = [[of_key(key.values[row]) for key in keys] for row in rows]
    return [place == 0 or one != found[place - 1] for place, one in enumerate(found)]


def comparable(value: Any) -> Any:
    """A value as Spark compares it: NaN is the greatest, texts compare as bytes of UTF-8."""
    match value:
        case float():
            return (math.isnan(value), 0.0 if math.isnan(value) else value)
        case str():
            return value.encode()
        case _:
            return value


def of_key(value: Any) -> Any:
    """A value so that it equals those of its partition; NULL equals NULL."""
    return None if value is None else (comparable(value),)
