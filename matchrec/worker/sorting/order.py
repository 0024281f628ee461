"""Find the order of the rows of a table, and sort the table.

The columns that the rows are sorted by become words of 64 bits, in four steps:

1. Each column becomes signed numbers that compare as its values do (`codes`).
2. The numbers become codes of few bits (`codes`).
3. The codes of a row are packed into words (`words`). If partitions may come in any order, a hash
   may replace the codes of their keys (`hashed_keys`).
4. The rows are sorted by their words (`words`).

A table with the key k and the order column t:

    k  b a b
    t  5 9 7

1. The numbers of k are 1, 0, 1, because "a" comes before "b". The numbers of t are 5, 9, 7.
2. The codes of k are 1, 0, 1, of one bit. The codes of t are 0, 2, 1, of two bits.
3. The words are 4, 2, 5: bits 0 and 1 have the code of t, bit 2 has the code of k.
4. The sorted words are 2, 4, 5, so the rows come in the order 1, 0, 2.

If one sort suffices, the columns packed into the word are decoded from the sorted words. Decoding
reads the words in sequence, which is faster than gathering values from all over a column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from matchrec.search.partitions import BoolArray, IntArray
from matchrec.shortcuts import current_shortcuts
from matchrec.worker import arrays, internal_names
from matchrec.worker.arrow_types import is_text, is_whole
from matchrec.worker.column_roles import Sorting, TieCounter
from matchrec.worker.sorting.codes import encode_table
from matchrec.worker.sorting.hashed_keys import pack_hashed_words, sort_by_hash
from matchrec.worker.sorting.words import (
    OrderedWords,
    SortWord,
    are_in_order,
    pack_words,
    sort_words,
)


@dataclass(frozen=True, slots=True)
class Order:
    """The order of the rows of a table."""

    # int64[n], the row numbers in order; None if the rows are in order already.
    row_numbers: IntArray | None
    # bool[n], which of the rows in order start a partition.
    starts_partition: BoolArray
    # The words that the rows are sorted by.
    sorted_by: OrderedWords
    # The only word of the rows, with its values in order, if one sort of one word was enough;
    # otherwise, and if the rows were in order already, None.
    single_word: SortWord | None = None


def find_order(table: pa.Table, sorting: Sorting, *, in_any_order: bool = False) -> Order:
    """Return the order of the rows of a table.

    Rows that are equal in all sort columns stay in the order in which they came.

    Args:
        table: one or more rows.
        sorting: what the rows are sorted by.
        in_any_order: whether partitions may come in any order.
    """
    row_count = table.num_rows
    # A few rows are sorted by their keys in any case, so that their order does not depend on which
    # kernels are compiled.
    in_any_order = in_any_order and row_count >= current_shortcuts().min_rows_to_hash
    codes = [*encode_table(table, sorting, in_any_order=in_any_order)]
    words = pack_words(codes)
    if are_in_order(words):
        ordered_words = OrderedWords(words, None, row_count)
        return Order(
            row_numbers=None,
            starts_partition=ordered_words.find_partition_starts(),
            sorted_by=ordered_words,
        )
    hashed_words = pack_hashed_words(codes, words, row_count) if in_any_order else None
    if hashed_words is not None:
        # `sort_by_hash` has found the starts of partitions already, because it compares the keys to
        # find different keys that have the same hash.
        sorted_rows, starts_partition = sort_by_hash(codes, words, hashed_words)
        ordered_words = sorted_rows.arrange(words)
    else:
        sorted_rows = sort_words(words, row_count)
        ordered_words = sorted_rows.arrange(words)
        starts_partition = ordered_words.find_partition_starts()
    return Order(
        row_numbers=sorted_rows.rows,
        starts_partition=starts_partition,
        sorted_by=ordered_words,
        single_word=sorted_rows.word,
    )


def sort_table(
    table: pa.Table,
    sorting: Sorting,
    *,
    in_any_order: bool = False,
    tie_counter: TieCounter | None = None,
) -> pa.Table:
    """Sort the rows of a table, and mark where partitions start.

    The mark is bit 0 of `internal_names.FIRST_BITS` on the first row of each partition. The column
    is added if the table does not have it.

    Args:
        table: the rows. Each column must have one chunk.
        sorting: what the rows are sorted by.
        in_any_order: whether partitions may come in any order.
        tie_counter: counts rows that are equal in all sort columns; None to leave them uncounted.
    """
    if not table.num_rows:
        return table
    order = find_order(table, sorting, in_any_order=in_any_order)
    table = take_in_order(table, order, sorting)
    if tie_counter is not None:
        tie_counter.count(table, order.sorted_by.find_ties())
    return mark_partitions(table, order.starts_partition)


def mark_partitions(table: pa.Table, starts_partition: BoolArray) -> pa.Table:
    """Return the table with bit 0 of FIRST_BITS set on the first row of each partition.

    The column is added if the table does not have it.
    """
    if internal_names.FIRST_BITS not in table.column_names:
        return table.append_column(
            internal_names.FIRST_BITS, arrays.make_array(starts_partition.astype(np.int8))
        )
    index = table.column_names.index(internal_names.FIRST_BITS)
    marked = arrays.read_numbers(arrays.take_column(table, internal_names.FIRST_BITS)) & ~1
    marked[np.flatnonzero(starts_partition)] |= 1  # few rows: faster than a mask of all rows
    return table.set_column(index, table.schema.field(index), arrays.make_array(marked))


def take_in_order(table: pa.Table, order: Order, sorting: Sorting) -> pa.Table:
    """Return the rows of a table in their order.

    Args:
        table: the rows. Each column must have one chunk.
        order: the order of these rows, from `find_order`.
        sorting: what the rows are sorted by.
    """
    if order.row_numbers is None:
        return table
    partition_starts = np.flatnonzero(order.starts_partition)
    partition_ends = np.append(partition_starts[1:], table.num_rows)
    row_numbers = arrays.make_array(order.row_numbers)
    columns = []
    for name in table.column_names:
        values = arrays.take_encoded_column(table, name)
        if order.single_word is not None and name in order.single_word.columns:
            values = arrays.cast_integers(order.single_word.read_column(name), values.type)
        elif name in sorting.keys and has_unique_representation(values.type):
            # All rows of a partition have the identical key, so the key of its first row is
            # repeated: one value is gathered for each partition, not one for each row.
            keys = arrays.take_rows(values, arrays.make_array(order.row_numbers[partition_starts]))
            values = arrays.repeat_values(keys, partition_ends)
        else:
            values = arrays.take_rows(values, row_numbers)
        columns.append(values)
    return pa.Table.from_arrays(columns, schema=table.schema)


def has_unique_representation(data_type: pa.DataType) -> bool:
    """Return whether equal values of a type are identical. The doubles 0.0 and -0.0 are not."""
    return is_text(data_type) or is_whole(data_type)
