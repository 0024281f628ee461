"""Compute aggregates that Python adds up row by row, such as a median, over the rows of matches.

The accumulators of `conditions.accumulators` cannot be computed with NumPy, so the mapped rows of
all matches are visited in order. A result on a mapped row is the aggregate over the rows of its
match up to that row. The result *is read* if an output row needs it. With running semantics,
`median(A.price)` of two matches:

    mapped row               0      1      2      3      4
    begins a match           yes    -      -      yes    -
    price, if it counts      10     -      20     -      7
    is read                  yes    yes    yes    yes    yes
    result                   10     10     15     NULL   7

With final semantics, only the result on the last row of each match is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from matchrec.conditions.accumulators.accumulator import Accumulator
from matchrec.conditions.functions.function import Value
from matchrec.search.flat_arrays import add_up_before
from matchrec.search.partitions import BoolArray, IntArray


@dataclass(frozen=True, slots=True)
class AggregateResults:
    """The results of an aggregate that are read. k is the number of mapped rows of all matches."""

    # First the result of no rows, then the results that are read, in the order of the mapped rows.
    results: list[Value]
    # bool[k]: whether the result on a mapped row is read.
    is_read: BoolArray

    def find_indices(self, mapped_rows: IntArray) -> IntArray:
        """Return int64[r]: for each of r mapped rows, the index in `results` of its result.

        Args:
            mapped_rows: int64[r], indices of mapped rows on which the result is read, in any order;
                -1 for the result of no rows.
        """
        assert self.is_read[mapped_rows[mapped_rows >= 0]].all(), "all results were computed"
        read_counts = add_up_before(self.is_read)
        # `results[0]` is not in the counts, so the count up to a row is the index of its result.
        return np.asarray(read_counts[mapped_rows + 1], np.int64)


def accumulate_matches(
    start_accumulator: Callable[[], Accumulator],
    arguments: Iterable[tuple[Value, ...]],
    *,
    begins_match: BoolArray,
    is_counted: BoolArray,
    is_read: BoolArray,
) -> AggregateResults:
    """Add up the counted rows of each match, and compute the results that are read.

    Other results are not computed, since a result can cost as much as adding many rows.

    Args:
        start_accumulator: returns an accumulator without rows.
        arguments: the arguments of the aggregate on each counted row, in order.
        begins_match: bool[k], which of the k mapped rows are the first of their match.
        is_counted: bool[k], which mapped rows count.
        is_read: bool[k], on which mapped rows the result is read.
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
    assert next(remaining_arguments, None) is None, "more arguments than counted rows"
    return AggregateResults(results, is_read)
