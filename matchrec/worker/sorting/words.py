"""Pack the codes of each row into words of 64 bits, and sort rows by their words.

Codes are packed so that words compare as rows do, the first word first. Packing begins with the
last column, so a list of codes or words has the last code or word first:

    codes of k   1, 0, 1 of 1 bit       words   4, 2, 5: the code of t is in bits 0 and 1,
    codes of t   0, 2, 1 of 2 bits              the code of k is in bit 2

Rows are sorted by as many bits of a word at a time as leave room for the position of a row.
Positions are all different, so NumPy's fastest sort keeps rows with equal words in their order. On
processors on which NumPy sorts slowly, a compiled sort does the same (`search.kernels.sorting`).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

import numpy as np

from matchrec.search.kernels.sorting import (
    GOLDEN,
    add_positions,
    find_changes,
    remove_positions,
    sort_words_by_bits,
)
from matchrec.search.partitions import BoolArray, IntArray, WordArray
from matchrec.worker.sorting.codes import WORD_BITS, SortCode
from matchrec.worker.sorting.texts import SAMPLE_ROWS

# The least number of words for which the compiled sort is faster than a slow sort of NumPy.
MIN_WORDS_FOR_RADIX = 1 << 14
# NumPy's sort is slow if it takes longer than this. With vector instructions it takes 8 to 11
# nanoseconds a word, without them about 50. The compiled sort takes 11 to 16.
SLOW_SECONDS_PER_WORD = 20e-9


class PackedCode(NamedTuple):
    """A code, and where it is in a word."""

    code: SortCode
    first_bit: int


@dataclass(frozen=True, slots=True)
class SortWord:
    """One word of each row, packed from the codes of columns."""

    values: WordArray  # uint64[n]
    bits: int  # how many of the bits are used
    key_bits: int  # a mask of the bits that belong to keys
    # The codes of the columns whose values can be read from the word, by the names of the columns.
    columns: dict[str, PackedCode] = field(default_factory=dict)

    def read_column(self, name: str) -> IntArray:
        """Return the values of one of `columns`, as integers: int64[n]."""
        code, first_bit = self.columns[name]
        return code.decode(self.values, first_bit)

    def add(self, code: SortCode) -> SortWord:
        """Return the word with one more code, which is compared before the codes that it has.

        There must be room: the bits of the word and of the code together are at most 64.
        """
        values = code.encode(self.bits)
        if self.bits:
            values |= self.values
        key_bits = self.key_bits
        if code.is_key:
            key_bits |= code.mask << self.bits
        columns = self.columns
        if code.column:
            columns = {**columns, code.column: PackedCode(code, self.bits)}
        return SortWord(values, self.bits + code.bits, key_bits, columns)


def make_empty_word(count: int) -> SortWord:
    """Return a word without codes.

    Args:
        count: the number of rows.
    """
    return SortWord(np.zeros(count, np.uint64), 0, 0)


def pack_words(codes: Iterable[SortCode]) -> list[SortWord]:
    """Pack codes into as few words as their order allows, the last word first.

    Codes of 40, 30 and 20 bits become words of 40 and 50 bits. If all rows are equal, there are no
    codes and no words.

    Args:
        codes: the codes of all columns, the last code first.
    """
    words: list[SortWord] = []
    for code in codes:
        if words and words[-1].bits + code.bits <= WORD_BITS:
            words[-1] = words[-1].add(code)
        else:
            words.append(make_empty_word(0).add(code))
    return words


# Sorting.


@dataclass(frozen=True, slots=True)
class SortedRows:
    """The result of a sort of rows by their words."""

    rows: IntArray  # int64[n], the positions that the rows had before, in their new order
    # The only word of the rows, with its values in the new order; None if there are several words,
    # or if it took several sorts to sort by the word.
    word: SortWord | None

    def arrange(self, words: list[SortWord]) -> OrderedWords:
        """Return the words in the order of the rows.

        Args:
            words: all words of the rows, in the order before the sort.
        """
        if self.word is not None:
            return OrderedWords([self.word], None, len(self.rows))
        return OrderedWords(words, self.rows, len(self.rows))


def sort_words(words: list[SortWord], count: int) -> SortedRows:
    """Return the order of rows by their words. Rows with equal words stay in their order.

    This is a radix sort: rows are sorted by the last bits first, and each sort keeps the order of
    rows that it does not tell apart. A sort takes as many bits as fit into a word in front of the
    position of a row:

        bits of a word            1011 0110    sorted by 0110 first, then by 1011
        a word that is sorted     0110 and the position of its row

    Args:
        words: one or more words, the last one first.
        count: the number of rows.
    """
    # Bits for the position of a row, with which `sort_digits` makes all words different.
    position_bits = count.bit_length()
    bits_per_sort = WORD_BITS - position_bits
    if len(words) == 1 and words[0].bits <= bits_per_sort:
        sorted_digits = sort_digits(words[0].values, words[0].bits, position_bits)
        sorted_word = replace(words[0], values=sorted_digits.digits)
        return SortedRows(sorted_digits.positions, sorted_word)

    order: IntArray | None = None  # of the rows after the sorts so far
    for word in words:
        for shift in range(0, word.bits, bits_per_sort):
            digits = word.values >> np.uint64(shift) if shift else word.values
            if order is not None:
                digits = digits.take(order)
            digit_bits = min(bits_per_sort, word.bits - shift)
            positions = sort_digits(digits, digit_bits, position_bits).positions
            order = positions if order is None else order.take(positions)
    assert order is not None, "there are words"
    return SortedRows(order, None)


class SortedDigits(NamedTuple):
    """Digits in order, and the position that each had before."""

    digits: WordArray  # uint64[n]
    positions: IntArray  # int64[n]


def sort_digits(digits: WordArray, bits: int, position_bits: int) -> SortedDigits:
    """Sort digits. Equal digits stay in their order.

    Each digit gets its position as its last bits, and loses it again after the sort. The digits 3,
    1, 3 become (3, 0), (1, 1), (3, 2), and in order (1, 1), (3, 0), (3, 2). So the result has the
    digits 1, 3, 3 and the positions 1, 0, 2.

    Args:
        digits: uint64[n]. Their highest `position_bits` bits are dropped, to make room.
        bits: how many of the other bits, counted from the lowest, can be 1.
        position_bits: the number of bits of a position.
    """
    numbered = add_positions(digits, position_bits)
    if numbered is None:
        numbered = digits << np.uint64(position_bits)
        numbered |= np.arange(len(numbered), dtype=np.uint64)
    sorted_words = sort_numbered_words(numbered, position_bits, bits)
    positions = remove_positions(sorted_words, position_bits)
    if positions is None:
        positions = (sorted_words & np.uint64((1 << position_bits) - 1)).view(np.int64)
        sorted_words >>= np.uint64(position_bits)
    return SortedDigits(sorted_words, positions)


def sort_numbered_words(words: WordArray, position_bits: int, bits: int) -> WordArray:
    """Return words in order. The lowest bits of the words are their positions 0, 1, 2, …

    Because of the positions, all words differ. So both sorts return the same: NumPy's sort, which
    may change the order of equal words, and the compiled sort, which keeps the order of equal words
    and does not compare positions.

    Args:
        words: uint64[n], which the sort overwrites.
        position_bits: the number of bits of a position.
        bits: the number of bits before the position that can be 1.
    """
    if len(words) >= MIN_WORDS_FOR_RADIX and is_numpy_slow():
        sorted_words = sort_words_by_bits(words, position_bits, bits)
        if sorted_words is not None:
            return sorted_words
    words.sort()
    return words


@cache
def is_numpy_slow() -> bool:
    """Return whether NumPy sorts words much more slowly than it does with vector instructions.

    This is measured once, because it depends on the processor and on the version of NumPy.
    """
    words = np.arange(SAMPLE_ROWS, dtype=np.uint64) * np.uint64(GOLDEN)
    seconds = []
    for _ in range(3):
        copy = words.copy()
        began = time.thread_time()
        copy.sort()
        seconds.append(time.thread_time() - began)
    return min(seconds) > SLOW_SECONDS_PER_WORD * SAMPLE_ROWS


# Comparisons of rows by their words.


def are_in_order(words: list[SortWord]) -> bool:
    """Return whether the rows are in order already.

    Rows are compared block by block, up to the first block that is not in order. One block is not
    enough: if an engine reads two sorted files at the same time, rows are out of order only where a
    batch of the other file begins.
    """
    count = len(words[0].values) if words else 0
    for begin in range(0, count - 1, SAMPLE_ROWS):
        in_order: BoolArray = np.ones(1, np.bool_)
        for word in words:  # from the last word on: an earlier word overrules later ones
            values = word.values[begin : begin + SAMPLE_ROWS + 1]  # and the next block's first row
            before, after = values[:-1], values[1:]
            in_order = (before < after) | ((before == after) & in_order)
        if not in_order.all():
            return False
    return True


@dataclass(frozen=True, slots=True)
class OrderedWords:
    """The words of rows that are in order, for comparisons of neighbouring rows."""

    words: Sequence[SortWord]
    # int64[n], for each row in order, its position in `words`; None if the words are in order.
    rows: IntArray | None
    count: int  # the number n of rows

    def find_partition_starts(self) -> BoolArray:
        """Return which rows have other keys than the row before them: bool[n], in order.

        There must be at least one row. The first row starts a partition.
        """
        starts_partition = np.zeros(self.count, np.bool_)
        starts_partition[0] = True
        for word in self.words:
            if word.key_bits:
                starts_partition |= find_key_changes(self.take_values(word), word.key_bits)
        return starts_partition

    def find_ties(self) -> IntArray:
        """Return the rows that equal the row before them in all words: positions in the order."""
        if not self.words:  # all rows are equal
            return np.arange(1, self.count)
        first, *others = self.words
        values = self.take_values(first)
        ties = np.flatnonzero(values[1:] == values[:-1]) + 1
        for word in others:
            row = ties
            row_before = ties - 1
            if self.rows is not None:
                row = self.rows[row]
                row_before = self.rows[row_before]
            ties = ties[word.values[row] == word.values[row_before]]
        return ties

    def take_values(self, word: SortWord) -> WordArray:
        """Return the values of one of the words, in order: uint64[n]."""
        return word.values if self.rows is None else word.values.take(self.rows)


def find_key_changes(values: WordArray, key_bits: int) -> BoolArray:
    """Return which words have another key than the previous word: bool[n], True for the first.

    Args:
        values: uint64[n], one or more words in order.
        key_bits: a mask of the bits that belong to keys.
    """
    is_different = find_changes(values, key_bits)
    if is_different is None:
        keys = values & np.uint64(key_bits)
        is_different = np.ones(len(values), np.bool_)
        np.not_equal(keys[1:], keys[:-1], out=is_different[1:])
    return is_different
