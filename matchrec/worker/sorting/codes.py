"""Encode the columns that rows are sorted by: from values to numbers, from numbers to codes.

1. A column becomes `SortNumbers`: signed numbers that compare as its values do. Most columns become
   one array of numbers. Wide decimals, and short texts that are mostly distinct, become several
   arrays, which are compared one after the other.
2. The numbers become codes of few bits. A code is the distance of a number from the least number,
   in units. The unit is the greatest number that divides all distances, such as a million if all
   timestamps, in microseconds, are whole seconds. Short codes leave room for other codes in a word
   of 64 bits (`worker.sorting.words`).

For example:

    t 5, 9, 7               →  distances 0, 4, 2 in units of 2   →  codes 0, 2, 1 of 2 bits
    k "b", "a", "b"         →  ranks 2, 1, 2                     →  codes 1, 0, 1 of 1 bit
    price 1.5, NULL, 2.5    →  one code of 1 bit that says whether a value is NULL, then the codes
                               of the bits of the doubles, 0 for NULL
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import gcd

import numpy as np
import pyarrow as pa

from matchrec.conditions.types import NARROW_DIGITS
from matchrec.search.kernels.sorting import (
    ALL_BITS,
    compute_codes,
    number_distinct,
    read_codes,
    reduce_unit,
)
from matchrec.search.partitions import BoolArray, IntArray, WordArray
from matchrec.worker import arrays
from matchrec.worker.arrow_types import is_text, is_whole
from matchrec.worker.column_roles import SortColumn, Sorting
from matchrec.worker.sort_keys import make_sort_keys, rank_repeated_values
from matchrec.worker.sorting.texts import convert_texts, has_many_distinct_values

WORD_BITS = 64
SIGN_BIT = np.int64(np.iinfo(np.int64).min)

# How many of the first numbers are looked at to estimate their unit.
FEW_NUMBERS = 8

# If the least and the greatest number differ by this much, a word has no room for a code and the
# number of a row, so rows need two sorts. Then numbers are ranked first, unless many of them
# differ.
WIDE_SPAN = 1 << 44


# Codes.


@dataclass(frozen=True, slots=True)
class SortNumbers:
    """Numbers that compare as the values of a column do, or as a part of each value does."""

    numbers: IntArray  # int64[n], one number for each row
    least: int
    greatest: int
    # Whether the column stores its values as these integers, so that it can be built from them.
    are_values: bool = False

    @classmethod
    def measure(cls, numbers: IntArray, *, are_values: bool = False) -> SortNumbers:
        """Return one or more numbers with the least and the greatest of them."""
        return cls(numbers, int(numbers.min()), int(numbers.max()), are_values)

    def find_distances(self) -> WordArray:
        """Return each number's distance from the least one, as uint64[n]."""
        return np.asarray(self.numbers.view(np.uint64) - np.uint64(self.least & ALL_BITS))


@dataclass(frozen=True, slots=True)
class SortCode:
    """How numbers are encoded: as their distance from the least number, in units.

    The codes themselves are computed when they are packed into words.
    """

    source: SortNumbers  # the numbers that are encoded
    unit: int  # divides each number's distance from the least one
    bits: int  # how many bits a code has; 0 if all numbers are equal
    is_descending: bool  # whether the greatest number has the least code
    is_key: bool  # whether the numbers are of a partition key, not of the order in a partition
    # The name of the column that can be built from the numbers, see `SortNumbers.are_values`; or
    # None.
    column: str | None = None

    @property
    def mask(self) -> int:
        """Return a mask of the bits of a code."""
        return (1 << self.bits) - 1

    def encode(self, first_bit: int) -> WordArray:
        """Return a word for each row that has only the code, from `first_bit` on: uint64[n].

        The code must fit into the word: `first_bit + bits` is at most 64. All other bits are 0.

        >>> code = encode_numbers(SortNumbers.measure(np.array([5, 9, 7])))
        >>> code.unit, code.bits, code.encode(0).tolist(), code.encode(4).tolist()
        (2, 2, [0, 2, 1], [0, 32, 16])
        """
        source = self.source
        inverted = self.mask << first_bit if self.is_descending else 0
        words = compute_codes(source.numbers, source.least, self.unit, first_bit, inverted)
        if words is not None:
            return words
        codes = source.find_distances()
        if self.unit > 1:
            codes //= np.uint64(self.unit)
        if first_bit:
            codes <<= np.uint64(first_bit)
        if inverted:
            codes ^= np.uint64(inverted)
        return codes

    def decode(self, words: WordArray, first_bit: int) -> IntArray:
        """Return the numbers that `encode` has put into words: int64[n].

        Args:
            words: uint64[n], words that may have other codes, too.
            first_bit: the lowest bit of the codes.
        """
        least = self.source.least
        inverted = self.mask if self.is_descending else 0
        numbers = read_codes(
            words,
            first_bit=first_bit,
            mask=self.mask,
            inverted=inverted,
            unit=self.unit,
            least=least,
        )
        if numbers is not None:
            return numbers
        codes = words >> np.uint64(first_bit)
        codes &= np.uint64(self.mask)
        if inverted:
            codes ^= np.uint64(inverted)
        if self.unit > 1:
            codes *= np.uint64(self.unit)
        codes += np.uint64(least & ALL_BITS)
        return np.asarray(codes.view(np.int64))


def encode_table(
    table: pa.Table, sorting: Sorting, *, in_any_order: bool = False
) -> Iterator[SortCode]:
    """Yield the codes of the columns that rows are sorted by, from the last column to the first.

    A code that is the same in all rows is left out.

    Args:
        table: the rows. Each column must have one chunk.
        sorting: what the rows are sorted by.
        in_any_order: whether partitions may come in any order, so that the codes of keys need only
            tell keys apart.
    """
    key_count = len(sorting.keys)
    for index, column in reversed([*enumerate(sorting.columns)]):
        values = arrays.take_column(table, column.name)
        is_key = index < key_count
        codes = encode_column(values, column, is_key=is_key, in_any_order=is_key and in_any_order)
        for code in codes:
            if code.bits:
                yield code


def encode_column(
    values: pa.Array, column: SortColumn, *, is_key: bool, in_any_order: bool = False
) -> Iterator[SortCode]:
    """Yield the codes of one column. The code that is compared first is yielded last.

    If there are NULLs, the code that is compared first says whether a value is NULL, and each other
    code is the same for all NULLs. The column cannot be built from its codes then.

    Args:
        values: the values of the column.
        column: the column, and how it is sorted.
        is_key: whether it is a partition key.
        in_any_order: whether the codes need only tell values apart.
    """
    sources = convert_values(values, in_any_order=in_any_order)
    is_present = arrays.find_valid(values) if values.null_count else None
    if is_present is not None:
        sources = [replace_nulls(source, is_present) for source in sources]
    for source in reversed(sources):
        code = encode_numbers(source, is_descending=column.descending, is_key=is_key)
        yield replace(code, column=column.name) if source.are_values else code
    if is_present is not None:
        is_null = SortNumbers.measure((~is_present).astype(np.int64))
        yield encode_numbers(is_null, is_descending=column.nulls_first, is_key=is_key)


def replace_nulls(source: SortNumbers, is_present: BoolArray) -> SortNumbers:
    """Return the numbers, with the number of each NULL replaced by the least of the other numbers.

    Before, the numbers of NULLs have no meaning.

    Args:
        source: the numbers of a column.
        is_present: bool[n], which values of the column are not NULL.
    """
    least = source.numbers[is_present].min(initial=np.iinfo(np.int64).max)
    return SortNumbers.measure(np.where(is_present, source.numbers, least))


def encode_numbers(
    source: SortNumbers, *, is_descending: bool = False, is_key: bool = False
) -> SortCode:
    """Return how numbers are encoded. The code has no bits if all numbers are equal."""
    span = source.greatest - source.least
    unit = find_common_divisor(source)
    bits = (span // unit).bit_length()
    return SortCode(source, unit, bits, is_descending, is_key)


def find_common_divisor(source: SortNumbers) -> int:
    """Return the greatest number that divides each number's distance from the least one.

    1 if all numbers are equal.

    >>> find_common_divisor(SortNumbers.measure(np.array([5, 9, 7])))
    2
    """
    span = source.greatest - source.least
    first_distances = [number - source.least for number in source.numbers[:FEW_NUMBERS].tolist()]
    unit = gcd(span, *first_distances) or 1
    if unit == 1:
        return 1
    # The unit of a few numbers may be too great. Make it smaller until it divides all distances.
    reduced_unit = reduce_unit(source.numbers, source.least, unit)
    if reduced_unit is not None:
        return reduced_unit
    distances = source.find_distances()
    while True:
        # NumPy multiplies and divides with vector instructions, but finds remainders without.
        is_undivided = distances // np.uint64(unit) * np.uint64(unit) != distances
        if not is_undivided.any():
            return unit
        remainders = distances[is_undivided][:FEW_NUMBERS] % np.uint64(unit)
        unit = gcd(unit, *remainders.tolist())


# Numbers that compare as values do.


def convert_values(values: pa.Array, *, in_any_order: bool = False) -> list[SortNumbers]:
    """Return numbers that compare as values do.

    If there are several arrays of numbers, the first array is compared first. The numbers for NULL
    have no meaning.

    Args:
        values: the values of a column.
        in_any_order: whether the numbers need only tell values apart.
    """
    value_type = values.type
    if pa.types.is_decimal(value_type) and value_type.precision > NARROW_DIGITS:
        words = arrays.read_decimal_words(values)
        high_words = np.ascontiguousarray(words[:, 1])
        low_words = shift_unsigned(words[:, 0])
        return [SortNumbers.measure(high_words), SortNumbers.measure(low_words)]
    if is_text(value_type):
        sources = [SortNumbers.measure(numbers) for numbers in convert_texts(values)]
    else:
        sources = [SortNumbers.measure(make_sort_keys(values), are_values=is_whole(value_type))]
    if len(sources) > 1:
        return sources
    return [shorten_numbers(sources[0], in_any_order=in_any_order)]


def shorten_numbers(source: SortNumbers, *, in_any_order: bool = False) -> SortNumbers:
    """Return the ranks of numbers of a wide span, such as keys that are hashes.

    Equal numbers get equal ranks. Numbers of a narrow span are returned as they are. So are numbers
    with many different values, because ranking them takes longer than sorting by more bits.

    Args:
        source: the numbers.
        in_any_order: whether numbers need only be told apart. Then they are ranked in the order of
            their first rows, which is fast even if many of them differ.
    """
    if source.greatest - source.least < WIDE_SPAN:
        return source
    if in_any_order:
        numbered = number_distinct(source.numbers)
        if numbered is not None:
            greatest = len(numbered.distinct_values) - 1
            return SortNumbers(numbered.numbers, least=0, greatest=greatest)
    if has_many_distinct_values(arrays.make_array(source.numbers)):
        return source
    return rank_repeated_numbers(source.numbers)


def shift_unsigned(words: IntArray) -> IntArray:
    """Return signed numbers that compare as words do whose bits are unsigned numbers: int64[n].

    The words 0, 2^63 and 2^64 - 1 become -2^63, 0 and 2^63 - 1.
    """
    return np.asarray(words ^ SIGN_BIT)


def rank_repeated_numbers(numbers: IntArray) -> SortNumbers:
    """Return the ranks of numbers, many of them equal. Equal numbers have equal ranks.

    Arrow ranks them if there are too many distinct ones for our kernel, or if the kernel is not
    compiled yet.
    """
    numbered = number_distinct(numbers)
    if numbered is None:
        ranks = rank_repeated_values(arrays.make_array(numbers))
        return SortNumbers.measure(arrays.read_integers(ranks))
    distinct_count = len(numbered.distinct_values)
    ranks_of_distinct = np.empty(distinct_count, np.int64)
    ranks_of_distinct[np.argsort(numbered.distinct_values)] = np.arange(distinct_count)
    ranks = ranks_of_distinct.take(numbered.numbers)
    return SortNumbers(ranks, least=0, greatest=distinct_count - 1)
