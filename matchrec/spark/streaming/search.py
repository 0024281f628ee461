"""Search the events of many keys at once: the interface, and the search for consecutive rows.

Each key is a partition to which later micro-batches can add rows. `StreamSearch` is the interface
of a search, which covers the events that the watermark has passed. `ContiguousSearch` searches for
matches of consecutive rows: it keeps the rows from the first undecided starting row on, and as many
rows before it as conditions and measures look back. `event_selection.EventSelectionSearch`
searches for matches that can skip rows. A window ends when the watermark passes its end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Generic, TypeVar

import numpy as np
import pyarrow as pa

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.compile.lookaround import Lookaround
from matchrec.compile.rule_set import Version
from matchrec.output.reads import ReadMatchNumber
from matchrec.search.compiled_task import compile_task
from matchrec.search.flat_arrays import list_positions
from matchrec.search.partitions import NO_EDGE, BoolArray, Frontier, IntArray, Partitions
from matchrec.spark.streaming.arrival import SearchRows
from matchrec.spark.streaming.keyed_values import KeyedValues, KeyRecord
from matchrec.worker import internal_names
from matchrec.worker.arrays import read_integers, take_column
from matchrec.worker.encode import encode_partitions
from matchrec.worker.match import BatchMaker, PieceWorker
from matchrec.worker.pieces import Piece

# The version of a query, which is not a rule: it reads all rows.
ALL_ROWS = Version("")
# A time after all others, in microseconds.
NEVER = int(np.iinfo(np.int64).max)

# The record of the search states of some keys, from which a search continues.
SearchStates = TypeVar("SearchStates", bound=KeyRecord)


@dataclass(frozen=True, slots=True)
class KeyStates(Generic[SearchStates]):
    """What a search stores about p keys of the bucket until it continues with them."""

    # int64[p], ascending indices of keys of the bucket.
    keys: IntArray
    # The states of the search itself.
    search_states: SearchStates
    # int64[p], when to continue with each key even if no event arrives: microseconds, or NEVER.
    wake_up_times: IntArray
    # bool[p], whether the search has failed for the key, and never continues with it.
    has_failed: BoolArray
    # The rows to read again: indices among the rows of the bucket, ascending for each key.
    kept_rows: KeyedValues

    def take(self, indices: IntArray) -> KeyStates[SearchStates]:
        """Return the states of some of these keys, given their indices in `keys`."""
        return KeyStates(
            keys=self.keys[indices],
            search_states=self.search_states.take(indices),
            wake_up_times=self.wake_up_times[indices],
            has_failed=self.has_failed[indices],
            kept_rows=self.kept_rows.take(indices),
        )

    def merge(self, others: KeyStates[SearchStates]) -> KeyStates[SearchStates]:
        """Return the states of these keys and of other keys. No key is allowed to be in both."""
        if not len(self.keys):
            return others
        if not len(others.keys):
            return self
        keys = np.append(self.keys, others.keys)
        all_states = KeyStates(
            keys=keys,
            search_states=self.search_states.append(others.search_states),
            wake_up_times=np.append(self.wake_up_times, others.wake_up_times),
            has_failed=np.append(self.has_failed, others.has_failed),
            kept_rows=self.kept_rows.append(others.kept_rows),
        )
        return all_states.take(np.argsort(keys))

    def drop_idle_keys(self, is_idle: BoolArray) -> KeyStates[SearchStates]:
        """Return the states of the keys that still need one.

        Args:
            is_idle: bool[p], whether the search needs no state of each key unless rows are kept.
        """
        return self.take(np.flatnonzero(~is_idle | (self.kept_rows.sizes > 0)))


# A running search of some keys. Yields the output rows that are decided, and returns the new states
# of the keys.
RunningSearch = Generator[pa.RecordBatch, None, KeyStates[SearchStates]]


@dataclass(frozen=True)
class StreamSearch(ABC, Generic[SearchStates]):
    """A search of a compiled query over the events of some keys. Picklable."""

    compiled_query: CompiledQuery
    # Makes the batches of the output; None if the output consists of the reads of the query.
    batch_maker: BatchMaker | None = None
    # The version of the rule, which reads only the rows of its time.
    version: Version = ALL_ROWS
    # The name of the search, which is a part of the names of the arrays that store its states.
    name: str = "0"
    # The class of the search states, as which stored states are read.
    states_type: ClassVar[type[KeyRecord]]

    @abstractmethod
    def make_empty_states(self) -> SearchStates:
        """Return the search states of one key that has had no events."""

    @abstractmethod
    def search(
        self, key_states: KeyStates[SearchStates], rows: SearchRows
    ) -> RunningSearch[SearchStates]:
        """Continue the search of one or more keys. Yield the output rows that are decided.

        Args:
            key_states: the states of these keys.
            rows: the rows that the search has kept of each key, and the new rows.

        Returns:
            The new states, without the keys for which the search needs no state.

        Raises:
            MatchRecognizeError: the rows of a key do not allow a search or a measure.
        """

    @cached_property
    def counts_matches(self) -> bool:
        """Return whether the search needs the number of matches of a key, as every rule does."""
        compiled_query = self.compiled_query
        if self.batch_maker is not None or compiled_query.task.max_matches is not None:
            return True
        compiled_task = compile_task(
            compiled_query.task, len(compiled_query.sent_columns.integer_columns)
        )
        return ReadMatchNumber() in compiled_query.reads or compiled_task.reads_match_number

    @property
    def end_time(self) -> int:
        """Return the time from which on no row is searched, in microseconds, or NEVER."""
        return NEVER if self.version.until is None else self.version.until

    def can_forget_matches(self, match_counts: IntArray) -> BoolArray:
        """Return bool[p]: whether the search need not know how many matches each key has had.

        Args:
            match_counts: int64[p], how many matches each key has had.
        """
        return np.asarray(~(self.counts_matches & (match_counts > 0)), np.bool_)


def find_window_end_times(compiled_query: CompiledQuery, rows: pa.Table) -> IntArray:
    """Return int64[n]: when the window that begins with each row ends, in microseconds.

    NEVER if the query has no window.
    """
    window = compiled_query.sent_columns.window
    if window is None:
        return np.full(rows.num_rows, NEVER, np.int64)
    if window.distance is None:
        assert window.end is not None
        return read_integers(take_column(rows, internal_names.name_column(window.end)))
    # The window ends a known distance after the time of its first row.
    times = read_integers(take_column(rows, internal_names.name_column(window.order)))
    length = int(window.distance.limit) + 1
    return np.asarray(np.minimum(times, NEVER - length) + length, np.int64)


def find_neighbour_end_times(compiled_query: CompiledQuery, rows: pa.Table) -> IntArray | None:
    """Return when the windows between neighbouring variables end.

    Returns:
        int64[w, n], for w windows: when the window that begins with each row ends, in microseconds.
        None if the pattern has no such windows.
    """
    end_columns = compiled_query.sent_columns.window_end_columns
    if compiled_query.sent_columns.window is not None:
        end_columns = end_columns[1:]  # the first column is for the window of the match
    if not end_columns:
        return None
    return np.stack(
        [
            read_integers(take_column(rows, internal_names.name_column(index)))
            for index in end_columns
        ]
    )


@dataclass(frozen=True, slots=True)
class ContiguousStates(KeyRecord):
    """The states from which a `ContiguousSearch` continues."""

    # For each key, the first undecided starting row, as an index of the key's kept rows.
    undecided_start: KeyedValues
    # For each key, the number of matches so far.
    match_count: KeyedValues
    # For each row that is kept, whether a match covers the row or the row was output.
    is_covered: KeyedValues


@dataclass(frozen=True)
class ContiguousSearch(StreamSearch[ContiguousStates]):
    """Searches for matches of consecutive rows, all keys at once."""

    states_type = ContiguousStates

    def make_empty_states(self) -> ContiguousStates:
        """Return the search states of one key that has had no events."""
        zero = KeyedValues.from_single_values(np.zeros(1, np.int64))
        no_rows = KeyedValues.concatenate([np.zeros(0, np.bool_)])
        return ContiguousStates(undecided_start=zero, match_count=zero, is_covered=no_rows)

    def search(
        self, key_states: KeyStates[ContiguousStates], rows: SearchRows
    ) -> RunningSearch[ContiguousStates]:
        """Continue the search of one or more keys, see `StreamSearch.search`."""
        window_end_times = find_window_end_times(self.compiled_query, rows.table)
        frontier = self.make_frontier(key_states.search_states, rows)
        partitions = self.open_partitions(frontier, window_end_times, rows)
        is_covered = np.zeros(rows.table.num_rows, np.bool_)
        covered_before = key_states.search_states.is_covered
        kept_rows = list_positions(rows.starts[:-1], covered_before.sizes)
        is_covered[kept_rows] = covered_before.values
        piece = Piece(
            table=rows.table,
            starts=rows.starts,
            frontier=frontier,
            rows_before=None,
            is_covered=is_covered,
            new_rows=int(rows.new_counts.sum()),
        )
        worker = PieceWorker(self.compiled_query, batch_maker=self.batch_maker)
        yield from worker.match_partitions(piece, partitions)
        return self.build_key_states(key_states.keys, piece, window_end_times, rows)

    def make_frontier(self, states: ContiguousStates, rows: SearchRows) -> Frontier:
        """Return how far the search of each key has come.

        Args:
            states: the search states of the keys.
            rows: the rows.
        """
        first_rows = rows.starts[:-1]
        row_ends = rows.starts[1:]
        if self.end_time <= rows.watermark:
            # No further row arrives, so the partitions are complete.
            start_limit = row_ends
            edge = np.full(len(first_rows), NO_EDGE)
        else:
            edge = np.maximum(first_rows, row_ends - self.lookaround.rows_after)
            start_limit = edge
        match_counts = states.match_count.values
        return Frontier(
            next_start=first_rows + states.undecided_start.values,
            start_limit=start_limit,
            edge=edge,
            match_number=match_counts,
            step_count=np.zeros_like(match_counts),
        )

    def open_partitions(
        self, frontier: Frontier, window_end_times: IntArray, rows: SearchRows
    ) -> Partitions:
        """Return the rows as partitions to which later micro-batches can add rows.

        Args:
            frontier: how far the search of each key has come.
            window_end_times: int64[n], when the window that begins with each row ends.
            rows: the rows.
        """
        partitions = encode_partitions(self.compiled_query, rows.table, rows.starts, frontier)
        if partitions.window_end is None:
            return partitions
        # A window that the watermark has passed gets no further rows.
        closed_ends = np.minimum(partitions.window_end, np.repeat(rows.starts[1:], rows.sizes))
        is_open = window_end_times > rows.watermark
        window_end = np.where(is_open, partitions.window_end, closed_ends)
        return replace(partitions, window_end=window_end)

    @cached_property
    def lookaround(self) -> Lookaround:
        """Return how many rows before and after a match the query reads."""
        lookaround = self.compiled_query.lookaround
        assert lookaround is not None, "no query over a stream needs all rows"
        return lookaround

    def build_key_states(
        self, keys: IntArray, piece: Piece, window_end_times: IntArray, rows: SearchRows
    ) -> KeyStates[ContiguousStates]:
        """Return the states of the keys after the search of a piece.

        Args:
            keys: int64[p], the indices of the keys among the keys of the bucket.
            piece: the piece, after its search.
            window_end_times: int64[n], when the window that begins with each row ends.
            rows: the rows of the piece.
        """
        frontier, is_covered = piece.read_search()
        first_rows = piece.starts[:-1]
        undecided_starts = frontier.next_start - first_rows
        dropped_counts = np.maximum(0, undecided_starts - self.lookaround.rows_before)
        kept_counts = rows.sizes - dropped_counts
        kept_rows = list_positions(first_rows + dropped_counts, kept_counts)

        # If all starting rows of a key are decided, `frontier.next_start` is the row after the key.
        end_times = np.append(window_end_times, NEVER)[frontier.next_start]
        # A row whose window has ended is undecided only because it needs the row that follows.
        waits_for_end = (end_times > rows.watermark) & (frontier.next_start < rows.starts[1:])
        wake_up_times = np.where(waits_for_end, end_times, NEVER)
        key_states = KeyStates(
            keys=keys,
            search_states=ContiguousStates(
                undecided_start=KeyedValues.from_single_values(undecided_starts - dropped_counts),
                match_count=KeyedValues.from_single_values(frontier.match_number),
                is_covered=KeyedValues(is_covered[kept_rows], kept_counts),
            ),
            wake_up_times=np.minimum(wake_up_times, self.end_time),
            has_failed=np.zeros(len(keys), np.bool_),
            kept_rows=KeyedValues(rows.indices[kept_rows], kept_counts),
        )
        return key_states.drop_idle_keys(self.can_forget_matches(frontier.match_number))
