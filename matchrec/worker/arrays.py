"""Convert Arrow arrays to NumPy arrays and back, and take columns of tables.

Arrow's own `to_numpy`, `pa.array` of a NumPy array, and `fill_null` load pandas first, which takes
a new worker longer than loading all the rest of Arrow. `read_numbers` and `make_array` do the same
without pandas.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from matchrec.worker import internal_names
from matchrec.worker.column_roles import Struct

if TYPE_CHECKING:  # the module is loaded while a query is planned, without kernels
    from matchrec.search.partitions import BoolArray, FloatArray, IntArray

Batches = Iterable[pa.RecordBatch]

# Tables and columns.


def take_column(table: pa.Table, name: str) -> pa.Array:
    """Return a column as one array without a dictionary.

    The values are not copied if the column has one chunk and no dictionary.
    """
    return decode_dictionary(take_encoded_column(table, name))


def take_encoded_column(table: pa.Table, name: str) -> pa.Array:
    """Return a column as one array, with its dictionary if it has one."""
    chunked = table.column(name)
    return chunked.chunk(0) if chunked.num_chunks == 1 else chunked.combine_chunks()


def decode_dictionary(values: pa.Array) -> pa.Array:
    """Return the same values as an array without a dictionary."""
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def take_rows(values: pa.Array, rows: pa.Array) -> pa.Array:
    """Return the values of some rows.

    Args:
        values: the values of all rows.
        rows: the positions of the rows; NULL for an absent row, whose value is NULL. Positions are
            not checked.
    """
    return pc.take(values, rows, boundscheck=False)


def write_batches(batches: Sequence[pa.RecordBatch]) -> bytes:
    """Return one or more batches as the bytes of an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())


def add_structs(table: pa.Table, structs: Iterable[Struct]) -> pa.Table:
    """Return the table with columns of structs added, whose fields are columns of the table.

    Values are not copied if the columns have one chunk and no dictionary.
    """
    for struct in structs:
        fields = [take_column(table, column) for column in struct.field_columns]
        table = table.append_column(struct.name, pa.StructArray.from_arrays(fields, struct.fields))
    return table


# From Arrow to NumPy.


def read_numbers(values: pa.Array) -> npt.NDArray:  # type: ignore[type-arg]
    """Return the values of booleans, floats, or a type that is stored as integers.

    The number for NULL has no meaning. Booleans are copied. Other values share memory with Arrow,
    and must not be changed.
    """
    data_type = values.type
    begin = values.offset  # a slice shares the buffer of the whole array
    end = begin + len(values)
    content = values.buffers()[1] or b""  # there is no buffer if there are no rows
    if pa.types.is_boolean(data_type):
        # Eight values share a byte, in which the slice may begin at any bit.
        first_byte, first_bit = divmod(begin, 8)
        packed_bits = np.frombuffer(content, np.uint8)[first_byte:]
        bits = np.unpackbits(packed_bits, count=first_bit + len(values), bitorder="little")
        return bits[first_bit:].view(np.bool_)
    kind = "f" if pa.types.is_floating(data_type) else "i"  # as NumPy names kinds of types
    number_type = np.dtype(f"{kind}{data_type.bit_width // 8}")
    return np.frombuffer(content, number_type)[begin:end]


def read_numbers_or_zero(values: pa.Array) -> npt.NDArray:  # type: ignore[type-arg]
    """Return the values as `read_numbers` does, but 0 for NULL."""
    numbers = read_numbers(values)
    zero = numbers.dtype.type(0)
    return np.where(find_valid(values), numbers, zero) if values.null_count else numbers


def read_integers(values: pa.Array) -> IntArray:
    """Return the values of a type that is stored as integers as int64[n]; 0 for NULL.

    A decimal of at most 18 digits becomes its digits, a boolean 0 or 1.
    """
    data_type = values.type
    if pa.types.is_boolean(data_type) or pa.types.is_null(data_type):
        values = values.cast(pa.int8())
    elif pa.types.is_decimal(data_type):
        return np.ascontiguousarray(read_decimal_words(values)[:, 0])  # 18 digits fit into one word
    return read_numbers_or_zero(values).astype(np.int64, copy=False)


def read_flags(table: pa.Table, condition_number: int) -> IntArray:
    """Return on which rows a row condition holds: int64[n], 1 or 0.

    Args:
        table: rows with columns of bits.
        condition_number: the number of a condition that the engine has computed, from 0.
    """
    # Bit 0 of the first column marks the first rows of partitions: see `internal_names`.
    column_index, bit = divmod(condition_number + 1, internal_names.count_bits_per_column())
    return (read_integers(take_column(table, internal_names.name_bits(column_index))) >> bit) & 1


def read_decimal_words(values: pa.Array) -> IntArray:
    """Return the low and high words of decimals of at most 38 digits as int64[n, 2]; 0 for NULL.

    The low word is an unsigned number in an int64, the high word is signed.
    """
    if values.null_count:  # only then is pandas loaded
        values = values.fill_null(pa.scalar(Decimal(0), values.type))
    words = np.frombuffer(values.buffers()[1], np.int64).reshape(-1, 2)
    return words[values.offset : values.offset + len(values)]


def read_floats(values: pa.Array) -> FloatArray:
    """Return floats as float64[n]; 0 for NULL."""
    return read_numbers_or_zero(values).astype(np.float64, copy=False)


def view_as_doubles(bits: IntArray) -> FloatArray:
    """Return the doubles with these bits. The array is copied unless it is contiguous."""
    return np.ascontiguousarray(bits).view(np.float64)


def find_valid(values: pa.Array) -> BoolArray:
    """Return which values are not NULL, as bool[n]."""
    if not values.null_count:
        return np.ones(len(values), np.bool_)
    return read_numbers(values.is_valid())


# From NumPy to Arrow.


def make_array(numbers: npt.NDArray, absent: BoolArray | None = None) -> pa.Array:  # type: ignore[type-arg]
    """Return an Arrow array of booleans, integers or floats.

    Integers and floats share memory with `numbers` if that array is contiguous, so it must not be
    changed afterwards.

    Args:
        numbers: the values, of any number of bits.
        absent: bool[n], which values are NULL; None if no value is NULL.
    """
    valid = None
    if absent is not None and absent.any():
        valid = pa.py_buffer(np.packbits(~absent, bitorder="little"))
    if numbers.dtype == np.bool_:
        content = np.packbits(numbers, bitorder="little")
    else:
        content = np.ascontiguousarray(numbers)
    data_type = pa.from_numpy_dtype(numbers.dtype)
    return pa.Array.from_buffers(data_type, len(numbers), [valid, pa.py_buffer(content)])


def cast_integers(numbers: IntArray, data_type: pa.DataType) -> pa.Array:
    """Return integers as values of a type that is stored as integers, such as a date."""
    number_type = np.dtype(f"i{data_type.bit_width // 8}")
    return make_array(numbers.astype(number_type, copy=False)).view(data_type)


def make_value_array(values: Sequence[object], data_type: pa.DataType) -> pa.Array:
    """Return an Arrow array of Python values.

    Args:
        values: the values, None for NULL. Dates and times must be integers in the unit of the type.
        data_type: the type of the values.
    """
    if pa.types.is_temporal(data_type):
        integer_type = pa.int32() if data_type.bit_width == 32 else pa.int64()
        return pa.array(values, integer_type).view(data_type)
    return pa.array(values, data_type)


def make_offsets(offsets: IntArray) -> pa.Array:
    """Return offsets in 32 bits, as an Arrow list needs them. Each must fit into 31 bits."""
    return make_array(offsets.astype(np.int32))


def repeat_values(values: pa.Array, ends: IntArray) -> pa.Array:
    """Return an array in which each value is repeated up to its end.

    The values "a" and "b" with the ends 2 and 3 become "a", "a", "b".

    Args:
        values: v values.
        ends: int64[v], ascending: for each value, the position after its last repetition.
    """
    # The ends are a NumPy array, because Arrow before version 18 fails with ends in an Arrow array.
    return pc.run_end_decode(pa.RunEndEncodedArray.from_arrays(ends, values))
