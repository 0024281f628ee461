"""Aggregates of lists that share their rows, computed with few accumulators.

The lists of several runs often begin with the same rows. If a list is a recently computed list plus
one row, its aggregate is computed by the accumulator of that list.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

from matchrec.conditions.accumulators.accumulator import Accumulator
from matchrec.conditions.functions.function import Compute, Value

# The number of accumulators that are kept: for the lists that were computed last. An accumulator is
# used again when its list gets one more row.
MAX_ACCUMULATORS = 64
# How many results are kept if they have a fixed size, such as numbers, and if they can be as long
# as a list.
MAX_FIXED_SIZE_RESULTS = 1 << 16
MAX_LONG_RESULTS = 64

EMPTY_LIST = 0  # the number of the list without rows


class SharedLists(Protocol):
    """Lists with numbers from 1. Each list is a shorter list, perhaps EMPTY_LIST, plus one row."""

    def find_list_before(self, list_number: int) -> int:
        """Return the number of the list that is this list without its last row."""

    def read_last_row(self, list_number: int) -> tuple[Value, ...]:
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

    def compute(list_number: int, lists: SharedLists) -> Value:
        """Return the aggregate of a list; continue from a shorter list if its state is kept."""
        if list_number == EMPTY_LIST:
            return result_without_rows
        if list_number in results:
            results.move_to_end(list_number)
            return results[list_number]
        lists_to_add = [list_number]  # the lists whose last rows are added, the longest one first
        accumulator = accumulators.pop(lists.find_list_before(list_number), None)
        if accumulator is None:
            accumulator = begin()
            while (shorter_list := lists.find_list_before(lists_to_add[-1])) != EMPTY_LIST:
                lists_to_add.append(shorter_list)
        for list_to_add in reversed(lists_to_add):
            accumulator.add(*lists.read_last_row(list_to_add))
        result = accumulator.compute_result()
        accumulators[list_number] = accumulator
        if len(accumulators) > MAX_ACCUMULATORS:
            accumulators.popitem(last=False)
        results[list_number] = result
        is_long = isinstance(result, str | bytes | tuple)
        max_results = MAX_LONG_RESULTS if is_long else MAX_FIXED_SIZE_RESULTS
        while len(results) > max_results:
            results.popitem(last=False)
        return result

    return compute
