"""Matches of rows in a row over a stream: the new events of a key in, what is decided out.

Events wait until the watermark has passed them; then they are put in order and searched, with the
open row after them. The rows from the first undecided starting row on are kept, and those before it
that conditions and measures look back on. A window ends when the watermark passes its end, for
which an event-time timer is set.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from matchrec.compile.executable import Executable
from matchrec.compile.lookaround import Lookaround
from matchrec.engine.compiled import compile_task
from matchrec.engine.incremental.open_row import OpenRows, ask_open_row, with_open_rows
from matchrec.engine.partitions import BoolArray, IntArray, Partitions
from matchrec.output.reads import ReadMatchNumber
from matchrec.spark.streaming.arrival import Arrived
from matchrec.spark.streaming.group import FOREVER, window_bounds
from matchrec.spark.streaming.memory import Arrays
from matchrec.spark.streaming.search import KeySearch, Left, Searching
from matchrec.spark.worker.batches import Piece
from matchrec.spark.worker.encode import partitions_of
from matchrec.spark.worker.match import Worker


@dataclass(frozen=True, slots=True)
class Begun:
    """The search of a key between two micro-batches, over the rows that are kept.

    start: the first undecided starting row. number: how many matches were found. covered: bool[n],
    rows that a match contains, or that have come out.
    """

    start: int
    number: int
    covered: BoolArray

    def arrays(self) -> Arrays:
        """It as plain arrays by name."""
        return {"counts": np.array([self.start, self.number], np.int64), "covered": self.covered}

    @staticmethod
    def of(arrays: Arrays) -> Begun:
        """What `arrays` has taken apart."""
        start, number = arrays["counts"].tolist()
        return Begun(start, number, arrays["covered"])


NOTHING = Begun(0, 0, np.zeros(0, np.bool_))


@dataclass(frozen=True)
class KeyedContiguous(KeySearch):
    """Runs an executable of contiguous matches over the events of one key. Picklable."""

    def nothing(self) -> Arrays:
        return NOTHING.arrays()

    def searched(self, arrays: Arrays) -> int:
        return len(arrays["covered"])

    def search(self, arrays: Arrays, arrived: Arrived, watermark: int) -> Searching:
        rows = Rows.of(self, Begun.of(arrays), arrived, watermark)
        yield from self.worker.match_partitions(rows.piece, rows.partitions)
        return self.left(rows, arrived.known)

    @cached_property
    def worker(self) -> Worker:
        """What searches."""
        return Worker(self.open_executable)

    @property
    def open_executable(self) -> Executable:
        """The executable with conditions that hold on the open row."""
        task = ask_open_row(self.executable.task, len(self.executable.crossing.integers))
        return replace(self.executable, task=task)

    @cached_property
    def lookaround(self) -> Lookaround:
        """How many rows beside a match are read, at least the one before it where that is asked
        for by `^`.
        """
        found = self.executable.lookaround
        assert found is not None
        anchored = int(self.executable.task.pattern.has_anchors)
        return replace(found, before=max(found.before, anchored))

    @cached_property
    def counts(self) -> bool:
        """Whether the number of matches is asked for."""
        executable = self.executable
        compiled = compile_task(executable.task, len(executable.crossing.integers))
        return ReadMatchNumber() in executable.reads or compiled.counts_matches

    def left(self, rows: Rows, known: pa.Table) -> Left:
        """What is needed further on, and when a window ends."""
        frontier = rows.piece.frontier
        start, number = int(frontier.start[0]), int(frontier.number[0])
        gone = max(0, start - self.lookaround.before)
        covered = rows.piece.covered[gone : known.num_rows]
        begun = Begun(start - gone, number, covered)
        ends = rows.bounds[start:][:1].tolist()  # what has ended waits for a row
        next_end = min((end for end in ends if end > rows.watermark), default=FOREVER)
        is_idle = not (self.counts and number)
        return Left(begun.arrays(), known.slice(gone), next_end, is_idle)


@dataclass(frozen=True, slots=True)
class Rows:
    """The known events of a key in one micro-batch as what is searched, with the open row.

    bounds: when the windows end that begin with a row, in microseconds.
    """

    piece: Piece
    partitions: Partitions
    bounds: IntArray
    watermark: int

    @staticmethod
    def of(keyed: KeyedContiguous, begun: Begun, arrived: Arrived, watermark: int) -> Rows:
        """begun: the search so far, over the first of the known rows."""
        executable, known = keyed.executable, arrived.known
        count = known.num_rows
        table = with_blank_row(known)
        starts = np.array([0, count + 1], np.int64)
        found = partitions_of(executable, table, starts)
        bounds = window_bounds(executable, known)
        given = ([max(0, count - keyed.lookaround.after)], [begun.start], [begun.number])
        open_rows = OpenRows(*(np.array(one, np.int64) for one in given))
        may_grow = np.append(bounds > watermark, False)
        if found.window_end is not None:
            may_grow &= found.window_end >= count
        partitions = with_open_rows(found, open_rows, may_grow)
        assert partitions.frontier is not None
        covered = np.zeros(count + 1, np.bool_)
        covered[: len(begun.covered)] = begun.covered
        piece = Piece(table, starts, partitions.frontier, None, covered, arrived.new)
        return Rows(piece, partitions, bounds, watermark)


def with_blank_row(rows: pa.Table) -> pa.Table:
    """The rows and one more, of NULLs."""
    blank = [pa.nulls(1, kind) for kind in rows.schema.types]
    return pa.concat_tables([rows, pa.table(blank, rows.schema)]).combine_chunks()
