"""Convert the states of the searches of a bucket to the state that is stored, and back.

A `search.KeyStates` has the states of one search. `build_bucket_state` writes the states of all
searches as the arrays of a `BucketState`, which is stored between two micro-batches, and
`read_all_key_states` reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from matchrec.compile.rule_set import Version
from matchrec.search.partitions import IntArray
from matchrec.spark.streaming.arrival import ArrivedRows
from matchrec.spark.streaming.bucket_state import ROW_COUNTS, Array, Arrays, BucketState, ColumnMap
from matchrec.spark.streaming.keyed_values import KeyedValues
from matchrec.spark.streaming.search import KeyStates, StreamSearch

NO_KEYS = np.zeros(0, np.int64)
NO_ROWS = np.zeros(0, np.int64)

# The stored names of fields of `KeyStates`.
WAKE_UP_TIMES = "wake_up_times"
HAS_FAILED = "has_failed"
KEPT_ROWS = "kept_rows"


def build_bucket_state(
    states_by_search: Mapping[str, KeyStates[Any]],
    arrived: ArrivedRows,
    column_map: ColumnMap,
    versions: Mapping[str, Version],
) -> BucketState:
    """Return the state of a bucket: the keys that have any state, and each row once.

    The arrays of the state are ROW_COUNTS, the number of stored rows of each key, and the arrays
    that `write_key_states` returns for each search.

    Args:
        states_by_search: the states of each search, by the name of the search.
        arrived: the rows that were searched, and the rows that wait.
        column_map: the SQL of the columns and bits of these rows.
        versions: the versions of the rules, by the names of their searches.
    """
    all_states = states_by_search.values()
    keys = np.unique(np.concatenate([NO_KEYS, *(states.keys for states in all_states)]))
    needed_rows = np.unique(
        np.concatenate([NO_ROWS, *(states.kept_rows.values for states in all_states)])
    )

    # Rows are stored key after key, so that the number of rows of each key is enough to find the
    # key of each row.
    key_of_needed_row = arrived.find_key_of_row()[needed_rows]
    stored_rows = needed_rows[np.argsort(key_of_needed_row, kind="stable")]
    # The index of each row among the stored rows, by its index in `arrived.rows`.
    stored_index = np.empty(arrived.rows.num_rows, np.int64)
    stored_index[stored_rows] = np.arange(len(stored_rows))

    arrays: dict[str, Array] = {}
    for name, key_states in states_by_search.items():
        kept_rows = key_states.kept_rows
        stored_states = replace(
            key_states,
            keys=np.searchsorted(keys, key_states.keys),
            kept_rows=KeyedValues(stored_index[kept_rows.values], kept_rows.sizes),
        )
        arrays |= write_key_states(name, stored_states)
    row_counts = np.bincount(np.searchsorted(keys, key_of_needed_row), minlength=len(keys))
    arrays[ROW_COUNTS] = row_counts.astype(np.int64)
    rows = pa.concat_tables([arrived.rows.take(pa.array(stored_rows)), arrived.waiting])
    return BucketState(
        ordered_until=arrived.ordered_until,
        arrays=arrays,
        keys=arrived.keys.take(pa.array(keys)).combine_chunks(),
        rows=rows.combine_chunks(),
        column_map=column_map,
        versions=versions,
    )


def write_key_states(search: str, key_states: KeyStates[Any]) -> dict[str, Array]:
    """Return the arrays in which the states of a search are stored.

        <search> keys            the keys, as indices of the stored keys
        <search> <field>         the values of a field, key after key; its name in a nested record
                                 is a path, see `KeyRecord.collect_values`
        <search> <field> sizes   how many values each key has; left out if each key has one value

    Args:
        search: the name of the search.
        key_states: its states. Keys and rows are indices of the stored keys and rows.
    """
    values_by_name = key_states.search_states.collect_values()
    values_by_name[WAKE_UP_TIMES] = KeyedValues.from_single_values(key_states.wake_up_times)
    values_by_name[HAS_FAILED] = KeyedValues.from_single_values(key_states.has_failed)
    values_by_name[KEPT_ROWS] = key_states.kept_rows
    arrays = {f"{search} keys": key_states.keys}
    for name, values in values_by_name.items():
        arrays[f"{search} {name}"] = values.values
        if (values.sizes != 1).any():
            arrays[f"{search} {name} sizes"] = values.sizes
    return arrays


def read_key_states(search: StreamSearch[Any], arrays: Arrays) -> KeyStates[Any]:
    """Return the states of a search, as `write_key_states` has written them."""

    def read_field(name: str) -> KeyedValues:
        """Return the values of a field, given its name or path."""
        values = arrays[f"{search.name} {name}"]
        sizes = arrays.get(f"{search.name} {name} sizes")
        if sizes is None:
            return KeyedValues.from_single_values(values)
        return KeyedValues(values, sizes)

    # A rule can have an end now that it did not have when the states were stored.
    wake_up_times = np.minimum(read_field(WAKE_UP_TIMES).values, search.end_time)
    return KeyStates(
        keys=arrays[f"{search.name} keys"],
        search_states=search.states_type.build(read_field),
        wake_up_times=wake_up_times,
        has_failed=read_field(HAS_FAILED).values,
        kept_rows=read_field(KEPT_ROWS),
    )


def read_all_key_states(
    arrays: Arrays, searches: Sequence[StreamSearch[Any]]
) -> dict[str, KeyStates[Any]]:
    """Return the states of each search, by its name, as `build_bucket_state` has stored them.

    A search without any state is left out. The states of searches that no longer exist are not
    read, and so not stored again.
    """
    return {
        search.name: read_key_states(search, arrays)
        for search in searches
        if f"{search.name} keys" in arrays
    }


def make_key_states(
    search: StreamSearch[Any], keys: IntArray, *, has_failed: bool = False
) -> KeyStates[Any]:
    """Return the states of keys that have had no events, or for which the search has failed."""
    key_count = len(keys)
    same_key = np.zeros(key_count, np.int64)  # the only key of the empty states, again and again
    return KeyStates(
        keys=keys,
        search_states=search.make_empty_states().take(same_key),
        wake_up_times=np.full(key_count, search.end_time, np.int64),
        has_failed=np.full(key_count, has_failed, np.bool_),
        kept_rows=KeyedValues(NO_ROWS, np.zeros(key_count, np.int64)),
    )
