"""The live runs of a search of all runs at once, which can be taken out of it and put back.

A stream stores live runs between two batches. A skip strategy drops the live runs that can no
longer become a released match.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from matchrec.search.kernels import layout
from matchrec.search.kernels.carried_totals import (
    KNOWN_COUNT,
    ROW,
    VALUE,
    count_words,
    locate_total,
)
from matchrec.search.matches import DOUBLE_WORD
from matchrec.search.partitions import BoolArray, IntArray
from matchrec.search.task import Task


@dataclass(frozen=True, slots=True)
class Extreme:
    """The columns of a node that hold the extreme of one total, such as `max(FIRST(A.price))`.

    The extreme is the value of one row, so the row is stored as well.
    """

    # The column with the number of paths that have a value, as the bits of a double; 0 if no path
    # has a value.
    known_count: int
    # The column with the value.
    value: int
    # The column with the row that has the value.
    row: int
    # Index of the column of `TotalArrays.values` from which the value comes.
    column: int

    def has_value(self, nodes: IntArray) -> BoolArray:
        """Return bool[n], which nodes have a value."""
        return np.asarray(nodes[:, self.known_count] != 0)


Extremes = tuple[Extreme, ...]


def list_row_extremes(task: Task, begin: int = layout.NODE_SIZE) -> Extremes:
    """Return the columns of nodes or groups with the totals that are values of single rows.

    Args:
        task: any task.
        begin: the first column with totals: NODE_SIZE for a node, 0 for a group.
    """
    if task.totals is None:
        return ()
    extremes = []
    for index, total in enumerate(task.totals.aggregates):
        if total.is_row_value and total.column is not None:
            first = begin + locate_total(index)
            extremes.append(
                Extreme(
                    known_count=first + KNOWN_COUNT + DOUBLE_WORD,
                    value=first + VALUE,
                    row=first + VALUE + ROW,
                    column=total.column,
                )
            )
    return tuple(extremes)


def count_node_columns(task: Task) -> int:
    """Return how many columns a node has in a search for all matches."""
    if task.totals is None:
        return layout.NODE_SIZE
    return layout.NODE_SIZE + count_words(len(task.totals.aggregates))


@dataclass(frozen=True, slots=True)
class LiveRuns:
    """The live runs of a search that has stopped, with their registers and nodes."""

    # int64[r, RUN_SIZE], see `layout`.
    runs: IntArray
    # int64[r, q], the registers of each run.
    registers: IntArray
    # int64[n, NODE_SIZE], the nodes of the buffer to which the runs lead.
    nodes: IntArray

    def keep(self, is_kept: BoolArray) -> LiveRuns:
        """Return the runs that are marked. All nodes stay."""
        return replace(self, runs=self.runs[is_kept], registers=self.registers[is_kept])

    @property
    def starts(self) -> IntArray:
        """Return int64[r], the starting row of each run; the latest one if runs have merged."""
        return self.runs[:, layout.RUN_START]

    @property
    def last_rows(self) -> IntArray:
        """Return int64[r], the row that each run has mapped last.

        If runs have merged, this is the last row of one of them. One is enough, because callers ask
        only when the window that begins with the row ends. Runs that wait in such a window merge
        only if their windows end at the same time: the test of the end reads a live register.
        """
        node = self.runs[:, layout.RUN_NODE].copy()
        leads_to_join = self.is_join[node]
        while leads_to_join.any():
            node[leads_to_join] = self.nodes[node[leads_to_join], layout.NODE_BEFORE]
            leads_to_join = self.is_join[node]
        return np.asarray(self.nodes[node, layout.NODE_ROW], np.int64)

    @property
    def is_join(self) -> BoolArray:
        """Return bool[n], which nodes are joins and have no row."""
        return np.asarray(self.nodes[:, layout.NODE_CHOICE] == layout.JOIN)

    @property
    def first_rows(self) -> IntArray:
        """Return the rows with which the runs begin, unsorted."""
        is_first = (self.nodes[:, layout.NODE_BEFORE] < 0) & ~self.is_join
        return np.asarray(self.nodes[is_first, layout.NODE_ROW], np.int64)

    def find_needed_rows(self, row_registers: IntArray, extremes: Extremes) -> IntArray:
        """Return the positions of all rows that the runs need, unsorted, with repetitions.

        Args:
            row_registers: the indices of the registers that hold a row, or a negative number for
                no row.
            extremes: the extremes whose nodes hold the row.
        """
        register_rows = self.registers[:, row_registers]
        needed = [
            self.starts,
            self.nodes[~self.is_join, layout.NODE_ROW],
            self.nodes[:, layout.NODE_START],
            register_rows[register_rows >= 0],
        ]
        needed += [self.nodes[extreme.has_value(self.nodes), extreme.row] for extreme in extremes]
        return np.concatenate(needed)

    def move_rows(
        self, new_positions: IntArray, row_registers: IntArray, extremes: Extremes
    ) -> LiveRuns:
        """Return the runs with new row positions, after rows have been dropped.

        Args:
            new_positions: int64[n], by old position, the new position of each row that
                `find_needed_rows` returns.
            row_registers: as for `find_needed_rows`.
            extremes: as for `find_needed_rows`.
        """
        runs = self.runs.copy()
        registers = self.registers.copy()
        nodes = self.nodes.copy()
        has_row = ~self.is_join
        runs[:, layout.RUN_START] = new_positions[runs[:, layout.RUN_START]]
        nodes[has_row, layout.NODE_ROW] = new_positions[nodes[has_row, layout.NODE_ROW]]
        nodes[:, layout.NODE_START] = new_positions[nodes[:, layout.NODE_START]]
        register_rows = registers[:, row_registers]
        is_row = register_rows >= 0
        register_rows[is_row] = new_positions[register_rows[is_row]]
        registers[:, row_registers] = register_rows
        for extreme in extremes:
            has_value = extreme.has_value(nodes)
            nodes[has_value, extreme.row] = new_positions[nodes[has_value, extreme.row]]
        return LiveRuns(runs=runs, registers=registers, nodes=nodes)
