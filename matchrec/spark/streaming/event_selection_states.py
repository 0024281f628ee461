"""The states of searches with event selection, of many keys in flat arrays.

A search of one key has a `search.incremental.SearchState`. Between two micro-batches, the states of
all keys are joined to one `EventSelectionStates`, so that the states of keys without new events are
copied and stored without a loop over the keys. The fields of these records have the names of the
fields of the records that they join.

In the shapes of arrays, p is the number of keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from matchrec.search.incremental import SearchState
from matchrec.search.live_runs import LiveRuns
from matchrec.search.matches import Matches, make_empty_matches
from matchrec.search.partitions import IntArray
from matchrec.spark.streaming.keyed_values import KeyedValues, KeyRecord


@dataclass(frozen=True, slots=True)
class LiveRunsOfKeys(KeyRecord):
    """The `LiveRuns` of some keys."""

    runs: KeyedValues
    registers: KeyedValues
    nodes: KeyedValues

    @staticmethod
    def join(live_runs_of_keys: Sequence[LiveRuns]) -> LiveRunsOfKeys:
        """Return the live runs of one or more keys, given the live runs of each key."""
        return LiveRunsOfKeys(
            runs=KeyedValues.concatenate([live.runs for live in live_runs_of_keys]),
            registers=KeyedValues.concatenate([live.registers for live in live_runs_of_keys]),
            nodes=KeyedValues.concatenate([live.nodes for live in live_runs_of_keys]),
        )

    def split(self) -> list[LiveRuns]:
        """Return the live runs of each key: the inverse of `join`."""
        arrays_of_keys = zip(
            self.runs.split(), self.registers.split(), self.nodes.split(), strict=True
        )
        return [
            LiveRuns(runs=runs, registers=registers, nodes=nodes)
            for runs, registers, nodes in arrays_of_keys
        ]


@dataclass(frozen=True, slots=True)
class HeldMatchesOfKeys(KeyRecord):
    """The matches that the skip strategy holds, of some keys.

    The fields have the names of the fields of `Matches` that are not None with event selection.
    """

    partition: KeyedValues
    number: KeyedValues
    start: KeyedValues
    # One value more than the key has matches.
    offsets: KeyedValues
    classifiers: KeyedValues
    is_excluded: KeyedValues
    rows: KeyedValues
    completing_rows: KeyedValues
    kind: KeyedValues

    @staticmethod
    def join(matches_of_keys: Sequence[Matches]) -> HeldMatchesOfKeys:
        """Return the matches of one or more keys, given the matches of each key."""
        arrays_by_field = {
            field.name: [getattr(matches, field.name) for matches in matches_of_keys]
            for field in fields(HeldMatchesOfKeys)
        }
        return HeldMatchesOfKeys(
            **{name: KeyedValues.concatenate(arrays) for name, arrays in arrays_by_field.items()}
        )

    def split(self) -> list[Matches]:
        """Return the matches of each key: the inverse of `join`."""
        arrays_by_field = {name: values.split() for name, values in self.collect_values().items()}
        matches_of_keys = []
        for key in range(len(self.offsets.sizes)):
            arrays: dict[str, Any] = {name: parts[key] for name, parts in arrays_by_field.items()}
            matches_of_keys.append(replace(make_empty_matches(), **arrays))
        return matches_of_keys


@dataclass(frozen=True, slots=True)
class EventSelectionStates(KeyRecord):
    """The `SearchState` of each of p keys."""

    # One number for each key.
    rows_searched: KeyedValues
    # One number for each key; 0 before its first match.
    last_match_number: KeyedValues
    row_numbers: KeyedValues
    live_runs: LiveRunsOfKeys
    start_bounds: KeyedValues
    held: HeldMatchesOfKeys

    def count_searched_rows(self, row_counts: IntArray) -> EventSelectionStates:
        """Return the states after more rows, which were counted and changed nothing else.

        Args:
            row_counts: int64[p], how many rows of each key.
        """
        rows_searched = self.rows_searched.values + row_counts
        return replace(self, rows_searched=KeyedValues.from_single_values(rows_searched))

    @staticmethod
    def join(states: Sequence[SearchState]) -> EventSelectionStates:
        """Return the states of one or more keys, given the state of each key."""
        rows_searched = np.array([state.rows_searched for state in states], np.int64)
        match_numbers = np.array([state.last_match_number for state in states], np.int64)
        return EventSelectionStates(
            rows_searched=KeyedValues.from_single_values(rows_searched),
            last_match_number=KeyedValues.from_single_values(match_numbers),
            row_numbers=KeyedValues.concatenate([state.row_numbers for state in states]),
            live_runs=LiveRunsOfKeys.join([state.live_runs for state in states]),
            start_bounds=KeyedValues.concatenate([state.start_bounds for state in states]),
            held=HeldMatchesOfKeys.join([state.held_matches for state in states]),
        )

    def split(self) -> list[SearchState]:
        """Return the state of each key: the inverse of `join`. Needs at least one key."""
        fields_of_keys = zip(
            self.rows_searched.values.tolist(),
            self.last_match_number.values.tolist(),
            self.row_numbers.split(),
            self.live_runs.split(),
            self.start_bounds.split(),
            self.held.split(),
            strict=True,
        )
        return [
            SearchState(
                rows_searched=rows_searched,
                last_match_number=last_match_number,
                row_numbers=row_numbers,
                live_runs=live_runs,
                start_bounds=start_bounds,
                held_matches=held,
            )
            for (
                rows_searched,
                last_match_number,
                row_numbers,
                live_runs,
                start_bounds,
                held,
            ) in fields_of_keys
        ]
