"""Convert texts to integers that compare as the texts do, and give repeated texts a dictionary.

A short text and its length fit into one integer, so that such texts are handled like integers:

    "hot"    the bytes 68 6F 74 00 00 00 00, then the length 3
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from matchrec.search.kernels.sorting import number_distinct
from matchrec.search.kernels.texts import (
    BYTES_PER_WORD,
    FIRST_BYTES,
    SIGN_BIT,
    BorderArray,
    TextBytes,
    read_text_bytes,
)
from matchrec.search.partitions import IntArray
from matchrec.worker import arrays
from matchrec.worker.sort_keys import rank_repeated_values

# How many of the first rows are looked at to estimate how often values are repeated.
SAMPLE_ROWS = 1 << 14

# Texts of at most this many bytes are sorted by their bytes if many of them differ, see
# `has_many_distinct_values`. Other texts are ranked first.
MAX_SPLIT_BYTES = 64

# A number of eight bytes has room for this many bytes of a text, and for its length.
MAX_SHORT_BYTES = BYTES_PER_WORD - 1


@dataclass(frozen=True, slots=True)
class ShortTexts:
    """Texts as numbers, which are equal exactly if the texts are, and sort as the texts do."""

    numbers: IntArray  # int64[n]
    # Whether the last byte of a number is the length of the text. If not, all texts have eight
    # bytes.
    has_lengths: bool

    def decode(self, numbers: IntArray, data_type: pa.DataType) -> pa.Array:
        """Return the texts of some of the numbers.

        Args:
            numbers: int64[d].
            data_type: the type of the texts.
        """
        words = numbers.view(np.uint64) ^ np.uint64(SIGN_BIT)
        text_bytes = words.astype(">u8").view(np.uint8).reshape(-1, BYTES_PER_WORD)
        lengths = np.full(len(numbers), BYTES_PER_WORD, np.uint8)
        if self.has_lengths:
            lengths = text_bytes[:, -1]
        content = text_bytes[np.arange(BYTES_PER_WORD) < lengths[:, None]]
        borders = np.zeros(len(numbers) + 1, np.int64 if is_large(data_type) else np.int32)
        np.cumsum(lengths, out=borders[1:])
        buffers = [None, pa.py_buffer(borders), pa.py_buffer(content)]
        return pa.Array.from_buffers(data_type, len(numbers), buffers)


def convert_texts(values: pa.Array) -> list[IntArray]:
    """Return arrays of numbers that compare as texts do: int64[n] each.

    The first array is compared first. Short texts are one array. For others, the arrays have the
    bytes of the texts, eight bytes in each array, then the lengths of the texts: shorter texts are
    padded with zeros, so a text and the same text followed by zero bytes differ only in length. If
    texts are long or often equal, there is only one array, which has their ranks.

    Args:
        values: one or more texts, or binary values. The numbers for NULL have no meaning.
    """
    short_texts = convert_short_texts(values)
    if short_texts is not None:
        return [short_texts.numbers]
    lengths = find_lengths(values)
    longest = int(lengths.max())
    if longest <= MAX_SPLIT_BYTES and has_many_distinct_values(values):
        return [*split_bytes(values, longest), lengths.astype(np.int64)]
    return [arrays.read_integers(rank_repeated_values(values))]


def encode_texts(values: pa.Array) -> pa.DictionaryArray:
    """Return texts with a dictionary, as Arrow's `dictionary_encode` does.

    The texts of the dictionary come in the order of their first rows. Arrow encodes texts that are
    not short, and texts with NULL, which have no number.
    """
    if values.null_count:
        return values.dictionary_encode()
    short_texts = convert_short_texts(values)
    if short_texts is None:
        return values.dictionary_encode()
    numbered = number_distinct(short_texts.numbers)
    if numbered is None:
        return values.dictionary_encode()
    dictionary = short_texts.decode(numbered.distinct_values, values.type)
    return pa.DictionaryArray.from_arrays(numbered.numbers.astype(np.int32), dictionary)


def convert_short_texts(values: pa.Array) -> ShortTexts | None:
    """Return texts of at most seven bytes, or of exactly eight bytes, as numbers.

    Returns:
        The numbers, where the numbers for NULL have no meaning. None if the texts are of other
        lengths, if they have fewer than eight bytes together, or if the kernel that reads texts is
        not worth compiling yet.
    """
    lengths = find_lengths(values)
    longest = int(lengths.max(initial=0))
    has_lengths = longest <= MAX_SHORT_BYTES
    if not has_lengths and (longest > BYTES_PER_WORD or lengths.min() < BYTES_PER_WORD):
        return None
    content, borders = view_texts(values)
    numbers = read_text_bytes(content, borders, 0)
    if numbers is None:
        return None
    if has_lengths:
        numbers |= lengths
    return ShortTexts(numbers, has_lengths)


def has_many_distinct_values(values: pa.Array) -> bool:
    """Return whether more than a quarter of the first SAMPLE_ROWS values are distinct.

    Ranking the values would take long then.
    """
    sample = values.slice(0, SAMPLE_ROWS)
    return 4 * len(pc.unique(sample)) > len(sample)


def split_bytes(values: pa.Array, longest: int) -> Iterator[IntArray]:
    """Yield int64[n] for each eight bytes of the texts: numbers that sort as these bytes do.

    Zeros follow the end of a text. For texts of at most 16 bytes, the first array has the bytes 0
    to 7 of each text, and the second one the bytes 8 to 15.

    Args:
        values: the texts, or binary values. None of them is encoded in a dictionary.
        longest: the length of the longest text, in bytes.
    """
    content, borders = view_texts(values)
    for skipped in range(0, longest, BYTES_PER_WORD):
        numbers = read_text_bytes(content, borders, skipped)
        yield read_text_bytes_with_numpy(content, borders, skipped) if numbers is None else numbers


def read_text_bytes_with_numpy(content: TextBytes, borders: BorderArray, skipped: int) -> IntArray:
    """Return what `read_text_bytes` returns, for the same arguments."""
    begins, ends = borders[:-1], borders[1:]
    # word_at[i] has the eight bytes from byte i on. It is a view whose words overlap.
    padded = np.append(content, np.zeros(BYTES_PER_WORD, np.uint8))
    word_at: npt.NDArray[np.uint64] = np.ndarray(
        len(padded) - BYTES_PER_WORD + 1, ">u8", padded, strides=(1,)
    )
    starts = np.minimum(begins + skipped, ends)
    words = word_at[starts].astype(np.uint64)
    # Clear the bytes that belong to the next text.
    words &= FIRST_BYTES[np.minimum(ends - starts, BYTES_PER_WORD)]
    return np.asarray((words ^ np.uint64(SIGN_BIT)).view(np.int64))


def view_texts(values: pa.Array) -> tuple[TextBytes, BorderArray]:
    """Return the bytes of all texts, and where in them each text begins and the last one ends."""
    _, offsets, content = values.buffers()
    borders: BorderArray = np.frombuffer(offsets, np.int64 if is_large(values.type) else np.int32)
    text_bytes: TextBytes = np.frombuffer(b"" if content is None else content, np.uint8)
    return text_bytes, borders[values.offset : values.offset + len(values) + 1]


def find_lengths(values: pa.Array) -> npt.NDArray[np.int32] | IntArray:
    """Return the length of each text in bytes: int32[n] or int64[n].

    The length of NULL has no meaning.
    """
    _, borders = view_texts(values)
    return np.asarray(np.diff(borders))


def is_large(data_type: pa.DataType) -> bool:
    """Return whether a type of texts has 64-bit offsets."""
    return bool(pa.types.is_large_binary(data_type) or pa.types.is_large_string(data_type))
