"""Convert Arrow arrays to NumPy arrays, type by type, and back.

Arrow's own `to_numpy`, `pa.array` of a NumPy array, and `fill_null` load pandas first, which takes
a new worker longer than all the rest of Arrow. `read_numbers` and `make_array` share memory without
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from matchrec.conditions.types import NARROW_DIGITS
from matchrec.worker import wire
from matchrec.worker.wire import Struct

if TYPE_CHECKING:  # the module is loaded while a query is planned, without kernels
    from matchrec.search.partitions import BoolArray, FloatArray, IntArray

BYTES_OF_A_NUMBER = 8

Batches = Iterable[pa.RecordBatch]

# Tables and columns.


def take_column(table: pa.Table, name: str) -> pa.Array:
    """Return a column as one array. It is not copied if the table has one chunk.

    If the column has a dictionary, its values are written out, which takes as long as taking them.
    """
    return decode(take_encoded_column(table, name))


def take_encoded_column(table: pa.Table, name: str) -> pa.Array:
    """Return a column as `take_column` does, with its dictionary if it has one."""
    chunked = table.column(name)
    return chunked.chunk(0) if chunked.num_chunks == 1 else chunked.combine_chunks()


def decode(values: pa.Array) -> pa.Array:
    """Return values without a dictionary."""
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def take_rows(values: pa.Array, rows: pa.Array) -> pa.Array:
    """Return the values of some rows, NULL for NULL. The row numbers must be valid: unchecked."""
    return pc.take(values, rows, boundscheck=False)


def write_batches(batches: Sequence[pa.RecordBatch]) -> bytes:
    """Return one or more batches as the bytes of an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())


def add_structs(table: pa.Table, structs: Iterable[Struct]) -> pa.Table:
    """Return the table with columns of structs added. Their fields are columns of the table.

    No values are copied.
    """
    for struct in structs:
        fields = [take_column(table, column) for column in struct.field_columns]
        table = table.append_column(struct.name, pa.StructArray.from_arrays(fields, struct.fields))
    return table


# Types.


# For each type that Spark lacks, the type as which it reads such values from Parquet.
TYPES_IN_SPARK = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.float16(): pa.float32(),
    pa.date64(): pa.date32(),
    **dict.fromkeys((pa.time32("s"), pa.time32("ms"), pa.time64("ns")), pa.time64("us")),
}
# The same for types that only newer versions of Arrow have, by their names.
NEWER_TYPES_IN_SPARK = {"string_view": pa.string(), "binary_view": pa.binary()}


def is_whole(data_type: pa.DataType) -> bool:
    """Return whether values of a type are stored as integers that compare as the values do."""
    return bool(pa.types.is_integer(data_type) or pa.types.is_temporal(data_type))


def is_text(data_type: pa.DataType) -> bool:
    """Return whether values of a type are bytes of any length, which compare byte by byte."""
    is_binary = pa.types.is_binary(data_type) or pa.types.is_large_binary(data_type)
    return bool(is_binary or pa.types.is_string(data_type) or pa.types.is_large_string(data_type))


def find_spark_type(data_type: pa.DataType) -> pa.DataType:
    """Return an Arrow type with types that Spark has in it. Numbers become wider.

    >>> find_spark_type(pa.list_(pa.uint8()))
    ListType(list<item: int16>)
    """
    if pa.types.is_struct(data_type):
        return pa.struct([field.with_type(find_spark_type(field.type)) for field in data_type])
    if pa.types.is_map(data_type):
        return pa.map_(find_spark_type(data_type.key_type), find_spark_type(data_type.item_type))
    if pa.types.is_list(data_type):
        return pa.list_(data_type.value_field.with_type(find_spark_type(data_type.value_type)))
    if pa.types.is_dictionary(data_type):
        return find_spark_type(data_type.value_type)
    return TYPES_IN_SPARK.get(data_type) or NEWER_TYPES_IN_SPARK.get(str(data_type), data_type)


# From Arrow to NumPy.


def read_numbers(values: pa.Array) -> npt.NDArray:  # type: ignore[type-arg]
    """Return the values of booleans, floats, or a type that is stored as integers.

    A NULL may become any value. Booleans are copied; all others share memory with Arrow.
    """
    data_type = values.type
    end = values.offset + len(values)
    content = values.buffers()[1] or b""  # there is no buffer if there are no rows
    if pa.types.is_boolean(data_type):
        first_byte = values.offset // 8
        packed = np.frombuffer(content, np.uint8)[first_byte:]
        bits = np.unpackbits(packed, count=end - 8 * first_byte, bitorder="little")
        return bits[values.offset - 8 * first_byte :].view(np.bool_)
    letter = "f" if pa.types.is_floating(data_type) else "i"
    number_type = np.dtype(f"{letter}{data_type.bit_width // 8}")
    return np.frombuffer(content, number_type)[values.offset : end]


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


def read_flags(table: pa.Table, condition: int) -> IntArray:
    """Return where a condition holds that Spark has computed: int64[n], 1 or 0."""
    # the first bit of all marks partitions
    column_index, bit = divmod(condition + 1, wire.count_bits_per_column())
    return (read_integers(take_column(table, wire.name_bits(column_index))) >> bit) & 1


def read_decimal_words(values: pa.Array) -> IntArray:
    """Return the low and high words of decimals as int64[n, 2]; 0 for NULL.

    The low word has no sign.
    """
    if values.null_count:
        values = values.fill_null(pa.scalar(Decimal(0), values.type))
    words = np.frombuffer(values.buffers()[1], np.int64).reshape(-1, 2)
    return words[values.offset : values.offset + len(values)]


def read_floats(values: pa.Array) -> FloatArray:
    """Return floats as float64[n]; 0 for NULL."""
    return read_numbers_or_zero(values).astype(np.float64, copy=False)


def view_as_doubles(bits: IntArray) -> FloatArray:
    """Return the doubles with these bits."""
    return np.ascontiguousarray(bits).view(np.float64)


def encode_float_order(values: FloatArray) -> IntArray:
    """Return int64[n] that compare as Spark compares floats.

    NaN is the greatest, and -0.0 equals 0.0.
    """
    floats = values + 0.0
    floats[np.isnan(floats)] = np.nan
    bits = floats.view(np.int64)
    return np.asarray(bits ^ ((bits >> 63) & np.iinfo(np.int64).max), np.int64)


def find_valid(values: pa.Array) -> BoolArray:
    """Return which values are not NULL, as bool[n]."""
    if not values.null_count:
        return np.ones(len(values), np.bool_)
    return read_numbers(values.is_valid())


# From NumPy to Arrow.


def make_array(numbers: npt.NDArray, absent: BoolArray | None = None) -> pa.Array:  # type: ignore[type-arg]
    """Return an array of booleans, integers or floats.

    Args:
        numbers: the values.
        absent: which of them are NULL; None if none is.
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
    """Return an array of Python values. Dates and times are given as integers."""
    if pa.types.is_temporal(data_type):
        integer_type = pa.int32() if data_type.bit_width == 32 else pa.int64()
        return pa.array(values, integer_type).view(data_type)
    return pa.array(values, data_type)


def make_offsets(offsets: IntArray) -> pa.Array:
    """Return offsets as an Arrow list needs them: in 32 bits."""
    return make_array(offsets.astype(np.int32))


# Orders, ranks and sizes.


def make_sort_keys(values: pa.Array) -> IntArray:
    """Return int64[n] that compare as Spark compares the values.

    Values that int64 cannot hold become their ranks. NULL has no meaning.
    """
    data_type = values.type
    if pa.types.is_floating(data_type):
        return encode_float_order(read_floats(values))
    is_narrow = pa.types.is_decimal(data_type) and data_type.precision <= NARROW_DIGITS
    is_boolean_or_null = pa.types.is_boolean(data_type) or pa.types.is_null(data_type)
    if is_narrow or is_whole(data_type) or is_boolean_or_null:
        return read_integers(values)
    return read_integers(rank_values(values))


def rank_values(values: pa.Array) -> pa.Array:
    """Return the ranks of values in ascending order, as an int64 array with NULL for NULL.

    Ranks begin with 1, and equal values have the same rank.
    """
    ranks = pc.rank(values, sort_keys="ascending", tiebreaker="dense")
    return make_array(read_numbers(ranks).astype(np.int64), ~find_valid(values))


def rank_repeated_values(values: pa.Array) -> pa.Array:
    """Return `rank_values`, ten times as fast if values are often equal, else more slowly."""
    return rank_encoded_values(values.dictionary_encode())


def rank_encoded_values(values: pa.DictionaryArray) -> pa.Array:
    """Return `rank_values` of values with a dictionary, whose values are distinct and not NULL."""
    return take_rows(rank_values(values.dictionary), values.indices)


def repeat_values(values: pa.Array, ends: IntArray) -> pa.Array:
    """Return the values, each repeated up to where it ends.

    The values "a" and "b" with the ends 2 and 3 become "a", "a", "b".
    """
    # The ends are passed as an array of NumPy: before version 18, Arrow fails with its own arrays.
    return pc.run_end_decode(pa.RunEndEncodedArray.from_arrays(ends, values))


def estimate_value_sizes(values: pa.Array) -> IntArray | int:
    """Return about how many bytes each value takes: int64[n], or one number for all values."""
    data_type = values.type
    if pa.types.is_dictionary(data_type):
        sizes = estimate_value_sizes(values.dictionary)
        if isinstance(sizes, int) or not len(sizes):  # no values, so all are NULL
            return BYTES_OF_A_NUMBER
        return sizes[read_integers(values.indices)]
    if pa.types.is_struct(data_type):
        return sum(map(estimate_value_sizes, values.flatten()))
    if is_text(data_type):
        return read_integers(pc.binary_length(values))
    if pa.types.is_list(data_type) or pa.types.is_map(data_type):
        lengths = np.diff(read_numbers(values.offsets).astype(np.int64))
        bytes_an_element = values.nbytes // max(1, int(lengths.sum())) + 1
        return np.asarray(lengths * bytes_an_element, np.int64)
    return BYTES_OF_A_NUMBER


def encode_equal(values: pa.Array) -> IntArray:
    """Return codes that are equal for values that are equal in Spark: int64[n], -1 for NULL."""
    if pa.types.is_struct(values.type):
        present = find_valid(values).astype(np.int64)
        codes, _ = number_rows([present, *map(encode_equal, values.flatten())])
        return np.where(find_valid(values), codes, -1)
    if pa.types.is_floating(values.type):
        _, codes = np.unique(read_floats(values), return_inverse=True)
        return np.where(find_valid(values), codes, -1).astype(np.int64)
    indices = values.dictionary_encode().indices
    return np.where(find_valid(indices), read_numbers(indices), -1).astype(np.int64)


def number_rows(codes: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Number rows by their codes: rows with equal codes have the same number.

    >>> number_rows([np.array([2, 0, 2]), np.array([0, 0, 1])])
    (array([0, 1, 2]), array([0, 1, 2]))

    Args:
        codes: one or more arrays int64[n], from -1 on and less than n.

    Returns:
        The number of each row, int64[n], in the order in which numbers first come; and the first
        row with each number.
    """
    number = np.zeros(len(codes[0]), np.int64)
    for code in codes:
        pairs = make_array(number * (int(code.max(initial=0)) + 2) + code)
        number = read_numbers(pairs.dictionary_encode().indices).astype(np.int64)
    first = np.empty(int(number.max(initial=-1)) + 1, np.int64)
    first[number[::-1]] = np.arange(len(number))[::-1]
    return number, first
