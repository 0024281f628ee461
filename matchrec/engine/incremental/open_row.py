"""A contiguous search over the rows of partitions that have come so far, of which more may come.

After those of each stands the open row, which any variable may take. A search that takes it ends
without a decision, and begins again at its starting row when there are more rows; what is found
without it is found whatever comes.

    PATTERN (A B+)   rows A B B   the loop takes the open row: undecided
    PATTERN (A B)    rows A B     a match, as nothing preferred takes the open row

Every algorithm searches so that does so for parts of a partition, see `Frontier.edge`.
Cost: that of the rows from the first undecided starting row on, each time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from matchrec.conditions.operations import Comparison
from matchrec.conditions.run_condition import Compare, Constant, Or, Read
from matchrec.conditions.types import Kind
from matchrec.dataclass import dataclass
from matchrec.engine.interface import Condition, Task
from matchrec.engine.partitions import BoolArray, Frontier, IntArray, Partitions


def ask_open_row(task: Task, integers: int) -> Task:
    """The task whose conditions hold on the open row, which a column after `integers` others marks.

    integers: how many integer columns conditions on the run read.
    """
    mark = Read(integers, Kind.INTEGER)
    is_open = Compare(Comparison.EQUAL, mark, Constant(1, Kind.INTEGER))

    def or_open(condition: Condition) -> Condition:
        if condition.run_condition is None:
            return condition
        return replace(condition, run_condition=Or((is_open, condition.run_condition)))

    return replace(task, conditions=tuple(map(or_open, task.conditions)))


@dataclass(frozen=True, slots=True)
class OpenRows:
    """The open row of each of p partitions, and where its search begins.

    row: int64[p]; only the rows before it are known. Those after it but for the partition's last
    one, which is none of its rows, are there for NEXT. start: int64[p], the next starting row.
    number: int64[p], how many matches were found before.
    """

    row: IntArray
    start: IntArray
    number: IntArray

    def frontier(self) -> Frontier:
        """From where to where to search."""
        steps = np.zeros(len(self.row), np.int64)
        return Frontier(self.start.copy(), self.row, self.row + 1, self.number.copy(), steps)


def with_open_rows(partitions: Partitions, given: OpenRows, may_grow: BoolArray) -> Partitions:
    """The partitions as far as they are known, each with its open row and its frontier.

    may_grow: bool[n], whether the window that begins with a row may have more rows than are here.
    """
    rows, window_end = partitions.rows, partitions.window_end
    satisfied = partitions.satisfied.copy()
    satisfied[given.row] = np.iinfo(np.uint64).max
    mark = np.zeros((1, rows), np.int64)
    mark[0, given.row] = 1
    if window_end is not None:
        ends = np.repeat(partitions.starts[1:], np.diff(partitions.starts))
        window_end = np.where(may_grow, ends, window_end)
    return replace(
        partitions,
        satisfied=satisfied,
        integers=np.concatenate([partitions.integers, mark]),
        integers_valid=np.concatenate([partitions.integers_valid, np.ones((1, rows), np.bool_)]),
        window_end=window_end,
        frontier=given.frontier(),
    )
