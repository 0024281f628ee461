"""The rows of many keys as searches with event selection read them, and the part of one key.

`RowsOfKeys.build` encodes the rows of all keys of a micro-batch at once, and computes when their
windows end. `RowsOfKeys.take_key` returns the `RowsOfKey` of one key, which decides how far the
search of this key goes, and from which row on it keeps all rows.

A row has an index among the rows of a record, from 0, and a *number*: the rows of a key are
numbered from 0 as they arrive, and keep their numbers when earlier rows are dropped.

In the shapes of arrays, p is the number of keys, n the number of rows, and w the number of windows
between neighbours.
Times are in microseconds, and NEVER is a time after all others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.errors.run.location import RowLocation
from matchrec.search.flat_arrays import list_positions
from matchrec.search.incremental import SearchCall
from matchrec.search.live_runs import list_row_extremes
from matchrec.search.matches import Matches
from matchrec.search.partitions import IntArray, Partitions
from matchrec.search.task import Task
from matchrec.spark.streaming.arrival import SearchRows, read_times
from matchrec.spark.streaming.event_selection_states import EventSelectionStates
from matchrec.spark.streaming.search import find_neighbour_end_times, find_window_end_times
from matchrec.worker.encode import encode_partitions
from matchrec.worker.row_locations import locate_row


@dataclass(frozen=True, slots=True)
class RowTimes:
    """The times of n rows, and the times at which the windows that begin with them end."""

    # int64[n], the time of each row.
    events: IntArray
    # int64[n], when the window that begins with each row ends, or NEVER.
    window_ends: IntArray
    # int64[w, n], the same for windows between neighbours; None without such windows.
    neighbour_window_ends: IntArray | None

    @staticmethod
    def read(compiled_query: CompiledQuery, rows: SearchRows, end_time: int) -> RowTimes:
        """Return the times of rows. Windows end at `end_time` at the latest."""
        neighbour_window_ends = find_neighbour_end_times(compiled_query, rows.table)
        if neighbour_window_ends is not None:
            neighbour_window_ends = np.minimum(neighbour_window_ends, end_time)
        return RowTimes(
            events=read_times(rows.table),
            window_ends=np.minimum(find_window_end_times(compiled_query, rows.table), end_time),
            neighbour_window_ends=neighbour_window_ends,
        )

    def slice(self, rows: slice) -> RowTimes:
        """Return the times of a range of these rows."""
        neighbour_window_ends = self.neighbour_window_ends
        if neighbour_window_ends is not None:
            neighbour_window_ends = neighbour_window_ends[:, rows]
        return RowTimes(self.events[rows], self.window_ends[rows], neighbour_window_ends)


@dataclass(frozen=True, slots=True)
class RowsOfKeys:
    """The rows of some keys, encoded for the search. Each key is a partition."""

    compiled_query: CompiledQuery
    search_rows: SearchRows
    # The same rows as a search sees them.
    partitions: Partitions
    times: RowTimes
    # int64[n], the number of each row.
    numbers: IntArray
    # int64[p], how many rows of each key were searched before. They are its first rows.
    searched_counts: IntArray
    # The time from which on no row is searched, or NEVER.
    end_time: int

    @staticmethod
    def build(
        compiled_query: CompiledQuery,
        states: EventSelectionStates,
        search_rows: SearchRows,
        end_time: int,
    ) -> RowsOfKeys:
        """Encode the rows of some keys.

        Args:
            compiled_query: the query.
            states: the search states of the keys. They have the numbers of the rows that were
                searched before.
            search_rows: for each key, the kept rows, then the new rows.
            end_time: the time from which on no row is searched. Later ends of windows are moved to
                it.
        """
        return RowsOfKeys(
            compiled_query=compiled_query,
            search_rows=search_rows,
            partitions=encode_partitions(compiled_query, search_rows.table, search_rows.starts),
            times=RowTimes.read(compiled_query, search_rows, end_time),
            numbers=number_search_rows(states, search_rows),
            searched_counts=states.row_numbers.sizes,
            end_time=end_time,
        )

    def take_key(self, key: int) -> RowsOfKey:
        """Return the rows of one key, given its index."""
        first_row, end_row = self.partitions.starts[key : key + 2].tolist()
        rows = slice(first_row, end_row)
        partitions = self.partitions.take_partition(key)
        numbers = self.numbers[rows]
        window_rows = self.compiled_query.window_rows
        if window_rows is not None:  # rows that were dropped count, too
            window_end = np.searchsorted(numbers, numbers + window_rows)
            partitions = replace(partitions, window_end=window_end.astype(np.int64))
        return RowsOfKey(
            rows_of_keys=self,
            key=key,
            first_row=first_row,
            searched_count=int(self.searched_counts[key]),
            partitions=partitions,
            times=self.times.slice(rows),
            numbers=numbers,
        )

    def locate(self, row: int) -> RowLocation:
        """Return the location of a row: the keys of its partition, its number there, its time.

        Args:
            row: the index of the row among the rows of all keys.
        """
        row_number = int(self.numbers[row]) + 1  # users count from 1
        location = locate_row(self.compiled_query, self.search_rows.table, row, row_number)
        return replace(location, time=str(np.datetime64(int(self.times.events[row]), "us")))


@dataclass(frozen=True, slots=True)
class RowsOfKey:
    """The n rows of one key: first the rows that were searched before, then all others."""

    # The rows of all keys.
    rows_of_keys: RowsOfKeys
    # The index of the key.
    key: int
    # The index of the first row of the key among the rows of all keys.
    first_row: int
    # How many of the rows were searched before. The search continues with the next row.
    searched_count: int
    # One partition: the rows as a search sees them.
    partitions: Partitions
    times: RowTimes
    # int64[n], the number of each row.
    numbers: IntArray

    @property
    def task(self) -> Task:
        """Return the task of the search."""
        return self.rows_of_keys.compiled_query.task

    @property
    def watermark(self) -> int:
        """Return the time of the watermark."""
        return self.rows_of_keys.search_rows.watermark

    def make_call(self) -> SearchCall:
        """Return the arguments of the search of the key.

        If the pattern ends with an absence, a row is searched only when its window has ended. If it
        begins with an absence, a row is kept while its window can contain the last row of a match.
        Other patterns search all rows, and keep only the rows that runs need.
        """
        stop = self.find_stop_row()
        neighbour_window_ends = self.times.neighbour_window_ends
        has_neighbour_window_ended = None
        if neighbour_window_ends is not None:
            has_neighbour_window_ended = neighbour_window_ends <= self.watermark
        return SearchCall(
            partitions=self.partitions,
            stop=stop,
            has_ended=np.asarray(self.times.window_ends <= self.watermark),
            keep_from=self.find_first_needed_row(stop),
            has_neighbour_window_ended=has_neighbour_window_ended,
        )

    def find_stop_row(self) -> int:
        """Return the index of the row before which the search stops; n to search all rows."""
        row_count = len(self.numbers)
        ends_with_absence = any(absence.variables_after is None for absence in self.task.absences)
        if not ends_with_absence:
            return row_count
        if self.rows_of_keys.end_time <= self.watermark:  # no further row arrives
            return row_count
        window_rows = self.rows_of_keys.compiled_query.window_rows
        if window_rows is not None:
            return max(self.searched_count, row_count - window_rows + 1)
        ended_count = np.searchsorted(self.times.window_ends, self.watermark, side="right")
        return max(self.searched_count, int(ended_count))

    def find_first_needed_row(self, stop: int) -> int:
        """Return the index of the first row from which on all rows are kept, at most `stop`.

        Args:
            stop: the index of the row before which the search stops.
        """
        begins_with_absence = any(
            absence.variables_before is None for absence in self.task.absences
        )
        if not begins_with_absence:
            return stop
        row_count = len(self.numbers)
        has_row_at_stop = stop < row_count
        window_rows = self.rows_of_keys.compiled_query.window_rows
        if window_rows is not None:
            next_number = int(self.numbers[-1]) + 1 if row_count else 0
            number = int(self.numbers[stop]) if has_row_at_stop else next_number
            first_row = np.searchsorted(self.numbers, number - window_rows, side="right")
        else:
            time = self.watermark
            if has_row_at_stop:
                time = min(time, int(self.times.events[stop]))
            first_row = np.searchsorted(self.times.window_ends, time, side="right")
        return min(stop, int(first_row))

    def locate(self, row: int) -> RowLocation:
        """Return the location of a row, see `RowsOfKeys.locate`.

        Args:
            row: the index of the row among the rows of the key.
        """
        return self.rows_of_keys.locate(self.first_row + row)

    def shift_matches(self, matches: Matches) -> Matches:
        """Return matches among the rows of this key as matches among the rows of all keys."""
        return shift_to_partition(self.task, matches, self.key, self.first_row)


def number_search_rows(states: EventSelectionStates, search_rows: SearchRows) -> IntArray:
    """Return int64[n], the number of each row of some keys.

    Args:
        states: the search states of the keys. A state has the numbers of the rows that were
            searched before; the other rows of its key have the numbers from `rows_searched` on.
        search_rows: the rows of the keys. Some of those that were kept may not have been searched.
    """
    searched_numbers = states.row_numbers
    first_rows = search_rows.starts[:-1]
    other_counts = search_rows.sizes - searched_numbers.sizes
    numbers = np.empty(search_rows.table.num_rows, np.int64)
    numbers[list_positions(first_rows, searched_numbers.sizes)] = searched_numbers.values
    other_rows = list_positions(first_rows + searched_numbers.sizes, other_counts)
    numbers[other_rows] = list_positions(states.rows_searched.values, other_counts)
    return numbers


def shift_to_partition(task: Task, matches: Matches, partition: int, first_row: int) -> Matches:
    """Return matches of one partition as matches among the rows of all partitions.

    Args:
        task: the task of the search.
        matches: matches whose rows are indices among the rows of the partition.
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
