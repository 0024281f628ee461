"""The live runs of event selection: those that may still go on where a search stops."""

from __future__ import annotations

import numpy as np

from matchrec.dataclass import dataclass
from matchrec.engine.kernels import layout
from matchrec.engine.partitions import BoolArray, IntArray
from matchrec.engine.selection.kernels import layout as own


@dataclass(frozen=True, slots=True)
class LiveRuns:
    """Live runs, each with its registers, and the nodes of the buffer that they lead to.

    runs: int64[r, RUN_SIZE]. registers: int64[r, q]. nodes: int64[n, NODE_SIZE]: see `Work`.
    """

    runs: IntArray
    registers: IntArray
    nodes: IntArray

    def keep(self, kept: BoolArray) -> LiveRuns:
        """The runs that are marked; all nodes stay."""
        return LiveRuns(self.runs[kept], self.registers[kept], self.nodes)

    @property
    def starts(self) -> IntArray:
        """int64[r], the latest first row of what each run stands for."""
        return self.runs[:, layout.RUN_START]

    @property
    def last_rows(self) -> IntArray:
        """int64[r], the row that each run has mapped last: of merged ones the same."""
        node = self.runs[:, layout.RUN_NODE].copy()
        while (joins := self.joins[node]).any():
            node[joins] = self.nodes[node[joins], own.NODE_BEFORE]
        return np.asarray(self.nodes[node, own.NODE_ROW], np.int64)

    @property
    def joins(self) -> BoolArray:
        """bool[n], which of the nodes are no rows."""
        return np.asarray(self.nodes[:, own.NODE_CHOICE] == own.JOIN)

    @property
    def first_rows(self) -> IntArray:
        """The rows with which the runs begin, unsorted."""
        first = (self.nodes[:, own.NODE_BEFORE] < 0) & ~self.joins
        return np.asarray(self.nodes[first, own.NODE_ROW], np.int64)

    def needed_rows(self, positions: IntArray) -> IntArray:
        """Every row that the runs need. positions: of registers that hold a row or less than 0."""
        held = self.registers[:, positions].ravel()
        return np.concatenate(
            [
                self.runs[:, layout.RUN_START],
                self.nodes[~self.joins, own.NODE_ROW],
                self.nodes[:, own.NODE_START],
                held[held >= 0],
            ]
        )

    def move(self, places: IntArray, positions: IntArray) -> LiveRuns:
        """The same runs over other rows: row i has become row places[i]."""
        runs, registers, nodes = self.runs.copy(), self.registers.copy(), self.nodes.copy()
        runs[:, layout.RUN_START] = places[runs[:, layout.RUN_START]]
        nodes[~self.joins, own.NODE_ROW] = places[nodes[~self.joins, own.NODE_ROW]]
        nodes[:, own.NODE_START] = places[nodes[:, own.NODE_START]]
        held = registers[:, positions]
        registers[:, positions] = np.where(held >= 0, places[np.maximum(held, 0)], held)
        return LiveRuns(runs, registers, nodes)
