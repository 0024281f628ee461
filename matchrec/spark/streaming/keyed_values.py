"""Store values of many keys in flat arrays: the values of each key, one key after the other.

    sizes [2, 0, 1]   values [a, b, c]   →   key 0 has a and b, key 1 has none, key 2 has c

In this form, values of many keys are selected and joined without a loop over the keys.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import get_type_hints

import numpy as np
from typing_extensions import Self

from matchrec.search.flat_arrays import find_group_starts, list_positions
from matchrec.search.partitions import IntArray
from matchrec.spark.streaming.bucket_state import Array


@dataclass(frozen=True, slots=True)
class KeyedValues:
    """Values of k keys in one array."""

    # any[n, ...]: the values, key after key.
    values: Array
    # int64[k]: how many values each key has.
    sizes: IntArray

    @staticmethod
    def from_single_values(values: Array) -> KeyedValues:
        """Return the values of keys that have one value each."""
        return KeyedValues(values, np.ones(len(values), np.int64))

    @staticmethod
    def concatenate(arrays: Sequence[Array]) -> KeyedValues:
        """Return the values of one or more keys, given an array for each key."""
        return KeyedValues(
            np.concatenate(arrays), np.array([len(array) for array in arrays], np.int64)
        )

    def take(self, keys: IntArray) -> KeyedValues:
        """Return the values of some keys, in the order of `keys`. A key can occur several times.

        For the keys `[2, 0]` of the example above: sizes [1, 2], values [c, a, b].

        Args:
            keys: int64[m], indices of keys.
        """
        indices = list_positions(find_group_starts(self.sizes)[keys], self.sizes[keys])
        return KeyedValues(self.values[indices], self.sizes[keys])

    def append(self, others: KeyedValues) -> KeyedValues:
        """Return the values of these keys, then the values of other keys."""
        values = np.concatenate([self.values, others.values])
        return KeyedValues(values, np.concatenate([self.sizes, others.sizes]))

    def split(self) -> list[Array]:
        """Return an array for each key, the inverse of `concatenate`. Needs at least one key."""
        return np.split(self.values, np.cumsum(self.sizes)[:-1])


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """A record of k keys. Each field of a subclass is a `KeyedValues` or a `KeyRecord` of them.

    Records are stored by the names of their fields: see `bucket_state.FORMAT`.
    """

    def take(self, keys: IntArray) -> Self:
        """Return the record of some keys, see `KeyedValues.take`."""
        return type(self)(
            **{field.name: getattr(self, field.name).take(keys) for field in fields(self)}
        )

    def append(self, others: Self) -> Self:
        """Return the record of these keys, then of other keys."""
        return type(self)(
            **{
                field.name: getattr(self, field.name).append(getattr(others, field.name))
                for field in fields(self)
            }
        )

    def collect_values(self) -> dict[str, KeyedValues]:
        """Return all values by their paths: `field`, or `field.field` for a record in a record."""
        values_by_path: dict[str, KeyedValues] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, KeyRecord):
                for path, values in value.collect_values().items():
                    values_by_path[f"{field.name}.{path}"] = values
            else:
                values_by_path[field.name] = value
        return values_by_path

    @classmethod
    def build(cls, read_values: Callable[[str], KeyedValues], path_prefix: str = "") -> Self:
        """Return the record with the values that a function returns: see `collect_values`.

        Args:
            read_values: returns the values that have a path.
            path_prefix: the start of the path of each field of this record.
        """
        values_by_field: dict[str, KeyedValues | KeyRecord] = {}
        for name, field_type in get_type_hints(cls).items():
            path = path_prefix + name
            if issubclass(field_type, KeyRecord):
                values_by_field[name] = field_type.build(read_values, f"{path}.")
            else:
                values_by_field[name] = read_values(path)
        return cls(**values_by_field)
