"""Partitions: the rows that a search reads, as sorted columns of many partitions in flat arrays.

`Partitions` has whole partitions, one after the other. If the rows of a partition arrive in pieces,
a `Frontier` says how far its search has come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

# Packages that are not allowed to import `jit`, such as `worker`, import these types from here.
from matchrec.jit.array_types import BoolArray as BoolArray
from matchrec.jit.array_types import FloatArray as FloatArray
from matchrec.jit.array_types import IntArray as IntArray
from matchrec.jit.array_types import WordArray as WordArray

# The edge of a partition whose rows are all present: it comes after every row.
NO_EDGE = 2**62


class Frontier(NamedTuple):
    """The progress of the search of each of p partitions whose rows arrive in pieces.

    The *edge* of a partition is the first row that no search is allowed to read: the row has not
    arrived, or conditions on it read rows that have not. A search that would have to read it stops
    undecided, and begins again at its starting row when more rows have arrived. A match that is
    found without the row at the edge is a match whatever comes later:

        PATTERN (A B+)   rows A B B   the loop can take the row at the edge: undecided
        PATTERN (A B)    rows A B     a match, because no preferred run can take that row

    So the rows from the first undecided starting row on are searched again each time.

    A search changes the frontier of the `Partitions` that it gets, in place: when it comes to the
    end of a partition, it sets `next_start`, `match_number` and `step_count`. A caller that still
    needs the progress before the search keeps a `copy`.
    """

    # int64[p], the next starting row: all matches that begin before it have been found.
    next_start: IntArray
    # int64[p], the row before which matches begin: the row after the partition, or an earlier one.
    start_limit: IntArray
    # int64[p], the first row that no search is allowed to read; NO_EDGE if no row is missing.
    edge: IntArray
    # int64[p], the number of the last match in the partition, counted from 1; 0 if there is none.
    match_number: IntArray
    # int64[p], how often conditions on the run were evaluated in the partition.
    step_count: IntArray

    @staticmethod
    def create(
        starts: IntArray,
        *,
        next_start: int = 0,
        edge: int = NO_EDGE,
        match_number: int = 0,
        step_count: int = 0,
    ) -> Frontier:
        """Return the frontier of partitions that are about to be searched.

        Rows of the first partition may have been searched before, and rows of the last one can be
        missing. The partitions between them are complete.

        Args:
            starts: see `Partitions`.
            next_start: the next starting row of the first partition.
            edge: the edge of the last partition.
            match_number: the number of the last match that was found in the first partition; 0 if
                none was found.
            step_count: how often conditions on the run were evaluated in the first partition.
        """
        partition_count = len(starts) - 1
        frontier = Frontier(
            next_start=starts[:-1].astype(np.int64),
            start_limit=starts[1:].astype(np.int64),
            edge=np.full(partition_count, NO_EDGE, np.int64),
            match_number=np.zeros(partition_count, np.int64),
            step_count=np.zeros(partition_count, np.int64),
        )
        if partition_count:
            frontier.next_start[0] = next_start
            frontier.match_number[0] = match_number
            frontier.step_count[0] = step_count
            frontier.edge[-1] = edge
        return frontier

    def copy(self) -> Frontier:
        """Return a frontier that a search can change without changing this one.

        Both frontiers share `start_limit` and `edge`, which no search changes: a piece can have
        many partitions, so each copy costs time.
        """
        return self._replace(
            next_start=self.next_start.copy(),
            match_number=self.match_number.copy(),
            step_count=self.step_count.copy(),
        )

    @property
    def is_incomplete(self) -> bool:
        """Return whether rows of some partition are still missing."""
        return bool((self.edge != NO_EDGE).any())

    def extend_open_windows(self, starts: IntArray, window_end: IntArray) -> IntArray:
        """Return the ends of windows, one row later for each open window.

        A window is open if it ends with the last row that is present and later rows are missing,
        because the missing rows can be in the window as well.

        Args:
            starts: see `Partitions`.
            window_end: int64[n], the ends of windows by the rows that are present.
        """
        missing_from = np.where(self.edge != NO_EDGE, starts[1:], -1)
        can_grow = window_end == np.repeat(missing_from, np.diff(starts))
        return np.asarray(window_end + can_grow, np.int64)


@dataclass(frozen=True, slots=True)
class Partitions:
    """p whole partitions with n rows, one partition after the other, each in its order."""

    # int64[p + 1], the position of each partition's first row, then the number of rows n.
    starts: IntArray
    # uint64[n, words], at least one word. Bit i of a row, in word i // 64, tells whether the row
    # satisfies row condition i.
    condition_bits: WordArray
    # int64[columns, n], the columns that run conditions read: integers, then the bits of floats.
    # After them come the columns that only totals over all matches read, in the same order.
    columns: IntArray
    # bool[columns, n], false where the value is NULL.
    valid: BoolArray
    # The number of integer columns of run conditions, which are the first ones of `columns`.
    integer_count: int
    # int64[n], for each row, the end of the window of a match that starts there: the first row
    # after the window. None without a window. Ends never decrease within a partition. If rows of
    # the partition are missing, a window can be open: it has all present rows from its start on,
    # and can have missing rows as well. The end of an open window is one row after the first
    # missing row, so that no search takes that row for the end: see `Frontier.extend_open_windows`.
    #
    #     WITHIN 2, keys 0 1 2 | 3, where the row with key 3 is missing     window_end: 2, 4, 4
    window_end: IntArray | None = None
    # int64[1 + w, n], the times at which the windows that begin with a row end: the window of the
    # match, then w windows between neighbours. None if no run is output when a window between
    # neighbours ends.
    end_times: IntArray | None = None
    # How far the search of each partition has come, if rows are missing or have been searched
    # before; None if all partitions are complete. Only a search without event selection reads and
    # changes it.
    frontier: Frontier | None = None
    # For each integer column that holds ranks of values with which Python computes, the values from
    # rank 1 on.
    ranked_values: Mapping[int, Sequence[object]] = field(default_factory=dict)

    @property
    def row_count(self) -> int:
        """Return the number of rows n."""
        return int(self.starts[-1])

    def take_partition(self, partition: int) -> Partitions:
        """Return one partition, given its index, as partitions of their own without a frontier."""
        begin, end = self.starts[partition : partition + 2].tolist()
        rows = slice(begin, end)
        return Partitions(
            starts=np.array([0, end - begin], np.int64),
            condition_bits=self.condition_bits[rows],
            columns=self.columns[:, rows],
            valid=self.valid[:, rows],
            integer_count=self.integer_count,
            window_end=None if self.window_end is None else self.window_end[rows] - begin,
            end_times=None if self.end_times is None else self.end_times[:, rows],
            ranked_values=self.ranked_values,
        )
