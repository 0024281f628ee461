"""Kernels that compute a total for each mapped row: the aggregate of its match up to this row.

A kernel passes over the mapped rows of all matches once. Links say which total each one continues:

    rows of two matches, price      3    1    2  |  5    4
    links                          -1    0    1  | -1    3
    sum(price) up to each row       3    4    6  |  5    9

Floats are added up in the order of the rows, so a sum is the one that Spark's own aggregate returns
for the sorted rows.

If matches share their rows (`search.matches.Chains`), a mapped row can be in many matches, but the
rows after it are the same in all of them. So a link then leads to the row after: in the functions
here, the rows *up to* a mapped row are the rows from the end of the match back to it, and a match
has the total of its first row. One pass over the shared rows is enough for all matches, however
long they are. The pass adds the rows in reverse order, which may round a sum of floats differently.
`output.exact_sums` finds out whether it may; if so, `sum_each_match` adds in the order of the rows.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from matchrec.jit.decorators import allocating, inner
from matchrec.output.match_reader import Links
from matchrec.search.matches import Matches
from matchrec.search.partitions import FloatArray, IntArray

Numbers = TypeVar("Numbers", IntArray, FloatArray)


def find_links(matches: Matches) -> Links:
    """Return for each mapped row the mapped row whose total it continues, or -1: int32[k].

    This is the row before the mapped row in its match, or, if matches share their rows, the row
    after it. In both cases, its index is smaller.
    """
    if matches.chains is not None:
        return matches.chains.next_mapped_rows
    links = np.arange(-1, len(matches.classifiers) - 1, dtype=np.int32)
    begins = matches.offsets[:-1]
    links[begins[begins < len(links)]] = -1
    return links


@allocating
def sum_values(values: Numbers, counted_rows: IntArray, links: Links) -> Numbers:
    """Return for each mapped row the sum of the values up to it.

    Integers wrap around if a sum is too large for int64.

    Args:
        values: int64[n] or float64[n], the value of each input row.
        counted_rows: int64[k], the input row of each mapped row, -1 if it does not count.
        links: int32[k], see `find_links`.

    Returns:
        int64[k] or float64[k].
    """
    sums = np.empty(len(counted_rows), values.dtype)
    for mapped_row in range(len(counted_rows)):
        sums[mapped_row] = sums[links[mapped_row]] if links[mapped_row] >= 0 else 0
        if counted_rows[mapped_row] >= 0:
            sums[mapped_row] += values[counted_rows[mapped_row]]
    return sums


@allocating
def sum_decimals(words: IntArray, counted_rows: IntArray, links: Links) -> IntArray:
    """Return the sums as `sum_values` does, of 128-bit integers: int64[k, 2].

    Args:
        words: int64[n, 2], the low word, unsigned in int64, and the high word of each value.
        counted_rows: see `sum_values`.
        links: see `sum_values`.
    """
    sums = np.empty((len(counted_rows), 2), np.int64)
    for mapped_row in range(len(counted_rows)):
        low, high = np.uint64(0), np.int64(0)
        if links[mapped_row] >= 0:
            low, high = np.uint64(sums[links[mapped_row], 0]), sums[links[mapped_row], 1]
        row = counted_rows[mapped_row]
        if row >= 0:
            low_sum = low + np.uint64(words[row, 0])
            carry = np.int64(1) if low_sum < low else np.int64(0)
            low, high = low_sum, high + words[row, 1] + carry
        sums[mapped_row, 0] = np.int64(low)
        sums[mapped_row, 1] = high
    return sums


@allocating
def find_extreme_rows(
    keys: IntArray, counted_rows: IntArray, links: Links, sign: int, takes_equal: bool
) -> IntArray:
    """Return for each mapped row the input row of the extreme key up to it: int64[k].

    -1 if no row counts.

    Args:
        keys: int64[n], a number for each input row that sorts as its value does.
        counted_rows: see `sum_values`.
        links: see `sum_values`.
        sign: 1 for the least key, -1 for the greatest.
        takes_equal: of rows with equal keys, whether to return the last one in the order of the
            indices. Otherwise the first one is returned.
    """
    extremes = np.empty(len(counted_rows), np.int64)
    for mapped_row in range(len(counted_rows)):
        best_row = extremes[links[mapped_row]] if links[mapped_row] >= 0 else np.int64(-1)
        row = counted_rows[mapped_row]
        if best_row < 0:
            best_row = row
        elif row >= 0:
            is_better = keys[row] < keys[best_row] if sign > 0 else keys[row] > keys[best_row]
            if is_better or (takes_equal and keys[row] == keys[best_row]):
                best_row = row
        extremes[mapped_row] = best_row
    return extremes


@allocating
def sum_each_match(
    values: FloatArray, counted_rows: IntArray, next_rows: Links, first_rows: IntArray
) -> FloatArray:
    """Return the sum of the values of each match, added up in the order of its rows.

    Matches that share their rows form trees: a match is a path from its first row to the root of a
    tree, and joins other matches on the way. The sums are in such an order that all matches with
    the same mapped row are next to each other. So one step adds the value of the row to a
    contiguous range of sums, without looking up each match:

        rows a b c d, matches abcd, bcd and cd      sums  [abcd, bcd, cd]
        a is added to sums[0:1], b to sums[0:2], c and d to sums[0:3]

    Args:
        values: float64[n], the value of each input row.
        counted_rows: int64[k], the input row of each mapped row, -1 if it does not count.
        next_rows: int32[k], for each mapped row, the next one of its matches, which has a smaller
            index; -1 for none.
        first_rows: int64[m], the first mapped row of each match, -1 if the match is empty.

    Returns:
        float64[m].
    """
    match_counts = np.zeros(len(counted_rows), np.int64)
    count_matches_of_rows(next_rows, first_rows, match_counts)
    begins = np.empty(len(counted_rows), np.int64)
    own_begins = np.empty(len(counted_rows), np.int64)
    sum_count = assign_sums(next_rows, match_counts, begins, own_begins)

    # Add each value to the range of its row. Rows with larger indices come first in matches.
    sums = np.zeros(sum_count, np.float64)
    for mapped_row in range(len(counted_rows) - 1, -1, -1):
        row = counted_rows[mapped_row]
        if row >= 0:
            sums[begins[mapped_row] : begins[mapped_row] + match_counts[mapped_row]] += values[row]

    # Give each match one of the sums of the matches that begin with its first row. All of these
    # matches have the same rows, so it does not matter which one.
    sums_of_matches = np.zeros(len(first_rows), np.float64)
    for match in range(len(first_rows)):
        if first_rows[match] >= 0:
            sums_of_matches[match] = sums[own_begins[first_rows[match]]]
    return sums_of_matches


@inner
def count_matches_of_rows(next_rows: Links, first_rows: IntArray, match_counts: IntArray) -> None:
    """Count the matches that each mapped row is in.

    A match passes from its first row to the root of its tree, whose index is the smallest.

    Args:
        next_rows: see `sum_each_match`.
        first_rows: see `sum_each_match`.
        match_counts: int64[k], gets the counts. It has only zeros.
    """
    for match in range(len(first_rows)):
        if first_rows[match] >= 0:
            match_counts[first_rows[match]] += 1
    for mapped_row in range(len(next_rows) - 1, -1, -1):
        if next_rows[mapped_row] >= 0:
            match_counts[next_rows[mapped_row]] += match_counts[mapped_row]


@inner
def assign_sums(
    next_rows: Links, match_counts: IntArray, begins: IntArray, own_begins: IntArray
) -> int:
    """Assign to each mapped row a range of sums, one for each of its matches.

    The range of a row lies within the range of the row that follows it. It has first the ranges of
    the rows before it, and then one sum for each match that begins with the row itself:

        rows a, b and c, where c follows both others; matches ac, bc and c

        sums                     [ac, bc, c]
        begins of a, b, c        0, 1, 0
        own_begins of a, b, c    0, 1, 2

    Args:
        next_rows: see `sum_each_match`.
        match_counts: int64[k], the number of matches that each mapped row is in.
        begins: int64[k], gets the index of the first sum of each mapped row.
        own_begins: int64[k], gets the index of the first sum of the matches that begin with each
            mapped row.

    Returns:
        The number of sums.
    """
    sum_count = 0
    for mapped_row in range(len(next_rows)):
        next_row = next_rows[mapped_row]
        if next_row >= 0:
            # Take the next sums of the range of the following row. The rest is left to other rows.
            begins[mapped_row] = own_begins[next_row]
            own_begins[next_row] += match_counts[mapped_row]
        else:
            begins[mapped_row] = sum_count
            sum_count += match_counts[mapped_row]
        own_begins[mapped_row] = begins[mapped_row]
    return sum_count
