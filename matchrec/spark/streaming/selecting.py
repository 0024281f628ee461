"""Search the events of many keys with event selection: patterns that can skip rows.

The runs and the shared buffer of each key are kept between two micro-batches, with the events that
they refer to. A key is *quiet* if no row of it is kept and no new row can begin a run. Its rows are
only counted. (With absences, no key is quiet.) The busy keys are searched one after the other. Rows
are encoded, windows are computed and output is made for all keys at once.

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
from matchrec.spark.streaming.keyed_values import KeyedValues, KeyRecord
from matchrec.spark.streaming.search import (
    NEVER,
    KeyStates,
    RunningSearch,
    StreamSearch,
    find_neighbour_end_times,
    find_window_end_times,
)
from matchrec.worker.encode import encode_partitions
from matchrec.worker.locate import locate_failures, locate_row
from matchrec.worker.match import PieceWorker


@dataclass(frozen=True, slots=True)
class SelectingStates(KeyRecord):
    """The states of the searches of p keys: `search.incremental.SearchState` in flat arrays."""

    # For each key, the two numbers `SearchState.rows_searched` and `.last_match_number`.
    counts: KeyedValues
    # `SearchState.row_numbers`.
    row_numbers: KeyedValues
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

    @property
    def searched_counts(self) -> IntArray:
        """Return int64[p]: how many rows of each key were searched."""
        return self.counts.values[0::2]

    @property
    def last_match_numbers(self) -> IntArray:
        """Return int64[p]: the number of the last match of each key; 0 before the first one."""
        return self.counts.values[1::2]

    def add_searched_rows(self, row_counts: IntArray) -> SelectingStates:
        """Return the states after more rows were searched.

        Args:
            row_counts: int64[p], how many rows of each key.
        """
        counts = np.column_stack([self.searched_counts + row_counts, self.last_match_numbers])
        return replace(self, counts=replace(self.counts, values=counts.ravel()))

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
            row_numbers=KeyedValues.concatenate([state.row_numbers for state in states]),
            runs=KeyedValues.concatenate([state.live_runs.runs for state in states]),
            registers=KeyedValues.concatenate([state.live_runs.registers for state in states]),
            nodes=KeyedValues.concatenate([state.live_runs.nodes for state in states]),
            start_bounds=KeyedValues.concatenate([state.start_bounds for state in states]),
            **held,
        )

    def split(self) -> list[SearchState]:
        """Return the state of each key: the inverse of `join`."""
        arrays = {name: values.split() for name, values in self.collect_fields().items()}
        states = []
        for key in range(len(self.searched_counts)):
            held: dict[str, Any] = {
                match_field: arrays[name][key] for name, match_field in HELD_FIELDS.items()
            }
            states.append(
                SearchState(
                    rows_searched=int(self.searched_counts[key]),
                    last_match_number=int(self.last_match_numbers[key]),
                    row_numbers=arrays["row_numbers"][key],
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


# The fields of `Matches` that the fields `held_...` of `SelectingStates` store, by the names of the
# latter: {"held_rows": "rows", ...}.
HELD_FIELDS = {
    field.name: field.name.removeprefix("held_")
    for field in fields(SelectingStates)
    if field.name.startswith("held_")
}


@dataclass(frozen=True, slots=True)
class KeyResult:
    """The result of the search of one key."""

    state: SearchState
    # The rows that the next search reads again: indices among the rows of all keys.
    kept_rows: IntArray
    # The time at which the search goes on even if no event arrives: microseconds, or NEVER.
    next_end: int
    # Whether the search needs no state of the key unless rows are kept.
    is_idle: bool


@dataclass(frozen=True)
class SelectingSearch(StreamSearch[SelectingStates]):
    """The search of a query with event selection, which searches one key after the other."""

    states_type = SelectingStates

    def make_empty_states(self) -> SelectingStates:
        """Return the search states of one key that has had no events."""
        task = self.compiled_query.task
        compiled_task = compile_task(task, len(self.compiled_query.sent_columns.integers))
        empty_state = make_empty_state(compiled_task.register_count, count_node_columns(task))
        return SelectingStates.join([empty_state])

    def search(
        self, key_states: KeyStates[SelectingStates], rows: SearchRows
    ) -> RunningSearch[SelectingStates]:
        """Continue the search of one or more keys, see `StreamSearch.search`."""
        states = key_states.search_states
        numbered_rows = NumberedRows.build(self.compiled_query, states, rows, self.end_time)
        is_quiet = self.find_quiet_keys(states, numbered_rows)
        quiet_keys = np.flatnonzero(is_quiet)
        quiet_states = self.advance_quiet_keys(
            key_states.take(quiet_keys), rows.new_counts[quiet_keys]
        )
        busy_keys = np.flatnonzero(~is_quiet)
        if not len(busy_keys):
            return quiet_states
        busy_states = states.take(busy_keys).split()
        key_results: list[KeyResult] = []  # one for each busy key

        def search_keys() -> Iterator[Matches]:
            """Yield the matches of each busy key, and append its result to `key_results`."""
            for key, state in zip(busy_keys.tolist(), busy_states, strict=True):
                key_result = yield from self.search_key(numbered_rows, key, state)
                key_results.append(key_result)

        worker = PieceWorker(self.compiled_query, batch_maker=self.batch_maker)
        with locate_failures(numbered_rows.locate):
            for matches in join_chunks(search_keys()):
                output_rows = find_output_rows(matches, self.compiled_query.rows_per_match)
                yield from worker.make_batches(
                    rows.table, numbered_rows.partitions, matches, output_rows
                )
        new_states = self.build_key_states(key_states.keys[busy_keys], key_results, rows)
        return new_states.merge(quiet_states)

    def build_key_states(
        self, keys: IntArray, key_results: Sequence[KeyResult], rows: SearchRows
    ) -> KeyStates[SelectingStates]:
        """Return the states of the keys that were searched.

        Args:
            keys: int64[p], the indices of the keys among the keys of the bucket.
            key_results: the result of the search of each key.
            rows: the rows that were searched.
        """
        kept_rows = KeyedValues.concatenate([key.kept_rows for key in key_results])
        next_ends = np.array([key.next_end for key in key_results], np.int64)
        key_states = KeyStates(
            keys=keys,
            search_states=SelectingStates.join([key.state for key in key_results]),
            next_ends=np.minimum(next_ends, self.end_time),
            has_failed=np.zeros(len(keys), np.bool_),
            kept_rows=replace(kept_rows, values=rows.indices[kept_rows.values]),
        )
        is_idle = np.array([key.is_idle for key in key_results], np.bool_)
        return key_states.drop_idle_keys(is_idle)

    def search_key(
        self, rows: NumberedRows, key: int, state: SearchState
    ) -> Generator[Matches, None, KeyResult]:
        """Yield the matches of one key, and return the result of its search.

        Args:
            rows: the rows of all keys.
            key: the index of the key.
            state: the state of its search so far.

        Raises:
            MatchRecognizeError: the search fails at a row, which the error names.
        """
        task = self.compiled_query.task
        rows_of_key = rows.take_key(key)
        call = rows_of_key.make_call(len(state.row_numbers))
        search = ResumedSearch(task, state, call)
        with locate_failures(rows_of_key.locate):
            for matches in search.find_matches():
                if matches.count:
                    yield shift_to_partition(task, matches, key, rows_of_key.first_row)
        new_state, kept_rows = search.finish()
        return self.make_key_result(rows_of_key, call, new_state, kept_rows)

    def find_quiet_keys(self, states: SelectingStates, rows: NumberedRows) -> BoolArray:
        """Return bool[p]: which keys have no kept row, and no new row that can begin a run.

        With absences, no key is quiet. A key that has all its matches (`max_matches`) can begin no
        run.
        """
        task = self.compiled_query.task
        search_rows = rows.search_rows
        if task.absences:  # rows are kept even if no run begins with them
            return np.zeros(len(search_rows.new_counts), np.bool_)
        can_start = find_possible_starts(task, rows.partitions)
        start_counts = np.append(0, np.cumsum(can_start))  # before each row, and after all
        has_start = np.diff(start_counts[search_rows.starts]) > 0
        if task.max_matches is not None:  # no run begins once a key has all its matches
            has_start &= states.last_match_numbers < task.max_matches
        return np.asarray((states.row_numbers.sizes == 0) & ~has_start, np.bool_)

    def advance_quiet_keys(
        self, quiet_states: KeyStates[SelectingStates], new_counts: IntArray
    ) -> KeyStates[SelectingStates]:
        """Return the states of quiet keys after their new rows, which are only counted.

        Args:
            quiet_states: the states of the keys before these rows.
            new_counts: int64[p], how many new rows each key has.
        """
        search_states = quiet_states.search_states.add_searched_rows(new_counts)
        key_states = replace(
            quiet_states,
            search_states=search_states,
            kept_rows=KeyedValues(np.zeros(0, np.int64), np.zeros(len(new_counts), np.int64)),
            next_ends=np.full(len(new_counts), self.end_time),
        )
        is_idle = self.can_forget_matches(search_states.last_match_numbers)
        return key_states.drop_idle_keys(is_idle)

    def make_key_result(
        self, rows: NumberedRows, call: SearchCall, state: SearchState, kept_rows: IntArray
    ) -> KeyResult:
        """Return the result of the search of one key.

        Args:
            rows: the rows of the key.
            call: the arguments of the search.
            state: the state that `ResumedSearch.finish` has returned.
            kept_rows: the rows before `call.stop` that the state needs, which `finish` has
                returned, too. The state refers to rows by their index in this array.
        """
        stop = call.stop
        live_runs = state.live_runs
        starting_rows = kept_rows[live_runs.starts]
        # A run whose window has ended is not finished yet only because rows of its window are after
        # `stop`. It waits until the window of the row at `stop` ends, which is added below.
        open_starts = starting_rows[~call.has_ended[starting_rows]]
        end_times = rows.window_end_times[open_starts].tolist()
        if stop < len(rows.numbers):
            end_times.append(int(rows.window_end_times[stop]))
        if rows.neighbour_end_times is not None:
            waiting, window = find_windows_between(self.compiled_query.task, live_runs)
            last_rows = kept_rows[live_runs.last_rows[waiting]]
            end_times += rows.neighbour_end_times[window, last_rows].tolist()
        (can_forget_matches,) = self.can_forget_matches(np.array([state.last_match_number]))
        all_kept_rows = np.append(kept_rows, np.arange(stop, len(rows.numbers)))
        return KeyResult(
            state=state,
            kept_rows=rows.first_row + all_kept_rows,
            next_end=min(end_times, default=NEVER),
            is_idle=state.is_idle and bool(can_forget_matches),
        )


def shift_to_partition(task: Task, matches: Matches, partition: int, first_row: int) -> Matches:
    """Return matches of one partition as matches among the rows of all partitions.

    Args:
        task: the task of the search.
        matches: matches that were found in the partition by itself.
        partition: the index of the partition.
        first_row: the index of its first row among the rows of all partitions.
    """
    if matches.totals is not None:
        totals = matches.totals.copy()
        for extreme in list_row_extremes(task, 0):
            totals[extreme.has_value(totals), extreme.row] += first_row
        matches = replace(matches, totals=totals)
    assert matches.rows is not None
    return replace(
        matches,
        partition=np.full(matches.count, partition),
        start=matches.start + first_row,
        rows=matches.rows + first_row,
    )


@dataclass(frozen=True, slots=True)
class NumberedRows:
    """The rows of some keys, or of one key, with the number and the times of each row.

    `build` makes the rows of all keys, and `take_key` returns the rows of one key.
    """

    compiled_query: CompiledQuery
    # The rows of all keys, even if the other fields are about one key.
    search_rows: SearchRows
    # The rows of the keys, or of the one key, as a search sees them.
    partitions: Partitions
    # int64[n], the time of each row in microseconds.
    times: IntArray
    # int64[n], the number of each row in its partition, from 0. Rows that were dropped count.
    numbers: IntArray
    # int64[n], when the window that begins with each row ends, in microseconds, or NEVER.
    window_end_times: IntArray
    # int64[w, n], the same for windows between neighbours; None without such windows.
    neighbour_end_times: IntArray | None
    # The time from which on no row is searched, in microseconds, or NEVER.
    end_time: int
    # The index of the first row of the one key among the rows of all keys; 0 for all keys.
    first_row: int = 0

    @staticmethod
    def build(
        compiled_query: CompiledQuery, states: SelectingStates, rows: SearchRows, end_time: int
    ) -> NumberedRows:
        """Return the rows of some keys.

        Args:
            compiled_query: the query.
            states: the search states of the keys.
            rows: their rows.
            end_time: the time from which on no row is searched, in microseconds. Later ends of
                windows are moved to it.
        """
        # The rows of each key are the kept rows, whose numbers the state has, then the new rows.
        kept_numbers = states.row_numbers
        kept_rows = list_positions(rows.starts[:-1], kept_numbers.sizes)
        new_rows = list_positions(rows.starts[1:] - rows.new_counts, rows.new_counts)
        numbers = np.empty(rows.table.num_rows, np.int64)
        numbers[kept_rows] = kept_numbers.values
        numbers[new_rows] = list_positions(states.searched_counts, rows.new_counts)
        window_end_times = find_window_end_times(compiled_query, rows.table)
        neighbour_end_times = find_neighbour_end_times(compiled_query, rows.table)
        if neighbour_end_times is not None:
            neighbour_end_times = np.minimum(neighbour_end_times, end_time)
        return NumberedRows(
            compiled_query=compiled_query,
            search_rows=rows,
            partitions=encode_partitions(compiled_query, rows.table, rows.starts),
            times=read_times(rows.table),
            numbers=numbers,
            window_end_times=np.minimum(window_end_times, end_time),
            neighbour_end_times=neighbour_end_times,
            end_time=end_time,
        )

    def take_key(self, key: int) -> NumberedRows:
        """Return the rows of one key, given its index."""
        first_row, end_row = self.partitions.starts[key : key + 2].tolist()
        rows = slice(first_row, end_row)
        partitions = self.partitions.take_partition(key)
        numbers = self.numbers[rows]
        if self.compiled_query.window_rows is not None:  # rows that were dropped count, too
            window_end = np.searchsorted(numbers, numbers + self.compiled_query.window_rows)
            partitions = replace(partitions, window_end=window_end.astype(np.int64))
        neighbour_end_times = self.neighbour_end_times
        if neighbour_end_times is not None:
            neighbour_end_times = neighbour_end_times[:, rows]
        return replace(
            self,
            partitions=partitions,
            times=self.times[rows],
            numbers=numbers,
            window_end_times=self.window_end_times[rows],
            neighbour_end_times=neighbour_end_times,
            first_row=first_row,
        )

    def locate(self, row: int) -> RowLocation:
        """Return the location of a row: the keys of its partition, its number there, its time.

        Args:
            row: the index of the row among these rows.
        """
        row_number = int(self.numbers[row]) + 1
        table = self.search_rows.table
        location = locate_row(self.compiled_query, table, self.first_row + row, row_number)
        return replace(location, time=str(np.datetime64(int(self.times[row]), "us")))

    def make_call(self, kept_count: int) -> SearchCall:
        """Return the arguments of the search of one key.

        If the pattern ends with an absence, a row is searched only when its window has ended. If it
        begins with an absence, a row is kept while its window can contain the last row of a match.
        Other patterns search all rows, and keep only the rows that runs need.

        Args:
            kept_count: how many rows of the key were kept from earlier searches. They are its first
                rows.
        """
        watermark = self.search_rows.watermark
        stop = self.find_stop_row(kept_count)
        has_neighbour_window_ended = None
        if self.neighbour_end_times is not None:
            has_neighbour_window_ended = self.neighbour_end_times <= watermark
        return SearchCall(
            partitions=self.partitions,
            stop=stop,
            has_ended=np.asarray(self.window_end_times <= watermark),
            keep_from=self.find_first_needed_row(stop),
            has_neighbour_window_ended=has_neighbour_window_ended,
        )

    def find_stop_row(self, kept_count: int) -> int:
        """Return the index of the row before which the search of one key stops.

        Args:
            kept_count: as in `make_call`.
        """
        row_count = len(self.numbers)
        watermark = self.search_rows.watermark
        window_rows = self.compiled_query.window_rows
        if all(absence.before is not None for absence in self.compiled_query.task.absences):
            return row_count
        if self.end_time <= watermark:
            return row_count
        if window_rows is not None:
            return max(kept_count, row_count - window_rows + 1)
        ended_count = np.searchsorted(self.window_end_times, watermark, side="right")
        return max(kept_count, int(ended_count))

    def find_first_needed_row(self, stop: int) -> int:
        """Return the index of the first row of one key from which on all rows are kept.

        Args:
            stop: the index of the row before which the search stops.
        """
        window_rows = self.compiled_query.window_rows
        if all(absence.after is not None for absence in self.compiled_query.task.absences):
            return stop
        row_count = len(self.numbers)
        has_row_at_stop = stop < row_count
        if window_rows is not None:
            next_number = int(self.numbers[-1]) + 1 if row_count else 0
            number = int(self.numbers[stop]) if has_row_at_stop else next_number
            first_row = np.searchsorted(self.numbers, number - window_rows, side="right")
        else:
            time = self.search_rows.watermark
            if has_row_at_stop:
                time = min(time, int(self.times[stop]))
            first_row = np.searchsorted(self.window_end_times, time, side="right")
        return min(stop, int(first_row))
