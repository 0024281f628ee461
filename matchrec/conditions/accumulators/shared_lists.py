"""Aggregates of lists that share their rows, computed with few accumulators.

The lists of several runs often begin with the same rows. If a list is a recently computed list plus
one row, its aggregate is computed by the accumulator of that list:

    list 1    rows a          an accumulator adds a
    list 2    rows a b        the accumulator of list 1 adds b, and becomes that of list 2
    list 3    rows a c        list 1 has no accumulator any more, so another one adds a and c
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol, TypeVar

from matchrec.conditions.accumulators.accumulator import Accumulator
from matchrec.conditions.functions.function import Value

# The number of accumulators that are kept: for the lists that were computed last. An accumulator is
# used again when its list gets one more row.
MAX_ACCUMULATORS = 64
# How many results are kept if they have a fixed size, such as numbers, and if they can be as long
# as a list.
MAX_FIXED_SIZE_RESULTS = 1 << 16
MAX_LONG_RESULTS = 64

EMPTY_LIST = 0  # the number of the list without rows

_Kept = TypeVar("_Kept")


class SharedLists(Protocol):
    """Lists with numbers from 1. Each list is a shorter list, perhaps EMPTY_LIST, plus one row."""

    def find_list_before(self, list_number: int) -> int:
        """Return the number of the list that is this list without its last row."""

    def read_last_row(self, list_number: int) -> tuple[Value, ...]:
        """Return the values of the last row of a list."""


class ListAggregate:
    """An aggregate of lists. It remembers what it has computed for recent lists."""

    def __init__(self, begin: Callable[[], Accumulator]) -> None:
        """Prepare an aggregate.

        Args:
            begin: returns an accumulator without rows.
        """
        self.begin = begin
        self.result_without_rows = begin().compute_result()
        # By the number of the list, the least recent list first. A result outlives its accumulator,
        # which a longer list takes over: other runs with the shorter list need the result again.
        self.accumulators: OrderedDict[int, Accumulator] = OrderedDict()
        self.results: OrderedDict[int, Value] = OrderedDict()

    def compute(self, list_number: int, lists: SharedLists) -> Value:
        """Return the aggregate of a list.

        Args:
            list_number: the number of the list.
            lists: all lists. A number always means the same rows, so that results can be kept.

        Raises:
            FunctionError: an argument of a row is not allowed, or could not be computed.
            TooLargeError: a sum does not fit its type.
        """
        if list_number == EMPTY_LIST:
            return self.result_without_rows
        if list_number in self.results:
            self.results.move_to_end(list_number)
            return self.results[list_number]
        accumulator = self.accumulate(list_number, lists)
        result = accumulator.compute_result()
        is_long = isinstance(result, str | bytes | tuple)
        max_results = MAX_LONG_RESULTS if is_long else MAX_FIXED_SIZE_RESULTS
        keep_for_list(self.accumulators, list_number, accumulator, MAX_ACCUMULATORS)
        keep_for_list(self.results, list_number, result, max_results)
        return result

    def accumulate(self, list_number: int, lists: SharedLists) -> Accumulator:
        """Return an accumulator to which the rows of a list have been added, and no others.

        The accumulator of the list without the last row is taken over if there is one.
        """
        lists_to_add = [list_number]  # the lists whose last rows are added, the longest one first
        accumulator = self.accumulators.pop(lists.find_list_before(list_number), None)
        if accumulator is None:
            accumulator = self.begin()
            while (shorter_list := lists.find_list_before(lists_to_add[-1])) != EMPTY_LIST:
                lists_to_add.append(shorter_list)
        for list_to_add in reversed(lists_to_add):
            accumulator.add(*lists.read_last_row(list_to_add))
        return accumulator


def keep_for_list(
    kept_by_list: OrderedDict[int, _Kept], list_number: int, value: _Kept, max_count: int
) -> None:
    """Keep a value for a list, and drop the values of the least recent lists beyond `max_count`."""
    kept_by_list[list_number] = value
    while len(kept_by_list) > max_count:
        kept_by_list.popitem(last=False)
