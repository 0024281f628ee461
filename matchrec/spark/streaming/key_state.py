"""What the searches of a bucket need of each key, and how it is stored between micro-batches.

`memory.Memory` is what is stored. Its states, one array for each, are those that a search keeps
(`search.KeySearch`), and the three that the bucket adds: NEXT_END, FAILED and PLACES.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from matchrec.compile.rule_set import Version
from matchrec.search.partitions import IntArray
from matchrec.spark.streaming.arrival import ArrivedRows, SearchRows
from matchrec.spark.streaming.by_key import ByKey, KeyStates, join_states, take_states
from matchrec.spark.streaming.memory import Array, Arrays, ColumnMap, Memory
from matchrec.spark.streaming.search import IDLE, KEPT, NEXT_END, KeySearch

NO_KEYS = np.zeros(0, np.int64)

# Names of the states of each key that a bucket adds to the states of its search.
PLACES = "places"  # the rows that the search has kept: indices among the rows of the bucket
FAILED = "failed"  # whether the search has failed for the key, and leaves it alone for good


@dataclass(frozen=True, slots=True)
class KeyState:
    """What a search needs of some keys of the bucket."""

    # int64[p], ascending indices of keys of the bucket.
    keys: IntArray
    # The states of the search for these keys, then NEXT_END, FAILED and PLACES.
    states: KeyStates

    @property
    def next_end(self) -> IntArray:
        """int64[p], when to go on with each key though no event arrives."""
        return self.states[NEXT_END].values

    def take(self, indices: IntArray) -> KeyState:
        """Return the state of some of these keys, given their indices in `keys`."""
        return KeyState(self.keys[indices], take_states(self.states, indices))

    def merge(self, others: KeyState) -> KeyState:
        """Return the state of these keys and of others. No key may be in both."""
        if not len(self.keys):
            return others
        if not len(others.keys):
            return self
        keys = np.append(self.keys, others.keys)
        return KeyState(keys, join_states(self.states, others.states)).take(np.argsort(keys))

    def advance(self, rows: SearchRows, new_states: KeyStates, end: int) -> KeyState:
        """Return the state after a search, without keys that no longer need a state.

        Args:
            rows: the rows that were searched.
            new_states: what the search has returned for each key.
            end: the time from which on the search sees no rows.
        """
        is_needed = ~new_states[IDLE].values | (new_states[KEPT].sizes > 0)
        needed = np.flatnonzero(is_needed)
        states = dict(take_states(new_states, needed))
        del states[IDLE]
        kept = states.pop(KEPT)
        states[PLACES] = ByKey(rows.indices[kept.values], kept.sizes)
        states[FAILED] = ByKey.from_single_values(np.zeros(len(needed), np.bool_))
        states[NEXT_END] = ByKey.from_single_values(np.minimum(states[NEXT_END].values, end))
        return KeyState(self.keys[needed], states)


def make_memory(
    key_states: Mapping[str, KeyState],
    arrived: ArrivedRows,
    column_map: ColumnMap,
    versions: Mapping[str, Version],
) -> Memory:
    """Return the memory of a bucket: the keys that have any state, and each row once.

    Its arrays are the inputs of `read_key_states`:

        rows                   how many rows are stored of each key
        <search> keys          the keys of the state of a search, as indices of the stored keys
        <search> <state>       the values of a state of the search, key after key
        <search> <state> sizes how many of them each key has; left out if each has one

    Args:
        key_states: what each search needs, by the name of the search.
        arrived: the rows that were searched, and those that wait.
        column_map: what the columns and bits of these rows mean.
        versions: the rules, by the names of their searches.
    """
    keys = np.unique(np.concatenate([NO_KEYS, *(state.keys for state in key_states.values())]))
    kept_by_search = [state.states[PLACES].values for state in key_states.values()]
    kept = np.unique(np.concatenate([NO_KEYS, *kept_by_search]))

    # Rows are stored key after key, so that the number of rows of each key says whose they are.
    all_keys = np.arange(len(arrived.new))
    key_of_row = np.append(np.repeat(all_keys, arrived.kept), np.repeat(all_keys, arrived.new))
    key_of_kept_row = key_of_row[kept]
    order = np.argsort(key_of_kept_row, kind="stable")
    stored_rows = kept[order]
    stored_index = np.empty(arrived.rows.num_rows, np.int64)  # by the index of a row
    stored_index[stored_rows] = np.arange(len(stored_rows))

    arrays: dict[str, Array] = {}
    for name, key_state in key_states.items():
        rows_of_search = key_state.states[PLACES]
        stored_places = ByKey(stored_index[rows_of_search.values], rows_of_search.sizes)
        arrays[f"{name} keys"] = np.searchsorted(keys, key_state.keys)
        for state_name, state in {**key_state.states, PLACES: stored_places}.items():
            arrays[f"{name} {state_name}"] = state.values
            if (state.sizes != 1).any():
                arrays[f"{name} {state_name} sizes"] = state.sizes
    row_counts = np.bincount(np.searchsorted(keys, key_of_kept_row), minlength=len(keys))
    arrays["rows"] = row_counts.astype(np.int64)
    rows = pa.concat_tables([arrived.rows.take(pa.array(stored_rows)), arrived.later])
    return Memory(
        passed=arrived.passed,
        arrays=arrays,
        keys=arrived.keys.take(pa.array(keys)).combine_chunks(),
        rows=rows.combine_chunks(),
        column_map=column_map,
        versions=versions,
    )


def read_key_states(arrays: Arrays, searches: tuple[KeySearch, ...]) -> dict[str, KeyState]:
    """Return the key states of each search, by its name, as `make_memory` has stored them.

    A search without any state is left out. States of searches that no longer exist are not read, so
    they will not be stored again.
    """
    key_states = {}
    for search in searches:
        if f"{search.name} keys" in arrays:
            state_names = make_key_state(search, NO_KEYS).states
            states = read_states(arrays, search.name, state_names)
            # The end of a rule may not have been known when the state was stored.
            next_end = np.minimum(states[NEXT_END].values, search.end)
            states = {**states, NEXT_END: ByKey.from_single_values(next_end)}
            key_states[search.name] = KeyState(arrays[f"{search.name} keys"], states)
    return key_states


def read_states(arrays: Arrays, search: str, names: Iterable[str]) -> KeyStates:
    """Return the states of these names of a search, as `make_memory` has stored them."""
    states = {}
    for name in names:
        values = arrays[f"{search} {name}"]
        sizes = arrays.get(f"{search} {name} sizes")
        states[name] = ByKey.from_single_values(values) if sizes is None else ByKey(values, sizes)
    return states


def make_key_state(search: KeySearch, keys: IntArray, *, failed: bool = False) -> KeyState:
    """Return the state of keys that have had no events, or for which the search has failed."""
    states = {
        **search.make_empty_states(),
        NEXT_END: ByKey.from_single_values(np.array([search.end])),
        FAILED: ByKey.from_single_values(np.array([failed])),
        PLACES: ByKey.concatenate([NO_KEYS]),
    }
    return KeyState(keys, take_states(states, np.zeros(len(keys), np.int64)))
