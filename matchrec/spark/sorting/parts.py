"""A column → parts: signed numbers that compare, one part after the other, as its values do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from matchrec.engine.partitions import IntArray
from matchrec.spark.sorting.kernels.codes import read_bytes
from matchrec.spark.worker.arrays import (
    as_floats,
    as_integers,
    decimal_words,
    ranks_of_repeated,
    validity,
)

SHORT = 16  # bytes of texts that are sorted by their bytes
LONG = 64  # bytes of those that are, if most texts differ; others are ranked
SAMPLE = 1 << 14
FIRST_BIT = np.int64(np.iinfo(np.int64).min)


def parts_of(values: pa.Array) -> list[IntArray]:
    """int64[n] each, the first one decides; what they hold where a value is NULL has no meaning."""
    kind = values.type
    if pa.types.is_floating(kind):
        return [rising_floats(values)]
    if pa.types.is_decimal(kind) and kind.precision > 18:
        words = decimal_words(values)
        return [np.ascontiguousarray(words[:, 1]), words[:, 0] ^ FIRST_BIT]
    if is_text(kind):
        return text_parts(values)
    return [as_integers(values)]


def is_text(kind: pa.DataType) -> bool:
    """Whether values are bytes of any number, which compare byte by byte."""
    binary = pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
    return bool(binary or pa.types.is_string(kind) or pa.types.is_large_string(kind))


def rising_floats(values: pa.Array) -> IntArray:
    """The bits of floats, so that they rise with them; NaN is the greatest, -0.0 equals 0.0."""
    floats = as_floats(values) + 0.0
    floats[np.isnan(floats)] = np.nan
    bits = floats.view(np.int64)
    return np.asarray(bits ^ ((bits >> 63) & ~FIRST_BIT), np.int64)


def text_parts(values: pa.Array) -> list[IntArray]:
    """Their bytes, then their lengths; of long texts that are often equal the rank among all."""
    lengths = as_integers(pc.binary_length(values))
    longest = int(lengths.max())
    if longest <= SHORT or (longest <= LONG and most_differ(values)):
        return [*byte_parts(values, longest), lengths]
    return [as_integers(ranks_of_repeated(values))]


def most_differ(values: pa.Array) -> bool:
    """Whether a quarter of the first texts or more differ, so that looking each up takes long."""
    some = values.slice(0, SAMPLE)
    return 4 * len(pc.unique(some)) > len(some)


def byte_parts(values: pa.Array, longest: int) -> Iterator[IntArray]:
    """Eight bytes each."""
    _, offsets, content = values.buffers()
    large = pa.types.is_large_binary(values.type) or pa.types.is_large_string(values.type)
    ends = np.frombuffer(offsets, np.int64 if large else np.int32)
    ends = ends[values.offset : values.offset + len(values) + 1]
    for skipped in range(0, longest, 8):
        numbers = np.empty(len(values), np.int64)
        read_bytes(ends, np.frombuffer(content, np.uint8), skipped, numbers)
        yield numbers


def where_null(values: pa.Array) -> IntArray:
    """int64[n], 1 where a value is NULL, else 0."""
    return 1 - validity(values).astype(np.int64)
