"""Compute aggregates of measures: for each mapped row the sum or the extreme of its match so far.

There is one pass over the mapped rows of all matches. A measure with final semantics reads the
value of its match's last mapped row. Sums run in row order, so a float sum is the one that Spark's
own aggregate returns for the sorted rows. These are kernels, because a sum per match is a loop per
row.

If matches share their rows, each mapped row has the sum or the extreme of the rows from it on, and
a match reads the value of its first row. So one pass over the shared rows is enough for all
matches, however long they are. This needs aggregates that do not depend on the order in which rows
are added. A sum of doubles depends on it as soon as one addition is rounded (`never_rounds`). Then
each match needs its own additions: `sum_each_match` makes them for many matches at once. An average
of integers is such a sum, because Spark adds integers up as DOUBLE.
"""

from __future__ import annotations

from functools import cached_property
from typing import TypeVar

import numpy as np

from matchrec.errors.run.failures import sum_too_large
from matchrec.jit.decorators import allocating
from matchrec.output.match_reader import Links, MatchReader
from matchrec.plan.expression import Semantics
from matchrec.search.matches import Matches, RunFailure
from matchrec.search.partitions import BoolArray, FloatArray, IntArray, take_or_default

Numbers = TypeVar("Numbers", IntArray, FloatArray)


def never_wraps(values: IntArray) -> bool:
    """Return whether the sum of any of the values fits int64.

    >>> never_wraps(np.array([2**62, -(2**62) + 1])), never_wraps(np.array([2**62, -(2**62)]))
    (True, False)
    """
    if not len(values):
        return True
    if len(values) * max(int(values.max()), -int(values.min())) < 2**63:
        return True
    sizes = np.abs(values).view(np.uint64)  # in which the size of the least integer fits
    high, low = sizes >> np.uint64(32), sizes & np.uint64(0xFFFF_FFFF)
    return (int(high.sum()) << 32) + int(low.sum()) < 2**63


DIGITS_OF_DOUBLE = 53  # a double holds every integer of this many binary digits


def find_common_unit(values: FloatArray) -> int | None:
    """Return the largest u such that all values are multiples of 2^u; None if all are 0.

    >>> find_common_unit(np.array([0.75, 0.0, -3.5])), find_common_unit(np.array([96.0, 32.0]))
    (-2, 5)

    Args:
        values: float64[n], finite.
    """
    fractions, exponents = np.frexp(values[values != 0])
    if not len(fractions):
        return None
    digits = np.ldexp(fractions, DIGITS_OF_DOUBLE).astype(np.int64)
    lowest = np.frexp((digits & -digits).astype(np.float64))[1] - 1  # the lowest digit that is 1
    return int((exponents - DIGITS_OF_DOUBLE + lowest).min())


def find_limit_of_sums(values: FloatArray) -> float:
    """Return a limit below which every sum of the values, or of some of them, is exact.

    Args:
        values: float64[n], finite.
    """
    unit = find_common_unit(values)
    if unit is None:
        return np.inf
    with np.errstate(over="ignore"):  # no double is as large as some limits
        return float(np.ldexp(1.0, unit + DIGITS_OF_DOUBLE))


FEW_VALUES = 1_000  # the number of values that `never_rounds` looks at first


def never_rounds(values: FloatArray, rows: IntArray, links: Links) -> bool:
    """Return whether the sums of the counted values are the same in any order of additions.

    That is so if all values are multiples of one power of two, and the sum of their absolute values
    is less than 2^53 multiples of it. Then a double holds every sum on the way.

    >>> rows, links = np.array([0, 1, 2]), np.array([-1, 0, 1], np.int32)
    >>> never_rounds(np.array([3.5, -5.25, 2.0**50]), rows, links)
    True
    >>> never_rounds(np.array([3.5, -5.25, 2.0**51]), rows, links)
    False
    >>> never_rounds(np.array([0.1, 0.2, 0.3]), rows, links)
    False

    Args:
        values: float64[n], the value of each input row.
        rows: see `sum_values`.
        links: see `sum_values`.
    """
    counted = values[rows[rows >= 0]]
    limit = np.inf
    for part in (counted[:FEW_VALUES], counted):  # most columns fail with a few values
        if not np.isfinite(part).all():
            return False
        limit = find_limit_of_sums(part)
        if np.abs(part).max(initial=0) >= limit:
            return False
    # Sums below the limit are exact. So a sum that is not below it is not rounded to a value below.
    sums = sum_values(np.abs(values), rows, links)
    return bool((sums < min(limit, np.finfo(np.float64).max)).all())


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
def sum_each_match(
    values: FloatArray, rows: IntArray, following: Links, first: IntArray
) -> FloatArray:
    """Return the sum of the values of each match, added up in the order of its rows.

    Matches that share their rows form trees: a match is a path from its first row to the root of a
    tree, and joins other matches on the way. The sums of all matches with the same mapped row are
    next to each other in `sums`. So one step adds the value of the row to all of them, which takes
    a fraction of a nanosecond for each match.

        rows a b c d, matches abcd, bcd and cd      sums  [abcd, bcd, cd]
        a is added to sums[0:1], b to sums[0:2], c to sums[0:3], d to sums[0:3]

    Args:
        values: float64[n], the value of each input row.
        rows: int64[k], the input row of each mapped row, -1 if it does not count.
        following: int32[k], the next row of the match, which has a lesser index; -1 for none.
        first: int64[m], the first mapped row of each match, -1 if the match is empty.

    Returns:
        float64[m].
    """
    sizes = np.zeros(len(rows), np.int64)  # how many matches have each mapped row
    for match in range(len(first)):
        if first[match] >= 0:
            sizes[first[match]] += 1
    for node in range(len(rows) - 1, -1, -1):
        if following[node] >= 0:
            sizes[following[node]] += sizes[node]
    begins = np.empty(len(rows), np.int64)  # where the sums of these matches begin
    free = np.empty(len(rows), np.int64)  # the first of them that belongs to no earlier match
    matches = 0
    for node in range(len(rows)):
        if following[node] >= 0:
            begins[node] = free[following[node]]
            free[following[node]] += sizes[node]
        else:
            begins[node] = matches
            matches += sizes[node]
        free[node] = begins[node]
    sums = np.zeros(matches, np.float64)
    for node in range(len(rows) - 1, -1, -1):
        if rows[node] >= 0:
            sums[begins[node] : begins[node] + sizes[node]] += values[rows[node]]
    ordered = np.zeros(len(first), np.float64)
    for match in range(len(first)):
        node = first[match]
        if node >= 0:
            ordered[match] = sums[free[node]]
            free[node] += 1
    return ordered


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
def find_extreme_rows(
    keys: IntArray, rows: IntArray, links: Links, sign: int, takes_equal: bool
) -> IntArray:
    """Return for each mapped row the input row of the extreme key up to it: int64[k].

    -1 if no row counts.

    Args:
        keys: int64[n], a number for each input row that sorts as its value does.
        rows: see `sum_values`.
        links: see `sum_values`.
        sign: 1 for the least key, -1 for the greatest.
        takes_equal: whether a row takes the place of an earlier one, in the order of the links, if
            their keys are equal.
    """
    extremes = np.empty(len(rows), np.int64)
    for node in range(len(rows)):
        best = extremes[links[node]] if links[node] >= 0 else np.int64(-1)
        row = rows[node]
        if best < 0:
            best = row
        elif row >= 0:
            less, other = (row, best) if sign > 0 else (best, row)
            if keys[less] < keys[other] or (takes_equal and keys[less] == keys[other]):
                best = row
        extremes[node] = best
    return extremes


def find_total_rows(reader: MatchReader, semantics: Semantics) -> IntArray:
    """Return the mapped row whose total an output row reads, or -1: int64[r].

    It is the last row that the output row sees. If matches share their rows, their totals are added
    up towards the first row, so it is the first row of the match.
    """
    if reader.matches.chains is not None:
        return reader.rows.current
    begin, end = reader.find_visible_rows(semantics)
    return np.where(end > begin, end - 1, -1)


class AggregateReader:
    """A reader of running and final aggregates over the rows of one variable.

    It computes them for r output rows and k mapped rows, as `MatchReader` does.
    """

    def __init__(self, reader: MatchReader, variable: str | None, valid: BoolArray) -> None:
        """Prepare the aggregates.

        Args:
            reader: the reader.
            variable: the variable; None is the universal one.
            valid: bool[n], which input rows count if they are mapped to the variable.
        """
        self.reader = reader
        self.variable = variable
        self.valid = valid
        # Whether every mapped row counts, as for `count(*)`.
        self.counts_all_rows = variable is None and bool(valid.all())

    @cached_property
    def rows(self) -> IntArray:
        """Return the input row of each mapped row: int64[k]."""
        return self.reader.matches.mapped_rows

    @cached_property
    def counted(self) -> IntArray:
        """Return the input row of each mapped row, -1 if it does not count: int64[k]."""
        if self.counts_all_rows:
            return self.rows
        is_counted = self.reader.find_mask(self.variable) & self.valid[self.rows]
        return np.where(is_counted, self.rows, -1)

    @cached_property
    def links(self) -> Links:
        """Return for each mapped row the one whose total it continues, see `find_links`."""
        return find_links(self.reader.matches)

    def count_values(self, semantics: Semantics) -> IntArray:
        """Return the number of values that each output row's aggregate is over: int64[r]."""
        if self.reader.matches.chains is None:
            if self.counts_all_rows:
                begin, end = self.reader.find_visible_rows(semantics)
                return end - begin
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

    def sum_floats(self, values: FloatArray, semantics: Semantics) -> FloatArray:
        """Return the sum that each output row sees, added up in the order of its rows: float64[r].

        Args:
            values: float64[n], the value of each input row.
            semantics: which rows an output row sees.
        """
        chains = self.reader.matches.chains
        if chains is not None and not never_rounds(values, self.counted, self.links):
            first = self.reader.rows.current
            return sum_each_match(values, self.counted, chains.following, first)
        sums = sum_values(values, self.counted, self.links)
        return take_or_default(sums, find_total_rows(self.reader, semantics), 0)

    def sum_decimals(self, words: IntArray) -> IntArray:
        """Return for each mapped row the sum of the values up to it, see `sum_decimals`."""
        return sum_decimals(words, self.counted, self.links)

    def find_extreme_rows(
        self, keys: IntArray, *, greatest: bool, takes_last: bool = False
    ) -> IntArray:
        """Return for each mapped row the input row of the extreme up to it: int64[k].

        Args:
            keys: see `find_extreme_rows`.
            greatest: whether it is the greatest key, not the least.
            takes_last: whether the last row of a match is returned if several have the extreme
                key. Otherwise the first one is.
        """
        is_chained = self.reader.matches.chains is not None  # then later rows come first
        sign = -1 if greatest else 1
        return find_extreme_rows(keys, self.counted, self.links, sign, takes_last != is_chained)
