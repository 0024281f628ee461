"""Goes on with the events of some keys, all at once; finds matches of consecutive rows among them.

The events that the watermark has passed are searched, as those of partitions that go on. The rows
from the first undecided starting row on are kept, and those before it that conditions and measures
look back on. A window ends when the watermark passes its end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from matchrec.compile.executable import Executable, Lookaround
from matchrec.compile.rule_set import Version
from matchrec.output.reads import ReadMatchNumber
from matchrec.search.partitions import NO_EDGE, BoolArray, Frontier, IntArray, Partitions, ranges
from matchrec.search.records import compile_task
from matchrec.spark.streaming.arrival import ByKey, Known, States
from matchrec.worker import wire
from matchrec.worker.arrays import as_integers, column
from matchrec.worker.batches import Piece
from matchrec.worker.encode import partitions_of
from matchrec.worker.match import BatchMaker, Worker

ALL_ROWS = Version("")
NEVER = int(np.iinfo(np.int64).max)
START = "start"  # of a key, the first undecided starting row, from the first row that is kept
NUMBER = "number"  # how many matches were found
COVERED = "covered"  # of each row that is kept, whether a match contains it, or it has come out

# What comes of each key of a search beside its own states.
KEPT = "kept"  # which of the known rows it looks at again, their positions in order
NEXT_END = "next end"  # when to go on with a key though no event comes, microseconds, or NEVER
IDLE = "idle"  # whether nothing is lost if its state is forgotten once no row is kept

# The output rows of what is decided, and in the end what is needed of each key further on.
Searching = Generator[pa.RecordBatch, None, States]


@dataclass(frozen=True)
class KeySearch(ABC):
    """Runs an executable over the events of some keys. name: by which its state is stored."""

    executable: Executable
    output: BatchMaker | None = None
    version: Version = ALL_ROWS
    name: str = "0"

    @abstractmethod
    def nothing(self) -> States:
        """The states of one key, which has no events."""

    @abstractmethod
    def search(self, states: States, known: Known) -> Searching:
        """Go on with one or more keys. known: the rows that were left, and new ones."""

    @cached_property
    def counts(self) -> bool:
        """Whether the number of matches is asked for, as always of a rule of a set."""
        executable = self.executable
        if self.output is not None or executable.task.most_matches is not None:
            return True
        compiled = compile_task(executable.task, len(executable.crossing.integers))
        return ReadMatchNumber() in executable.reads or compiled.rules.forgets

    @property
    def end(self) -> int:
        """When no further row comes, microseconds, or NEVER."""
        return NEVER if self.version.until is None else self.version.until

    def may_forget(self, numbers: IntArray) -> BoolArray:
        """bool[p], whether keys may forget how many matches they have had. numbers: that."""
        return np.asarray(~(self.counts & (numbers > 0)), np.bool_)


def window_bounds(executable: Executable, rows: pa.Table) -> IntArray:
    """When the window ends that begins with a row, NEVER without one; microseconds."""
    crossing = executable.crossing
    if not crossing.window:
        return np.full(rows.num_rows, NEVER, np.int64)
    found = as_integers(column(rows, wire.column(crossing.window[-1])))
    if crossing.distance is None:
        return found
    length = int(crossing.distance.limit) + 1
    return np.asarray(np.minimum(found, NEVER - length) + length, np.int64)


def near_bounds(executable: Executable, rows: pa.Table) -> IntArray | None:
    """int64[w, n], when windows between neighbours end that begin with a row; microseconds."""
    near = executable.crossing.ends[1 if executable.crossing.window else 0 :]
    return np.stack([as_integers(column(rows, wire.column(i))) for i in near]) if near else None


@dataclass(frozen=True)
class ContiguousSearch(KeySearch):
    def nothing(self) -> States:
        return states_of(np.zeros((2, 1), np.int64), ByKey.joined([np.zeros(0, np.bool_)]))

    def search(self, states: States, known: Known) -> Searching:
        bounds = window_bounds(self.executable, known.rows)
        partitions = self.open_partitions(bounds, states, known)
        assert partitions.frontier is not None
        covered, before = np.zeros(known.rows.num_rows, np.bool_), states[COVERED]
        covered[ranges(known.starts[:-1], before.sizes)] = before.values
        fresh = int(known.new.sum())
        piece = Piece(known.rows, known.starts, partitions.frontier, None, covered, fresh)
        yield from Worker(self.executable, output=self.output).match_partitions(piece, partitions)
        return self.left(piece, bounds, known)

    def open_partitions(self, bounds: IntArray, states: States, known: Known) -> Partitions:
        """Known events as partitions that go on. bounds: when the windows end that a row begins."""
        first, last = known.starts[:-1], known.starts[1:]
        edge = np.maximum(first, last - self.lookaround.after)
        start, number = first + states[START].values, states[NUMBER].values.copy()
        frontier = Frontier(start, edge, edge, number, np.zeros_like(number))
        if self.end <= known.watermark:
            frontier = frontier._replace(until=last.copy(), edge=np.full(len(first), NO_EDGE))
        found = partitions_of(self.executable, known.rows, known.starts, frontier)
        if found.window_end is None:
            return found
        closed = np.minimum(found.window_end, np.repeat(last, known.sizes))
        ends = np.where(bounds > known.watermark, found.window_end, closed)
        return replace(found, window_end=ends)

    @cached_property
    def lookaround(self) -> Lookaround:
        found = self.executable.lookaround
        assert found is not None
        return found

    def left(self, piece: Piece, bounds: IntArray, known: Known) -> States:
        """What is needed further on, and when windows end."""
        frontier, first = piece.frontier, piece.starts[:-1]
        start = frontier.start - first
        gone = np.maximum(0, start - self.lookaround.before)
        sizes = known.sizes - gone
        covered = piece.covered[ranges(first + gone, sizes)]
        ends = np.append(bounds, NEVER)[frontier.start]
        waits = (ends > known.watermark) & (frontier.start < known.starts[1:])
        ends = np.where(waits, ends, NEVER)  # what has ended waits for a row
        return {
            **states_of(np.stack([start - gone, frontier.number]), ByKey(covered, sizes)),
            KEPT: ByKey(ranges(known.starts[:-1] + gone, sizes), sizes),
            NEXT_END: ByKey.one_each(ends),
            IDLE: ByKey.one_each(self.may_forget(frontier.number)),
        }


def states_of(counts: IntArray, covered: ByKey) -> States:
    """The states of k keys. counts: int64[2, k]."""
    start, number = counts
    return {START: ByKey.one_each(start), NUMBER: ByKey.one_each(number), COVERED: covered}
