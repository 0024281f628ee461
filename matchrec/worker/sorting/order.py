"""Find the order of the rows of a table, and sort the table.

The columns that the rows are sorted by become words of 64 bits, in four steps:

1. Each column becomes signed numbers that compare as its values do (`codes`).
2. The numbers become codes of few bits (`codes`).
3. The codes of a row are packed into words (`words`). If partitions may come in any order, a hash
   may replace the codes of their keys (`hashed_keys`).
4. The rows are sorted by their words (`words`).

    k "b", "a", "b"    →  codes 1, 0, 1 of 1 bit     the code of t is in bits 0 and 1,
    t 5, 9, 7          →  codes 0, 2, 1 of 2 bits    the code of k in bit 2: words 4, 2, 5

So the rows come in the order 1, 0, 2. If one sort is enough, columns that are in the word are read
from the sorted words, which are in memory one after the other, so they need not be looked up row by
row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from matchrec.search.partitions import BoolArray, IntArray
from matchrec.worker import arrays, wire
from matchrec.worker.sorting.codes import encode_table
from matchrec.worker.sorting.hashed_keys import hash_keys, sort_by_hash
from matchrec.worker.sorting.words import (
    OrderedWords,
    SortWord,
    are_in_order,
    pack_words,
    sort_words,
)
from matchrec.worker.wire import Sorting, TieCounter


@dataclass(frozen=True, slots=True)
class Order:
    """The order of the rows of a table."""

    # int64[n], the row numbers in order; None if the rows are in order already.
    rows: IntArray | None
    # bool[n], which of the rows in order start a partition.
    starts_partition: BoolArray
    # What the rows are sorted by.
    words: OrderedWords
    # The word of the rows in order, if one sort of one word was enough.
    word: SortWord | None = None


def find_order(table: pa.Table, sorting: Sorting, *, in_any_order: bool = False) -> Order:
    """Return the order of the rows of a table.

    Rows that are equal in all sort columns stay in the order in which they came.

    Args:
        table: one or more rows.
        sorting: what they are sorted by.
        in_any_order: whether partitions may come in any order.
    """
    count = table.num_rows
    codes = [*encode_table(table, sorting)]
    words = pack_words(codes)
    if are_in_order(words):
        ordered_words = OrderedWords(words, None, count)
        return Order(None, ordered_words.find_partition_starts(), ordered_words)
    hashed_words = hash_keys(codes, words, count) if in_any_order else []
    if hashed_words:
        sorted_rows, starts_partition = sort_by_hash(codes, words, hashed_words)
        ordered_words = sorted_rows.arrange(words)
    else:
        sorted_rows = sort_words(words, count)
        ordered_words = sorted_rows.arrange(words)
        starts_partition = ordered_words.find_partition_starts()
    return Order(sorted_rows.rows, starts_partition, ordered_words, sorted_rows.word)


def sort_table(
    table: pa.Table,
    sorting: Sorting,
    *,
    in_any_order: bool = False,
    tie_counter: TieCounter | None = None,
) -> pa.Table:
    """Sort the rows of a table. Bit 0 of the first column of bits marks the first of a partition.

    The column is added if there is none.

    Args:
        table: rows. Each column must be one array.
        sorting: what they are sorted by.
        in_any_order: whether partitions may come in any order.
        tie_counter: counts the ties.
    """
    if not table.num_rows:
        return table
    order = find_order(table, sorting, in_any_order=in_any_order)
    table = take_in_order(table, order, sorting)
    if tie_counter is not None:
        tie_counter.count(table, order.words.find_ties())
    return mark_partitions(table, order.starts_partition)


def mark_partitions(table: pa.Table, starts_partition: BoolArray) -> pa.Table:
    """Return the table with bit 0 of the first column of bits set where a partition begins."""
    if wire.FIRST_BITS not in table.column_names:
        return table.append_column(
            wire.FIRST_BITS, arrays.make_array(starts_partition.astype(np.int8))
        )
    index = table.column_names.index(wire.FIRST_BITS)
    marked = arrays.read_numbers(arrays.take_column(table, wire.FIRST_BITS)) & ~1
    marked |= starts_partition
    return table.set_column(index, table.schema.field(index), arrays.make_array(marked))


def take_in_order(table: pa.Table, order: Order, sorting: Sorting) -> pa.Table:
    """Return the rows of a table in an order."""
    if order.rows is None:
        return table
    partition_starts = np.flatnonzero(order.starts_partition)
    partition_ends = np.append(partition_starts[1:], table.num_rows)
    row_numbers = arrays.make_array(order.rows)
    columns = []
    for name in table.column_names:
        values = arrays.take_encoded_column(table, name)
        if order.word is not None and name in order.word.columns:
            values = arrays.cast_integers(order.word.read_column(name), values.type)
        elif name in sorting.keys and has_one_form(values.type):
            # a key is looked up once for each partition
            keys = arrays.take_rows(values, arrays.make_array(order.rows[partition_starts]))
            values = arrays.repeat_values(keys, partition_ends)
        else:
            values = arrays.take_rows(values, row_numbers)
        columns.append(values)
    return pa.Table.from_arrays(columns, schema=table.schema)


def has_one_form(data_type: pa.DataType) -> bool:
    """Return whether equal values of a type are identical. The doubles 0.0 and -0.0 are not."""
    return arrays.is_text(data_type) or arrays.is_whole(data_type)
