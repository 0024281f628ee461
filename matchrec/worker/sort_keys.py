"""Convert values to int64 keys that compare as Spark compares the values.

5.5, NaN, -0.0      floats: their bits, changed so that they compare as signed integers
2026-01-02          integers, dates, times and small decimals: the integers that are stored
"b", "a", "b"       other values: their ranks 2, 1, 2
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from matchrec.conditions.types import NARROW_DIGITS
from matchrec.worker.arrays import (
    find_valid,
    make_array,
    read_floats,
    read_integers,
    read_numbers,
    take_rows,
)
from matchrec.worker.arrow_types import is_whole

if TYPE_CHECKING:
    from matchrec.search.partitions import FloatArray, IntArray


def make_sort_keys(values: pa.Array) -> IntArray:
    """Return int64[n] that compare as Spark compares the values.

    Values that int64 cannot hold become their ranks. The key of a NULL has no meaning.
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
    """Return the same ranks as `rank_values`, faster if values repeat often.

    A million texts of 10,000 different ones take 94 instead of 836 ns each. If all texts differ,
    they take 1,030 instead of 877 ns.
    """
    return rank_encoded_values(values.dictionary_encode())


def rank_encoded_values(values: pa.DictionaryArray) -> pa.Array:
    """Return the same ranks as `rank_values`, for values with a dictionary.

    The values of the dictionary must be distinct and not NULL.
    """
    return take_rows(rank_values(values.dictionary), values.indices)


def encode_float_order(values: FloatArray) -> IntArray:
    """Return int64[n] that compare as Spark compares floats.

    NaN is the greatest, and -0.0 equals 0.0.
    """
    floats = values + 0.0  # turns -0.0 into 0.0
    floats[np.isnan(floats)] = np.nan
    bits = floats.view(np.int64)
    # As integers, the bits of negative floats are in descending order, so they are flipped, except
    # the sign.
    flipped_bits = (bits >> 63) & np.iinfo(np.int64).max  # 0 for positive floats
    return np.asarray(bits ^ flipped_bits, np.int64)
