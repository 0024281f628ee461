"""Search the events of many keys with event selection: patterns that can skip rows.

The runs and the shared buffer of each key are kept between two micro-batches, with the events that
they refer to. Rows are encoded, windows are computed and output is made for all keys at once. Only
the search itself handles one key after the other, and only keys that need it:

- A key is *quiet* if no row of it is kept and no new row can begin a run. Its rows are counted and
  not searched. (With absences, no key is quiet.)
- All other keys are *busy*. They are searched one after the other.

In the shapes of arrays, p is the number of keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from matchrec.output.rows import find_output_rows
from matchrec.search.beginnings import mark_possible_first_rows
from matchrec.search.compiled_task import compile_task
from matchrec.search.flat_arrays import add_up_before
from matchrec.search.incremental import (
    ResumedSearch,
    SearchCall,
    SearchState,
    make_empty_state,
    pair_runs_with_neighbour_windows,
)
from matchrec.search.live_runs import count_node_columns
from matchrec.search.match_lists import join_chunks
from matchrec.search.matches import Matches
from matchrec.search.partitions import BoolArray, IntArray
from matchrec.spark.streaming.arrival import SearchRows
from matchrec.spark.streaming.event_selection_states import EventSelectionStates
from matchrec.spark.streaming.key_rows import RowsOfKey, RowsOfKeys
from matchrec.spark.streaming.keyed_values import KeyedValues
from matchrec.spark.streaming.search import NEVER, KeyStates, RunningSearch, StreamSearch
from matchrec.worker.match import PieceWorker
from matchrec.worker.row_locations import locate_failures


@dataclass(frozen=True)
class EventSelectionSearch(StreamSearch[EventSelectionStates]):
    """The search of a query with event selection, which searches one key after the other."""

    states_type = EventSelectionStates

    def make_empty_states(self) -> EventSelectionStates:
        """Return the search states of one key that has had no events."""
        task = self.compiled_query.task
        compiled_task = compile_task(task, len(self.compiled_query.sent_columns.integer_columns))
        empty_state = make_empty_state(compiled_task.register_count, count_node_columns(task))
        return EventSelectionStates.join([empty_state])

    def search(
        self, key_states: KeyStates[EventSelectionStates], rows: SearchRows
    ) -> RunningSearch[EventSelectionStates]:
        """Continue the search of one or more keys, see `StreamSearch.search`."""
        states = key_states.search_states
        rows_of_keys = RowsOfKeys.build(self.compiled_query, states, rows, self.end_time)
        is_quiet = self.find_quiet_keys(states, rows_of_keys)
        quiet_keys = np.flatnonzero(is_quiet)
        busy_keys = np.flatnonzero(~is_quiet)
        quiet_states = self.advance_quiet_keys(
            key_states.take(quiet_keys), rows.new_counts[quiet_keys]
        )
        if not len(busy_keys):
            return quiet_states
        searches = KeySearches(rows_of_keys, busy_keys, states.take(busy_keys).split())
        worker = PieceWorker(self.compiled_query, batch_maker=self.batch_maker)
        with locate_failures(rows_of_keys.locate):
            for matches in join_chunks(searches.find_matches()):
                output_rows = find_output_rows(matches, self.compiled_query.rows_per_match)
                yield from worker.make_batches(
                    rows.table, rows_of_keys.partitions, matches, output_rows
                )
        busy_states = self.build_key_states(key_states.keys[busy_keys], searches.results, rows)
        return busy_states.merge(quiet_states)

    def find_quiet_keys(self, states: EventSelectionStates, rows: RowsOfKeys) -> BoolArray:
        """Return bool[p]: which keys are quiet.

        A key that has all its matches (`max_matches`) can begin no run.
        """
        task = self.compiled_query.task
        search_rows = rows.search_rows
        if task.absences:  # rows are kept even if no run begins with them
            return np.zeros(len(search_rows.new_counts), np.bool_)
        can_start = mark_possible_first_rows(task, rows.partitions)
        start_counts = np.diff(add_up_before(can_start)[search_rows.starts])  # for each key
        has_start = start_counts > 0
        if task.max_matches is not None:
            has_start &= states.last_match_number.values < task.max_matches
        return np.asarray((states.row_numbers.sizes == 0) & ~has_start, np.bool_)

    def advance_quiet_keys(
        self, quiet_states: KeyStates[EventSelectionStates], new_counts: IntArray
    ) -> KeyStates[EventSelectionStates]:
        """Return the states of quiet keys after their new rows, which are only counted.

        Args:
            quiet_states: the states of the keys before these rows.
            new_counts: int64[p], how many new rows each key has.
        """
        search_states = quiet_states.search_states.count_searched_rows(new_counts)
        key_states = replace(
            quiet_states,
            search_states=search_states,
            kept_rows=KeyedValues(np.zeros(0, np.int64), np.zeros(len(new_counts), np.int64)),
            wake_up_times=np.full(len(new_counts), self.end_time),
        )
        return key_states.drop_idle_keys(
            self.can_forget_matches(search_states.last_match_number.values)
        )

    def build_key_states(
        self, keys: IntArray, results: Sequence[KeyResult], rows: SearchRows
    ) -> KeyStates[EventSelectionStates]:
        """Return the states of the keys that were searched.

        Args:
            keys: int64[p], the indices of the keys among the keys of the bucket.
            results: the result of the search of each key.
            rows: the rows that were searched.
        """
        search_states = EventSelectionStates.join([result.state for result in results])
        kept_rows = KeyedValues.concatenate([result.kept_rows for result in results])
        wake_up_times = np.array([result.wake_up_time for result in results], np.int64)
        key_states = KeyStates(
            keys=keys,
            search_states=search_states,
            wake_up_times=np.minimum(wake_up_times, self.end_time),
            has_failed=np.zeros(len(keys), np.bool_),
            kept_rows=replace(kept_rows, values=rows.indices[kept_rows.values]),
        )
        is_idle = np.array([result.state.is_idle for result in results], np.bool_)
        can_forget = self.can_forget_matches(search_states.last_match_number.values)
        return key_states.drop_idle_keys(is_idle & can_forget)


@dataclass(frozen=True, slots=True)
class KeyResult:
    """The result of the search of one key."""

    state: SearchState
    # The rows that the next search reads again: indices among the rows of all keys.
    kept_rows: IntArray
    # The time at which the search goes on even if no event arrives: microseconds, or NEVER.
    wake_up_time: int


class KeySearches:
    """The searches of some keys, one after the other.

    Read `find_matches` to its end. Then `results` has the result of each key.

    Args:
        rows: the rows of these and other keys.
        keys: int64[p], the indices of the keys to search.
        states: the state of the search of each of them.
    """

    def __init__(self, rows: RowsOfKeys, keys: IntArray, states: Sequence[SearchState]) -> None:
        self.rows = rows
        self.keys = keys
        self.states = states
        # The results of the keys that have been searched, in the order of `keys`.
        self.results: list[KeyResult] = []

    def find_matches(self) -> Iterator[Matches]:
        """Yield the matches of the keys in chunks, key after key.

        Rows in the matches are indices among the rows of all keys.

        Raises:
            MatchRecognizeError: a search fails at a row, which the error names.
        """
        for key, state in zip(self.keys.tolist(), self.states, strict=True):
            rows = self.rows.take_key(key)
            call = rows.make_call()
            search = ResumedSearch(rows.task, state, call)
            with locate_failures(rows.locate):
                for matches in search.find_matches():
                    if matches.count:
                        yield rows.shift_matches(matches)
            new_state, kept_rows = search.finish()
            self.results.append(make_key_result(rows, call, new_state, kept_rows))


def make_key_result(
    rows: RowsOfKey, call: SearchCall, state: SearchState, kept_rows: IntArray
) -> KeyResult:
    """Return the result of the search of one key.

    Args:
        rows: the rows of the key.
        call: the arguments of the search.
        state: the state that `ResumedSearch.finish` has returned.
        kept_rows: the rows before `call.stop` that the state needs, which `finish` has returned,
            too. The state refers to rows by their index in this array.
    """
    rows_from_stop = np.arange(call.stop, len(rows.numbers))
    return KeyResult(
        state=state,
        kept_rows=rows.first_row + np.append(kept_rows, rows_from_stop),
        wake_up_time=find_wake_up_time(rows, call, state, kept_rows),
    )


def find_wake_up_time(
    rows: RowsOfKey, call: SearchCall, state: SearchState, kept_rows: IntArray
) -> int:
    """Return when the next window ends that the search waits for: microseconds, or NEVER.

    Args: see `make_key_result`.
    """
    times = rows.times
    live_runs = state.live_runs
    starting_rows = kept_rows[live_runs.starts]
    # A run whose window has ended is not finished yet only because rows of its window are after
    # `stop`. It waits until the window of the row at `stop` ends, which is added below.
    open_starts = starting_rows[~call.has_ended[starting_rows]]
    end_times = times.window_ends[open_starts].tolist()
    if call.stop < len(rows.numbers):
        end_times.append(int(times.window_ends[call.stop]))
    if times.neighbour_window_ends is not None:
        waiting_runs, window = pair_runs_with_neighbour_windows(rows.task, live_runs)
        last_rows = kept_rows[live_runs.last_rows[waiting_runs]]
        end_times += times.neighbour_window_ends[window, last_rows].tolist()
    return min(end_times, default=NEVER)
