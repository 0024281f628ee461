"""Store values of many keys in flat arrays: the values of each key, one key after the other.

    sizes [2, 0, 1]   values [a, b, c]   →   key 0 has a and b, key 1 has none, key 2 has c

In this form, values of many keys are selected and joined without a loop over the keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from typing_extensions import Self

from matchrec.search.partitions import IntArray, find_group_starts, list_positions
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
    """A record of k keys. Each field of a subclass has values of all these keys."""

    def collect_fields(self) -> dict[str, KeyedValues]:
        """Return the value of each field, by the name of the field."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def take(self, keys: IntArray) -> Self:
        """Return the record of some keys, see `KeyedValues.take`."""
        values_by_field = self.collect_fields()
        return type(self)(**{name: values.take(keys) for name, values in values_by_field.items()})

    def append(self, others: Self) -> Self:
        """Return the record of these keys, then of other keys."""
        values_by_field = self.collect_fields()
        other_values = others.collect_fields()
        return type(self)(
            **{name: values.append(other_values[name]) for name, values in values_by_field.items()}
        )
