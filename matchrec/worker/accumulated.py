"""Compute aggregates that Python adds up row by row, such as a median, over the rows of matches.

The accumulators of `conditions.accumulators` have no array arithmetic, so the mapped rows of all
matches are visited in order. With running semantics, `median(A.price)` of two matches:

    mapped row               0      1      2      3      4
    begins a match           yes    -      -      yes    -
    price, if it counts      10     -      20     -      7
    is read                  yes    yes    yes    yes    yes
    result                   10     10     15     NULL   7

With final semantics, only the last row of each match is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from matchrec.conditions.accumulators.accumulator import Accumulator
from matchrec.conditions.functions.function import Value
from matchrec.search.partitions import BoolArray, IntArray


@dataclass(frozen=True, slots=True)
class AccumulatedResults:
    """The results of an aggregate on the mapped rows on which it is read."""

    # The result without rows, then a result for each mapped row that is read, in their order.
    results: list[Value]
    # bool[k], on which mapped rows the result is read.
    is_read: BoolArray

    def find_indices(self, mapped: IntArray) -> IntArray:
        """Return the index in `results` of the result up to each of some mapped rows: int64[r].

        Args:
            mapped: int64[r], mapped rows that are read; -1 for the result without rows.
        """
        results_up_to_row = np.append(0, np.cumsum(self.is_read))
        return np.asarray(results_up_to_row[mapped + 1], np.int64)


def accumulate(
    start_accumulator: Callable[[], Accumulator],
    arguments: Iterable[tuple[Value, ...]],
    *,
    begins_match: BoolArray,
    is_counted: BoolArray,
    is_read: BoolArray,
) -> AccumulatedResults:
    """Add up the counted rows of each match, and compute the results that are read.

    A result is computed only if it is read, since that can cost as much as many rows.

    Args:
        start_accumulator: returns an accumulator without rows.
        arguments: the arguments of the aggregate on each counted row.
        begins_match: bool[k], which mapped rows are the first of their match.
        is_counted: bool[k], which mapped rows count.
        is_read: bool[k], on which mapped rows the result up to them is read.
    """
    remaining_arguments = iter(arguments)
    results = [start_accumulator().compute_result()]
    accumulator = start_accumulator()
    rows = zip(begins_match.tolist(), is_counted.tolist(), is_read.tolist(), strict=True)
    for row_begins_match, row_is_counted, row_is_read in rows:
        if row_begins_match:
            accumulator = start_accumulator()
        if row_is_counted:
            accumulator.add(*next(remaining_arguments))
        if row_is_read:
            results.append(accumulator.compute_result())
    return AccumulatedResults(results, is_read)
