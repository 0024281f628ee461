"""Sort words by some of their bits, encode numbers for a sort, and number distinct values.

A worker sorts its rows by `sort_by_bits` if NumPy's sort is slow. It is a radix sort. A digit is a
group of bits. Each pass sorts all words by one digit, beginning with the last digit, and leaves
words with the same digit in their order. With digits of 1 bit:

    words                     5 4 7 1    101 100 111 001
    sorted by the last bit    4 5 7 1    100 101 111 001
    by the bit before it      4 5 1 7    100 101 001 111
    by the first bit          1 4 5 7    001 100 101 111

A pass counts the words with each digit. From the counts follows where the words with each digit
begin in the sorted array, and the pass then moves each word there.

NumPy's sort takes 8 to 11 nanoseconds a word if it uses AVX2, or AVX-512 on Intel. It takes 50 on
AMD's Zen 4, where an instruction that it uses is slow, and on processors without these
instructions. This sort takes 11 to 16.

`number_values` looks each value up in a hash table. With some hundred distinct values it takes 2
nanoseconds a value. Arrow's dictionaries, with the ranks of the values, take 6.

`find_unit_of_all`, `encode_all`, `decode_all`, `append_positions`, `split_positions` and
`mark_changes` go through the rows once, where NumPy goes through them two to five times. For each
row, they take about a nanosecond, and NumPy takes two to five. An exact division by a unit is a
product with the inverse of the unit modulo 2**64:

    the unit 12 is 3 · 4    the inverse of 3 is 0xAAAAAAAAAAAAAAAB, as 3 times this is 1 mod 2**64
    60 / 12                 60 times the inverse is 20, and 20 / 4 is 5
    61 / 12                 61 times the inverse is greater than 2**64 / 3, so 3 does not divide 61

The kernels are compiled only if a process uses them often, because functions of NumPy and Arrow do
the same.

Sources: Knuth, The Art of Computer Programming, volume 3, 5.2.5, Sorting by Distribution; 6.4,
Hashing. Warren, Hacker's Delight, 10-16, Exact Division by Constants; 10-17, Test for Zero
Remainder after Division by a Constant.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from matchrec.jit.decorators import optional_kernel
from matchrec.jit.first_steps import LateKernel
from matchrec.jit.views import read_only
from matchrec.search.partitions import BoolArray, IntArray, WordArray

SlotArray = npt.NDArray[np.int32]

# This many words, sorted by NumPy or numbered by Arrow, count as one step that Python takes: see
# `jit.first_steps`. So a process compiles a kernel after NumPy or Arrow has handled eight million
# words. If the kernel is in the cache, it is used from the first word on.
WORDS_PER_STEP = 64
# The number of words that count as one step of a kernel that saves a few nanoseconds a word. Such a
# kernel is compiled after 128 million words, and used for at least MIN_WORDS words.
WORDS_PER_CHEAP_STEP = 1024
MIN_WORDS = 1 << 14

# A digit has at most this many bits. With more, the counts would not fit into the processor's first
# cache.
DIGIT_BITS = 10

# The length of the array in which a pass counts: one item for each digit, and a leading 0.
COUNTS_LENGTH = (1 << DIGIT_BITS) + 1

# The hash table has 2 ** SLOT_BITS slots.
SLOT_BITS = 18
# The greatest number of distinct values: at most half of the slots are used.
MAX_DISTINCT = 1 << (SLOT_BITS - 1)

ALL_BITS = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15  # 2**64 over the golden ratio: products with it spread values evenly


def sort_words_by_bits(words: WordArray, first_bit: int, bit_count: int) -> WordArray | None:
    """Return words sorted by some of their bits; None if the kernel is not worth compiling yet.

    Words that are equal in these bits stay in their order.

    Args:
        words: uint64[n], is overwritten.
        first_bit: the lowest of the bits; 0 is the last bit of a word.
        bit_count: the number of bits, at least 1.
    """
    buffer = np.empty_like(words)
    counts = np.empty(COUNTS_LENGTH, np.int64)
    arguments = words, buffer, counts, first_bit, bit_count
    if sort_by_bits.take_steps(len(words) // WORDS_PER_STEP, arguments):
        return None
    return buffer if sort_by_bits(*arguments) else words


class NumberedValues(NamedTuple):
    """The values of a column, numbered so that equal values have equal numbers.

    The values 7 3 7 5 have the numbers 0 1 0 2, and the distinct values are 7 3 5.
    """

    numbers: IntArray  # int64[n], the number of each value
    distinct_values: IntArray  # int64[d], the distinct values by their numbers


def number_distinct(values: IntArray) -> NumberedValues | None:
    """Assign numbers to the distinct values of a column, in the order of their first rows.

    Args:
        values: int64[n].

    Returns:
        The numbers and the distinct values. None if there are more than MAX_DISTINCT, or if the
        kernel is not worth compiling yet.
    """
    numbers = np.empty(len(values), np.int64)
    distinct = np.empty(MAX_DISTINCT, np.int64)
    slots = np.zeros(1 << SLOT_BITS, np.int32)
    arguments = read_only(values), numbers, distinct, slots
    if number_values.take_steps(len(values) // WORDS_PER_STEP, arguments):
        return None
    count = number_values(*arguments)
    return None if count < 0 else NumberedValues(numbers, distinct[:count])


def reduce_unit(numbers: IntArray, least: int, unit: int) -> int | None:
    """Return the greatest divisor of a unit that divides all distances from the least number.

    Args:
        numbers: int64[n].
        least: the least number.
        unit: the unit of some of the distances, at least 1.

    Returns:
        The divisor; None if NumPy should find it.
    """
    arguments = read_only(numbers), np.uint64(least & ALL_BITS), np.uint64(unit)
    if is_for_numpy(find_unit_of_all, len(numbers), arguments):
        return None
    return int(find_unit_of_all(*arguments))


def compute_codes(
    numbers: IntArray, least: int, unit: int, first_bit: int, inverted: int
) -> WordArray | None:
    """Return a word for each number, with the distance from the least number in units: uint64[n].

    Args:
        numbers: int64[n].
        least: the least number.
        unit: divides each number's distance from the least one.
        first_bit: the lowest bit of the distance in its word.
        inverted: a mask of the bits to invert in all words at the end.

    Returns:
        The words; None if NumPy should compute them.
    """
    twos = (unit & -unit).bit_length() - 1
    inverse = pow(unit >> twos, -1, 1 << 64)
    words = np.empty(len(numbers), np.uint64)
    bits = np.array([least & ALL_BITS, inverse, twos, first_bit, inverted], np.uint64)
    arguments = read_only(numbers), bits, words
    if is_for_numpy(encode_all, len(numbers), arguments):
        return None
    encode_all(*arguments)
    return words


def add_positions(words: WordArray, position_bits: int) -> WordArray | None:
    """Return words, each followed by its position 0, 1, 2, …: uint64[n].

    Args:
        words: uint64[n]. Their highest `position_bits` bits are dropped, to make room.
        position_bits: the number of bits of a position.

    Returns:
        The words; None if NumPy should compute them.
    """
    numbered = np.empty(len(words), np.uint64)
    arguments = read_only(words), np.uint64(position_bits), numbered
    if is_for_numpy(append_positions, len(words), arguments):
        return None
    append_positions(*arguments)
    return numbered


def remove_positions(words: WordArray, position_bits: int) -> IntArray | None:
    """Remove the positions that `add_positions` has added from words, and return them: int64[n].

    Args:
        words: uint64[n], are changed in place: each is shifted to the right, over its position.
        position_bits: the number of bits of a position.

    Returns:
        The positions; None, with the words as they were, if NumPy should do it.
    """
    positions = np.empty(len(words), np.int64)
    arguments = words, np.uint64(position_bits), positions
    if is_for_numpy(split_positions, len(words), arguments):
        return None
    split_positions(*arguments)
    return positions


def find_changes(words: WordArray, bits: int) -> BoolArray | None:
    """Return which words differ from the previous word in some bits: bool[n].

    The first word counts as different.

    Args:
        words: uint64[n], at least one.
        bits: a mask of the bits to compare.

    Returns:
        The marks; None if NumPy should compare the words.
    """
    is_different = np.empty(len(words), np.bool_)
    arguments = read_only(words), np.uint64(bits), is_different
    if is_for_numpy(mark_changes, len(words), arguments):
        return None
    mark_changes(*arguments)
    return is_different


def read_codes(
    words: WordArray, *, first_bit: int, mask: int, inverted: int, unit: int, least: int
) -> IntArray | None:
    """Return the numbers that `compute_codes` has put into words: int64[n].

    Args:
        words: uint64[n], which may have other codes, too.
        first_bit: the lowest bit of the codes.
        mask: a mask of the bits of a code, moved to the lowest bits.
        inverted: a mask of the bits of a code to invert, moved to the lowest bits.
        unit: the unit of the codes.
        least: the number whose code is 0 before bits are inverted.

    Returns:
        The numbers; None if NumPy should compute them.
    """
    numbers = np.empty(len(words), np.int64)
    bits = np.array([first_bit, mask, inverted, unit, least & ALL_BITS], np.uint64)
    arguments = read_only(words), bits, numbers
    if is_for_numpy(decode_all, len(words), arguments):
        return None
    decode_all(*arguments)
    return numbers


def is_for_numpy(kernel: LateKernel[..., Any], count: int, arguments: tuple[Any, ...]) -> bool:
    """Return whether NumPy should handle some words because a kernel does not pay yet.

    Args:
        kernel: a kernel that saves a few nanoseconds a word.
        count: the number of words.
        arguments: the arguments of the kernel.
    """
    return count < MIN_WORDS or kernel.take_steps(count // WORDS_PER_CHEAP_STEP, arguments)


@optional_kernel
def sort_by_bits(
    words: WordArray, buffer: WordArray, counts: IntArray, first_bit: int, bit_count: int
) -> bool:
    """Sort words by some of their bits. Words that are equal in these bits stay in their order.

    Args:
        words: uint64[n], is overwritten.
        buffer: uint64[n], is overwritten.
        counts: int64[COUNTS_LENGTH], is overwritten.
        first_bit: the lowest of the bits; 0 is the last bit of a word.
        bit_count: the number of bits, at least 1.

    Returns:
        Whether the sorted words are in `buffer`; otherwise they are in `words`.
    """
    pass_count = (bit_count + DIGIT_BITS - 1) // DIGIT_BITS
    width = (bit_count + pass_count - 1) // pass_count  # passes of about the same width
    digit_count = 1 << width
    mask = np.uint64(digit_count - 1)
    source = words
    target = buffer
    for index_of_pass in range(pass_count):
        shift = np.uint64(first_bit + index_of_pass * width)
        for digit in range(digit_count + 1):
            counts[digit] = 0
        for index in range(source.shape[0]):
            counts[np.int64((source[index] >> shift) & mask) + 1] += 1
        # From here on, counts[digit] is where the next word with this digit goes.
        for digit in range(digit_count):
            counts[digit + 1] += counts[digit]
        for index in range(source.shape[0]):
            word = source[index]
            digit = np.int64((word >> shift) & mask)
            target[counts[digit]] = word
            counts[digit] += 1
        source, target = target, source
    return pass_count % 2 == 1


@optional_kernel
def number_values(values: IntArray, numbers: IntArray, distinct: IntArray, slots: SlotArray) -> int:
    """Assign numbers to the distinct values, in the order of their first rows.

    Args:
        values: int64[n].
        numbers: int64[n], gets the number of each value.
        distinct: int64[d], gets the distinct values by their numbers.
        slots: int32[2 ** SLOT_BITS], zeros. It becomes a hash table with linear probing, which
            holds the numbers plus 1.

    Returns:
        The number of distinct values, or -1 if there are more than `d`.
    """
    count = 0
    mask = slots.shape[0] - 1
    shift = np.uint64(64 - SLOT_BITS)
    for index in range(values.shape[0]):
        value = values[index]
        slot = np.int64((np.uint64(value) * np.uint64(GOLDEN)) >> shift)
        number = np.int64(slots[slot]) - 1
        while number >= 0 and distinct[number] != value:
            slot = (slot + 1) & mask
            number = np.int64(slots[slot]) - 1
        if number < 0:
            if count == distinct.shape[0]:
                return -1
            number = np.int64(count)
            distinct[number] = value
            count += 1
            slots[slot] = count
        numbers[index] = number
    return count


@optional_kernel
def find_unit_of_all(numbers: IntArray, least: np.uint64, unit: np.uint64) -> np.uint64:
    """Return the greatest divisor of a unit that divides all distances from the least number.

    Args:
        numbers: int64[n].
        least: the least number, modulo 2**64.
        unit: the unit of some of the distances, at least 1.
    """
    start = 0
    while start < numbers.shape[0]:
        odd = unit
        twos = np.uint64(0)
        while odd & np.uint64(1) == np.uint64(0):
            odd >>= np.uint64(1)
            twos += np.uint64(1)
        # Newton's method: each round doubles the number of lowest bits that are right, from 3.
        inverse = odd
        for _ in range(5):
            inverse *= np.uint64(2) - odd * inverse
        greatest_quotient = ~np.uint64(0) // unit
        left = (np.uint64(64) - twos) & np.uint64(63)
        end = numbers.shape[0]
        for index in range(start, end):
            product = (np.uint64(numbers[index]) - least) * inverse
            # Zeros in the lowest bits are rotated away. Other bits become the highest ones, which
            # makes the number greater than any quotient.
            if (product >> twos | product << left) > greatest_quotient:
                end = index
                break
        if end < numbers.shape[0]:
            # The greatest common divisor of the unit and the distance is the next unit.
            remainder = np.uint64(numbers[end]) - least
            while remainder != np.uint64(0):
                unit, remainder = remainder, unit % remainder
        start = end
    return unit


@optional_kernel
def encode_all(numbers: IntArray, bits: WordArray, words: WordArray) -> None:
    """Write the distance of each number from the least number, in units, to a word.

    Args:
        numbers: int64[n].
        bits: the least number, modulo 2**64; the inverse of the unit's odd factor modulo 2**64, and
            the exponent of its other factor, a power of two; the lowest bit of the distances in
            their words; and a mask of the bits to invert in all words at the end.
        words: uint64[n], is overwritten.
    """
    least, inverse, twos, first_bit, inverted = bits[0], bits[1], bits[2], bits[3], bits[4]
    for index in range(numbers.shape[0]):
        product = (np.uint64(numbers[index]) - least) * inverse
        words[index] = product >> twos << first_bit ^ inverted


@optional_kernel
def append_positions(words: WordArray, position_bits: np.uint64, numbered: WordArray) -> None:
    """Write each word, followed by its position 0, 1, 2, …

    Args:
        words: uint64[n]. Their highest `position_bits` bits are dropped, to make room.
        position_bits: the number of bits of a position.
        numbered: uint64[n], is overwritten.
    """
    for index in range(words.shape[0]):
        numbered[index] = words[index] << position_bits | np.uint64(index)


@optional_kernel
def split_positions(words: WordArray, position_bits: np.uint64, positions: IntArray) -> None:
    """Move the position in each word to a separate array.

    Args:
        words: uint64[n]. Each is shifted to the right, over its position.
        position_bits: the number of bits of a position, less than 64.
        positions: int64[n], is overwritten.
    """
    mask = (np.uint64(1) << position_bits) - np.uint64(1)
    for index in range(words.shape[0]):
        word = words[index]
        positions[index] = np.int64(word & mask)
        words[index] = word >> position_bits


@optional_kernel
def mark_changes(words: WordArray, bits: np.uint64, is_different: BoolArray) -> None:
    """Mark the first word, and each word that differs from the previous word in some bits.

    Args:
        words: uint64[n], at least one.
        bits: a mask of the bits to compare.
        is_different: bool[n], is overwritten.
    """
    is_different[0] = True
    for index in range(1, words.shape[0]):
        is_different[index] = (words[index] ^ words[index - 1]) & bits != np.uint64(0)


@optional_kernel
def decode_all(words: WordArray, bits: WordArray, numbers: IntArray) -> None:
    """Write the number that is encoded in each word.

    Args:
        words: uint64[n].
        bits: the lowest bit of the codes in the words; a mask of the bits of a code; a mask of the
            bits of a code to invert; the unit; and the least number, modulo 2**64.
        numbers: int64[n], is overwritten.
    """
    first_bit, mask, inverted, unit, least = bits[0], bits[1], bits[2], bits[3], bits[4]
    for index in range(words.shape[0]):
        code = words[index] >> first_bit & mask ^ inverted
        numbers[index] = np.int64(code * unit + least)
