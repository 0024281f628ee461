"""Aggregates of lists that share their rows, computed with few accumulators.

The lists of several runs often begin with the same rows. A list that is a recently computed list
plus one row takes over the accumulator of the shorter list.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

from matchrec.conditions.accumulators.accumulator import Accumulator
from matchrec.conditions.functions.function import Compute, Value

MAX_KEPT = 64  # accumulators of lists that can get one more row; also results as long as a list
MAX_RESULTS = 1 << 16  # results of a fixed size, such as numbers


class SharedLists(Protocol):
    """Lists with numbers from 1. Each list is a shorter list plus one row; list 0 is empty."""

    def find_list_before(self, number: int) -> int:
        """Return the number of the list without the last row of this one; 0 for no rows."""

    def read_last_row(self, number: int) -> tuple[Value, ...]:
        """Return the values of the last row of a list."""


def build_list_aggregate(begin: Callable[[], Accumulator]) -> Compute:
    """Return a function that computes an aggregate of a list.

    The function takes the number of the list, and all lists. If a list is a recently computed list
    plus one row, only this row is added, and the longer list takes over the accumulator of the
    shorter one. The result of the shorter list is kept, because other runs with the same list need
    the same result.

    Args:
        begin: returns an accumulator without rows.
    """
    accumulators: OrderedDict[int, Accumulator] = OrderedDict()  # by list, least recent first
    results: OrderedDict[int, Value] = OrderedDict()  # by list, least recent first
    result_without_rows = begin().compute_result()

    def compute(number: int, lists: SharedLists) -> Value:
        """Return the aggregate of a list; continue from a shorter list if its state is kept."""
        if not number:
            return result_without_rows
        if number in results:
            results.move_to_end(number)
            return results[number]
        lists_to_add = [number]  # the lists whose last rows are added, the longest one first
        accumulator = accumulators.pop(lists.find_list_before(number), None)
        if accumulator is None:
            accumulator = begin()
            while shorter := lists.find_list_before(lists_to_add[-1]):
                lists_to_add.append(shorter)
        for list_number in reversed(lists_to_add):
            accumulator.add(*lists.read_last_row(list_number))
        result = accumulator.compute_result()
        accumulators[number] = accumulator
        if len(accumulators) > MAX_KEPT:
            accumulators.popitem(last=False)
        results[number] = result
        most_results = MAX_KEPT if isinstance(result, str | bytes | tuple) else MAX_RESULTS
        while len(results) > most_results:
            results.popitem(last=False)
        return result

    return compute
