"""What a search keeps between two calls, as plain arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from matchrec.dataclass import dataclass
from matchrec.engine.kernels import layout
from matchrec.engine.matches import Matches, no_matches
from matchrec.engine.partitions import IntArray
from matchrec.engine.selection.kernels import layout as own
from matchrec.engine.selection.live_runs import LiveRuns

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class SearchState:
    """A partition's search between two calls; rows are positions among those that are kept.

    done: how many rows have been searched. numbered: the last match number. numbers: int64[k], of
    the rows that are kept, as they came, from 0. start_bounds: int64[b, 2], the number of the row
    at which a match was released, and of the row before which no match may begin from then on.
    held: matches that wait for runs that began earlier; they are complete at the numbers of rows.
    """

    done: int
    numbered: int
    numbers: IntArray
    live_runs: LiveRuns
    start_bounds: IntArray
    held: Matches

    @property
    def is_idle(self) -> bool:
        """Whether nothing has been begun that is not at its end."""
        return not len(self.live_runs.runs) and not self.held.count


def new_state(registers: int) -> SearchState:
    """Of a partition without rows."""
    live = LiveRuns(
        np.empty((0, layout.RUN_SIZE), np.int64),
        np.empty((0, registers), np.int64),
        np.empty((0, own.NODE_SIZE), np.int64),
    )
    none = np.zeros(0, np.int64)
    return SearchState(0, 0, none, live, np.zeros((0, 2), np.int64), no_matches())


HELD = tuple(one.name for one in fields(Matches) if getattr(no_matches(), one.name) is not None)


def arrays_of(state: SearchState) -> dict[str, Array]:
    """The state as arrays by name."""
    arrays: dict[str, Array] = {
        "counts": np.array([state.done, state.numbered], np.int64),
        "numbers": state.numbers,
        "runs": state.live_runs.runs,
        "registers": state.live_runs.registers,
        "nodes": state.live_runs.nodes,
        "start bounds": state.start_bounds,
    }
    return arrays | {f"held.{name}": getattr(state.held, name) for name in HELD}


def state_of(arrays: Mapping[str, Array]) -> SearchState:
    """The state that `arrays_of` has taken apart."""
    kept: dict[str, Any] = {name: arrays[f"held.{name}"] for name in HELD}
    held = replace(no_matches(), **kept)
    done, numbered = arrays["counts"].tolist()
    live = LiveRuns(arrays["runs"], arrays["registers"], arrays["nodes"])
    return SearchState(done, numbered, arrays["numbers"], live, arrays["start bounds"], held)
