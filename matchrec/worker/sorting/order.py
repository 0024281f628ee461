"""Find the order of the rows of a table, and which rows begin a partition.

The columns that the rows are sorted by become words of 64 bits, in four steps:

1. A column becomes parts: signed numbers that compare, one part after the other, as its values do.
   Most columns have one part; long texts and wide decimals have several.
2. The numbers of a part become codes: how far a number is from the least one, in the greatest unit
   of which all distances are whole multiples, such as a second in microseconds. So codes are short.
3. Codes are packed into words, so that words compare as rows do, the first word first. Packing
   begins with the last column, so lists of codes and words have the last one first.
4. The words are sorted.

    k "b", "a", "b"    →  codes 1, 0, 1 of 1 bit     the order of t is in bits 0 and 1,
    t 5, 9, 7          →  codes 0, 2, 1 of 2 bits    that of k in bit 2: words 4, 2, 5

Rows are sorted by as many bits of a word at a time as leave room for the number of a row. Such
numbers are all different, so NumPy's fastest sort keeps rows with equal words in their order. On
processors on which NumPy sorts slowly, a compiled sort does the same (`search.kernels.sorting`). If
one sort is enough, columns that are in the word are read from the sorted words, which are in
memory one after the other, so they need not be looked up row by row.

If partitions may come in any order, keys with more bits than one sort takes are hashed: the hash
fits into one sort, and brings the rows of each key together. Keys with the same hash are mixed
then. They are few, and their rows are sorted once more.
Source: Knuth, The Art of Computer Programming, volume 3, 6.4, on multiplicative hashing.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import gcd

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from matchrec.conditions.types import NARROW_DIGITS
from matchrec.search.kernels.sorting import GOLDEN, number_distinct, sort_words_by_bits
from matchrec.search.partitions import BoolArray, IntArray, WordArray
from matchrec.shortcuts import current_shortcuts
from matchrec.worker import arrays, wire
from matchrec.worker.wire import SortColumn, Sorting, TieCounter

WORD_BITS = 64  # of a word
ALL_BITS = (1 << WORD_BITS) - 1
SIGN_BIT = np.int64(np.iinfo(np.int64).min)

# The number of first rows that mostly show what is true of all rows, and of the first numbers that
# mostly show that there is no greater unit than 1.
SAMPLE = 1 << 14
FEW_NUMBERS = 8

# Texts of at most this many bytes are sorted by their bytes, if most of them differ. Others are
# ranked first.
LONGEST_TEXT = 64
# Numbers that differ by this much need a second sort beside the numbers of rows, so they are ranked
# first, unless most of them differ.
WIDE = 1 << 44

BYTE_BITS = 8  # of a byte
BYTES = WORD_BITS // BYTE_BITS  # of a word
# MASKS[n] keeps the first n bytes of a word.
MASKS = np.array(
    [(1 << WORD_BITS) - (1 << (WORD_BITS - BYTE_BITS * count)) for count in range(BYTES + 1)],
    np.uint64,
)

# The least number of words for which the compiled sort is faster than NumPy if that is slow.
LEAST_WORDS_FOR_RADIX = 1 << 14
# NumPy is slow if it takes longer than this. It takes 8 to 11 nanoseconds a word or about 50; the
# compiled sort takes 11 to 16.
SLOW_SECONDS_PER_WORD = 20e-9

# The bits of a hash, at least. The order is put beside the hash if it leaves this much room.
LEAST_HASH_BITS = 28


# Words.


@dataclass(frozen=True, slots=True)
class Word:
    """One word of each row, packed from the codes of columns."""

    values: WordArray  # uint64[n]
    bits: int  # how many of the bits are used
    key_bits: int  # a mask of the bits that belong to keys
    # The columns whose values are in the word, with their code and its first bit.
    columns: dict[str, tuple[SortCode, int]] = field(default_factory=dict)

    def add(self, code: SortCode) -> Word:
        """Return the word with one more code. It is compared before the codes that are there."""
        values = code.encode(self.bits)
        if self.bits:
            values |= self.values
        key_bits = self.key_bits
        if code.is_key:
            key_bits |= code.mask << self.bits
        columns = self.columns
        if code.column:
            columns = {**columns, code.column: (code, self.bits)}
        return Word(values, self.bits + code.bits, key_bits, columns)


def make_empty_word(count: int) -> Word:
    """Return a word without codes.

    Args:
        count: the number of rows.
    """
    return Word(np.zeros(count, np.uint64), 0, 0)


def pack_words(codes: Iterable[SortCode]) -> list[Word]:
    """Pack codes into words. Both lists have the last one first.

    There are no codes and no words if all rows are equal.
    """
    words: list[Word] = []
    for code in codes:
        if words and words[-1].bits + code.bits <= WORD_BITS:
            words[-1] = words[-1].add(code)
        else:
            words.append(make_empty_word(0).add(code))
    return words


# Codes.


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a column: numbers that compare as the values do."""

    values: IntArray  # int64[n]
    least: int  # the least number
    greatest: int

    @staticmethod
    def measure(values: IntArray) -> Part:
        """Return one or more numbers as a part."""
        return Part(values, int(values.min()), int(values.max()))

    def find_distances(self) -> WordArray:
        """Return each number's distance from the minimum, as uint64[n]."""
        return np.asarray(self.values.view(np.uint64) - np.uint64(self.least & ALL_BITS))


@dataclass(frozen=True, slots=True)
class SortCode:
    """The codes of numbers: each value's distance from the minimum, in units."""

    part: Part  # the numbers
    unit: int  # divides each number's distance from the minimum
    bits: int  # how many bits a code has
    is_descending: bool  # codes are inverted
    is_key: bool  # whether the numbers are of a key, not of the order in a partition
    # The name of the column that has exactly these numbers as its values, if there is one.
    column: str | None = None

    @property
    def mask(self) -> int:
        """A mask of the bits of a code."""
        return (1 << self.bits) - 1

    def encode(self, first_bit: int) -> WordArray:
        """Return the codes as words, in which they begin with `first_bit`."""
        codes = self.part.find_distances()
        if self.unit > 1:
            codes //= np.uint64(self.unit)
        if first_bit:
            codes <<= np.uint64(first_bit)
        if self.is_descending:
            codes ^= np.uint64(self.mask << first_bit)
        return codes

    def decode(self, words: WordArray, first_bit: int) -> IntArray:
        """Return the numbers, given words in which their codes begin with `first_bit`."""
        codes = words >> np.uint64(first_bit)
        codes &= np.uint64(self.mask)
        if self.is_descending:
            codes ^= np.uint64(self.mask)
        if self.unit > 1:
            codes *= np.uint64(self.unit)
        codes += np.uint64(self.part.least & ALL_BITS)
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

    If there are NULLs, the first code says whether there is a value, and the others are equal for
    all NULLs.
    """
    parts, are_values = split_values(values)
    has_nulls = values.null_count > 0
    if has_nulls:
        present = arrays.find_valid(values)
        parts = [hide_nulls(part, present) for part in parts]
    for part in reversed(parts):
        code = encode_numbers(part, is_descending=item.descending, is_key=of_key)
        yield replace(code, column=item.name) if are_values and not has_nulls else code
    if has_nulls:
        is_null = Part.measure(1 - present.astype(np.int64))
        yield encode_numbers(is_null, is_descending=item.nulls_first, is_key=of_key)


def hide_nulls(part: Part, present: BoolArray) -> Part:
    """Return the part with the least number of any value instead of those for NULL."""
    least = part.values[present].min(initial=np.iinfo(np.int64).max)
    return Part.measure(np.where(present, part.values, least))


def encode_numbers(part: Part, *, is_descending: bool, is_key: bool) -> SortCode:
    """Return the codes of numbers. They have no bits if all numbers are equal."""
    span = part.greatest - part.least
    first_distances = [value - part.least for value in part.values[:FEW_NUMBERS].tolist()]
    unit = gcd(span, *first_distances) or 1
    if unit > 1:
        distances = part.find_distances()
        # NumPy multiplies and divides with vector instructions, but finds remainders without.
        while (is_between := distances // np.uint64(unit) * np.uint64(unit) != distances).any():
            remainders = distances[is_between][:FEW_NUMBERS] % np.uint64(unit)
            unit = gcd(unit, *remainders.tolist())
    bits = (span // unit).bit_length()
    return SortCode(part, unit, bits, is_descending, is_key)


# Parts of values.


def split_values(values: pa.Array) -> tuple[list[Part], bool]:
    """Return one or more parts that compare as values do, the first one first.

    Their numbers for NULL have no meaning.

    Returns:
        The parts, and whether there is only one and it has the values themselves, as integers.
    """
    kind = values.type
    if pa.types.is_decimal(kind) and kind.precision > NARROW_DIGITS:
        words = arrays.read_decimal_words(values)
        halves = np.ascontiguousarray(words[:, 1]), words[:, 0] ^ SIGN_BIT
        return [Part.measure(half) for half in halves], False
    if arrays.is_text(kind):
        return [Part.measure(numbers) for numbers in split_texts(values)], False
    part = Part.measure(arrays.sort_keys(values))
    is_wide = part.greatest - part.least >= WIDE
    if is_wide and not has_many_values(
        arrays.make_array(part.values)
    ):  # such as hashes used as keys
        return [Part.measure(rank_repeated_numbers(part.values))], False
    return [part], arrays.is_whole(kind)


def rank_repeated_numbers(numbers: IntArray) -> IntArray:
    """Return the ranks of numbers, many of them equal: int64[n]. Equal ones have equal ranks.

    Arrow ranks them if there are too many distinct ones for a kernel, or it is not compiled yet.
    """
    numbered = number_distinct(numbers)
    if numbered is None:
        return arrays.read_integers(arrays.rank_repeated_values(arrays.make_array(numbers)))
    value_numbers, distinct_values = numbered
    ranks = np.empty(len(distinct_values), np.int64)
    ranks[np.argsort(distinct_values)] = np.arange(len(distinct_values))
    return ranks.take(value_numbers)


def split_texts(values: pa.Array) -> list[IntArray]:
    """Return the bytes of texts, eight in each array, and their lengths.

    If texts are long or often equal, return their ranks instead.
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
    sample = values.slice(0, SAMPLE)
    return 4 * len(pc.unique(sample)) > len(sample)


def split_bytes(values: pa.Array, longest: int) -> Iterator[IntArray]:
    """Yield eight bytes of each text at a time, as a number that compares as they do.

    Zeros follow the end of a text.

    Args:
        values: the texts.
        longest: the length of the longest one.
    """
    _, offsets, content = values.buffers()
    is_large = pa.types.is_large_binary(values.type) or pa.types.is_large_string(values.type)
    ends = np.frombuffer(offsets, np.int64 if is_large else np.int32)
    ends = ends[values.offset : values.offset + len(values) + 1]
    padded = np.append(np.frombuffer(content, np.uint8), np.zeros(BYTES, np.uint8))
    # a view of the eight bytes from each byte on
    from_byte: npt.NDArray[np.uint64] = np.ndarray(
        len(padded) - BYTES + 1, ">u8", padded, strides=(1,)
    )
    for skipped in range(0, longest, BYTES):
        starts = np.minimum(ends[:-1] + skipped, ends[1:])
        numbers = from_byte[starts].astype(np.uint64)
        numbers &= MASKS[np.minimum(ends[1:] - starts, BYTES)]
        yield numbers.view(np.int64) ^ SIGN_BIT  # then signed numbers compare as unsigned ones did


# Orders.


@dataclass(frozen=True, slots=True)
class Order:
    """The order of the rows of a table."""

    # int64[n], the row numbers in order; None if the rows are in order already.
    rows: IntArray | None
    # bool[n], which of the rows in order start a partition.
    starts_partition: BoolArray
    # The word of the rows in order, if one sort of one word was enough.
    word: Word | None = None
    # The words of the rows as they came, the last one first.
    words: list[Word] = field(default_factory=list)

    def find_ties(self) -> IntArray:
        """Return the numbers of the rows, in order, that equal the row before."""
        if not self.words:  # all rows are equal
            return np.arange(1, len(self.starts_partition))
        return find_ties(self.words, self.rows, self.word)


def find_order(table: pa.Table, sorting: Sorting, *, in_any_order: bool = False) -> Order:
    """Return the order of the rows of a table.

    Rows that are equal in all sort columns stay in the order in which they came.

    Args:
        table: one or more rows.
        sorting: what they are sorted by.
        in_any_order: whether partitions may come in any order.
    """
    count = table.num_rows
    codes = [*encode_table(table, sorting)]
    words = pack_words(codes)
    if are_in_order(words):
        return Order(None, find_partition_starts(words, count, None), None, words)
    if in_any_order:
        hashed_words = hash_keys(codes, words, count)
        if hashed_words:
            return order_by_hash(codes, words, hashed_words)
    rows, word = sort_words(words, count)
    return Order(rows, find_partition_starts(words, count, rows, word), word, words)


def find_partition_starts(
    words: list[Word], count: int, rows: IntArray | None, sorted_word: Word | None = None
) -> BoolArray:
    """Return which rows have other keys than the row before them, as bool[n], in order.

    Args:
        words: the words of the rows as they came.
        count: the number of rows.
        rows: the numbers of the rows in order; None if they came in order.
        sorted_word: the only word, of the rows in order, if that is known.
    """
    starts_partition = np.zeros(count, np.bool_)
    starts_partition[0] = True
    if sorted_word is not None:
        words = [sorted_word]
        rows = None
    for word in words:
        if word.key_bits:
            keys = word.values if rows is None else word.values.take(rows)
            keys = keys & np.uint64(word.key_bits)
            starts_partition[1:] |= keys[1:] != keys[:-1]
    return starts_partition


def find_ties(words: Sequence[Word], rows: IntArray | None, sorted_word: Word | None) -> IntArray:
    """Return the numbers of the rows, in order, that equal the row before in all words.

    Args:
        words: the words of the rows as they came; at least one.
        rows: the numbers of the rows in order; None if they came in order.
        sorted_word: the only word, of the rows in order, if that is known.
    """
    if sorted_word is not None:
        words = [sorted_word]
        rows = None
    first, *others = words
    values = first.values if rows is None else first.values.take(rows)
    ties = np.flatnonzero(values[1:] == values[:-1]) + 1
    for word in others:
        row, row_before = (ties, ties - 1) if rows is None else (rows[ties], rows[ties - 1])
        ties = ties[word.values[row] == word.values[row_before]]
    return ties


def are_in_order(words: list[Word]) -> bool:
    """Return whether the rows are in order already.

    The first rows are compared first, since they mostly show that rows are not in order.
    """
    for size in (SAMPLE, None):
        in_order: BoolArray = np.ones(1, np.bool_)
        for word in words:  # from the last one on, so that earlier words decide
            values = word.values[:size]
            before, after = values[:-1], values[1:]
            in_order = (before < after) | ((before == after) & in_order)
        if not in_order.all():
            return False
    return True


def sort_words(words: list[Word], count: int) -> tuple[IntArray, Word | None]:
    """Sort rows by their words. Rows with equal words stay in their order.

    Args:
        words: one or more words, the last one first.
        count: the number of rows.

    Returns:
        The numbers of the rows in order; and the word of the rows in order if there is only one
        and it was sorted at once.
    """
    position_bits = count.bit_length()
    bits_per_sort = WORD_BITS - position_bits
    rows: IntArray | None = None
    # a radix sort: by the last bits first, each sort keeps the order of equal rows
    for word in words:
        for shift in range(0, word.bits, bits_per_sort):
            digits = word.values >> np.uint64(shift) if shift else word.values
            digits = digits if rows is None else digits.take(rows)
            digits = digits << np.uint64(position_bits)  # drops the bits of later sorts
            digits |= np.arange(count, dtype=np.uint64)
            sorted_bits = min(bits_per_sort, word.bits - shift)
            digits = sort_numbered_words(digits, position_bits, sorted_bits)
            sorted_positions = (digits & np.uint64((1 << position_bits) - 1)).view(np.int64)
            rows = sorted_positions if rows is None else rows.take(sorted_positions)
    assert rows is not None
    if len(words) > 1 or words[0].bits > bits_per_sort:
        return rows, None
    return rows, replace(words[0], values=digits >> np.uint64(position_bits))


def sort_numbered_words(words: WordArray, position_bits: int, bits: int) -> WordArray:
    """Sort words whose last bits are their positions 0, 1, 2, …

    Because of the positions, all words differ. So NumPy's sort, which does not keep equal words in
    their order, and the compiled sort, which does and leaves the positions out, return the same.

    Args:
        words: uint64[n], is overwritten.
        position_bits: the number of bits of a position.
        bits: the number of bits before the position that can be 1.
    """
    if len(words) >= LEAST_WORDS_FOR_RADIX and is_numpy_slow():
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
    words = np.arange(SAMPLE, dtype=np.uint64) * np.uint64(GOLDEN)
    seconds = []
    for _ in range(3):
        copy = words.copy()
        began = time.thread_time()
        copy.sort()
        seconds.append(time.thread_time() - began)
    return min(seconds) > SLOW_SECONDS_PER_WORD * SAMPLE


# Orders in which partitions come by the hash of their keys.


def hash_keys(codes: list[SortCode], words: list[Word], count: int) -> list[Word]:
    """Return words with a hash of the keys instead of their codes, the last one first.

    No words are returned if hashing would not save a sort.

    Args:
        codes: all codes.
        words: all codes, packed.
        count: the number of rows.
    """
    keys = [code for code in codes if code.is_key]
    bits_per_sort = WORD_BITS - count.bit_length()
    if (
        not keys
        or count < current_shortcuts().min_rows_to_hash
        or count_sorts(words, bits_per_sort) == 1
    ):
        return []
    order_words = pack_words(code for code in codes if not code.is_key)
    *last_words, first_word = order_words or [make_empty_word(count)]
    if first_word.bits > bits_per_sort - LEAST_HASH_BITS:  # too little room for a hash beside it
        last_words.append(first_word)
        first_word = make_empty_word(count)
    if count_sorts(last_words, bits_per_sort) + 1 >= count_sorts(words, bits_per_sort):
        return []
    hash_bits = bits_per_sort - first_word.bits
    values = compute_hashes(keys) >> np.uint64(WORD_BITS - hash_bits)
    values <<= np.uint64(first_word.bits)
    values |= first_word.values
    key_bits = ((1 << hash_bits) - 1) << first_word.bits
    return [*last_words, Word(values, bits_per_sort, key_bits, first_word.columns)]


def count_sorts(words: list[Word], bits_per_sort: int) -> int:
    """Return how often rows are sorted by some words."""
    return sum(-(-word.bits // bits_per_sort) for word in words)


def compute_hashes(keys: list[SortCode]) -> WordArray:
    """Return hashes of keys as uint64[n].

    Equal keys have equal hashes. The first bits of hashes mostly differ if the keys differ.
    """
    hashes = np.zeros(len(keys[0].part.values), np.uint64)
    for key in keys:
        hashes ^= hashes >> np.uint64(WORD_BITS // 2)
        hashes += key.part.values.view(np.uint64)
        hashes *= np.uint64(GOLDEN)
    return hashes


def order_by_hash(codes: list[SortCode], words: list[Word], hashed_words: list[Word]) -> Order:
    """Return the order of rows by words with a hash of the keys.

    Args:
        codes: all codes.
        words: all codes, packed.
        hashed_words: what `hash_keys` returns.
    """
    count = len(words[0].values)
    rows, word = sort_words(hashed_words, count)
    starts_partition = find_partition_starts(words, count, rows)
    starts_hash = find_partition_starts(hashed_words, count, rows, word)
    is_mixed = starts_partition & ~starts_hash  # the key changes, and the hash does not
    if is_mixed.any():
        word = None
        # sort the rows of these hashes once more, by all codes
        group = np.cumsum(starts_hash, dtype=np.int64)
        positions = np.flatnonzero(np.isin(group, group[is_mixed]))
        mixed_rows = rows[positions]
        mixed_codes = [
            encode_numbers(
                Part.measure(code.part.values[mixed_rows]),
                is_descending=code.is_descending,
                is_key=code.is_key,
            )
            for code in codes
        ]
        group_code = encode_numbers(
            Part.measure(group[positions]), is_descending=False, is_key=True
        )
        mixed_order, _ = sort_words(pack_words([*mixed_codes, group_code]), len(mixed_rows))
        rows[positions] = mixed_rows[mixed_order]
        starts_partition = find_partition_starts(words, count, rows)
    return Order(rows, starts_partition, word, words)


# Tables in order.


def sort_table(
    table: pa.Table,
    sorting: Sorting,
    *,
    in_any_order: bool = False,
    watch: TieCounter | None = None,
) -> pa.Table:
    """Sort the rows of a table. Bit 0 of the first column of bits marks the first of a partition.

    The column is added if there is none.

    Args:
        table: rows. Each column must be one array.
        sorting: what they are sorted by.
        in_any_order: whether partitions may come in any order.
        watch: counts the ties.
    """
    if not table.num_rows:
        return table
    order = find_order(table, sorting, in_any_order=in_any_order)
    table = take_in_order(table, order, sorting)
    if watch is not None:
        watch.count(table, order.find_ties())
    return mark_partitions(table, order.starts_partition)


def mark_partitions(table: pa.Table, starts_partition: BoolArray) -> pa.Table:
    """Return the table with bit 0 of the first column of bits set where a partition begins."""
    if wire.FIRST_BITS not in table.column_names:
        return table.append_column(
            wire.FIRST_BITS, arrays.make_array(starts_partition.astype(np.int8))
        )
    index = table.column_names.index(wire.FIRST_BITS)
    marked = arrays.read_numbers(arrays.take_column(table, wire.FIRST_BITS)) & ~1
    marked |= starts_partition
    return table.set_column(index, table.schema.field(index), arrays.make_array(marked))


def take_in_order(table: pa.Table, order: Order, sorting: Sorting) -> pa.Table:
    """Return the rows of a table in an order."""
    if order.rows is None:
        return table
    partition_starts = np.flatnonzero(order.starts_partition)
    partition_ends = np.append(partition_starts[1:], table.num_rows)
    row_numbers = arrays.make_array(order.rows)
    columns = []
    for name in table.column_names:
        values = arrays.take_encoded_column(table, name)
        if order.word is not None and name in order.word.columns:
            code, first_bit = order.word.columns[name]
            numbers = code.decode(order.word.values, first_bit)
            values = arrays.cast_integers(numbers, values.type)
        elif name in sorting.keys and has_one_form(values.type):
            # a key is looked up once for each partition
            keys = arrays.take_rows(values, arrays.make_array(order.rows[partition_starts]))
            values = arrays.repeat_values(keys, partition_ends)
        else:
            values = arrays.take_rows(values, row_numbers)
        columns.append(values)
    return pa.Table.from_arrays(columns, schema=table.schema)


def has_one_form(kind: pa.DataType) -> bool:
    """Return whether equal values of a type are identical. The doubles 0.0 and -0.0 are not."""
    return arrays.is_text(kind) or arrays.is_whole(kind)
