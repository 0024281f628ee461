"""Computes aggregates of measures: for each mapped row the sum or the extreme of its match so far.

There is one pass over the mapped rows of all matches. A measure with final semantics reads the
value of its match's last mapped row. Sums run in row order, so a float sum is the one that Spark's
own aggregate returns for the sorted rows. These are kernels, because a sum per match is a loop per
row.

If matches share their rows, each mapped row has the sum or the extreme of the rows from it on, and
a match reads the value of its first row. So one pass over the shared rows is enough for all
matches, however long they are. This needs aggregates that do not depend on the order in which rows
are added. A sum of doubles depends on it as soon as one addition is rounded, so matches share their
rows only if `adds_whole_numbers` shows that none is. An average of integers is such a sum, because
Spark adds integers up as DOUBLE.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from matchrec.errors.run.failures import sum_too_large
from matchrec.jit.decorators import allocating
from matchrec.output.measures import Links, Reader
from matchrec.plan.expression import Semantics
from matchrec.search.matches import Matches, RunFailure
from matchrec.search.partitions import BoolArray, FloatArray, IntArray, take_or_default

Numbers = TypeVar("Numbers", IntArray, FloatArray)


def never_wraps(values: IntArray) -> bool:
    """Return whether the sum of any of the values fits int64."""
    if not len(values):
        return True
    return len(values) * max(int(values.max()), -int(values.min())) < 2**63


WHOLE_DOUBLES = 2.0**53  # below it a double holds every whole number


def adds_whole_numbers(values: FloatArray, starts: IntArray) -> bool:
    """Return whether every sum of some values of one partition is exact, in any order.

    That is so if all values are whole numbers that add up, without their signs, to less than 2^53
    in each partition. NaN and infinity are no whole numbers.

    >>> starts = np.array([0, 2, 3])
    >>> adds_whole_numbers(np.array([3.0, -5.0, 2.0**52]), starts)
    True
    >>> adds_whole_numbers(np.array([2.0**52, -(2.0**52), 1.0]), starts)
    False
    >>> adds_whole_numbers(np.array([0.5, 1.0, 1.0]), starts)
    False

    Args:
        values: float64[n], 0 where NULL.
        starts: int64[p + 1], where each partition starts, then n.
    """
    if not len(values):
        return True
    if not np.array_equal(values, np.trunc(values)):  # which NaN is not
        return False
    begins = starts[:-1]
    sizes = np.add.reduceat(np.abs(values), begins[np.diff(starts) > 0])
    # sums below the limit are exact, so one at or above it is not rounded to less
    return bool((sizes < WHOLE_DOUBLES).all())


def find_links(matches: Matches) -> Links:
    """Return for each mapped row the one whose total it continues, or -1: int32[k].

    That is the row before it in its match; if matches share their rows, the one after it. It always
    has a lesser index.
    """
    if matches.chains is not None:
        return matches.chains.following
    links = np.arange(-1, len(matches.classifiers) - 1, dtype=np.int32)
    begins = matches.offsets[:-1]
    links[begins[begins < len(links)]] = -1
    return links


@allocating
def sum_values(values: Numbers, rows: IntArray, links: Links) -> Numbers:
    """Return for each mapped row the sum of the counted values up to it, wrapped.

    Args:
        values: int64[n] or float64[n], the value of each input row.
        rows: int64[k], the input row of each mapped row, -1 if it does not count.
        links: int32[k], see `find_links`.

    Returns:
        int64[k] or float64[k].
    """
    sums = np.empty(len(rows), values.dtype)
    for node in range(len(rows)):
        sums[node] = sums[links[node]] if links[node] >= 0 else 0
        if rows[node] >= 0:
            sums[node] += values[rows[node]]
    return sums


@allocating
def sum_decimals(words: IntArray, rows: IntArray, links: Links) -> IntArray:
    """Return the sums as `sum_values` does, of 128-bit integers: int64[k, 2].

    Args:
        words: int64[n, 2], the low word, unsigned in int64, and the high word of each value.
        rows: see `sum_values`.
        links: see `sum_values`.
    """
    sums = np.empty((len(rows), 2), np.int64)
    for node in range(len(rows)):
        low, high = np.uint64(0), np.int64(0)
        if links[node] >= 0:
            low, high = np.uint64(sums[links[node], 0]), sums[links[node], 1]
        if rows[node] >= 0:
            after = low + np.uint64(words[rows[node], 0])
            carry = np.int64(1) if after < low else np.int64(0)
            low, high = after, high + words[rows[node], 1] + carry
        sums[node, 0] = np.int64(low)
        sums[node, 1] = high
    return sums


@allocating
def find_extremes(
    keys: IntArray, rows: IntArray, links: Links, sign: int, is_chained: bool
) -> IntArray:
    """Return for each mapped row the input row of the extreme key up to it: int64[k].

    Of rows with equal keys, the first row in the match counts. -1 if no row counts.

    Args:
        keys: int64[n], a number for each input row that sorts as its value does.
        rows: see `sum_values`.
        links: see `sum_values`.
        sign: 1 for the least key, -1 for the greatest.
        is_chained: whether matches share their rows, so that later rows of a match come first.
    """
    extremes = np.empty(len(rows), np.int64)
    for node in range(len(rows)):
        best = extremes[links[node]] if links[node] >= 0 else np.int64(-1)
        row = rows[node]
        if best < 0:
            best = row
        elif row >= 0:
            earlier, later = (row, best) if is_chained else (best, row)
            less, other = (later, earlier) if sign > 0 else (earlier, later)
            best = later if keys[less] < keys[other] else earlier
        extremes[node] = best
    return extremes


def find_total_rows(reader: Reader, semantics: Semantics) -> IntArray:
    """Return the mapped row whose total an output row reads, or -1: int64[r].

    That is the last one that it sees; if matches share their rows, the first one of the match.
    """
    if reader.matches.chains is not None:
        return reader.rows.current
    base, limit = reader.look(semantics)
    return np.where(limit > base, limit - 1, -1)


class AggregateReader:
    """Reads running and final aggregates of one variable's rows for the output rows of a reader."""

    def __init__(self, reader: Reader, variable: str | None, valid: BoolArray) -> None:
        """Prepare the aggregates.

        Args:
            reader: the reader.
            variable: the variable; None is the universal one.
            valid: bool[n], which input rows have a value that is not NULL.
        """
        self.reader = reader
        self.rows = reader.matches.mapped_rows
        is_counted = reader.find_mask(variable) & valid[self.rows]
        # int64[k]: the input row of each mapped row, -1 if it does not count.
        self.counted = np.where(is_counted, self.rows, -1)
        self.links = find_links(reader.matches)

    def count_values(self, semantics: Semantics) -> IntArray:
        """Return the number of values that each output row's aggregate is over: int64[r]."""
        if self.reader.matches.chains is None:
            return self.reader.add_up(self.counted >= 0, semantics)
        ones = np.ones(self.reader.partitions.rows, np.int64)
        sums = self.sum_integers(ones, ansi=False)
        return take_or_default(sums, find_total_rows(self.reader, semantics), 0)

    def sum_integers(self, values: IntArray, *, ansi: bool) -> IntArray:
        """Return for each mapped row the sum of the values up to it: int64[k].

        Args:
            values: int64[n], the value of each input row.
            ansi: whether overflow is an error. Otherwise sums wrap.

        Raises:
            RunFailure: a sum is too large.
        """
        if ansi and not never_wraps(values):
            low, high = self.sum_decimals(np.stack([values, values >> 63], axis=1)).T
            overflowing = np.flatnonzero(high != low >> 63)
            if len(overflowing):
                row = int(self.counted[overflowing[0]])
                raise RunFailure(sum_too_large, row, {"type_name": "BIGINT"})
        return sum_values(values, self.counted, self.links)

    def sum_decimals(self, words: IntArray) -> IntArray:
        """Return for each mapped row the sum of the values up to it, see `sum_decimals`."""
        return sum_decimals(words, self.counted, self.links)

    def find_extremes(self, keys: IntArray, *, greatest: bool) -> IntArray:
        """Return for each mapped row the input row of the extreme up to it, see `find_extremes`."""
        sign = -1 if greatest else 1
        is_chained = self.reader.matches.chains is not None
        return find_extremes(keys, self.counted, self.links, sign, is_chained)
