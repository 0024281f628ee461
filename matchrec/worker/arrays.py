"""Arrow arrays → NumPy arrays, type by type, and back.

Arrow's own `to_numpy`, `array` of NumPy's and `fill_null` load pandas first, which takes a new
worker longer than all the rest of Arrow: `numbers_of` and `arrow_of` share memory without it.
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

# As which types Spark reads unsigned integers from Parquet, and others that it has not.
READ_AS = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.float16(): pa.float32(),
    pa.date64(): pa.date32(),
    **dict.fromkeys((pa.time32("s"), pa.time32("ms"), pa.time64("ns")), pa.time64("us")),
}
READ_AS_NAMED = {"string_view": pa.string(), "binary_view": pa.binary()}  # which are new in Arrow


def is_whole(kind: pa.DataType) -> bool:
    """Whether values of a type are held as int64 and compare alike."""
    return bool(pa.types.is_integer(kind) or pa.types.is_temporal(kind))


def is_text(kind: pa.DataType) -> bool:
    """Whether values are bytes of any number, which compare byte by byte."""
    binary = pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
    return bool(binary or pa.types.is_string(kind) or pa.types.is_large_string(kind))


def column(table: pa.Table, name: str) -> pa.Array:
    chunked = table.column(name)
    return chunked.chunk(0) if chunked.num_chunks == 1 else chunked.combine_chunks()


def to_bytes(batches: Sequence[pa.RecordBatch]) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())


def with_structs(table: pa.Table, structs: Iterable[Struct]) -> pa.Table:
    """The table with columns of structs, whose fields are columns of its own; none is copied."""
    for struct in structs:
        parts = [column(table, part) for part in struct.parts]
        table = table.append_column(struct.name, pa.StructArray.from_arrays(parts, struct.fields))
    return table


def numbers_of(values: pa.Array) -> npt.NDArray:  # type: ignore[type-arg]
    """The values of booleans, floats or what is held as integers; anything where one is NULL."""
    kind, end = values.type, values.offset + len(values)
    content = values.buffers()[1] or b""  # nothing where there are no rows
    if pa.types.is_boolean(kind):
        known, begin = np.frombuffer(content, np.uint8), values.offset // 8
        bits = np.unpackbits(known[begin:], count=end - 8 * begin, bitorder="little")
        return bits[values.offset - 8 * begin :].view(np.bool_)
    letter = "f" if pa.types.is_floating(kind) else "i"
    return np.frombuffer(content, np.dtype(f"{letter}{kind.bit_width // 8}"))[values.offset : end]


def arrow_of(numbers: npt.NDArray, absent: BoolArray | None = None) -> pa.Array:  # type: ignore[type-arg]
    """An array of booleans, integers or floats, NULL where `absent`."""
    present = None
    if absent is not None and absent.any():
        present = pa.py_buffer(np.packbits(~absent, bitorder="little"))
    is_truth = numbers.dtype == np.bool_
    held = np.packbits(numbers, bitorder="little") if is_truth else np.ascontiguousarray(numbers)
    kind = pa.from_numpy_dtype(numbers.dtype)
    return pa.Array.from_buffers(kind, len(numbers), [present, pa.py_buffer(held)])


def as_type(numbers: IntArray, kind: pa.DataType) -> pa.Array:
    return arrow_of(numbers.astype(np.dtype(f"i{kind.bit_width // 8}"), copy=False)).view(kind)


def array_of(values: Sequence[object], kind: pa.DataType) -> pa.Array:
    """An array of Python's values, in which times are whole numbers."""
    if pa.types.is_temporal(kind):
        return pa.array(values, pa.int32() if kind.bit_width == 32 else pa.int64()).view(kind)
    return pa.array(values, kind)


def offsets_of(offsets: IntArray) -> pa.Array:
    return arrow_of(offsets.astype(np.int32))


def numbers_or_zero(values: pa.Array) -> npt.NDArray:  # type: ignore[type-arg]
    """The values that `numbers_of` gives, 0 where NULL."""
    numbers = numbers_of(values)
    zero = numbers.dtype.type(0)
    return np.where(validity(values), numbers, zero) if values.null_count else numbers


def as_integers(values: pa.Array) -> IntArray:
    """int64[n]; 0 where NULL."""
    kind = values.type
    if pa.types.is_boolean(kind) or pa.types.is_null(kind):
        values = values.cast(pa.int8())
    elif pa.types.is_decimal(kind):
        return np.ascontiguousarray(decimal_words(values)[:, 0])  # of at most 18 digits
    return numbers_or_zero(values).astype(np.int64, copy=False)


def flags_of(table: pa.Table, condition: int) -> IntArray:
    """int64[n], 1 where a condition that Spark computes holds; the first bit is of no condition."""
    place, bit = divmod(condition + 1, wire.bits_a_column())
    return (as_integers(column(table, wire.bits(place))) >> bit) & 1


def decimal_words(values: pa.Array) -> IntArray:
    """int64[n, 2], low and high words of decimals; 0 where NULL. The low word is unsigned."""
    if values.null_count:
        values = values.fill_null(pa.scalar(Decimal(0), values.type))
    words = np.frombuffer(values.buffers()[1], np.int64).reshape(-1, 2)
    return words[values.offset : values.offset + len(values)]


def as_floats(values: pa.Array) -> FloatArray:
    """float64[n]; 0 where NULL."""
    return numbers_or_zero(values).astype(np.float64, copy=False)


def doubles_of(bits: IntArray) -> FloatArray:
    return np.ascontiguousarray(bits).view(np.float64)


def rising_floats(values: FloatArray) -> IntArray:
    """int64 that compare as Spark compares floats: NaN is the greatest, and -0.0 equals 0.0."""
    floats = values + 0.0
    floats[np.isnan(floats)] = np.nan
    bits = floats.view(np.int64)
    return np.asarray(bits ^ ((bits >> 63) & np.iinfo(np.int64).max), np.int64)


def validity(values: pa.Array) -> BoolArray:
    """bool[n], false where NULL."""
    if not values.null_count:
        return np.ones(len(values), np.bool_)
    return numbers_of(values.is_valid())


def sort_keys(values: pa.Array) -> IntArray:
    """int64 that compare as Spark compares the values; of what int64 does not hold, ranks."""
    kind = values.type
    if pa.types.is_floating(kind):
        return rising_floats(as_floats(values))
    narrow = pa.types.is_decimal(kind) and kind.precision <= NARROW_DIGITS
    if narrow or is_whole(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind):
        return as_integers(values)
    return as_integers(dense_ranks(values))


def dense_ranks(values: pa.Array) -> pa.Array:
    """int64 ranks from 1 in ascending order, equal values alike, NULL for NULL."""
    ranks = pc.rank(values, sort_keys="ascending", tiebreaker="dense")
    return arrow_of(numbers_of(ranks).astype(np.int64), ~validity(values))


def ranks_of_repeated(values: pa.Array) -> pa.Array:
    """`dense_ranks`, some ten times as fast where values are often equal, slower where none are."""
    encoded = values.dictionary_encode()
    return dense_ranks(encoded.dictionary).take(encoded.indices)


def repeated(values: pa.Array, ends: IntArray) -> pa.Array:
    """The values, each repeated to where it ends: "a" and "b" to 2 and 3 are "a", "a", "b"."""
    return pc.run_end_decode(pa.RunEndEncodedArray.from_arrays(arrow_of(ends), values))


def sizes_of(values: pa.Array) -> IntArray | int:
    """About how many bytes each value takes: int64[n], or the same for all."""
    kind = values.type
    if pa.types.is_struct(kind):
        return sum(map(sizes_of, values.flatten()))
    if is_text(kind):
        return as_integers(pc.binary_length(values))
    if pa.types.is_list(kind) or pa.types.is_map(kind):
        lengths = np.diff(numbers_of(values.offsets).astype(np.int64))
        of_each = values.nbytes // max(1, int(lengths.sum())) + 1
        return np.asarray(lengths * of_each, np.int64)
    return BYTES_OF_A_NUMBER


def codes_of(values: pa.Array) -> IntArray:
    """int64[n], alike for equal values as Spark has it, -1 for NULL."""
    if pa.types.is_struct(values.type):
        known = validity(values).astype(np.int64)
        codes, _ = number_equal([known, *map(codes_of, values.flatten())])
        return np.where(validity(values), codes, -1)
    if pa.types.is_floating(values.type):
        _, codes = np.unique(as_floats(values), return_inverse=True)
        return np.where(validity(values), codes, -1).astype(np.int64)
    indices = values.dictionary_encode().indices
    return np.where(validity(indices), numbers_of(indices), -1).astype(np.int64)


def number_equal(codes: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """int64[n], the same number for rows that are alike in all codes, in the order in which they
    first come; and the first row of each number. codes: at least one, from -1 on and less than n.
    """
    number = np.zeros(len(codes[0]), np.int64)
    for code in codes:
        pairs = arrow_of(number * (int(code.max(initial=0)) + 2) + code)
        number = numbers_of(pairs.dictionary_encode().indices).astype(np.int64)
    first = np.empty(int(number.max(initial=-1)) + 1, np.int64)
    first[number[::-1]] = np.arange(len(number))[::-1]
    return number, first


def read_as(kind: pa.DataType) -> pa.DataType:
    """A type of Arrow's with types that Spark has in the place of others; numbers are wider.

    >>> read_as(pa.list_(pa.uint8()))
    ListType(list<item: int16>)
    """
    if pa.types.is_struct(kind):
        return pa.struct([one.with_type(read_as(one.type)) for one in kind])
    if pa.types.is_map(kind):
        return pa.map_(read_as(kind.key_type), read_as(kind.item_type))
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(read_as(kind.value_type)))
    if pa.types.is_dictionary(kind):
        return read_as(kind.value_type)
    return READ_AS.get(kind) or READ_AS_NAMED.get(str(kind), kind)
