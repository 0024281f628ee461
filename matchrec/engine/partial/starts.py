"""The starting rows that begin no match, and when the runs from them end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matchrec.engine.interface import Task
from matchrec.engine.matches import Matches
from matchrec.engine.partitions import BoolArray, IntArray, Partitions
from matchrec.engine.skipping import next_starts
from matchrec.nfa.places import TIMED_OUT, UNFINISHED


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


def find_starts(task: Task, partitions: Partitions, matches: Matches) -> Starts:
    """The starting rows that a search comes to, where it finds no match and looks for a run.

    matches: all of them, in order.
    """
    partial = task.partial
    assert partial is not None
    starts = partitions.starts
    row = np.flatnonzero(is_left(task, partitions, matches))
    partition = np.searchsorted(starts, row, side="right") - 1
    upper = starts[partition + 1]
    end = upper if partitions.window_end is None else partitions.window_end[row]
    open_at_end = partial.unfinished & (end == upper)
    kind = np.where(open_at_end, UNFINISHED, TIMED_OUT)
    wanted = (end > row) & (open_at_end | partial.timed_out)
    first = np.searchsorted(matches.partition, partition)
    before = np.searchsorted(matches.start, row) - first
    found = (partition, row, end, before, kind)
    return Starts(*(np.ascontiguousarray(one[wanted], np.int64) for one in found))


def is_left(task: Task, partitions: Partitions, matches: Matches) -> BoolArray:
    """bool[n], which rows a search comes to as starting rows that begin no match."""
    skipped = np.zeros(partitions.rows + 1, np.int64)
    upper = partitions.starts[matches.partition + 1]
    until = np.minimum(next_starts(task.after_match, task.members, matches), upper)
    np.add.at(skipped, matches.start, 1)
    np.add.at(skipped, until, -1)
    return np.asarray(np.cumsum(skipped[:-1]) == 0, np.bool_)
