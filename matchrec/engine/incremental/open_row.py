"""A contiguous search over the rows of a partition that have come so far, of which more may come.

After them stands the open row, which any variable may take. A search that takes it ends without a
decision, and begins again at its starting row when there are more rows; what is found without it is
found whatever comes.

    PATTERN (A B+)   rows A B B   the loop takes the open row: undecided
    PATTERN (A B)    rows A B     a match, as nothing preferred takes the open row

Every algorithm searches so that does so for parts of a partition, see `Frontier.edge`.
Cost: that of the rows from the first undecided starting row on, each time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from matchrec.conditions.operations import Comparison
from matchrec.conditions.run_condition import Compare, Constant, Or, Read
from matchrec.conditions.types import Kind
from matchrec.engine.interface import Condition, Task
from matchrec.engine.matches import Matches
from matchrec.engine.partitions import BoolArray, Frontier, Partitions


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


def with_open_row(
    partitions: Partitions, frontier: Frontier, row: int, may_grow: BoolArray
) -> Partitions:
    """One partition of which only the rows before `row` are known, and that is the open row.

    Its last row is none of the partition's; rows between that and the open one are there for NEXT.
    may_grow: bool[n], whether the window that begins with a row may have more rows than are here.
    frontier: is given its edge, and moved by the search.
    """
    frontier.edge = row + 1
    rows = partitions.rows
    satisfied = partitions.satisfied.copy()
    satisfied[row] = np.iinfo(np.uint64).max
    mark = np.zeros((1, rows), np.int64)
    mark[0, row] = 1
    window_end = partitions.window_end
    return replace(
        partitions,
        satisfied=satisfied,
        integers=np.concatenate([partitions.integers, mark]),
        integers_valid=np.concatenate([partitions.integers_valid, np.ones((1, rows), np.bool_)]),
        window_end=None if window_end is None else np.where(may_grow, rows, window_end),
        frontier=frontier,
        searched=np.array([[frontier.start], [row]], np.int64),
    )


def before_open_row(found: Iterator[Matches], frontier: Frontier) -> Iterator[Matches]:
    """The same matches; in the end the next starting row is at most the open row.

    A search that follows all runs at once counts the rows that it has looked at.
    """
    assert frontier.edge is not None
    yield from found
    frontier.start = min(frontier.start, frontier.edge - 1)
