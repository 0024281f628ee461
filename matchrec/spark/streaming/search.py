"""What goes on with the events of some keys, all at once, whatever it looks for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from functools import cached_property

import numpy as np
import pyarrow as pa

from matchrec.compile.executable import Executable
from matchrec.dataclass import dataclass
from matchrec.engine.compiled import compile_task
from matchrec.engine.partitions import BoolArray, IntArray
from matchrec.output.reads import ReadMatchNumber
from matchrec.spark import wire
from matchrec.spark.streaming.arrival import Known
from matchrec.spark.streaming.by_key import ByKey, OfKeys, States
from matchrec.spark.worker.arrays import as_integers, column

FOREVER = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, slots=True)
class Left(OfKeys):
    """What a search of p keys needs further on.

    states: of the keys. kept: which of the known rows it looks at again, their positions in order.
    next_end: int64[p], when to go on with a key though no event comes, in microseconds, or FOREVER.
    is_idle: bool[p], whether nothing is lost if a key's state is forgotten once no row is kept.
    """

    states: States
    kept: ByKey
    next_end: IntArray
    is_idle: BoolArray

    def without_idle(self) -> tuple[IntArray, Left]:
        """The keys of which something must be kept, and what that is."""
        keys = np.flatnonzero(~self.is_idle | (self.kept.sizes > 0))
        return keys, self.take(keys)


Searching = Generator[pa.RecordBatch, None, Left]
"""The output rows of what is decided, and in the end what is left."""


@dataclass(frozen=True)
class KeySearch(ABC):
    """Runs an executable over the events of some keys. Picklable."""

    executable: Executable

    @abstractmethod
    def nothing(self) -> States:
        """The states of one key, which has no events."""

    @abstractmethod
    def search(self, states: States, known: Known) -> Searching:
        """Go on with one or more keys. known: the rows that were left, and new ones.

        Raises MatchRecognizeRunError.
        """

    @cached_property
    def counts(self) -> bool:
        """Whether the number of matches is asked for."""
        executable = self.executable
        compiled = compile_task(executable.task, len(executable.crossing.integers))
        return ReadMatchNumber() in executable.reads or compiled.counts_matches

    def may_forget(self, numbers: IntArray) -> BoolArray:
        """bool[p], whether keys may forget how many matches they have had. numbers: that."""
        return np.asarray(~(self.counts & (numbers > 0)), np.bool_)


def window_bounds(executable: Executable, rows: pa.Table) -> IntArray:
    """When the window ends that begins with a row, FOREVER without one; microseconds."""
    if not executable.crossing.window or not rows.num_rows:
        return np.full(rows.num_rows, FOREVER, np.int64)
    return as_integers(column(rows, wire.column(executable.crossing.window[1])))


def near_bounds(executable: Executable, rows: pa.Table) -> IntArray | None:
    """int64[w, n], when windows between neighbours end that begin with a row; microseconds."""
    near = executable.crossing.ends[1 if executable.crossing.window else 0 :]
    if not near:
        return None
    if not rows.num_rows:
        return np.zeros((len(near), 0), np.int64)
    return np.stack([as_integers(column(rows, wire.column(i))) for i in near])
