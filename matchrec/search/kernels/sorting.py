"""Sort words by some of their bits, and number the distinct values of a column.

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

Both kernels are compiled only if a process uses them often, because functions of NumPy and Arrow do
the same.

Source: Knuth, The Art of Computer Programming, volume 3, 5.2.5, Sorting by Distribution; 6.4,
Hashing.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from matchrec.jit.decorators import optional_kernel
from matchrec.jit.views import read_only
from matchrec.search.partitions import IntArray, WordArray

SlotArray = npt.NDArray[np.int32]

# This many words, sorted by NumPy or numbered by Arrow, count as one step that Python takes: see
# `jit.first_steps`. So a process compiles a kernel after NumPy or Arrow has handled eight million
# words. If the kernel is in the cache, it is used from the first word on.
WORDS_PER_STEP = 64

# A digit has at most this many bits. With more, the counts would not fit into the processor's first
# cache.
DIGIT_BITS = 10

# The length of the array in which a pass counts: one item for each digit, and a leading 0.
COUNTS_LENGTH = (1 << DIGIT_BITS) + 1

# The hash table has 2 ** SLOT_BITS slots.
SLOT_BITS = 17
# The greatest number of distinct values: at most half of the slots are used.
MAX_DISTINCT = 1 << (SLOT_BITS - 1)

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


def number_distinct(values: IntArray) -> tuple[IntArray, IntArray] | None:
    """Number the distinct values of a column in the order of their first rows.

    Values 7 3 7 5 have the numbers 0 1 0 2, and the distinct values are 7 3 5.

    Args:
        values: int64[n].

    Returns:
        int64[n], the number of each value; and int64[d], the distinct values by their numbers. None
        if there are more than MAX_DISTINCT, or if the kernel is not worth compiling yet.
    """
    numbers = np.empty(len(values), np.int64)
    distinct = np.empty(MAX_DISTINCT, np.int64)
    slots = np.zeros(1 << SLOT_BITS, np.int32)
    arguments = read_only(values), numbers, distinct, slots
    if number_values.take_steps(len(values) // WORDS_PER_STEP, arguments):
        return None
    count = number_values(*arguments)
    return None if count < 0 else (numbers, distinct[:count])


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
    """Number the distinct values in the order of their first rows.

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
