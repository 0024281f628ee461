"""Encode the columns that rows are sorted by: from values to numbers, from numbers to codes.

1. A column becomes `SortNumbers`: signed numbers that compare as its values do. Most columns become
   one array of them. Long texts and wide decimals become several, which are compared one after the
   other.
2. The numbers become codes of few bits: how far a number is from the least one, in the greatest
   unit of which all distances are whole multiples, such as a second in microseconds.

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
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from matchrec.conditions.types import NARROW_DIGITS
from matchrec.search.kernels.sorting import number_distinct
from matchrec.search.partitions import BoolArray, IntArray, WordArray
from matchrec.worker import arrays
from matchrec.worker.wire import SortColumn, Sorting

WORD_BITS = 64
ALL_BITS = (1 << WORD_BITS) - 1
SIGN_BIT = np.int64(np.iinfo(np.int64).min)

# The number of first rows that mostly show what is true of all rows.
SAMPLE_ROWS = 1 << 14
# The number of first numbers that mostly show that there is no greater unit than 1.
FEW_NUMBERS = 8

# Texts of at most this many bytes are sorted by their bytes if many of them differ, see
# `has_many_values`. Other texts are ranked first.
LONGEST_TEXT = 64
# Numbers that differ by this much need a second sort beside the numbers of rows, so they are ranked
# first, unless many of them differ.
WIDE = 1 << 44

BYTE_BITS = 8
BYTES_PER_WORD = WORD_BITS // BYTE_BITS
# FIRST_BYTES[n] is a mask of the first n bytes of a word.
FIRST_BYTES = np.array(
    [
        (1 << WORD_BITS) - (1 << (WORD_BITS - BYTE_BITS * count))
        for count in range(BYTES_PER_WORD + 1)
    ],
    np.uint64,
)


# Codes.


@dataclass(frozen=True, slots=True)
class SortNumbers:
    """Numbers that compare as the values of a column do, one for each row."""

    numbers: IntArray  # int64[n]
    least: int
    greatest: int
    # Whether the numbers are the values of the column, stored as integers.
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
    """A code of each row: the distance of its number from the least number, in units.

    The codes themselves are computed when they are packed into words.
    """

    source: SortNumbers  # the numbers that are encoded
    unit: int  # divides each number's distance from the least one
    bits: int  # how many bits a code has
    is_descending: bool  # whether codes are inverted, so that the greatest number has the code 0
    is_key: bool  # whether the numbers are of a key, not of the order in a partition
    # The name of the column that has exactly these numbers as its values, if there is one.
    column: str | None = None

    @property
    def mask(self) -> int:
        """Return a mask of the bits of a code."""
        return (1 << self.bits) - 1

    def encode(self, first_bit: int) -> WordArray:
        """Return words that have only this code, which begins with bit `first_bit`: uint64[n].

        >>> code = encode_numbers(SortNumbers.measure(np.array([5, 9, 7])))
        >>> code.unit, code.bits, code.encode(0).tolist(), code.encode(4).tolist()
        (2, 2, [0, 2, 1], [0, 32, 16])
        """
        codes = self.source.find_distances()
        if self.unit > 1:
            codes //= np.uint64(self.unit)
        if first_bit:
            codes <<= np.uint64(first_bit)
        if self.is_descending:
            codes ^= np.uint64(self.mask << first_bit)
        return codes

    def decode(self, words: WordArray, first_bit: int) -> IntArray:
        """Return the numbers whose codes begin with bit `first_bit` in some words: int64[n]."""
        codes = words >> np.uint64(first_bit)
        codes &= np.uint64(self.mask)
        if self.is_descending:
            codes ^= np.uint64(self.mask)
        if self.unit > 1:
            codes *= np.uint64(self.unit)
        codes += np.uint64(self.source.least & ALL_BITS)
        return np.asarray(codes.view(np.int64))


def encode_table(table: pa.Table, sorting: Sorting) -> Iterator[SortCode]:
    """Yield the codes of all sort columns that are not the same in all rows, the last one first."""
    key_count = len(sorting.keys)
    for index, item in reversed([*enumerate(sorting.columns)]):
        values = arrays.take_column(table, item.name)
        for code in encode_column(values, item, of_key=index < key_count):
            if code.bits:
                yield code


def encode_column(values: pa.Array, item: SortColumn, *, of_key: bool) -> Iterator[SortCode]:
    """Yield the codes of one column, the last one first.

    If there are NULLs, the first code says whether a value is NULL, and the others are equal for
    all NULLs.
    """
    sources = convert_values(values)
    has_nulls = values.null_count > 0
    if has_nulls:
        present = arrays.find_valid(values)
        sources = [hide_nulls(source, present) for source in sources]
    for source in reversed(sources):
        code = encode_numbers(source, is_descending=item.descending, is_key=of_key)
        yield replace(code, column=item.name) if source.are_values else code
    if has_nulls:
        is_null = SortNumbers.measure(1 - present.astype(np.int64))
        yield encode_numbers(is_null, is_descending=item.nulls_first, is_key=of_key)


def hide_nulls(source: SortNumbers, present: BoolArray) -> SortNumbers:
    """Return the numbers with the least number of any value instead of those for NULL."""
    least = source.numbers[present].min(initial=np.iinfo(np.int64).max)
    return SortNumbers.measure(np.where(present, source.numbers, least))


def encode_numbers(
    source: SortNumbers, *, is_descending: bool = False, is_key: bool = False
) -> SortCode:
    """Return the code of numbers. It has no bits if all numbers are equal."""
    span = source.greatest - source.least
    first_distances = [number - source.least for number in source.numbers[:FEW_NUMBERS].tolist()]
    unit = gcd(span, *first_distances) or 1
    if unit > 1:
        distances = source.find_distances()
        # NumPy multiplies and divides with vector instructions, but finds remainders without.
        while (is_between := distances // np.uint64(unit) * np.uint64(unit) != distances).any():
            remainders = distances[is_between][:FEW_NUMBERS] % np.uint64(unit)
            unit = gcd(unit, *remainders.tolist())
    bits = (span // unit).bit_length()
    return SortCode(source, unit, bits, is_descending, is_key)


# Numbers that compare as values do.


def convert_values(values: pa.Array) -> list[SortNumbers]:
    """Return numbers that compare as values do: one array of them, or several, the first first.

    The numbers for NULL have no meaning.
    """
    kind = values.type
    if pa.types.is_decimal(kind) and kind.precision > NARROW_DIGITS:
        words = arrays.read_decimal_words(values)
        high_words = np.ascontiguousarray(words[:, 1])
        low_words = words[:, 0] ^ SIGN_BIT  # compare as signed numbers as they do as unsigned ones
        return [SortNumbers.measure(high_words), SortNumbers.measure(low_words)]
    if arrays.is_text(kind):
        return [SortNumbers.measure(numbers) for numbers in convert_texts(values)]
    source = SortNumbers.measure(arrays.make_sort_keys(values), are_values=arrays.is_whole(kind))
    is_wide = source.greatest - source.least >= WIDE
    if is_wide and not has_many_values(arrays.make_array(source.numbers)):
        # such as hashes that are used as keys
        return [rank_repeated_numbers(source.numbers)]
    return [source]


def rank_repeated_numbers(numbers: IntArray) -> SortNumbers:
    """Return the ranks of numbers, many of them equal. Equal numbers have equal ranks.

    Arrow ranks them if there are too many distinct ones for a kernel, or it is not compiled yet.
    """
    numbered = number_distinct(numbers)
    if numbered is None:
        ranks = arrays.rank_repeated_values(arrays.make_array(numbers))
        return SortNumbers.measure(arrays.read_integers(ranks))
    value_numbers, distinct_values = numbered
    ranks_of_distinct = np.empty(len(distinct_values), np.int64)
    ranks_of_distinct[np.argsort(distinct_values)] = np.arange(len(distinct_values))
    return SortNumbers(ranks_of_distinct.take(value_numbers), 0, len(distinct_values) - 1)


def convert_texts(values: pa.Array) -> list[IntArray]:
    """Return the bytes of texts, eight in each array, and their lengths.

    If texts are long or often equal, return one array of their ranks instead.
    """
    lengths = arrays.read_integers(pc.binary_length(values))
    longest = int(lengths.max())
    if longest <= LONGEST_TEXT and has_many_values(values):
        return [*split_bytes(values, longest), lengths]
    return [arrays.read_integers(arrays.rank_repeated_values(values))]


def has_many_values(values: pa.Array) -> bool:
    """Return whether many values differ, so that it would take long to rank them.

    That is so if more than a quarter of the first values are distinct.
    """
    sample = values.slice(0, SAMPLE_ROWS)
    return 4 * len(pc.unique(sample)) > len(sample)


def split_bytes(values: pa.Array, longest: int) -> Iterator[IntArray]:
    """Yield eight bytes of each text at a time, as a number that compares as they do: int64[n].

    Zeros follow the end of a text. For texts of at most 16 bytes, the first array has the bytes 0
    to 7 of each text, and the second one the bytes 8 to 15.

    Args:
        values: the texts.
        longest: the length of the longest one.
    """
    _, offsets, content = values.buffers()
    is_large = pa.types.is_large_binary(values.type) or pa.types.is_large_string(values.type)
    ends = np.frombuffer(offsets, np.int64 if is_large else np.int32)
    ends = ends[values.offset : values.offset + len(values) + 1]
    padded = np.append(np.frombuffer(content, np.uint8), np.zeros(BYTES_PER_WORD, np.uint8))
    # a view of the eight bytes from each byte on
    from_byte: npt.NDArray[np.uint64] = np.ndarray(
        len(padded) - BYTES_PER_WORD + 1, ">u8", padded, strides=(1,)
    )
    for skipped in range(0, longest, BYTES_PER_WORD):
        starts = np.minimum(ends[:-1] + skipped, ends[1:])
        numbers = from_byte[starts].astype(np.uint64)
        numbers &= FIRST_BYTES[np.minimum(ends[1:] - starts, BYTES_PER_WORD)]
        yield numbers.view(np.int64) ^ SIGN_BIT  # then signed numbers compare as unsigned ones did
