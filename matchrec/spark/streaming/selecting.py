"""Search the events of many keys with event selection: patterns that may skip rows.

The runs and the shared buffer of each key are kept between two micro-batches, with the events that
they refer to. Keys are searched one after the other. A key is quiet if it has no runs and no new
event can begin one: it is not searched. Everything else is done once for all keys.

In the shapes of arrays, p is the number of keys, n the number of rows, and w the number of windows
between neighbours.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.errors.run.location import RowLocation
from matchrec.output.rows import find_output_rows
from matchrec.search.beginnings import find_possible_starts
from matchrec.search.compiled_task import compile_task
from matchrec.search.incremental import (
    ResumedSearch,
    SearchCall,
    SearchState,
    find_windows_between,
    make_empty_state,
)
from matchrec.search.live_runs import LiveRuns, count_node_columns, list_row_extremes
from matchrec.search.match_lists import join_chunks
from matchrec.search.matches import Matches, make_empty_matches
from matchrec.search.partitions import BoolArray, IntArray, Partitions, list_positions
from matchrec.search.task import Task
from matchrec.spark.streaming.arrival import SearchRows, read_times
from matchrec.spark.streaming.by_key import KeyedValues, KeyRecord
from matchrec.spark.streaming.search import (
    NEVER,
    KeySearching,
    KeyState,
    StreamSearch,
    find_neighbour_window_times,
    find_window_times,
)
from matchrec.worker.encode import encode_partitions
from matchrec.worker.locate import locate_failures, locate_row
from matchrec.worker.match import PieceWorker


@dataclass(frozen=True, slots=True)
class SelectingStates(KeyRecord):
    """The states of the searches of some keys: `search.incremental.SearchState` in flat arrays."""

    # Two numbers for each key: how many rows were searched, and the last match number.
    counts: KeyedValues
    # `SearchState.row_numbers`.
    numbers: KeyedValues
    # The fields of `SearchState.live_runs`.
    runs: KeyedValues
    registers: KeyedValues
    nodes: KeyedValues
    # `SearchState.start_bounds`.
    start_bounds: KeyedValues
    # The fields of `SearchState.held` that matches of event selection have.
    held_partition: KeyedValues
    held_number: KeyedValues
    held_start: KeyedValues
    held_offsets: KeyedValues
    held_classifiers: KeyedValues
    held_excluded: KeyedValues
    held_rows: KeyedValues
    held_completed: KeyedValues
    held_kind: KeyedValues

    @staticmethod
    def join(states: Sequence[SearchState]) -> SelectingStates:
        """Return the states of one or more keys, given the state of each key."""
        counts = [
            np.array([state.rows_searched, state.last_match_number], np.int64) for state in states
        ]
        held = {
            name: KeyedValues.concatenate([getattr(state.held, match_field) for state in states])
            for name, match_field in HELD_FIELDS.items()
        }
        return SelectingStates(
            counts=KeyedValues.concatenate(counts),
            numbers=KeyedValues.concatenate([state.row_numbers for state in states]),
            runs=KeyedValues.concatenate([state.live_runs.runs for state in states]),
            registers=KeyedValues.concatenate([state.live_runs.registers for state in states]),
            nodes=KeyedValues.concatenate([state.live_runs.nodes for state in states]),
            start_bounds=KeyedValues.concatenate([state.start_bounds for state in states]),
            **held,
        )

    def split(self) -> list[SearchState]:
        """Return the state of each key: the inverse of `join`."""
        arrays = {name: values.split() for name, values in self.list_values().items()}
        states = []
        for key, (rows_searched, last_match_number) in enumerate(self.counts.values.reshape(-1, 2)):
            held: dict[str, Any] = {
                match_field: arrays[name][key] for name, match_field in HELD_FIELDS.items()
            }
            states.append(
                SearchState(
                    rows_searched=int(rows_searched),
                    last_match_number=int(last_match_number),
                    row_numbers=arrays["numbers"][key],
                    live_runs=LiveRuns(
                        runs=arrays["runs"][key],
                        registers=arrays["registers"][key],
                        nodes=arrays["nodes"][key],
                    ),
                    start_bounds=arrays["start_bounds"][key],
                    held=replace(make_empty_matches(), **held),
                )
            )
        return states


# The field of `Matches` that each field `held_...` of `SelectingStates` stores, by its name there.
HELD_FIELDS = {
    field.name: field.name.removeprefix("held_")
    for field in fields(SelectingStates)
    if field.name.startswith("held_")
}


@dataclass(frozen=True, slots=True)
class SearchedKey:
    """The result of the search of one key."""

    state: SearchState
    # The rows that the next search reads again: indices among the rows of all keys.
    kept_rows: IntArray
    # The time at which the search goes on even if no event arrives: microseconds, or NEVER.
    next_end: int
    # Whether the state may be forgotten if no row is kept.
    is_idle: bool


@dataclass(frozen=True)
class SelectingSearch(StreamSearch[SelectingStates]):
    """Searches with event selection, one key after the other."""

    states_type = SelectingStates

    def make_empty_states(self) -> SelectingStates:
        """Return the states of one key that has had no events."""
        task = self.compiled_query.task
        compiled = compile_task(task, len(self.compiled_query.sent_columns.integers))
        empty_state = make_empty_state(compiled.register_count, count_node_columns(task))
        return SelectingStates.join([empty_state])

    def search(
        self, key_state: KeyState[SelectingStates], rows: SearchRows
    ) -> KeySearching[SelectingStates]:
        """Continue the search of one or more keys, see `StreamSearch.search`."""
        states = key_state.states
        numbered = NumberedRows.build(self.compiled_query, states, rows, self.end)
        is_quiet = self.find_quiet_keys(states, numbered)
        quiet = np.flatnonzero(is_quiet)
        busy = np.flatnonzero(~is_quiet)
        quiet_keys = self.count_rows(key_state.take(quiet), rows.new_counts[quiet])
        if not len(busy):
            return quiet_keys
        busy_states = states.take(busy).split()
        searched: list[SearchedKey] = []  # the busy keys

        def search_keys() -> Iterator[Matches]:
            """Yield the matches of each busy key, and append its result to `searched`."""
            for key, state in zip(busy.tolist(), busy_states, strict=True):
                searched.append((yield from self.search_key(numbered, key, state)))

        worker = PieceWorker(self.compiled_query, batch_maker=self.output)
        with locate_failures(numbered.locate):
            for matches in join_chunks(search_keys()):
                out = find_output_rows(matches, self.compiled_query.rows_per_match)
                yield from worker.make_batches(rows.rows, numbered.partitions, matches, out)
        kept_rows = KeyedValues.concatenate([key.kept_rows for key in searched])
        next_end = np.array([key.next_end for key in searched], np.int64)
        busy_keys = KeyState(
            keys=key_state.keys[busy],
            states=SelectingStates.join([key.state for key in searched]),
            next_end=np.minimum(next_end, self.end),
            failed=np.zeros(len(busy), np.bool_),
            kept_rows=replace(kept_rows, values=rows.indices[kept_rows.values]),
        )
        is_idle = np.array([key.is_idle for key in searched], np.bool_)
        return busy_keys.drop_idle_keys(is_idle).merge(quiet_keys)

    def search_key(
        self, rows: NumberedRows, key: int, state: SearchState
    ) -> Generator[Matches, None, SearchedKey]:
        """Yield the matches of one key, and return the result of its search.

        Args:
            rows: the rows of all keys.
            key: the index of the key.
            state: the state of its search so far.

        Raises:
            MatchRecognizeError: a row does not allow the search. The error names the row.
        """
        task = self.compiled_query.task
        rows_of_key = rows.take_key(key)
        call = rows_of_key.make_call(len(state.row_numbers))
        search = ResumedSearch(task, state, call)
        with locate_failures(rows_of_key.locate):
            for matches in search.find_matches():
                if matches.count:
                    yield shift_to_partition(task, matches, key, rows_of_key.first)
        new_state, kept = search.finish()
        return self.make_searched_key(rows_of_key, call, new_state, kept)

    def find_quiet_keys(self, states: SelectingStates, rows: NumberedRows) -> BoolArray:
        """Return which keys have no rows from before and no new row that begins a run.

        Returns:
            bool[p].
        """
        task = self.compiled_query.task
        key_rows = rows.rows
        if task.absences:  # rows are kept even if no run begins with them
            return np.zeros(len(key_rows.new_counts), np.bool_)
        possible_starts = find_possible_starts(task, rows.partitions)
        starts_before = np.append(0, np.cumsum(possible_starts))
        can_begin = np.diff(starts_before[key_rows.starts]) > 0
        if task.most_matches is not None:  # no run begins once a key has all its matches
            match_counts = states.counts.values.reshape(-1, 2)[:, 1]
            can_begin &= match_counts < task.most_matches
        return np.asarray((states.numbers.sizes == 0) & ~can_begin, np.bool_)

    def count_rows(
        self, quiet_keys: KeyState[SelectingStates], new_counts: IntArray
    ) -> KeyState[SelectingStates]:
        """Return the states of quiet keys after their new rows, which are only counted.

        Args:
            quiet_keys: the states of the keys before these rows.
            new_counts: int64[p], how many new rows each key has.
        """
        states = quiet_keys.states
        counts = states.counts.values.reshape(-1, 2)
        counts = counts + np.stack([new_counts, np.zeros_like(new_counts)], axis=1)
        counted_keys = replace(
            quiet_keys,
            states=replace(states, counts=replace(states.counts, values=counts.ravel())),
            kept_rows=KeyedValues(np.zeros(0, np.int64), np.zeros(len(new_counts), np.int64)),
            next_end=np.full(len(new_counts), self.end),
        )
        return counted_keys.drop_idle_keys(self.may_forget(counts[:, 1]))

    def make_searched_key(
        self, rows: NumberedRows, call: SearchCall, state: SearchState, kept: IntArray
    ) -> SearchedKey:
        """Return the result of the search of one key.

        Args:
            rows: the rows of the key.
            call: the arguments of the search.
            state: the state that `ResumedSearch.finish` has returned.
            kept: the rows before `call.stop` that the state needs, which `finish` has returned,
                too. The state refers to rows by their index in this array.
        """
        stop = call.stop
        live = state.live_runs
        starts = kept[live.starts]
        # A run whose window has ended waits for the row at which the search has stopped.
        ends = rows.window_times[starts][~call.has_ended[starts]].tolist()
        ends += rows.window_times[stop : stop + 1].tolist()
        if rows.neighbour_window_times is not None:
            waiting, window = find_windows_between(self.compiled_query.task, live)
            last_rows = kept[live.last_rows[waiting]]
            ends += rows.neighbour_window_times[window, last_rows].tolist()
        (may_forget,) = self.may_forget(np.array([state.last_match_number]))
        return SearchedKey(
            state=state,
            kept_rows=rows.first + np.append(kept, np.arange(stop, len(rows.numbers))),
            next_end=min(ends, default=NEVER),
            is_idle=state.is_idle and bool(may_forget),
        )


def shift_to_partition(task: Task, matches: Matches, partition: int, first: int) -> Matches:
    """Return matches of one partition as matches among the rows of all partitions.

    Args:
        task: the task of the search.
        matches: matches that were found in the partition by itself.
        partition: the index of the partition.
        first: the index of its first row among the rows of all partitions.
    """
    if matches.totals is not None:
        totals = matches.totals.copy()
        for extreme in list_row_extremes(task, 0):
            totals[extreme.has_value(totals), extreme.row] += first
        matches = replace(matches, totals=totals)
    assert matches.rows is not None
    return replace(
        matches,
        partition=np.full(matches.count, partition),
        start=matches.start + first,
        rows=matches.rows + first,
    )


@dataclass(frozen=True, slots=True)
class NumberedRows:
    """The rows of some keys, or of one key, with the number and the times of each row.

    `build` makes the rows of all keys, and `take_key` returns the rows of one key.
    """

    compiled_query: CompiledQuery
    # The rows of all keys, even if the other fields are about one key.
    rows: SearchRows
    # The rows of the keys, or of the one key, as a search sees them.
    partitions: Partitions
    # int64[n], the time of each row in microseconds.
    times: IntArray
    # int64[n], the number of each row in its partition, from 0. Rows that were dropped count.
    numbers: IntArray
    # int64[n], when the window that begins with each row ends, in microseconds, or NEVER.
    window_times: IntArray
    # int64[w, n], the same for windows between neighbours; None without such windows.
    neighbour_window_times: IntArray | None
    # The time from which on no row is searched, or NEVER.
    end: int
    # The index of the first row of the one key among the rows of all keys; 0 for all keys.
    first: int = 0

    @staticmethod
    def build(
        compiled_query: CompiledQuery, states: SelectingStates, rows: SearchRows, end: int
    ) -> NumberedRows:
        """Return the rows of some keys.

        Args:
            compiled_query: the query.
            states: the states of the keys.
            rows: their rows.
            end: the time from which on no row is searched: all windows end then.
        """
        # The rows of each key are the kept rows, whose numbers the state has, then the new rows.
        kept_numbers = states.numbers
        searched_counts = states.counts.values[::2]
        numbers = np.empty(rows.rows.num_rows, np.int64)
        numbers[list_positions(rows.starts[:-1], kept_numbers.sizes)] = kept_numbers.values
        new_rows = list_positions(rows.starts[1:] - rows.new_counts, rows.new_counts)
        numbers[new_rows] = list_positions(searched_counts, rows.new_counts)
        neighbour_window_times = find_neighbour_window_times(compiled_query, rows.rows)
        if neighbour_window_times is not None:
            neighbour_window_times = np.minimum(neighbour_window_times, end)
        return NumberedRows(
            compiled_query=compiled_query,
            rows=rows,
            partitions=encode_partitions(compiled_query, rows.rows, rows.starts),
            times=read_times(rows.rows),
            numbers=numbers,
            window_times=np.minimum(find_window_times(compiled_query, rows.rows), end),
            neighbour_window_times=neighbour_window_times,
            end=end,
        )

    def take_key(self, key: int) -> NumberedRows:
        """Return the rows of one key, given its index."""
        begin, end = self.partitions.starts[key : key + 2].tolist()
        rows = slice(begin, end)
        partitions = self.partitions.take_partition(key)
        numbers = self.numbers[rows]
        if self.compiled_query.window_rows is not None:  # rows that were dropped count
            window_end = np.searchsorted(numbers, numbers + self.compiled_query.window_rows)
            partitions = replace(partitions, window_end=window_end.astype(np.int64))
        neighbour_window_times = self.neighbour_window_times
        if neighbour_window_times is not None:
            neighbour_window_times = neighbour_window_times[:, rows]
        return replace(
            self,
            partitions=partitions,
            times=self.times[rows],
            numbers=numbers,
            window_times=self.window_times[rows],
            neighbour_window_times=neighbour_window_times,
            first=begin,
        )

    def locate(self, row: int) -> RowLocation:
        """Return the location of a row: the keys of its partition, its number there, its time.

        Args:
            row: the index of the row among the rows of the key.
        """
        row_number = int(self.numbers[row]) + 1
        location = locate_row(self.compiled_query, self.rows.rows, self.first + row, row_number)
        return replace(location, time=str(np.datetime64(int(self.times[row]), "us")))

    def make_call(self, searched_count: int) -> SearchCall:
        """Return the arguments of the search of one key.

        Absences before and after a match are looked for in its whole window. So a row is searched
        when the window that begins with it has ended, and kept while a match may be in its window.

        Args:
            searched_count: how many of the rows of the key were searched before: the kept rows.
        """
        watermark = self.rows.watermark
        stop = self.find_stop(searched_count)
        has_neighbour_window_ended = None
        if self.neighbour_window_times is not None:
            has_neighbour_window_ended = self.neighbour_window_times <= watermark
        return SearchCall(
            partitions=self.partitions,
            stop=stop,
            has_ended=np.asarray(self.window_times <= watermark),
            keep_from=self.find_first_needed(stop),
            has_neighbour_window_ended=has_neighbour_window_ended,
        )

    def find_stop(self, searched_count: int) -> int:
        """Return the index of the row before which the search of one key stops.

        Args:
            searched_count: as in `make_call`.
        """
        row_count = len(self.numbers)
        window_rows = self.compiled_query.window_rows
        if all(absence.before is not None for absence in self.compiled_query.task.absences):
            return row_count
        if self.end <= self.rows.watermark:
            return row_count
        if window_rows is not None:
            return max(searched_count, row_count - window_rows + 1)
        ended_count = np.searchsorted(self.window_times, self.rows.watermark, side="right")
        return max(searched_count, int(ended_count))

    def find_first_needed(self, stop: int) -> int:
        """Return the index of a row of one key such that this row and all later ones are kept.

        Args:
            stop: the index of the row before which the search stops.
        """
        window_rows = self.compiled_query.window_rows
        if all(absence.after is not None for absence in self.compiled_query.task.absences):
            return stop
        if window_rows is not None:
            next_number = int(self.numbers[-1]) + 1 if len(self.numbers) else 0
            number = int(self.numbers[stop]) if stop < len(self.numbers) else next_number
            first = np.searchsorted(self.numbers, number - window_rows, side="right")
        else:
            time = min([self.rows.watermark, *self.times[stop : stop + 1].tolist()])
            first = np.searchsorted(self.window_times, time, side="right")
        return min(stop, int(first))
