"""Convert the states of the searches of a bucket to the memory that is stored, and back.

A `search.KeyState` has the states of one search. `make_memory` writes the key states of all
searches as the arrays of a `memory.BucketMemory`, which is stored between two micro-batches, and
`read_key_states` reads them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pyarrow as pa

from matchrec.compile.rule_set import Version
from matchrec.search.partitions import IntArray
from matchrec.spark.streaming.arrival import ArrivedRows
from matchrec.spark.streaming.by_key import KeyedValues
from matchrec.spark.streaming.memory import Array, Arrays, BucketMemory, ColumnMap
from matchrec.spark.streaming.search import KeyState, StreamSearch

NO_KEYS = np.zeros(0, np.int64)


def make_memory(
    key_states: Mapping[str, KeyState[Any]],
    arrived: ArrivedRows,
    column_map: ColumnMap,
    versions: Mapping[str, Version],
) -> BucketMemory:
    """Return the memory of a bucket: the keys that have any state, and each row once.

    The arrays of the memory are `rows`, the number of stored rows of each key, and the arrays that
    `write_key_state` returns for each search.

    Args:
        key_states: the key state of each search, by the name of the search.
        arrived: the rows that were searched, and the rows that wait.
        column_map: the SQL of the columns and bits of these rows.
        versions: the versions of the rules, by the names of their searches.
    """
    keys = np.unique(np.concatenate([NO_KEYS, *(state.keys for state in key_states.values())]))
    kept_by_search = [state.kept_rows.values for state in key_states.values()]
    kept = np.unique(np.concatenate([NO_KEYS, *kept_by_search]))

    # Rows are stored key after key, so that the number of rows of each key is enough to find the
    # key of each row.
    all_keys = np.arange(len(arrived.new_counts))
    key_of_row = np.append(
        np.repeat(all_keys, arrived.kept_counts), np.repeat(all_keys, arrived.new_counts)
    )
    key_of_kept_row = key_of_row[kept]
    order = np.argsort(key_of_kept_row, kind="stable")
    stored_rows = kept[order]
    # The index of each row among the stored rows, by its index in `arrived.rows`.
    stored_index = np.empty(arrived.rows.num_rows, np.int64)
    stored_index[stored_rows] = np.arange(len(stored_rows))

    arrays: dict[str, Array] = {}
    for name, key_state in key_states.items():
        kept_of_search = key_state.kept_rows
        stored_state = replace(
            key_state,
            keys=np.searchsorted(keys, key_state.keys),
            kept_rows=KeyedValues(stored_index[kept_of_search.values], kept_of_search.sizes),
        )
        arrays |= write_key_state(name, stored_state)
    row_counts = np.bincount(np.searchsorted(keys, key_of_kept_row), minlength=len(keys))
    arrays["rows"] = row_counts.astype(np.int64)
    rows = pa.concat_tables([arrived.rows.take(pa.array(stored_rows)), arrived.waiting])
    return BucketMemory(
        ordered_until=arrived.ordered_until,
        arrays=arrays,
        keys=arrived.keys.take(pa.array(keys)).combine_chunks(),
        rows=rows.combine_chunks(),
        column_map=column_map,
        versions=versions,
    )


def write_key_state(search: str, key_state: KeyState[Any]) -> dict[str, Array]:
    """Return the arrays in which the key state of a search is stored.

        <search> keys            the keys, as indices of the stored keys
        <search> <field>         the values of a field, key after key
        <search> <field> sizes   how many values each key has; left out if each key has one value

    Args:
        search: the name of the search.
        key_state: its key state. Keys and rows are indices of the stored keys and rows.
    """
    states = key_state.states.list_values()
    values_by_name = {name_array(name): values for name, values in states.items()}
    values_by_name["next end"] = KeyedValues.from_single_values(key_state.next_end)
    values_by_name["failed"] = KeyedValues.from_single_values(key_state.failed)
    values_by_name["places"] = key_state.kept_rows
    arrays = {f"{search} keys": key_state.keys}
    for name, values in values_by_name.items():
        arrays[f"{search} {name}"] = values.values
        if (values.sizes != 1).any():
            arrays[f"{search} {name} sizes"] = values.sizes
    return arrays


def read_key_state(search: StreamSearch[Any], arrays: Arrays) -> KeyState[Any]:
    """Return the key state of a search, as `write_key_state` has written it."""

    def read(name: str) -> KeyedValues:
        """Return the values of a field."""
        values = arrays[f"{search.name} {name}"]
        sizes = arrays.get(f"{search.name} {name} sizes")
        return (
            KeyedValues.from_single_values(values) if sizes is None else KeyedValues(values, sizes)
        )

    states = {field.name: read(name_array(field.name)) for field in fields(search.states_type)}
    # The end of a rule may not have been known when the state was stored.
    next_end = np.minimum(read("next end").values, search.end)
    return KeyState(
        keys=arrays[f"{search.name} keys"],
        states=search.states_type(**states),
        next_end=next_end,
        failed=read("failed").values,
        kept_rows=read("places"),
    )


def name_array(field_name: str) -> str:
    """Return the name of the array of a field. The names must not change: stored states have them.

    >>> name_array("start_bounds"), name_array("held_rows")
    ('start bounds', 'held.rows')
    """
    return re.sub("^held_", "held.", field_name).replace("_", " ")


def read_key_states(
    arrays: Arrays, searches: Sequence[StreamSearch[Any]]
) -> dict[str, KeyState[Any]]:
    """Return the key states of each search, by its name, as `make_memory` has stored them.

    A search without any state is left out. The states of searches that no longer exist are not
    read, and so not stored again.
    """
    return {
        search.name: read_key_state(search, arrays)
        for search in searches
        if f"{search.name} keys" in arrays
    }


def make_key_state(
    search: StreamSearch[Any], keys: IntArray, *, failed: bool = False
) -> KeyState[Any]:
    """Return the state of keys that have had no events, or for which the search has failed."""
    count = len(keys)
    return KeyState(
        keys=keys,
        states=search.make_empty_states().take(np.zeros(count, np.int64)),
        next_end=np.full(count, search.end, np.int64),
        failed=np.full(count, failed, np.bool_),
        kept_rows=KeyedValues(NO_KEYS, np.zeros(count, np.int64)),
    )
