"""Read the bytes of texts as numbers, eight bytes at a time.

NumPy goes through the texts ten times, and takes 20 nanoseconds a text. The kernel takes two.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from matchrec.jit.decorators import optional_kernel
from matchrec.jit.views import read_only
from matchrec.search.kernels.sorting import WORDS_PER_STEP
from matchrec.search.partitions import IntArray, WordArray

TextBytes = npt.NDArray[np.uint8]
BorderArray = npt.NDArray[np.int32] | npt.NDArray[np.int64]

BITS_PER_BYTE = 8
BYTES_PER_WORD = 8
SIGN_BIT = 1 << 63

# FIRST_BYTES[n] is a mask of the first n bytes of a word, which are its highest bits.
FIRST_BYTES: WordArray = np.array(
    [(1 << 64) - (1 << (64 - BITS_PER_BYTE * count)) for count in range(BYTES_PER_WORD + 1)],
    np.uint64,
)


def read_text_bytes(content: TextBytes, borders: BorderArray, skipped: int) -> IntArray | None:
    """Return eight bytes of each text, as numbers that compare as these bytes do: int64[n].

    Zeros follow the end of a text. Numbers are signed: eight zeros are the least number.

    Args:
        content: the bytes of all texts.
        borders: int32[n + 1] or int64[n + 1], where each text begins in `content`, then where the
            last one ends.
        skipped: how many bytes of each text come before the eight bytes.

    Returns:
        The numbers; None if there are too few bytes, or if the kernel is not worth compiling yet.
    """
    if len(content) < BYTES_PER_WORD:
        return None
    numbers = np.empty(len(borders) - 1, np.int64)
    arguments = read_only(content), read_only(borders), skipped, read_only(FIRST_BYTES), numbers
    if read_all_bytes.take_steps(len(numbers) // WORDS_PER_STEP, arguments):
        return None
    read_all_bytes(*arguments)
    return numbers


@optional_kernel
def read_all_bytes(
    content: TextBytes, borders: BorderArray, skipped: int, masks: WordArray, numbers: IntArray
) -> None:
    """Write eight bytes of each text, as numbers that compare as these bytes do.

    Args:
        content: the bytes of all texts, at least eight.
        borders: as in `read_text_bytes`.
        skipped: as in `read_text_bytes`.
        masks: `FIRST_BYTES`.
        numbers: int64[n], is overwritten.
    """
    last_start = content.shape[0] - 8
    for index in range(numbers.shape[0]):
        start = np.int64(borders[index]) + skipped
        count = min(np.int64(borders[index + 1]) - start, 8)
        word = np.uint64(0)
        if count > 0:
            # Eight bytes at fixed distances: the compiler makes this one access to memory. Near the
            # end of `content`, earlier bytes are read, and shifted out.
            first = np.uint64(min(start, last_start))
            word = (
                np.uint64(content[first]) << np.uint64(56)
                | np.uint64(content[first + np.uint64(1)]) << np.uint64(48)
                | np.uint64(content[first + np.uint64(2)]) << np.uint64(40)
                | np.uint64(content[first + np.uint64(3)]) << np.uint64(32)
                | np.uint64(content[first + np.uint64(4)]) << np.uint64(24)
                | np.uint64(content[first + np.uint64(5)]) << np.uint64(16)
                | np.uint64(content[first + np.uint64(6)]) << np.uint64(8)
                | np.uint64(content[first + np.uint64(7)])
            )
            if start > last_start:
                word <<= np.uint64(8 * (start - last_start))
            word &= masks[count]
        numbers[index] = np.int64(word ^ np.uint64(SIGN_BIT))
