"""Computes aggregates of measures: at each mapped row the sum or the extreme of its match so far.

One pass over the mapped rows of all matches; a measure with final semantics reads the value at its
match's last mapped row. Sums run in row order, so a float sum is the one that Spark's own aggregate
gives over the sorted rows. Kernels, because a sum per match is a loop per row.

Where matches share their rows, each mapped row has the sum or the extreme from it on, and a match
reads the value at its first one: so one pass over the shared rows answers for all matches, however
long they are. That is so for what does not depend on the order in which rows are added. A sum of
doubles depends on it as soon as one addition is rounded, so matches share their rows only if
`adds_whole_numbers` shows that none is. An average of integers is such a sum: Spark adds them up as
DOUBLE.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from matchrec.errors.run.failures import sum_too_large
from matchrec.jit.decorators import allocating
from matchrec.output.measures import Links, Reader
from matchrec.plan.expression import Semantics
from matchrec.search.matches import Matches, RunFailure
from matchrec.search.partitions import BoolArray, FloatArray, IntArray, at

Values = TypeVar("Values", IntArray, FloatArray)


def never_wraps(values: IntArray) -> bool:
    """Whether no sum of any of the values is too large for int64."""
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


def links_of(matches: Matches) -> Links:
    """int32[k], the mapped row whose total each one continues, which has a lesser index, or -1: the
    row before it in its match, or after it where matches share their rows.
    """
    if matches.chains is not None:
        return matches.chains.following
    links = np.arange(-1, len(matches.classifiers) - 1, dtype=np.int32)
    begins = matches.offsets[:-1]
    links[begins[begins < len(links)]] = -1
    return links


@allocating
def sum_values(values: Values, rows: IntArray, links: Links) -> Values:
    """int64[k] or float64[k], at each mapped row the sum of the counted values up to it, wrapped.

    values: by input row. rows: int64[k], the input row of each mapped one, -1 if it does not count.
    """
    sums = np.empty(len(rows), values.dtype)
    for node in range(len(rows)):
        sums[node] = sums[links[node]] if links[node] >= 0 else 0
        if rows[node] >= 0:
            sums[node] += values[rows[node]]
    return sums


@allocating
def sum_decimals(words: IntArray, rows: IntArray, links: Links) -> IntArray:
    """int64[k, 2], as `sum_values`: low words of 128-bit integers, unsigned in int64, and high."""
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
    """int64[k], as `sum_values`: the input row of the least counted key, or -1.

    sign: 1 for the least, -1 for the greatest. Of equal keys the one of the first row in the match
    counts, which shared rows come to last.
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


def last_seen(reader: Reader, semantics: Semantics) -> IntArray:
    """int64[r], the last mapped row that each output row sees, or -1."""
    if reader.matches.chains is not None:
        return reader.rows.current
    base, limit = reader.look(semantics)
    return np.where(limit > base, limit - 1, -1)


class AggregateReader:
    """Reads running and final aggregates of one variable's rows for the output rows of a reader."""

    def __init__(self, reader: Reader, variable: str | None, valid: BoolArray) -> None:
        """valid: bool[n], input rows whose value is not NULL."""
        self.reader = reader
        self.rows = reader.matches.mapped_rows
        counted = reader.mask(variable) & valid[self.rows]
        self.counted = np.where(counted, self.rows, -1)
        self.links = links_of(reader.matches)

    def counts(self, semantics: Semantics) -> IntArray:
        """int64[r], how many values each output row's aggregate is over."""
        if self.reader.matches.chains is None:
            return self.reader.add_up(self.counted >= 0, semantics)
        ones = np.ones(self.reader.partitions.rows, np.int64)
        sums = self.integer_sums(ones, ansi=False)
        return at(sums, last_seen(self.reader, semantics), 0)

    def integer_sums(self, values: IntArray, *, ansi: bool) -> IntArray:
        """int64[k], sums by mapped row. Raises RunFailure under `ansi`."""
        if ansi and not never_wraps(values):
            low, high = self.decimal_sums(np.stack([values, values >> 63], axis=1)).T
            lost = np.flatnonzero(high != low >> 63)
            if len(lost):
                row = int(self.counted[lost[0]])
                raise RunFailure(sum_too_large, row, {"type_name": "BIGINT"})
        return sum_values(values, self.counted, self.links)

    def decimal_sums(self, words: IntArray) -> IntArray:
        """int64[k, 2], low and high words of the sums of `words` int64[n, 2]."""
        return sum_decimals(words, self.counted, self.links)

    def extremes(self, keys: IntArray, *, greatest: bool) -> IntArray:
        """int64[k], by mapped row the input row of the extreme, or -1."""
        sign, is_chained = -1 if greatest else 1, self.reader.matches.chains is not None
        return find_extremes(keys, self.counted, self.links, sign, is_chained)
