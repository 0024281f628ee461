"""The compiled loops of sorting: codes go in, the order of their rows comes out.

Values become codes: unsigned numbers that compare alike, without the bits that all have in common.
Rows are divided by the first bits of their words into parts that fit into a processor's cache. Each
part is then sorted from its last differing digit to the first one, stably and without comparing; a
part that is in order already is left as it is.

Cost: rows x differing digits. Source: Knuth, The Art of Computer Programming, volume 3, 5.2.5,
Sorting by Distribution.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from matchrec.engine.partitions import BoolArray, IntArray, WordArray
from matchrec.jit.decorators import inlined, inner, kernel

DIGIT = 8  # bits; more and the places that are written to leave the nearest cache


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


RowArray = npt.NDArray[np.uint32]


class SortRows(NamedTuple):
    """Rows, and of each the word that it is sorted by."""

    numbers: RowArray
    words: WordArray


class SortWork(NamedTuple):
    """Rows to be sorted, and room for them in order.

    counts: int64, one for each value of the first bits. digits: int64, one for each of a digit.
    """

    rows: SortRows
    ordered: SortRows
    counts: IntArray
    digits: IntArray


@kernel
def is_in_order(words: WordArray) -> bool:
    """Whether no row comes before the one before it. words: uint64[k, n], the first decides."""
    for row in range(1, words.shape[1]):
        for place in range(words.shape[0]):
            one, other = words[place, row - 1], words[place, row]
            if one > other:
                return False
            if one < other:
                break
    return True


@kernel
def sort_rows(word: WordArray, shift: int, work: SortWork) -> None:
    """Bring the rows into the order of their words; rows with equal words stay as they are.

    shift: how many bits of the words follow those by which rows are divided first.
    """
    divide(word, np.uint64(shift), work)
    if shift == 0:
        return
    begin = np.int64(0)
    for part in range(work.counts.shape[0]):
        end = work.counts[part]
        if end - begin > 1:
            sort_part(begin, end, work)
        begin = end


@inner
def divide(word: WordArray, shift: int, work: SortWork) -> None:
    """Divide the rows by the first bits of their words; counts: where each part ends."""
    numbers, counts, ordered = work.rows.numbers, work.counts, work.ordered
    counts[:] = 0
    for row in range(numbers.shape[0]):
        counts[word[row] >> shift] += 1
    to_places(counts)
    for place in range(numbers.shape[0]):
        row = numbers[place]
        value = word[row]
        to = counts[value >> shift]
        counts[value >> shift] = to + 1
        ordered.words[to] = value
        ordered.numbers[to] = row


@inlined
def to_places(counts: IntArray) -> None:
    """How many rows each part has → where it begins."""
    total = np.int64(0)
    for part in range(counts.shape[0]):
        count = counts[part]
        counts[part] = total
        total += count


@inner
def sort_part(begin: int, end: int, work: SortWork) -> None:
    """Sort the rows of a part by the rest of their words."""
    words = work.ordered.words
    differing = np.uint64(0)
    in_order = True
    for place in range(begin + 1, end):
        differing |= words[place] ^ words[place - 1]
        in_order &= words[place - 1] <= words[place]
    if not in_order:
        sort_digits(begin, end, differing, work)


@inlined
def sort_digits(begin: int, end: int, differing: int, work: SortWork) -> None:
    """Sort rows by each digit in which some differ, from the last one to the first."""
    one, other = work.ordered, work.rows
    moved = False
    shift = np.uint64(0)
    while shift < 64 and differing >> shift != 0:
        if (differing >> shift) & np.uint64(1) == 0:
            shift += np.uint64(1)
            continue
        sort_digit(begin, end, shift, one, other, work.digits)
        one, other = other, one
        moved = not moved
        shift += np.uint64(DIGIT)
    if moved:
        for place in range(begin, end):
            work.ordered.words[place] = work.rows.words[place]
            work.ordered.numbers[place] = work.rows.numbers[place]


@inlined
def sort_digit(
    begin: int, end: int, shift: int, rows: SortRows, ordered: SortRows, digits: IntArray
) -> None:
    """Write rows in the order of one digit; those with equal digits stay in their order."""
    last = np.uint64((1 << DIGIT) - 1)
    digits[:] = 0
    for place in range(begin, end):
        digits[(rows.words[place] >> shift) & last] += 1
    to_places(digits)
    for place in range(begin, end):
        word = rows.words[place]
        digit = (word >> shift) & last
        to = begin + digits[digit]
        digits[digit] += 1
        ordered.words[to] = word
        ordered.numbers[to] = rows.numbers[place]


@kernel
def mark_changes(words: WordArray, looked_at: int, marks: BoolArray) -> None:
    """Mark the first row, and each whose word differs from the one before in bits looked at."""
    mask = np.uint64(looked_at)
    marks[0] = True
    for place in range(1, words.shape[0]):
        marks[place] |= (words[place] ^ words[place - 1]) & mask != 0
