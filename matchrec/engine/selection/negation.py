"""What a match of event selection is tested by as a whole.

Rows of some variables must not lie in it or beside it, and a last condition may close it.
"""

from __future__ import annotations

import numpy as np

from matchrec.engine.compiled import CompiledTask, word_and_mask
from matchrec.engine.interface import Absent, Task
from matchrec.engine.partitions import BoolArray, IntArray
from matchrec.engine.selection.kernels import layout as own


def negation_of(task: Task, compiled: CompiledTask, satisfied: IntArray) -> own.Negation | None:
    """What a match as a whole is tested by, as the kernels read it; None where it is not."""
    if not task.absent and task.closing is None:
        return None
    absent = [absent_row(one, compiled) for one in task.absent]
    return own.Negation(
        np.array(absent, np.int64).reshape(-1, own.ABSENT_SIZE),
        membership(task),
        closing_row(task, compiled),
        following_rows(task, satisfied),
    )


def absent_row(absent: Absent, compiled: CompiledTask) -> list[int]:
    """One row of `absent`."""
    kind = own.IN_THE_MIDDLE
    if absent.after is None:
        kind = own.AT_THE_BEGINNING
    elif absent.before is None:
        kind = own.AT_THE_END
    return [kind, *code_of(absent.variable, compiled)]


def closing_row(task: Task, compiled: CompiledTask) -> IntArray:
    """The condition of the match as a whole, or no row."""
    rows = []
    if task.closing is not None:
        row_condition = word_and_mask(task.conditions[task.closing])
        rows.append([*row_condition, *code_of(task.closing, compiled)])
    return np.array(rows, np.int64).reshape(-1, own.CLOSING_SIZE)


def code_of(variable: int, compiled: CompiledTask) -> tuple[int, int]:
    """Where the code of a variable's condition is."""
    return compiled.linked.code[variable] if compiled.linked else (0, 0)


def membership(task: Task) -> BoolArray:
    """bool[a, 2, v]: which variables stand before an absence, and which after it."""
    members = np.zeros((len(task.absent), 2, len(task.variables)), np.bool_)
    for place, absent in enumerate(task.absent):
        for side, ids in enumerate((absent.after, absent.before)):
            members[place, side, list(ids or ())] = True
    return members


def following_rows(task: Task, satisfied: IntArray) -> IntArray:
    """int64[a, n + 1]: from each row on the next one that satisfies the row condition, or n."""
    rows = len(satisfied)
    following = np.full((len(task.absent), rows + 1), rows, np.int64)
    for place, absent in enumerate(task.absent):
        word, mask = word_and_mask(task.conditions[absent.variable])
        here = np.where(satisfied[:, word] & mask == mask, np.arange(rows), rows)
        following[place, :rows] = np.minimum.accumulate(here[::-1])[::-1]
    return following
