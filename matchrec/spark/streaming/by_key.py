"""Values of many keys in flat arrays: those of each key one after the other.

sizes [2, 0, 1]   values [a, b, c]   ->   key 0 has a and b, key 1 nothing, key 2 has c
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import Self

from matchrec.dataclass import dataclass
from matchrec.engine.partitions import IntArray

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class ByKey:
    """Values of k keys. values: any[n, ...], key after key; sizes: int64[k], how many each has."""

    values: Array
    sizes: IntArray

    @staticmethod
    def one_each(values: Array) -> ByKey:
        """One value of each key."""
        return ByKey(values, np.ones(len(values), np.int64))

    @staticmethod
    def joined(parts: Sequence[Array]) -> ByKey:
        """Those of some keys, at least one, each in an array."""
        return ByKey(np.concatenate(parts), np.array([len(one) for one in parts], np.int64))

    def take(self, keys: IntArray) -> ByKey:
        """Those of some of the keys."""
        return ByKey(self.values[positions_of(self.sizes, keys)], self.sizes[keys])

    def followed_by(self, others: ByKey) -> ByKey:
        """Those of further keys behind them."""
        values = np.concatenate([self.values, others.values])
        return ByKey(values, np.concatenate([self.sizes, others.sizes]))

    def each(self) -> list[Array]:
        """The values of each of one or more keys in an array."""
        return np.split(self.values, np.cumsum(self.sizes)[:-1])


States = Mapping[str, ByKey]  # what searches of some keys need, by name


def take(states: States, keys: IntArray) -> States:
    """The states of some of the keys."""
    return {name: one.take(keys) for name, one in states.items()}


@dataclass(frozen=True, slots=True)
class OfKeys:
    """What is known of k keys: fields are arrays, one value of each key, or ByKey, or States."""

    def take(self, keys: IntArray) -> Self:
        """What is known of some of the keys."""
        known = (getattr(self, field.name) for field in fields(self))
        return type(self)(*(take_known(one, keys) for one in known))

    def followed_by(self, others: Self) -> Self:
        """The same, then what is known of further keys."""
        names = [field.name for field in fields(self)]
        pairs = ((getattr(self, name), getattr(others, name)) for name in names)
        return type(self)(*(join_known(one, other) for one, other in pairs))


def take_known(known: Any, keys: IntArray) -> Any:
    """What is known of some of the keys."""
    if isinstance(known, np.ndarray):
        return known[keys]
    return known.take(keys) if isinstance(known, ByKey) else take(known, keys)


def join_known(known: Any, others: Any) -> Any:
    """What is known of keys, then of others."""
    if isinstance(known, np.ndarray):
        return np.concatenate([known, others])
    if isinstance(known, ByKey):
        return known.followed_by(others)
    return {name: one.followed_by(others[name]) for name, one in known.items()}


def starts_of(sizes: IntArray) -> IntArray:
    """int64[k + 1], where the values of each key start, then how many there are."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def positions_of(sizes: IntArray, keys: IntArray) -> IntArray:
    """Where the values of some keys stand among those of all."""
    return ranges(starts_of(sizes)[keys], sizes[keys])


def ranges(first: IntArray, sizes: IntArray) -> IntArray:
    """So many positions from each first one on, range after range."""
    shifts = np.repeat(first - starts_of(sizes)[:-1], sizes)
    return np.asarray(shifts + np.arange(len(shifts)), np.int64)


def flat(states: States) -> dict[str, Array]:
    """The states as plain arrays by name."""
    values = {f"{name} values": one.values for name, one in states.items()}
    return values | {f"{name} sizes": one.sizes for name, one in states.items()}


def states_in(arrays: Mapping[str, Array], names: Iterable[str]) -> States:
    """The states that `flat` has made plain."""
    return {name: ByKey(arrays[f"{name} values"], arrays[f"{name} sizes"]) for name in names}
