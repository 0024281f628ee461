"""The starting rows that begin no match, and when the runs from them end."""

from __future__ import annotations

import numpy as np

from matchrec.dataclass import dataclass
from matchrec.engine.interface import Task
from matchrec.engine.matches import Matches
from matchrec.engine.partitions import IntArray, Partitions
from matchrec.engine.skipping import next_starts
from matchrec.nfa.outcomes import TIMED_OUT, UNFINISHED


@dataclass(frozen=True, slots=True)
class Starts:
    """Starting rows without a match, in order. All int64[s].

    end: the row at which their window ends, or the one after the partition's last. number: how
    many matches there were before. kind: what a run is that is live at the end.
    """

    partition: IntArray
    start: IntArray
    end: IntArray
    number: IntArray
    kind: IntArray


@dataclass(frozen=True, slots=True)
class Covered:
    """Where matches have been found, filled chunk by chunk.

    begun: int64[n], how many matches begin at each row. change: int64[n + 1], by how many matches
    more than the row before a row is covered: matches cover the rows from their starting row to
    the one from which the search goes on.
    """

    begun: IntArray
    change: IntArray

    @classmethod
    def of(cls, partitions: Partitions) -> Covered:
        """Nothing has been found yet."""
        return cls(np.zeros(partitions.rows, np.int64), np.zeros(partitions.rows + 1, np.int64))

    def add(self, task: Task, partitions: Partitions, matches: Matches) -> None:
        """Add the matches of a chunk."""
        upper = partitions.starts[matches.partition + 1]
        until = np.minimum(next_starts(task.after_match, task.members, matches), upper)
        self.begun[matches.start] += 1
        np.add.at(self.change, matches.start, 1)
        np.add.at(self.change, until, -1)


def find_starts(task: Task, partitions: Partitions, covered: Covered) -> Starts:
    """The starting rows that a search comes to, where it finds no match and looks for a run.

    covered: by all matches.
    """
    partial = task.partial
    assert partial is not None
    starts = partitions.starts
    row = np.flatnonzero(np.cumsum(covered.change[:-1]) == 0)
    partition = np.searchsorted(starts, row, side="right") - 1
    upper = starts[partition + 1]
    end = upper if partitions.window_end is None else partitions.window_end[row]
    open_at_end = partial.unfinished & (end == upper)
    kind = np.where(open_at_end, UNFINISHED, TIMED_OUT)
    wanted = (end > row) & (open_at_end | partial.timed_out)
    before = np.append(0, np.cumsum(covered.begun))
    number = before[row] - before[starts[partition]]
    found = (partition, row, end, number, kind)
    return Starts(*(np.ascontiguousarray(one[wanted], np.int64) for one in found))
