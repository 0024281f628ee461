"""Order partitions by a hash of their keys, if the hash takes fewer sorts than the keys would.

Keys with more bits than one sort takes are hashed. The hash fits into one sort, which brings the
rows of each key together. The rows of different keys with the same hash are mixed after this sort.
There are few such rows, and they are sorted once more.

Source: Knuth, The Art of Computer Programming, volume 3, 6.4, on multiplicative hashing.
"""

from __future__ import annotations

from math import ceil

import numpy as np

from matchrec.search.kernels.sorting import GOLDEN
from matchrec.search.partitions import BoolArray, IntArray, WordArray
from matchrec.worker.sorting.codes import WORD_BITS, SortCode, SortNumbers, encode_numbers
from matchrec.worker.sorting.words import (
    OrderedWords,
    SortedRows,
    SortWord,
    make_empty_word,
    pack_words,
    sort_words,
)

# The least number of bits of a hash. A word has both a hash and codes of the order only if the
# order leaves this many bits.
MIN_HASH_BITS = 28


def pack_hashed_words(
    codes: list[SortCode], words: list[SortWord], count: int
) -> list[SortWord] | None:
    """Return words with a hash of the keys instead of the codes of keys, the last word first.

    None if hashing would not save a sort. The hash is put in front of the first word of the order,
    or is a separate word if the order leaves too little room. A sort of a million rows takes 44
    bits:

        bits of the order    words
        10                   34 bits of the hash and 10 of the order
        20                   20 bits of the order, then 44 of the hash

    Args:
        codes: the codes of all columns that rows are sorted by, the last code first.
        words: all codes, packed.
        count: the number of rows.
    """
    keys = [code for code in codes if code.is_key]
    bits_per_sort = WORD_BITS - count.bit_length()
    sorts_without_hash = count_sorts(words, bits_per_sort)
    if not keys or sorts_without_hash == 1:
        return None
    order_words = pack_words(code for code in codes if not code.is_key)
    *last_words, first_word = order_words or [make_empty_word(count)]
    if first_word.bits > bits_per_sort - MIN_HASH_BITS:
        last_words.append(first_word)
        first_word = make_empty_word(count)
    if count_sorts(last_words, bits_per_sort) + 1 >= sorts_without_hash:
        return None
    return [*last_words, put_hash_before(first_word, compute_hashes(keys), bits_per_sort)]


def put_hash_before(word: SortWord, hashes: WordArray, bits_per_sort: int) -> SortWord:
    """Return the word with the highest bits of hashes in front: as many bits as one sort takes.

    Args:
        word: a word of the order, or an empty word.
        hashes: uint64[n].
        bits_per_sort: how many bits a sort takes; more than the word has.
    """
    hash_bits = bits_per_sort - word.bits
    values = hashes >> np.uint64(WORD_BITS - hash_bits)
    values <<= np.uint64(word.bits)
    values |= word.values
    key_bits = ((1 << hash_bits) - 1) << word.bits
    return SortWord(values, bits_per_sort, key_bits, word.columns)


def count_sorts(words: list[SortWord], bits_per_sort: int) -> int:
    """Return how many sorts it takes to sort rows by some words."""
    return sum(ceil(word.bits / bits_per_sort) for word in words)


def compute_hashes(keys: list[SortCode]) -> WordArray:
    """Return hashes of keys as uint64[n].

    Equal keys have equal hashes. The highest bits of hashes mostly differ if the keys differ.
    """
    hashes = np.zeros(len(keys[0].source.numbers), np.uint64)
    for key in keys:
        hashes ^= hashes >> np.uint64(WORD_BITS // 2)
        hashes += key.source.numbers.view(np.uint64)
        hashes *= np.uint64(GOLDEN)
    return hashes


def sort_by_hash(
    codes: list[SortCode], words: list[SortWord], hashed_words: list[SortWord]
) -> tuple[SortedRows, BoolArray]:
    """Sort rows by words with a hash of the keys, then sort rows again whose hash is not unique.

    A hash is not unique if several keys share it:

        sorted by hash    a1 a2 | c1 b1 c2 | d1      b and c have the same hash
        sorted again      a1 a2 | b1 c1 c2 | d1

    Args:
        codes: all codes.
        words: all codes, packed.
        hashed_words: what `pack_hashed_words` returns.

    Returns:
        The rows in order, and bool[n], which of them start a partition.
    """
    count = len(words[0].values)
    hashed = sort_words(hashed_words, count)
    rows = hashed.rows
    starts_partition = OrderedWords(words, rows, count).find_partition_starts()
    starts_hash = hashed.arrange(hashed_words).find_partition_starts()
    is_shared_hash = starts_partition & ~starts_hash  # the key changes, and the hash does not
    if not is_shared_hash.any():
        return hashed, starts_partition
    hash_numbers = np.cumsum(starts_hash, dtype=np.int64)
    mixed = np.flatnonzero(np.isin(hash_numbers, hash_numbers[is_shared_hash]))
    rows[mixed] = sort_mixed_rows(codes, rows[mixed], hash_numbers[mixed])
    starts_partition = OrderedWords(words, rows, count).find_partition_starts()
    return SortedRows(rows, None), starts_partition


def sort_mixed_rows(codes: list[SortCode], rows: IntArray, hash_numbers: IntArray) -> IntArray:
    """Sort rows whose hashes are not unique by their hash, then by all codes.

    Args:
        codes: the codes of all columns, for all rows of the table.
        rows: int64[k], the positions in the table of the rows to sort.
        hash_numbers: int64[k], ascending, a number for the hash of each of these rows.

    Returns:
        int64[k], the positions of the rows in order.
    """
    codes_of_rows = [
        encode_numbers(
            SortNumbers.measure(code.source.numbers[rows]),
            is_descending=code.is_descending,
            is_key=code.is_key,
        )
        for code in codes
    ]
    hash_code = encode_numbers(SortNumbers.measure(hash_numbers), is_key=True)
    order = sort_words(pack_words([*codes_of_rows, hash_code]), len(rows)).rows
    return rows[order]
