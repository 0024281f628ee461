"""Numbers → codes: unsigned numbers of few bits that compare as they do.

Of numbers in a range, how far each is from the least, without the last bits if they are always the
same. Or all bits in which some numbers differ, where these are fewer: of texts of digits, four of
each byte.
"""

from __future__ import annotations

import re

import numpy as np

from matchrec.dataclass import dataclass
from matchrec.engine.partitions import IntArray, WordArray
from matchrec.spark.sorting.kernels.codes import add_codes, measure

FIRST = -1 << 63  # the least number: subtracting it inverts the first bit
ALL = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Code:
    """The codes of numbers: some bits of how far each is from the least.

    kept: uint64[s, 3], see `add_codes`. bits: how many a code has. falling: they are inverted.
    """

    values: IntArray
    least: int
    kept: WordArray
    bits: int
    falling: bool
    of_key: bool

    @property
    def all_bits(self) -> int:
        """The greatest number of so many bits."""
        return (1 << self.bits) - 1

    def add_to(self, word: WordArray, place: int) -> None:
        """Add the codes to words at bit `place`."""
        flipped = np.uint64(self.all_bits if self.falling else 0)
        add_codes(self.values, self.least, self.kept, flipped, place, word)


def code_of(values: IntArray, *, falling: bool, of_key: bool) -> Code:
    """The codes of numbers, at least one; they have no bits where all are equal."""
    found = np.empty(3, np.int64)
    measure(values, found)
    least, most, differing = map(int, found)
    runs = runs_of_bits(differing & ALL)
    in_range = (most - least).bit_length() - (runs[0][0] if runs else 0)
    bits = sum(length for _, length in runs)
    if bits < in_range:
        return Code(values, FIRST, kept_bits(runs), bits, falling, of_key)
    runs = [(runs[0][0], in_range)] if runs else []
    return Code(values, least, kept_bits(runs), in_range, falling, of_key)


def runs_of_bits(mask: int) -> list[tuple[int, int]]:
    """From which bit on how many are set, from the last bit on.

    >>> runs_of_bits(0b1100111)
    [(0, 3), (5, 2)]
    """
    found = re.finditer("1+", f"{mask:b}"[::-1])
    return [(one.start(), len(one.group())) for one in found]


def kept_bits(runs: list[tuple[int, int]]) -> WordArray:
    """What `add_codes` keeps, for runs of bits that are to follow each other."""
    kept = np.empty((len(runs), 3), np.uint64)
    to = 0
    for place, (begin, length) in enumerate(runs):
        kept[place] = begin, (1 << length) - 1, to
        to += length
    return kept
