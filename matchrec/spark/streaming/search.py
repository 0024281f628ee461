"""Search the events of many keys at once: the interface, and the search for consecutive rows.

Each key is a partition to which rows may still be added. `StreamSearch` is the interface of a
search, which covers the events that the watermark has passed. `ContiguousSearch` searches for
matches of consecutive rows: it keeps the rows from the first undecided starting row on, and as many
rows before it as conditions and measures look back. `selecting.SelectingSearch` searches for
matches that may skip rows. A window ends when the watermark passes its end.
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
from matchrec.search.partitions import (
    NO_EDGE,
    BoolArray,
    Frontier,
    IntArray,
    Partitions,
    list_positions,
)
from matchrec.spark.streaming.arrival import SearchRows
from matchrec.spark.streaming.by_key import KeyedValues, KeyRecord
from matchrec.worker import wire
from matchrec.worker.arrays import read_integers, take_column
from matchrec.worker.encode import encode_partitions
from matchrec.worker.match import BatchMaker, PieceWorker
from matchrec.worker.pieces import Piece

ALL_ROWS = Version("")  # the version of a query, which is not a rule: it reads all rows
NEVER = int(np.iinfo(np.int64).max)  # a time after all others

# The record of the states of some keys, from which a search continues.
States = TypeVar("States", bound=KeyRecord)


@dataclass(frozen=True, slots=True)
class KeyState(Generic[States]):
    """What a search stores about p keys of the bucket until it continues with them."""

    # int64[p], ascending indices of keys of the bucket.
    keys: IntArray
    # The states of the search, one for each key.
    states: States
    # int64[p], when to continue with each key even if no event arrives: microseconds, or NEVER.
    next_end: IntArray
    # bool[p], whether the search has failed for the key, and never continues with it.
    failed: BoolArray
    # The rows to read again: indices among the rows of the bucket, ascending for each key.
    kept_rows: KeyedValues

    def take(self, indices: IntArray) -> KeyState[States]:
        """Return the state of some of these keys, given their indices in `keys`."""
        return KeyState(
            keys=self.keys[indices],
            states=self.states.take(indices),
            next_end=self.next_end[indices],
            failed=self.failed[indices],
            kept_rows=self.kept_rows.take(indices),
        )

    def merge(self, others: KeyState[States]) -> KeyState[States]:
        """Return the state of these keys and of others. No key may be in both."""
        if not len(self.keys):
            return others
        if not len(others.keys):
            return self
        keys = np.append(self.keys, others.keys)
        all_states = KeyState(
            keys=keys,
            states=self.states.append(others.states),
            next_end=np.append(self.next_end, others.next_end),
            failed=np.append(self.failed, others.failed),
            kept_rows=self.kept_rows.append(others.kept_rows),
        )
        return all_states.take(np.argsort(keys))

    def drop_idle_keys(self, is_idle: BoolArray) -> KeyState[States]:
        """Return the state of the keys that still need one.

        Args:
            is_idle: bool[p], whether the states of each key may be forgotten if no row is kept.
        """
        return self.take(np.flatnonzero(~is_idle | (self.kept_rows.sizes > 0)))


# A running search of some keys. Yields the output rows that are decided, and returns the new state
# of the keys.
KeySearching = Generator[pa.RecordBatch, None, KeyState[States]]


@dataclass(frozen=True)
class StreamSearch(ABC, Generic[States]):
    """A search of a compiled query over the events of some keys. Picklable."""

    compiled_query: CompiledQuery
    # Makes the batches of the output; None if the output consists of the reads of the query.
    output: BatchMaker | None = None
    # The version of the rule, which reads only the rows of its time.
    version: Version = ALL_ROWS
    # The name of the search, which is a part of the names of the arrays that store its states.
    name: str = "0"
    # The type of `States`, as which stored states are read.
    states_type: ClassVar[type[KeyRecord]]

    @abstractmethod
    def make_empty_states(self) -> States:
        """Return the states of one key that has had no events."""

    @abstractmethod
    def search(self, key_state: KeyState[States], rows: SearchRows) -> KeySearching[States]:
        """Continue the search of one or more keys. Yield the output rows that are decided.

        Args:
            key_state: the state of these keys.
            rows: the rows that the search has kept of each key, and the new rows.

        Returns:
            The new state, without the keys for which the search needs no state.

        Raises:
            MatchRecognizeError: the rows of a key do not allow a search or a measure.
        """

    @cached_property
    def counts_matches(self) -> bool:
        """Return whether the search needs the number of matches of a key, as every rule does."""
        compiled_query = self.compiled_query
        if self.output is not None or compiled_query.task.most_matches is not None:
            return True
        compiled = compile_task(compiled_query.task, len(compiled_query.sent_columns.integers))
        return ReadMatchNumber() in compiled_query.reads or compiled.rules.forgets_after_match

    @property
    def end(self) -> int:
        """Return the time from which on no row is searched, in microseconds, or NEVER."""
        return NEVER if self.version.until is None else self.version.until

    def may_forget(self, match_counts: IntArray) -> BoolArray:
        """Return whether each key may forget how many matches it has had, as bool[p].

        Args:
            match_counts: int64[p], how many matches each key has had.
        """
        return np.asarray(~(self.counts_matches & (match_counts > 0)), np.bool_)


def find_window_times(compiled_query: CompiledQuery, rows: pa.Table) -> IntArray:
    """Return int64[n]: when the window that begins with each row ends, in microseconds.

    NEVER if the query has no window.
    """
    sent_columns = compiled_query.sent_columns
    if not sent_columns.window:
        return np.full(rows.num_rows, NEVER, np.int64)
    window_times = read_integers(take_column(rows, wire.name_column(sent_columns.window[-1])))
    if sent_columns.distance is None:
        return window_times
    # The column has the time of the row, and the window ends a known distance later.
    length = int(sent_columns.distance.limit) + 1
    return np.asarray(np.minimum(window_times, NEVER - length) + length, np.int64)


def find_neighbour_window_times(compiled_query: CompiledQuery, rows: pa.Table) -> IntArray | None:
    """Return when each window between neighbouring variables ends that begins with each row.

    Returns:
        int64[w, n] for w windows, in microseconds; None if the pattern has no such windows.
    """
    ends = compiled_query.sent_columns.ends
    if compiled_query.sent_columns.window:  # the first end is that of the window of the match
        ends = ends[1:]
    if not ends:
        return None
    return np.stack([read_integers(take_column(rows, wire.name_column(index))) for index in ends])


@dataclass(frozen=True, slots=True)
class ContiguousStates(KeyRecord):
    """The states from which a `ContiguousSearch` continues."""

    # For each key, the first undecided starting row, counted from the first row that is kept.
    start: KeyedValues
    # For each key, the number of matches so far.
    number: KeyedValues
    # For each row that is kept, whether a match covers the row or the row was output.
    covered: KeyedValues


@dataclass(frozen=True)
class ContiguousSearch(StreamSearch[ContiguousStates]):
    """Searches for matches of consecutive rows, all keys at once."""

    states_type = ContiguousStates

    def make_empty_states(self) -> ContiguousStates:
        """Return the states of one key that has had no events."""
        zero = KeyedValues.from_single_values(np.zeros(1, np.int64))
        no_rows = KeyedValues.concatenate([np.zeros(0, np.bool_)])
        return ContiguousStates(start=zero, number=zero, covered=no_rows)

    def search(
        self, key_state: KeyState[ContiguousStates], rows: SearchRows
    ) -> KeySearching[ContiguousStates]:
        """Continue the search of one or more keys, see `StreamSearch.search`."""
        window_times = find_window_times(self.compiled_query, rows.rows)
        frontier = self.make_frontier(key_state.states, rows)
        partitions = self.open_partitions(frontier, window_times, rows)
        covered = np.zeros(rows.rows.num_rows, np.bool_)
        covered_before = key_state.states.covered
        covered[list_positions(rows.starts[:-1], covered_before.sizes)] = covered_before.values
        piece = Piece(
            table=rows.rows,
            starts=rows.starts,
            frontier=frontier,
            rows_before=None,
            is_covered=covered,
            new_rows=int(rows.new_counts.sum()),
        )
        yield from PieceWorker(self.compiled_query, batch_maker=self.output).match_partitions(
            piece, partitions
        )
        return self.build_key_state(key_state.keys, piece, window_times, rows)

    def make_frontier(self, states: ContiguousStates, rows: SearchRows) -> Frontier:
        """Return how far the search of each key has come.

        Args:
            states: the states of the keys.
            rows: the rows.
        """
        first, last = rows.starts[:-1], rows.starts[1:]
        edge = np.maximum(first, last - self.lookaround.after)
        start = first + states.start.values
        number = states.number.values
        frontier = Frontier(start, edge, edge, number, np.zeros_like(number))
        if self.end <= rows.watermark:  # no further row arrives, so the partitions are complete
            no_edge = np.full(len(first), NO_EDGE)
            frontier = frontier._replace(until=last, edge=no_edge)
        return frontier

    def open_partitions(
        self, frontier: Frontier, window_times: IntArray, rows: SearchRows
    ) -> Partitions:
        """Return the rows as partitions to which rows may still be added.

        Args:
            frontier: how far the search of each key has come.
            window_times: int64[n], when the window that begins with each row ends.
            rows: the rows.
        """
        partitions = encode_partitions(self.compiled_query, rows.rows, rows.starts, frontier)
        if partitions.window_end is None:
            return partitions
        # A window that the watermark has passed gets no further rows.
        closed_ends = np.minimum(partitions.window_end, np.repeat(rows.starts[1:], rows.sizes))
        is_open = window_times > rows.watermark
        window_end = np.where(is_open, partitions.window_end, closed_ends)
        return replace(partitions, window_end=window_end)

    @cached_property
    def lookaround(self) -> Lookaround:
        """Return the lookaround of the query."""
        lookaround = self.compiled_query.lookaround
        assert lookaround is not None, "no query over a stream needs all rows"
        return lookaround

    def build_key_state(
        self, keys: IntArray, piece: Piece, window_times: IntArray, rows: SearchRows
    ) -> KeyState[ContiguousStates]:
        """Return the state of the keys after the search of a piece.

        Args:
            keys: int64[p], the indices of the keys among the keys of the bucket.
            piece: the piece, after its search.
            window_times: int64[n], when the window that begins with each row ends.
            rows: the rows of the piece.
        """
        frontier, covered_rows = piece.read_search()
        first = piece.starts[:-1]
        start = frontier.start - first
        dropped = np.maximum(0, start - self.lookaround.before)
        kept_sizes = rows.sizes - dropped
        kept = list_positions(first + dropped, kept_sizes)
        covered = KeyedValues(covered_rows[kept], kept_sizes)
        ends = np.append(window_times, NEVER)[frontier.start]
        # A row whose window has ended is undecided only because it needs the row that follows.
        waits_for_end = (ends > rows.watermark) & (frontier.start < rows.starts[1:])
        key_state = KeyState(
            keys=keys,
            states=ContiguousStates(
                start=KeyedValues.from_single_values(start - dropped),
                number=KeyedValues.from_single_values(frontier.number),
                covered=covered,
            ),
            next_end=np.minimum(np.where(waits_for_end, ends, NEVER), self.end),
            failed=np.zeros(len(keys), np.bool_),
            kept_rows=KeyedValues(rows.indices[kept], kept_sizes),
        )
        return key_state.drop_idle_keys(self.may_forget(frontier.number))
