"""Answers what measures read on matches that share their rows, once for each shared row.

What a match reads at its end follows, row by row, from what the match reads that begins one row
further on: a count is one more or the same, the last row of a variable is the same unless there is
none. So one pass over the shared rows answers for all matches, however long they are. That is so
for what depends on the rows of a match, but not on the order in which they are added: a sum of
floats does, so it is none of this.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from matchrec.dataclass import dataclass
from matchrec.engine.matches import Chains
from matchrec.engine.partitions import BoolArray, FloatArray, IntArray
from matchrec.jit.decorators import allocating
from matchrec.output.measures import MatchReader
from matchrec.output.reads import Read
from matchrec.plan.clauses import RowsPerMatch
from matchrec.plan.expression import End, Navigation, Semantics

Following = npt.NDArray[np.int32]


def read_from_chains(reads: Iterable[Read], rows_per_match: RowsPerMatch) -> bool:
    """Whether matches that share their rows are enough to answer reads, if sums are exact."""
    return rows_per_match.is_one_row and all(read.is_chained for read in reads)


def never_overflows(values: IntArray) -> bool:
    """Whether no sum of any of the values is too large for int64."""
    if not len(values):
        return True
    return len(values) * max(int(values.max()), -int(values.min())) < 2**63


@allocating
def find_from(mask: BoolArray, following: Following, first: bool) -> IntArray:
    """int64[k], from each mapped row on the first or the last one that is marked, or -1."""
    found = np.empty(len(mask), np.int64)
    for node in range(len(mask)):
        further = found[following[node]] if following[node] >= 0 else -1
        if mask[node] and (first or further < 0):
            further = node
        found[node] = further
    return found


@allocating
def sums_from(values: IntArray, following: Following) -> IntArray:
    """int64[k], the sum of the values from each mapped row on, modulo 2^64."""
    sums = np.empty(len(values), np.int64)
    for node in range(len(values)):
        sums[node] = values[node]
        if following[node] >= 0:
            sums[node] += sums[following[node]]
    return sums


@allocating
def decimal_sums_from(words: IntArray, following: Following) -> IntArray:
    """int64[k, 2], the same of 128-bit integers: low words, unsigned in int64, and high ones."""
    sums = np.empty(words.shape, np.int64)
    for node in range(len(words)):
        low, high = np.uint64(words[node, 0]), words[node, 1]
        if following[node] >= 0:
            low += np.uint64(sums[following[node], 0])
            carry = np.int64(1) if low < np.uint64(words[node, 0]) else np.int64(0)
            high += sums[following[node], 1] + carry
        sums[node, 0] = np.int64(low)
        sums[node, 1] = high
    return sums


@allocating
def extremes_from(
    keys: IntArray | FloatArray, rows: IntArray, counted: BoolArray, following: Following, sign: int
) -> IntArray:
    """int64[k], from each mapped row on the input row of the least counted key, or -1.

    sign: 1 for the least, -1 for the greatest. NaN is greater than any other number; of equal keys
    the first one counts.
    """
    extremes = np.empty(len(rows), np.int64)
    for node in range(len(rows)):
        best = extremes[following[node]] if following[node] >= 0 else np.int64(-1)
        row = rows[node]
        if counted[node]:
            if best < 0:
                best = row
            else:
                one, other = (best, row) if sign > 0 else (row, best)
                better = keys[one] < keys[other] or (
                    keys[other] != keys[other] and keys[one] == keys[one]
                )
                if not better:
                    best = row
        extremes[node] = best
    return extremes


@dataclass(frozen=True, slots=True)
class ChainReader(MatchReader):
    """Answers what references read at the ends of matches that share their rows.

    There is one output row for each match; running and final semantics are the same.
    """

    @property
    def chains(self) -> Chains:
        """How the matches share rows."""
        assert self.matches.chains is not None
        return self.matches.chains

    @property
    def mapped_rows(self) -> IntArray:
        """int64[k], row position of every mapped row."""
        assert self.matches.rows is not None
        return self.matches.rows

    def mapped(self, navigation: Navigation) -> IntArray:
        """int64[m], index of the mapped row that the logical step finds, or -1."""
        mask, is_first = self.mask(navigation.variable), navigation.end is End.FIRST
        return at_first(find_from(mask, self.chains.following, is_first), self.chains.first)

    def positions(self, navigation: Navigation) -> IntArray:
        """int64[m], row position that a navigation reads, or -1."""
        logical = at_first(self.mapped_rows, self.mapped(navigation))
        return self.step(logical, navigation)

    def classifiers(self, navigation: Navigation) -> IntArray:
        """int64[m], variable id of the row that a navigation finds, -1 where there is none."""
        classifiers = self.matches.classifiers.astype(np.int64)
        return at_first(classifiers, self.mapped(navigation))

    def match_numbers(self) -> IntArray:
        """int64[m], match number."""
        return self.matches.number


def at_first(values: IntArray, index: IntArray) -> IntArray:
    """values[index], -1 where the index is -1."""
    if not len(values):
        return index
    return np.where(index >= 0, values[index], -1)


class ChainAggregates:
    """Reads final aggregates of one variable's rows: of each mapped row, those from it on."""

    def __init__(self, reader: ChainReader, variable: str | None, valid: BoolArray) -> None:
        """valid: bool[n], input rows whose value is not NULL."""
        self.reader = reader
        self.following = reader.chains.following
        self.rows = reader.mapped_rows
        self.counted = reader.mask(variable) & valid[self.rows]

    def index(self, _: Semantics) -> IntArray:
        """int64[m], the mapped row at which to read a value, or -1."""
        return self.reader.chains.first

    def counts(self, _: Semantics) -> IntArray:
        """int64[m], how many values each output row's aggregate is over."""
        counts = sums_from(self.counted.astype(np.int64), self.following)
        return np.maximum(at_first(counts, self.reader.chains.first), 0)

    def integer_sums(self, values: IntArray, *, ansi: bool) -> IntArray:
        """int64[k], sums from each mapped row on; under `ansi` none may overflow on its way."""
        assert not ansi or never_overflows(values)
        return sums_from(np.where(self.counted, values[self.rows], 0), self.following)

    def decimal_sums(self, words: IntArray) -> IntArray:
        """int64[k, 2], low and high words of the sums of `words` int64[n, 2]."""
        counted = np.where(self.counted[:, None], words[self.rows], 0)
        return decimal_sums_from(counted, self.following)

    def extremes(self, keys: IntArray | FloatArray, *, greatest: bool) -> IntArray:
        """int64[k], by mapped row the input row of the extreme from it on, or -1."""
        sign = -1 if greatest else 1
        return extremes_from(keys, self.rows, self.counted, self.following, sign)
