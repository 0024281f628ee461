"""What a search keeps between two calls, as plain arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from matchrec.engine.kernels import layout
from matchrec.engine.kernels.selection import layout as own
from matchrec.engine.match import Matches
from matchrec.engine.partitions import BoolArray, IntArray

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Alive:
    """Runs that may go on, each with its registers, and the nodes that they lead to.

    runs: int64[r, RUN_SIZE]. registers: int64[r, q]. nodes: int64[n, NODE_SIZE]: see `Work`.
    """

    runs: IntArray
    registers: IntArray
    nodes: IntArray

    def some(self, kept: BoolArray) -> Alive:
        """Some of the runs; all nodes stay."""
        return Alive(self.runs[kept], self.registers[kept], self.nodes)

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

    def rows(self, positions: IntArray) -> IntArray:
        """Every row that is needed. positions: the registers that hold some, negative for none."""
        held = self.registers[:, positions].ravel()
        return np.concatenate(
            [
                self.runs[:, layout.RUN_START],
                self.nodes[~self.joins, own.NODE_ROW],
                self.nodes[:, own.NODE_START],
                held[held >= 0],
            ]
        )

    def moved(self, places: IntArray, positions: IntArray) -> Alive:
        """The same over other rows: row i has become row places[i]."""
        runs, registers, nodes = self.runs.copy(), self.registers.copy(), self.nodes.copy()
        runs[:, layout.RUN_START] = places[runs[:, layout.RUN_START]]
        nodes[~self.joins, own.NODE_ROW] = places[nodes[~self.joins, own.NODE_ROW]]
        nodes[:, own.NODE_START] = places[nodes[:, own.NODE_START]]
        held = registers[:, positions]
        registers[:, positions] = np.where(held >= 0, places[np.maximum(held, 0)], held)
        return Alive(runs, registers, nodes)


@dataclass(frozen=True, slots=True)
class SearchState:
    """A partition's search between two calls; rows are positions among those that are kept.

    done: how many rows have been searched. numbered: the last match number. numbers: int64[k], of
    the rows that are kept, as they came, from 0. bars: int64[b, 2], the number of the row at which
    a match has come out, and of the first row that is left for others. held: matches that wait for
    runs that began earlier; they are complete at the numbers of rows.
    """

    done: int
    numbered: int
    numbers: IntArray
    alive: Alive
    bars: IntArray
    held: Matches

    @property
    def is_idle(self) -> bool:
        """Whether nothing has been begun that is not at its end."""
        return not len(self.alive.runs) and not self.held.count


def new_state(registers: int) -> SearchState:
    """Of a partition without rows."""
    alive = Alive(
        np.empty((0, layout.RUN_SIZE), np.int64),
        np.empty((0, registers), np.int64),
        np.empty((0, own.NODE_SIZE), np.int64),
    )
    none = np.zeros(0, np.int64)
    return SearchState(0, 0, none, alive, np.zeros((0, 2), np.int64), no_matches())


def no_matches() -> Matches:
    """Matches of event selection, none of them."""
    none = np.zeros(0, np.int64)
    return Matches(
        none,
        none,
        none,
        np.zeros(1, np.int64),
        np.zeros(0, np.int16),
        np.zeros(0, np.bool_),
        rows=none,
        completed=none,
        kind=none,
    )


HELD = tuple(one.name for one in fields(Matches) if one.name != "pointers")


def arrays_of(state: SearchState) -> dict[str, Array]:
    """The state as arrays by name."""
    arrays: dict[str, Array] = {
        "counts": np.array([state.done, state.numbered], np.int64),
        "numbers": state.numbers,
        "runs": state.alive.runs,
        "registers": state.alive.registers,
        "nodes": state.alive.nodes,
        "bars": state.bars,
    }
    if state.held.count:
        arrays |= {f"held.{name}": getattr(state.held, name) for name in HELD}
    return arrays


def state_of(arrays: Mapping[str, Array]) -> SearchState:
    """The state that `arrays_of` has taken apart."""
    held = no_matches()
    if "held.start" in arrays:
        kept: dict[str, Any] = {name: arrays[f"held.{name}"] for name in HELD}
        held = replace(held, **kept)
    done, numbered = arrays["counts"].tolist()
    alive = Alive(arrays["runs"], arrays["registers"], arrays["nodes"])
    return SearchState(done, numbered, arrays["numbers"], alive, arrays["bars"], held)
