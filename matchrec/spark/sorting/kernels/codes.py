"""Values → codes: unsigned numbers that compare alike, without the bits that all have in common."""

from typing import Any

import numpy as np

from matchrec.engine.partitions import IntArray, WordArray
from matchrec.jit.decorators import kernel


@kernel
def measure(values: IntArray, found: IntArray) -> None:
    """The least value, the greatest one, and the bits in which values differ, to `found`."""
    least = most = first = values[0]
    differing = np.int64(0)
    for row in range(values.shape[0]):
        value = values[row]
        least = min(least, value)
        most = max(most, value)
        differing |= value ^ first
    found[0], found[1], found[2] = least, most, differing


@kernel
def add_codes(
    values: IntArray, least: int, kept: WordArray, flipped: int, place: int, word: WordArray
) -> None:
    """Add to words, at bit `place`, of how far each value is from the least some bits.

    kept: uint64[s, 3], from which bit on, a mask of as many as follow, and to which bit they go.
    flipped: those of a code that are inverted.
    """
    for row in range(values.shape[0]):
        distance = np.uint64(values[row] - least)
        code = np.uint64(flipped)
        for one in range(kept.shape[0]):
            code ^= ((distance >> kept[one, 0]) & kept[one, 1]) << kept[one, 2]
        word[row] |= code << np.uint64(place)


@kernel
def read_bytes(offsets: Any, content: Any, skipped: int, numbers: IntArray) -> None:
    """Eight bytes of each text after some, as a number that rises with them.

    Where a text ends, zeros follow. The first bit is flipped, so that signed numbers compare alike.
    """
    for row in range(numbers.shape[0]):
        begin, end = offsets[row] + skipped, offsets[row + 1]
        number = np.uint64(0)
        for place in range(begin, begin + 8):
            number <<= np.uint64(8)
            if place < end:
                number |= np.uint64(content[place])
        numbers[row] = np.int64(number ^ np.uint64(1 << 63))
