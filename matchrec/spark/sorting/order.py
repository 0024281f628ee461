"""The rows of a table in order: which row comes when, and which begin a partition."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from matchrec.dataclass import dataclass
from matchrec.engine.partitions import BoolArray, WordArray
from matchrec.spark.sorting.kernels.radix import (
    DIGIT,
    RowArray,
    Rows,
    Work,
    is_in_order,
    mark_changes,
    sort_rows,
)
from matchrec.spark.sorting.sorting import Sorting
from matchrec.spark.sorting.words import Word, words_of

FIRST_BITS = 10  # by which rows are divided first, so that parts are in cache
BITS_OF_KEYS = range(8, 13)  # or by these, where keys have no more: parts may be in order already


@dataclass(frozen=True, slots=True)
class Order:
    """The rows of a table in order.

    rows: their numbers, None where they are in order as they are. begins: bool[n], of the rows in
    order, which are the first of a partition.
    """

    rows: RowArray | None
    begins: BoolArray


def order_of(table: pa.Table, sorting: Sorting) -> Order:
    """The order of a table's rows; rows that are equal in all columns keep theirs."""
    words = words_of(table, sorting)
    if not words or (is_in_order(stacked(words[-1:])) and is_in_order(stacked(words))):
        return Order(None, begins(table.num_rows, [(one.values, one.of_keys) for one in words]))
    rows = sort(words, table.num_rows)
    ordered = [(one.values.take(rows.numbers), one.of_keys) for one in words[:-1] if one.of_keys]
    ordered.append((rows.words, words[-1].of_keys))
    return Order(rows.numbers, begins(table.num_rows, ordered))


def stacked(words: list[Word]) -> WordArray:
    """uint64[k, n], the first decides."""
    if len(words) == 1:
        return words[0].values.reshape(1, -1)
    return np.stack([one.values for one in reversed(words)])


def sort(words: list[Word], count: int) -> Rows:
    """The rows in order, with their first words."""
    given, ordered = empty_rows(count), empty_rows(count)
    given.numbers[:] = np.arange(count, dtype=np.uint32)
    digits = np.empty(1 << DIGIT, np.int64)
    for word in words:
        first = first_bits(word, count)
        counts = np.empty(1 << first, np.int64)
        sort_rows(word.values, word.bits - first, Work(given, ordered, counts, digits))
        given, ordered = ordered, given
    return given


def first_bits(word: Word, count: int) -> int:
    """By how many bits rows are divided first."""
    of_keys = word.of_keys.bit_count()
    most = of_keys if of_keys in BITS_OF_KEYS else FIRST_BITS
    return min(word.bits, most, count.bit_length())


def empty_rows(count: int) -> Rows:
    """Room for rows."""
    return Rows(np.empty(count, np.uint32), np.empty(count, np.uint64))


def begins(count: int, words: list[tuple[WordArray, int]]) -> BoolArray:
    """Which rows begin a partition. words: of rows in order, with the bits that are of keys."""
    marks = np.zeros(count, np.bool_)
    marks[0] = True
    for values, of_keys in words:
        if of_keys:
            mark_changes(values, np.uint64(of_keys), marks)
    return marks
