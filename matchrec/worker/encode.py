"""Encode Arrow columns as the arrays that a search reads.

Integers, booleans, dates, timestamps and intervals become int64, floats become float64. Values of
any other type that can be sorted become their ranks (`worker.ranks`):

    name        ["bob", "al", NULL, "bob"]     →  [2, 1, 0, 2], not valid at the third row
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from matchrec.compile.compiled_query import ColumnAspect, CompiledQuery
from matchrec.search.partitions import BoolArray, Frontier, IntArray, Partitions, WordArray
from matchrec.worker import internal_names
from matchrec.worker.arrays import find_valid, read_floats, read_integers, take_column
from matchrec.worker.arrow_types import is_whole
from matchrec.worker.ranks import rank_columns
from matchrec.worker.sort_keys import make_sort_keys, rank_values
from matchrec.worker.windows import find_window_ends

BITS_PER_WORD = 64  # of `Partitions.condition_bits`


def encode_partitions(
    compiled_query: CompiledQuery,
    table: pa.Table,
    starts: IntArray,
    frontier: Frontier | None = None,
    condition_bits: WordArray | None = None,
) -> Partitions:
    """Return a table as a search sees it.

    Args:
        compiled_query: says which columns conditions, windows and totals read.
        table: the rows, with the columns that `spark.preparations` sends.
        starts: int64[p + 1], the row at which each partition starts, then the number of rows.
        frontier: how far each partition has been searched before; None for whole partitions. The
            result has a copy of it, which the search changes.
        condition_bits: uint64[n, w], which row conditions hold, as in `Partitions`; None to unpack
            the conditions from the columns of bits.
    """
    if condition_bits is None:
        condition_bits = unpack_conditions(table, len(compiled_query.row_conditions))
    encoded = encode_columns(compiled_query, table)
    return Partitions(
        frontier=None if frontier is None else frontier.copy(),
        window_end=find_window_ends(compiled_query, table, starts, frontier),
        end_times=encode_end_times(compiled_query, table),
        starts=starts,
        condition_bits=condition_bits,
        columns=encoded.columns,
        valid=encoded.valid,
        integer_count=encoded.integer_count,
        ranked_values=encoded.ranked_values,
    )


class EncodedColumns(NamedTuple):
    """The c columns of n rows that a search reads.

    Integer columns come first, then columns of floats, then columns that only totals over all
    matches read.
    """

    columns: IntArray  # int64[c, n], floats as their bits
    valid: BoolArray  # bool[c, n], which values are not NULL
    integer_count: int  # the number of integer columns
    ranked_values: dict[int, list[object]]  # see `Partitions.ranked_values`


class EncodedColumn(NamedTuple):
    """A column of n rows that a search reads."""

    numbers: IntArray  # int64[n], floats as their bits; the number for NULL has no meaning
    valid: BoolArray  # bool[n], which values are not NULL


def encode_columns(compiled_query: CompiledQuery, table: pa.Table) -> EncodedColumns:
    """Return the columns that conditions on the run and totals read."""
    sent_columns = compiled_query.sent_columns
    rankings = rank_columns(compiled_query, table)
    columns: list[EncodedColumn] = []
    for index in sent_columns.integer_columns:
        if index in rankings:
            values = rankings[index].ranks
        else:
            values = take_column(table, internal_names.name_column(index))
        columns.append(EncodedColumn(encode_for_conditions(values), find_valid(values)))
    for index in sent_columns.float_columns:
        values = take_column(table, internal_names.name_column(index))
        columns.append(EncodedColumn(read_floats(values).view(np.int64), find_valid(values)))
    for use in compiled_query.totalled_columns:
        values = take_column(table, internal_names.name_column(use.column))
        columns.append(EncodedColumn(encode_for_totals(values, use.aspect), find_valid(values)))
    return EncodedColumns(
        columns=stack_columns([column.numbers for column in columns], table.num_rows, np.int64),
        valid=stack_columns([column.valid for column in columns], table.num_rows, np.bool_),
        integer_count=len(sent_columns.integer_columns),
        ranked_values={
            sent_columns.integer_columns.index(index): ranking.distinct_values
            for index, ranking in rankings.items()
        },
    )


def encode_for_conditions(values: pa.Array) -> IntArray:
    """Return the values that conditions on the run read in a column without floats, as int64[n].

    Values of a type that has neither numbers nor ranks become zeros: conditions read only whether
    they are NULL.
    """
    value_type = values.type
    has_numbers = (
        pa.types.is_primitive(value_type)
        or pa.types.is_decimal(value_type)
        or pa.types.is_null(value_type)
    )
    if has_numbers and not pa.types.is_interval(value_type):
        return read_integers(values)
    return np.zeros(len(values), np.int64)


def encode_for_totals(values: pa.Array, aspect: ColumnAspect) -> IntArray:
    """Return the values that totals over all matches read in a column, as int64[n].

    Floats that are added up become their bits. If totals read only whether a value is NULL, all
    values become zeros.

    Args:
        values: the values of the column.
        aspect: what the totals read of a value.
    """
    if aspect is ColumnAspect.PRESENCE:
        return np.zeros(len(values), np.int64)
    if aspect is ColumnAspect.ORDER:
        return make_sort_keys(values)
    if pa.types.is_floating(values.type):
        return read_floats(values).view(np.int64)
    return read_integers(values)


def encode_end_times(compiled_query: CompiledQuery, table: pa.Table) -> IntArray | None:
    """Return when the windows that begin with each row end, see `Partitions.end_times`.

    The numbers compare as the ends of the windows do. If an end is NULL, it is beyond all values of
    its type, so the window never ends. None if the query does not output runs whose window between
    neighbouring rows has ended.
    """
    stages = compiled_query.task.stages
    if (
        not compiled_query.sent_columns.window_end_columns
        or stages is None
        or not stages.outputs_timeouts
    ):
        return None
    ends = [
        take_column(table, internal_names.name_column(index))
        for index in compiled_query.sent_columns.window_end_columns
    ]
    if not all(is_whole(values.type) for values in ends):
        ranks = rank_values(append_columns(ends))
        ends = [ranks.slice(index * table.num_rows, table.num_rows) for index in range(len(ends))]
    never = np.iinfo(np.int64).max
    end_times = [np.where(find_valid(values), read_integers(values), never) for values in ends]
    if not compiled_query.task.has_window:  # the first array is for the window of the match
        end_times.insert(0, np.full(table.num_rows, never))
    return stack_columns(end_times, table.num_rows, np.int64)


def append_columns(columns: Sequence[pa.Array]) -> pa.Array:
    """Return the values of all columns, one column after the other.

    Decimals of several types get a type that holds all of them.
    """
    tables = [pa.table({"values": values}) for values in columns]
    table = pa.concat_tables(tables, promote_options="permissive")
    return table.column("values").combine_chunks()


ScalarType = TypeVar("ScalarType", bound=np.generic)


def stack_columns(
    columns: Sequence[npt.NDArray[np.generic]], row_count: int, dtype: type[ScalarType]
) -> npt.NDArray[ScalarType]:
    """Return columns as one array, dtype[c, n], for c columns of n = `row_count` rows.

    Without columns, the array is empty.
    """
    if not columns:
        return np.empty((0, row_count), dtype)
    return np.ascontiguousarray(np.stack(columns).astype(dtype, copy=False))


def unpack_conditions(table: pa.Table, condition_count: int, bit_count: int = 0) -> WordArray:
    """Return which row conditions hold on each row, as uint64[n, w] with w words for each row.

    Condition c is bit c % 64 of word c // 64. A column of the table has only 62 bits, and the first
    bit of the first column marks partitions, so the bits are moved:

        columns    mark, conditions 0 .. 60    conditions 61 .. 122
        words      conditions 0 .. 63          conditions 64 .. 122

    Args:
        table: rows with columns of bits.
        condition_count: the number of conditions that the engine has computed.
        bit_count: the number of bits that the words must have, if the worker later sets further
            bits itself. In the result, these bits are 0.
    """
    bit_columns = [
        read_integers(take_column(table, internal_names.name_bits(index))).view(np.uint64)
        for index in range(internal_names.count_bit_columns(condition_count))
    ]
    word_count = ceil(max(1, condition_count, bit_count) / BITS_PER_WORD)
    words = np.empty((table.num_rows, word_count), np.uint64)
    np.right_shift(bit_columns[0], np.uint64(1), out=words[:, 0])  # drops the mark of partitions
    words[:, 1:] = 0
    bits_per_column = internal_names.count_bits_per_column()
    for index, bits in enumerate(bit_columns[1:], 1):
        # The lowest bit of the column becomes bit `first_bit` of the word.
        word, first_bit = divmod(index * bits_per_column - 1, BITS_PER_WORD)
        words[:, word] |= bits << np.uint64(first_bit)
        spans_two_words = first_bit + bits_per_column > BITS_PER_WORD
        if spans_two_words and word + 1 < word_count:
            words[:, word + 1] |= bits >> np.uint64(BITS_PER_WORD - first_bit)
    return words
