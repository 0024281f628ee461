"""The budget of a sort: the bytes of rows that a task can hold before it spills them to files.

A sort takes three to five times the budget: for the rows that the task holds, the same rows in
order, the words that they are sorted by, and memory that Arrow does not return to the system. So
the budget is smaller if there is less room. If many tasks share a process, as on Sail, all of them
hold rows, but only a few sort at the same time.
"""

from __future__ import annotations

import os
from functools import cached_property

from matchrec import memory

# The greatest and the smallest budget, in bytes of rows.
MAX_BUDGET = 256 << 20
MIN_BUDGET = 16 << 20
# A sort takes at most this many times its budget in all, with the rows that the task holds.
BUDGETS_PER_SORT = 5
# How many tasks of a process sort at the same time: 1.5 for each core. A query has at least as many
# tasks.
SORTS_AT_ONCE = (os.cpu_count() or 1) * 3 // 2


class Budget:
    """The bytes of rows that a task can hold before it spills them.

    Without a given size, the budget depends on the memory that the process can still take when the
    task first holds more than MIN_BUDGET bytes. A task with fewer rows does not look the memory up.

    Args:
        given_size: the budget in bytes; None to choose it by the memory.
        task_count: the number of tasks of the process.
    """

    def __init__(self, given_size: int | None, task_count: int) -> None:
        self.given_size = given_size
        self.task_count = task_count

    @cached_property
    def size(self) -> int:
        """Return the budget in bytes. The first call looks up the memory, if no size is given."""
        if self.given_size is not None:
            return self.given_size
        return find_budget(memory.find_room(), self.task_count)

    def is_exceeded_by(self, held_bytes: int) -> bool:
        """Return whether a task that holds `held_bytes` bytes of rows must spill them."""
        min_size = MIN_BUDGET if self.given_size is None else self.given_size
        return held_bytes > min_size and held_bytes > self.size


def find_budget(room: int, task_count: int = 1) -> int:
    """Return how many bytes of rows a task can hold before it spills them.

    The budget is at least MIN_BUDGET, even if the process does not have that much room.

    >>> find_budget(10 << 30) >> 20, find_budget(640 << 20) >> 20
    (256, 128)

    Args:
        room: how many bytes the process can still take.
        task_count: the number of tasks of the process. All of them hold rows at the same time, and
            some of them sort.
    """
    sorting_tasks = min(task_count, SORTS_AT_ONCE)
    # Each task holds a budget of rows. Each sort takes further budgets.
    budgets = task_count + (BUDGETS_PER_SORT - 1) * sorting_tasks
    return max(MIN_BUDGET, min(MAX_BUDGET, room // budgets))
